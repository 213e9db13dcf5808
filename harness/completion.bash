# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
#
# bash completion for spindle: commands and options come from --help.

# The second-level words of "  word  what it does" lines of some --help.
_spindle_commands () {
  "$@" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'
}

_spindle_options () {
  "$@" --help 2>/dev/null | grep -oE -e '--[a-z][a-z-]+' | sort -u
}

# Profiles, or scenarios, by name.
_spindle_profiles () {
  "$1" profile list 2>/dev/null | awk '$1 ~ /^[a-z0-9]/ { print $1 }'
}

_spindle_scenarios () {
  local program dir
  local -a dirs

  IFS=: read -r -a dirs <<<"${SPINDLE_PATH-}"
  program=$(readlink -f "$(type -P "$1")") || return
  for dir in "${dirs[@]/%//scenarios}" \
    "${XDG_CONFIG_HOME:-$HOME/.config}/spindle/scenarios" \
    "${program%/*}/scenarios" "${program%/bin/*}/share/spindle/scenarios"; do
    [ -d "$dir" ] && (cd "$dir" && compgen -G '*.cfg' | sed 's/\.cfg$//')
  done
}

_spindle () {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local program=${COMP_WORDS[0]} words=
  local -a command=("$program")

  COMPREPLY=()
  if [ "$COMP_CWORD" -gt 1 ]; then
    command+=("${COMP_WORDS[1]}")
    if [ "${COMP_WORDS[1]}" = profile ] && [ "$COMP_CWORD" -gt 2 ]; then
      command+=("${COMP_WORDS[2]}")
    fi
  fi
  case $prev in
    --profile) words=$(_spindle_profiles "$program") ;;
    --clock) words='virtual real' ;;
    --machine) words='ide ahci' ;;
    --fs) words='ext2 ext3 ext4' ;;
    --format) words='csv fio blkparse disksim disksim-validate' ;;
    *)
      case $cur:${command[*]:1} in
        -*:*) words=$(_spindle_options "${command[@]}") ;;
        *:) words=$(_spindle_commands "$program") ;;
        *:profile) words=$(_spindle_commands "${command[@]}") ;;
        *:run) words=$(_spindle_scenarios "$program") ;;
        *:'profile import') ;;
        *:profile\ *) words=$(_spindle_profiles "$program") ;;
      esac ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}
complete -o bashdefault -o default -F _spindle spindle
