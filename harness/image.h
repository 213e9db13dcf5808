/* SPDX-License-Identifier: BSD-3-Clause
 *
 * A disk image that is not raw, as an NBD server's: qemu-nbd reads it.
 */
#ifndef SPINDLE_IMAGE_H
#define SPINDLE_IMAGE_H

#include <stdint.h>

#include "child.h"
#include "words.h"

/* "qcow2" and the like, or NULL: the file is the disk. */
const char *image_format (int fd);

/* qemu-nbd's command line. */
void image_words (struct words *argv, const char *format, const char *path,
                  const char *socket);

/* Start it, wait until it serves.  LOG takes what it says.  Returns the
 * bytes of the disk, or -1 after a message.
 */
int64_t image_serve (struct child *c, const char *format, const char *path,
                     const char *socket, const char *log);

#endif /* SPINDLE_IMAGE_H */
