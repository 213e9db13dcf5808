/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Partitions, file systems and files, made on the host.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "harness/disk-image.h"
#include "harness/spindle.h"

#define SECTORS 262144          /* 128 MiB */
#define LBA 63

static char *image, *folder;

static struct scenario_files files[] = {
  { .name = (char *) "big", .count = 1, .bytes = 5000000, .scale = 1 },
  { .name = (char *) "f{n}", .count = 3, .bytes = 300000, .scale = 1,
    .layout = LAYOUT_INTERLEAVED, .chunk_bytes = 65536 },
  { .name = (char *) "wide", .count = 1, .bytes = 1048576, .scale = 4,
    .layout = LAYOUT_SPREAD, .chunk_bytes = 65536 },
  { .name = (char *) "usr", .count = 100, .per_folder = 7, .bytes = 14336,
    .scale = 1, .layout = LAYOUT_SHUFFLED },
};
static struct scenario_disk disk = {
  .partition_lba = LBA, .partition_mib = 100, .block_bytes = 1024,
  .inode_bytes = 128, .revision = 1, .journal_mib = 4, .files = files,
  .n_files = 4,
};

static void
make (const char *type)
{
  char *error = NULL;

  disk.file_system = (char *) type;
  unlink (image);
  if (disk_image_make (image, &disk, SECTORS, folder, &error) == -1)
    fail_msg ("%s", error);
}

/* What a shell command says, its last line feed cut off.  Free it. */
static char *
said (const char *fmt, ...)
{
  char text[4096];
  va_list args;
  char *command;
  size_t n;
  FILE *fp;

  va_start (args, fmt);
  command = format_args (fmt, args);
  va_end (args);
  fp = popen (command, "r");
  assert_non_null (fp);
  n = fread (text, 1, sizeof text - 1, fp);
  pclose (fp);
  free (command);
  while (n > 0 && text[n - 1] == '\n')
    --n;
  text[n] = '\0';
  return format ("%s", text);
}

static void
assert_said (const char *expected, char *text)
{
  assert_string_equal (text, expected);
  free (text);
}

static char *
debugfs (const char *request, const char *filter)
{
  return said ("PATH=$PATH:/sbin:/usr/sbin debugfs -R '%s' '%s?offset=%d' "
               "2>/dev/null | %s", request, image, LBA * 512, filter);
}

/* e2fsck finds nothing wrong, whatever was asked for. */
static void
sound (void **state)
{
  static const char *const types[] = { "ext2", "ext3" };
  static const char last[] = "PATH=$PATH:/sbin:/usr/sbin e2fsck -fn "
    "'%s?offset=%d' >/dev/null 2>&1; echo $?";
  int i;

  (void) state;
  for (i = 0; i < 2; ++i) {
    make (types[i]);
    assert_said ("0", said (last, image, LBA * 512));
  }
  disk.block_bytes = 4096;
  disk.revision = 0;
  make ("ext2");
  assert_said ("0", said (last, image, LBA * 512));
  assert_said ("0 (original)", debugfs ("stats", "sed -n "
               "'s/^Filesystem revision #: *//p'"));
  disk.block_bytes = 1024;
  disk.revision = 1;
}

static void
sizes_and_places (void **state)
{
  (void) state;
  make ("ext3");
  assert_said ("Size: 5000000", debugfs ("stat big", "grep -o 'Size: [0-9]*' "
                                         "| head -n 1"));
  assert_said ("Size: 300000", debugfs ("stat f2", "grep -o 'Size: [0-9]*' "
                                        "| head -n 1"));
  /* 4883 blocks, none of them a hole. */
  assert_said ("4883", debugfs ("blocks big", "wc -w | awk '{ print $1 - "
                                "21 }'"));
  assert_said ("15", debugfs ("ls -l /usr", "grep -c ' d[0-9]*$'"));
  assert_said ("0", debugfs ("stat /usr/d14/f99", "grep -c 'not found'"));
}

/* How far apart the first two chunks of a file are, in blocks. */
static long
step_of (const char *name)
{
  char *text = said ("PATH=$PATH:/sbin:/usr/sbin; a=$(debugfs -R 'bmap %s 0' "
                     "'%s?offset=%d' 2>/dev/null); b=$(debugfs -R "
                     "'bmap %s 64' '%s?offset=%d' 2>/dev/null); "
                     "echo $((b - a))", name, image, LBA * 512, name, image,
                     LBA * 512);
  long r = atol (text);

  free (text);
  return r;
}

static void
layouts (void **state)
{
  (void) state;
  make ("ext2");
  /* An indirect block is in between, or some. */
  assert_in_range (step_of ("big"), 64, 66);
  assert_in_range (step_of ("f1"), 3 * 64, 3 * 64 + 6);
  assert_in_range (step_of ("wide"), 4 * 64, 4 * 64 + 6);
}

static void
table (void **state)
{
  (void) state;
  make ("ext2");
  assert_said ("131 63 204800 43605",
               said ("od -An -j 450 -N 1 -tu1 '%s' | tr -d ' \\n'; "
                     "od -An -j 454 -N 8 -tu4 '%s' | "
                     "awk '{ printf \" %%d %%d \", $1, $2 }'; "
                     "od -An -j 510 -N 2 -tu2 '%s' | tr -d ' '", image, image,
                     image));
}

/* The same bytes, and a file as large as the drive that takes little room. */
static void
repeatable (void **state)
{
  char *first = format ("%s.first", image);
  struct stat st;

  (void) state;
  make ("ext3");
  assert_int_equal (stat (image, &st), 0);
  assert_int_equal (st.st_size, SECTORS * INT64_C (512));
  assert_in_range (st.st_blocks, 1, 40000);
  assert_int_equal (rename (image, first), 0);
  make ("ext3");
  assert_said ("0", said ("cmp -s '%s' '%s'; echo $?", image, first));
  unlink (first);
  free (first);
}

static void
refused (const char *expected)
{
  char *error = NULL;

  unlink (image);
  assert_int_equal (disk_image_make (image, &disk, SECTORS, folder, &error),
                    -1);
  if (strstr (error, expected) == NULL)
    fail_msg ("%s", error);
  free (error);
}

static void
does_not_fit (void **state)
{
  (void) state;
  disk.partition_mib = 200;
  refused ("beyond the end of the drive, at sector 262144");
  disk.partition_mib = 100;
  files[0].bytes = 200000000;
  refused ("debugfs: ");
  files[0].bytes = 5000000;
  disk.features = (char *) "no_such_thing";
  refused ("mke2fs: ");
  disk.features = NULL;
}

int
main (void)
{
  const char *tmpdir = getenv ("TMPDIR");
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (sound),
    cmocka_unit_test (sizes_and_places),
    cmocka_unit_test (layouts),
    cmocka_unit_test (table),
    cmocka_unit_test (repeatable),
    cmocka_unit_test (does_not_fit),
  };
  int r;

  folder = format ("%s/disk-image-test.XXXXXX", tmpdir ? tmpdir : "/tmp");
  if (mkdtemp (folder) == NULL)
    return EXIT_FAILURE;
  image = format ("%s/image", folder);
  r = cmocka_run_group_tests (tests, NULL, NULL);
  free (said ("rm -rf '%s'", folder));
  free (image);
  free (folder);
  return r;
}
