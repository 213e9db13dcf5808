/* SPDX-License-Identifier: BSD-3-Clause
 *
 * spindle ctl: a word with a drive that runs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control-client.h"
#include "options.h"
#include "spindle.h"
#include "words.h"

static const char help[] =
"usage: spindle ctl SOCKET COMMAND...\n"
"\n"
"Tell a drive that runs (nbdkit's control=SOCKET) to do something:\n"
"\n"
"  bad LBA[+N][:R]  make sectors bad\n"
"  pause            stop its time *\n"
"  ping             answer\n"
"  power cut|on     cut its power, or turn it on again\n"
"  reset-stats      let its statistics count from here\n"
"  resume           let time go on *\n"
"  set KEY=VALUE    change a value of its profile *\n"
"  speed N|instant  run N times as fast, or answer at once *\n"
"  stats [--json]   tell its statistics, as JSON\n"
"\n"
"*: in real time only.\n"
"Exit status: 0 done, 1 refused, 2 usage, 3 there is no such drive.\n"
"nbdkit-spindle-plugin(1) says more.\n";

static const struct option_def defs[] = {
  { "--json", NULL },
  { NULL, NULL }
};

struct command {
  struct words words;
  bool json;
};

static int
on_option (void *opaque, const char *name, const char *value)
{
  struct command *c = opaque;

  (void) name;
  (void) value;
  c->json = true;
  return 0;
}

static int
on_word (void *opaque, const char *word, bool after_dashes)
{
  struct command *c = opaque;

  (void) after_dashes;
  if (strchr (word, '\n')) {
    complain ("ctl: one command, on one line");
    return -1;
  }
  words_add (&c->words, word);
  return 0;
}

static enum spindle_exit
tell (const char *socket, const char *line)
{
  enum spindle_exit r = EXIT_COULD_NOT_RUN;
  int fd = control_open (socket);
  char *answer;

  if (fd == -1)
    return r;
  answer = control_ask (fd, line);
  close (fd);
  if (answer && strncmp (answer, "error ", 6) == 0) {
    complain ("%s", answer + 6);
    r = EXIT_NOT_REPRODUCED;
  }
  else if (answer) {
    puts (answer);
    r = EXIT_REPRODUCED;
  }
  free (answer);
  return r;
}

int
command_ctl (int argc, char **argv)
{
  struct command c = { .json = false };
  int r = options_parse (argc, argv, defs, on_option, on_word, &c);
  const struct words *w = &c.words;
  char *line, *longer;
  size_t i;

  if (r != 0)
    r = options_status (r, help);
  else if (w->n < 2) {
    complain ("ctl: a socket and a command; try 'spindle ctl --help'");
    r = EXIT_USAGE;
  }
  else if (c.json && strcmp (w->word[1], "stats") != 0) {
    complain ("ctl: %s: only stats has --json", w->word[1]);
    r = EXIT_USAGE;
  }
  else {
    line = format ("%s", w->word[1]);
    for (i = 2; i < w->n; ++i) {
      longer = format ("%s %s", line, w->word[i]);
      free (line);
      line = longer;
    }
    r = tell (w->word[0], line);
    free (line);
  }
  words_free (&c.words);
  return r;
}
