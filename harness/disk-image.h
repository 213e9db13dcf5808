/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is on a drive before the guest starts: made on the host, which takes
 * the drive no time.
 */
#ifndef SPINDLE_DISK_IMAGE_H
#define SPINDLE_DISK_IMAGE_H

#include "scenario.h"

/* Make PATH, as large as a drive of SECTORS and sparse.  Needs mke2fs and
 * debugfs, not root; the same scenario gives the same bytes.  FOLDER is for
 * what they are told.  Returns 0, or -1 with one line in *ERROR (to be
 * freed).
 */
int disk_image_make (const char *path, const struct scenario_disk *disk,
                     int64_t sectors, const char *folder, char **error);

#endif /* SPINDLE_DISK_IMAGE_H */
