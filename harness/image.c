/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libnbd.h>

#include "console.h"
#include "image.h"
#include "pieces.h"
#include "spindle.h"

#define PROGRAM "qemu-nbd"
#define START_MS 20000

const char *
image_format (int fd)
{
  static const struct { const char *name, *magic; size_t n; } formats[] = {
    { "qcow2", "QFI\xfb", 4 }, { "vmdk", "KDMV", 4 },
    { "vdi", "<<< ", 4 }, { "vpc", "conectix", 8 },
    { "vhdx", "vhdxfile", 8 },
  };
  char head[8];
  size_t i;

  if (pread (fd, head, sizeof head, 0) != sizeof head)
    return NULL;
  for (i = 0; i < sizeof formats / sizeof formats[0]; ++i)
    if (memcmp (head, formats[i].magic, formats[i].n) == 0)
      return formats[i].name;
  return NULL;
}

/* The plugin is one client; our question for the size may still be open. */
void
image_words (struct words *argv, const char *format, const char *path,
             const char *socket)
{
  words_add (argv, PROGRAM);
  words_addf (argv, "--socket=%s", socket);
  words_addf (argv, "--format=%s", format);
  words_add (argv, "--persistent");
  words_add (argv, "--shared=2");
  words_add (argv, path);
}

static int64_t
size_of_disk (const char *socket)
{
  struct nbd_handle *nbd = nbd_create ();
  int64_t bytes = -1;

  if (nbd && nbd_connect_unix (nbd, socket) == 0)
    bytes = nbd_get_size (nbd);
  if (bytes != -1)
    nbd_shutdown (nbd, 0);
  else
    complain ("%s: %s", PROGRAM, nbd_get_error ());
  nbd_close (nbd);
  return bytes;
}

int64_t
image_serve (struct child *c, const char *format, const char *path,
             const char *socket, const char *log)
{
  struct words argv = { 0 };
  char *said;
  int r;

  if (program_check (PROGRAM, "qemu-utils") == -1)
    return -1;
  image_words (&argv, format, path, socket);
  r = child_start (c, PROGRAM, &argv, NULL, log);
  words_free (&argv);
  if (r == 0 && child_wait_for (c, socket, START_MS) == -1) {
    said = last_line (log, NULL);
    complain ("%s", said ? said : PROGRAM " did not start");
    free (said);
    r = -1;
  }
  return r == 0 ? size_of_disk (socket) : -1;
}
