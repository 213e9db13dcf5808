#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The documentation is true: every command in a block marked sh in README.md
# and docs/ runs, and so do the manual pages' examples that can; every link
# inside the tree leads somewhere; every option in a SYNOPSIS exists.
#
# The blocks of a page run in its order, each in a shell of its own, in a
# directory that the page has for itself.  On the line before a block,
#
#   <!-- not run: WHY -->   excuses it; a test that is named must exist
#   <!-- slow -->           only make check-docs runs it, which sets DOCS_SLOW
#   <!-- needs: PROGRAM PACKAGE -->   it is skipped where PROGRAM is missing
#   <!-- exit: N -->        its exit status is this one
#
#   tests/docs-check.sh [PAGE...]   only the blocks and links of these
#
# time limit: 3600

set -u
if [ -n "${TEST_SLOW-}" ]; then
  echo "1..0 # SKIP says nothing new when everything is slow"
  exit 0
fi
top=$(pwd)
BUILD=$(cd "${BUILD:-build}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0 n=0

ok () {
  n=$((n + 1))
  echo "ok $n - $1"
}

# NAME, and what went wrong
not_ok () {
  n=$((n + 1)) failed=1
  echo "not ok $n - $1"
  printf '%s\n' "$2" | sed 's/^/# /'
}

# ---- the programs, as if they were installed ----

mkdir -p "$work/bin" "$work/home"
ln -s "$BUILD/spindle" "$work/bin/spindle"
real_nbdkit=$(command -v "${NBDKIT:-nbdkit}" || echo /bin/false)
cat >"$work/bin/nbdkit" <<END
#!/bin/bash
# The plugin by its name; a server that would go to the background is only
# started and ended.
once=(-U - --run true)
for word; do
  case \$word in
    spindle) word=$BUILD/nbdkit-spindle-plugin.so ;;
    --run|-P|--pidfile|--dump-*) once=() ;;
  esac
  words+=("\$word")
done
exec '$real_nbdkit' "\${once[@]}" "\${words[@]}"
END
cat >"$work/bin/make" <<END
#!/bin/sh
exec $(command -v make) -C '$top' BUILD='$BUILD' "\$@"
END
chmod +x "$work/bin/nbdkit" "$work/bin/make"
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache}
export HOME=$work/home XDG_CONFIG_HOME=$work/home/.config
export PATH=$work/bin:$PATH SPINDLE_NBDKIT=$real_nbdkit
export XDG_DATA_HOME=$work/home/.local/share

# Run $work/block in directory $1, for $2 seconds at most.
run_block () {
  (cd "$1" && timeout -k 5 "$2" sh -eu "$work/block") \
    </dev/null >"$work/out" 2>&1
}

# ---- blocks ----

# Cut the blocks marked sh out of FILE into $work/blocks/LINE, with the
# mark before them, if there is one, in LINE.mark.
cut_blocks () {
  rm -rf "$work/blocks"
  mkdir "$work/blocks"
  awk -v dir="$work/blocks" '
    /^```/ && ! fence {
      fence = 1
      if ($0 ~ /^```sh *$/) {
        file = sprintf ("%s/%05d", dir, NR)
        printf "" >file
        if (mark != "") print mark >(file ".mark")
      }
      next
    }
    /^```/ { fence = 0; file = ""; mark = ""; next }
    fence { if (file != "") print >file; next }
    /^<!-- .* -->$/ { mark = $0; next }
    /./ { mark = "" }
  ' "$1"
}

# A reason must be given, and a test that it names must be there.
check_reason () {
  local name=$1 why=$2 test

  # shellcheck disable=SC2013 # words are wanted
  for test in $(grep -o 'tests/[a-z/-]*[.a-z]*' <<<"$why"); do
    if [ ! -e "$test" ]; then
      not_ok "$name" "$test does not exist"
      return
    fi
  done
  if [ -z "$why" ]; then
    not_ok "$name" "no reason given"
  else
    ok "$name # SKIP $why"
  fi
}

one_block () {
  local name=$1 dir=$2 mark=$3 limit=200 wanted=0 status needs

  case $mark in
    '<!-- not run:'*)
      mark=${mark#'<!-- not run:'}
      check_reason "$name" "$(sed 's/^ *//; s/ *-->$//' <<<"$mark")"
      return ;;
    '<!-- slow'*)
      limit=900
      if [ -z "${DOCS_SLOW-}" ]; then
        ok "$name # SKIP slow: make check-docs runs it"
        return
      fi ;;
  esac
  case $mark in
    *'exit: '[0-9]*) wanted=${mark##*'exit: '} wanted=${wanted%%[!0-9]*} ;;
  esac
  case $mark in
    *'needs: '*)
      needs=${mark##*'needs: '} needs=${needs%% *}
      if ! command -v "$needs" >/dev/null; then
        ok "$name # SKIP $needs is not installed"
        return
      fi ;;
  esac
  run_block "$dir" "$limit"
  status=$?
  if [ "$status" = "$wanted" ]; then
    ok "$name"
  else
    not_ok "$name" "exit status $status, not $wanted:
$(cat "$work/block"; echo ---; tail -n 30 "$work/out")"
  fi
}

check_page () {
  local page=$1 dir block mark line first

  cut_blocks "$page"
  dir=$work/page
  mkdir "$dir"
  for block in "$work"/blocks/*; do
    case $block in *.mark | *'*') continue ;; esac
    line=$((10#${block##*/}))
    first=$(head -n 1 "$block" | sed 's/ *#.*//; s/ *\\$//')
    mark=
    [ -e "$block.mark" ] && mark=$(cat "$block.mark")
    cp "$block" "$work/block"
    one_block "$page:$line: $first" "$dir" "$mark"
  done
  chmod -R u+rwX "$dir"
  rm -rf "$dir"
}

# ---- links ----

# The anchors of FILE's headings, as GitHub makes them.
anchors () {
  awk '/^```/ { fence = ! fence } ! fence && /^#+ / {
         sub (/^#+ */, ""); print tolower ($0) }' "$1" |
    sed 's/[^a-z0-9 _-]//g; s/ /-/g'
}

links () {
  # shellcheck disable=SC2016 # nothing is to expand
  awk '/^```/ { fence = ! fence } ! fence' "$1" | sed 's/`[^`]*`//g' |
    grep -o '](\([^)]*\))' | sed 's/^](//; s/)$//'
}

check_links () {
  local page=$1 link path anchor target bad=

  while read -r link; do
    case $link in ''|*://*|mailto:*) continue ;; esac
    path=${link%%#*} anchor=
    case $link in *'#'*) anchor=${link#*#} ;; esac
    target=$page
    [ -z "$path" ] || target=$(dirname "$page")/$path
    if [ ! -e "$target" ]; then
      bad+="$link: no such file"$'\n'
    elif [ -n "$anchor" ] && ! anchors "$target" | grep -qxF "$anchor"; then
      bad+="$link: no such heading"$'\n'
    fi
  done < <(links "$page")
  if [ -z "$bad" ]; then
    ok "$page: links"
  else
    not_ok "$page: links" "$bad"
  fi
}

# ---- manual pages ----

# Verbatim lines of one section of a POD, continuation lines joined.
verbatim () {
  awk -v want="=head1 $2" '
    /^=head1/ { on = $0 == want }
    on && /^ [^ ]/ { if (line != "") print line; line = substr ($0, 2); next }
    on && /^  / && line != "" { sub (/^ +/, " "); line = line $0; next }
    { if (line != "") print line; line = "" }
    END { if (line != "") print line }' "$1"
}

# Every --option of a SYNOPSIS line "spindle COMMAND [COMMAND] ..." is known
# to that command's --help.
check_synopsis () {
  local pod=$1 line option bad='' command

  while read -r line; do
    command=$(sed -n 's/^spindle \(profile [a-z]*\|[a-z]*\).*/\1/p' \
      <<<"$line")
    [ -n "$command" ] || continue
    # shellcheck disable=SC2086 # perhaps two words
    if ! spindle $command --help >"$work/help" 2>&1; then
      bad+="spindle $command --help fails"$'\n'
      continue
    fi
    # shellcheck disable=SC2013 # words are wanted
    for option in $(grep -oE -- '--[a-z][a-z-]+' <<<"$line"); do
      grep -qe "$option" "$work/help" ||
        bad+="spindle $command --help does not know $option"$'\n'
    done
  done < <(verbatim "$pod" SYNOPSIS)
  if [ -z "$bad" ]; then
    ok "$pod: SYNOPSIS"
  else
    not_ok "$pod: SYNOPSIS" "$bad"
  fi
}

# Examples that need nothing but spindle and nbdkit.
check_examples () {
  local pod=$1 line

  mkdir "$work/page"
  while read -r line; do
    case $line in
      *...* | *today.txt | *first.csv | *measured.csv | *fio*) continue ;;
      'nbdkit '* | 'spindle '* | 'truncate '*) ;;
      *) continue ;;
    esac
    echo "$line" >"$work/block"
    one_block "$pod: $line" "$work/page" ''
  done < <(verbatim "$pod" EXAMPLES)
  rm -rf "$work/page"
}

# ---- all of it ----

shopt -s nullglob
if [ $# = 0 ]; then
  commands=(README.md docs/*.md docs/*/*.md)
  pages=("${commands[@]}" [!d]*/README.md disk-model/README.md */*/README.md)
  pods=(*/*.pod)
else
  commands=("$@") pages=("$@") pods=()
fi
for page in "${commands[@]}"; do
  check_page "$page"
done
for page in "${pages[@]}"; do
  check_links "$page"
done
for pod in "${pods[@]}"; do
  if podchecker "$pod" >"$work/out" 2>&1; then
    ok "$pod: podchecker"
  else
    not_ok "$pod: podchecker" "$(cat "$work/out")"
  fi
  check_synopsis "$pod"
  check_examples "$pod"
done
echo "1..$n"
exit "$failed"
