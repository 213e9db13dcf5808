/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Copies of folders that hold only files.
 */
#ifndef SPINDLE_FOLDER_COPY_H
#define SPINDLE_FOLDER_COPY_H

/* Make the files of TO those of FROM, as links where that can be done.
 * Whatever else is in TO goes.  Returns -1 after a message.
 */
int folder_copy (const char *from, const char *to);

#endif /* SPINDLE_FOLDER_COPY_H */
