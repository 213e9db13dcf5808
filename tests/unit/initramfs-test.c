/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What goes into a guest's root, and the order of its modules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <elf.h>

#include "harness/initramfs.h"
#include "harness/kernel.h"
#include "harness/script.h"
#include "harness/spindle.h"

static char *work;
static const char job[] = "modules\npoweroff\n";

static char *
in_work (const char *name)
{
  return format ("%s/%s", work, name);
}

static void
put_file (const char *name, const char *data, size_t bytes)
{
  char *path = in_work (name);
  FILE *fp = fopen (path, "wb");

  assert_non_null (fp);
  assert_int_equal (fwrite (data, 1, bytes, fp), bytes);
  assert_int_equal (fclose (fp), 0);
  free (path);
}

static char *
get_file (const char *path, size_t *bytes)
{
  FILE *fp = fopen (path, "rb");
  char *data = NULL;
  FILE *mem = open_memstream (&data, bytes);
  int c;

  assert_non_null (fp);
  while ((c = getc (fp)) != EOF)
    putc (c, mem);
  fclose (fp);
  fclose (mem);
  return data;
}

static void
shell (const char *script)
{
  const char *const args[] = { work, NULL };
  char *error = NULL;

  if (script_run (script, args, NULL, NULL, &error) == -1)
    fail_msg ("%s", error);
}

/* As much of a module as the resolver looks at. */
static void
put_module (const char *name, const char *modinfo, size_t bytes)
{
  char *path = format ("modules/kernel/%s", name);

  put_file (path, modinfo, bytes);
  free (path);
}

#define MODULE(name, modinfo) \
  put_module (name, "\177ELF\0" modinfo, sizeof "\177ELF\0" modinfo)

static const char signed_module[] =
  "\177ELF\0" "depends=builtin_one,scsi_mod\0"
  "~signature~" "\0\0\0\0\0\0\0\0\0\0\0\013"
  "~Module signature appended~\n";

static int
set_up (void **state)
{
  const char *tmp = getenv ("TMPDIR");

  (void) state;
  work = format ("%s/initramfs-test.XXXXXX", tmp ? tmp : "/tmp");
  assert_non_null (mkdtemp (work));
  shell ("mkdir -p \"$1/modules/kernel/b\" \"$1/empty\"");
  MODULE ("sd_mod.ko", "license=GPL\0depends=scsi-mod,crc-sum");
  MODULE ("b/scsi_mod.ko", "depends=");
  MODULE ("crc-sum.ko",
          "softdep=pre: crypto-fast none post: later\0depends=");
  MODULE ("fast_generic.ko", "undepends=nonsense\0depends=");
  MODULE ("later.ko", "depends=");
  put_module ("ata_piix.ko", signed_module, sizeof signed_module - 1);
  MODULE ("broken.ko", "depends=nowhere");
  MODULE ("loop_a.ko", "depends=loop_b");
  MODULE ("loop_b.ko", "depends=loop_a");
  put_file ("modules/modules.builtin", "kernel/x/builtin-one.ko\n", 24);
  put_file ("agent", "#!agent", 7);
  return 0;
}

static int
tear_down (void **state)
{
  (void) state;
  shell ("rm -rf -- \"$1\"");
  free (work);
  return 0;
}

static int
build (const char *name, const char *const *modules, char **error)
{
  char *agent = in_work ("agent"), *dir = in_work ("modules");
  char *out = in_work (name);
  struct initramfs_options options = {
    .agent_path = agent, .job = job, .module_dir = dir, .modules = modules,
  };
  int r = initramfs_build (out, &options, error);

  free (agent);
  free (dir);
  free (out);
  return r;
}

struct member {
  const char *name, *data;
  unsigned mode, bytes, major, minor, inode;
};

/* Take the archive apart; gives the number of members. */
static int
members_of (const char *data, size_t bytes, struct member *m, int room)
{
  size_t at = 0;
  int n = 0;

  while (at + 110 <= bytes && n < room) {
    unsigned field[13];

    assert_memory_equal (data + at, "070701", 6);
    for (int i = 0; i < 13; i++) {
      char hex[9] = "";

      memcpy (hex, data + at + 6 + i * 8, 8);
      field[i] = strtoul (hex, NULL, 16);
    }
    assert_int_equal (field[5], 0);
    m[n].name = data + at + 110;
    assert_int_equal (strlen (m[n].name) + 1, field[11]);
    at = (at + 110 + field[11] + 3) & ~(size_t) 3;
    m[n].data = data + at;
    m[n].inode = field[0];
    m[n].mode = field[1];
    m[n].bytes = field[6];
    m[n].major = field[9];
    m[n].minor = field[10];
    at = (at + field[6] + 3) & ~(size_t) 3;
    n++;
  }
  assert_int_equal (at, bytes);
  return n;
}

static const struct member *
member (const struct member *m, int n, const char *name)
{
  for (int i = 0; i < n; i++)
    if (strcmp (m[i].name, name) == 0)
      return &m[i];
  fail_msg ("no %s", name);
  return NULL;
}

static void
assert_content (const struct member *m, const char *text)
{
  assert_int_equal (m->bytes, strlen (text));
  assert_memory_equal (m->data, text, m->bytes);
}

static void
test_archive (void **state)
{
  static const char *const wanted[] = { "sd_mod", "ata-piix", "absent", NULL };
  char *path = in_work ("out"), *error = NULL, *data;
  const struct member *console;
  struct member m[32];
  size_t bytes;
  int n;

  (void) state;
  assert_int_equal (build ("out", wanted, &error), 0);
  data = get_file (path, &bytes);
  n = members_of (data, bytes, m, 32);
  assert_string_equal (m[n - 1].name, "TRAILER!!!");
  for (int i = 0; i < n; i++)
    assert_int_equal (m[i].inode, i + 1);
  assert_content (member (m, n, "job"), job);
  assert_content (member (m, n, "init"), "#!agent");
  assert_int_equal (member (m, n, "init")->mode, S_IFREG | 0755);
  assert_int_equal (member (m, n, "dev")->mode, S_IFDIR | 0755);
  console = member (m, n, "dev/console");
  assert_int_equal (console->mode, S_IFCHR | 0600);
  assert_int_equal (console->major, 5);
  assert_int_equal (console->minor, 1);
  assert_content (member (m, n, "modules/order"),
                  "scsi_mod.ko\nfast_generic.ko\ncrc_sum.ko\nsd_mod.ko\n"
                  "ata_piix.ko\n");
  assert_int_equal (member (m, n, "modules/ata_piix.ko")->bytes,
                    5 + sizeof "depends=builtin_one,scsi_mod");
  free (data);
  free (path);
}

static void
test_repeatable (void **state)
{
  static const char *const wanted[] = { "loop_a", "sd_mod", NULL };
  char *error = NULL;

  (void) state;
  assert_int_equal (build ("one", wanted, &error), 0);
  shell ("sleep 1; touch \"$1/agent\" \"$1/modules/kernel/sd_mod.ko\"");
  assert_int_equal (build ("two", wanted, &error), 0);
  shell ("cmp \"$1/one\" \"$1/two\" >&2");
}

static void
test_compressed (void **state)
{
  static const char *const wanted[] = { "sd_mod", NULL };
  char *error = NULL;

  (void) state;
  assert_int_equal (build ("one", wanted, &error), 0);
  shell ("cd \"$1/modules/kernel\" && xz sd_mod.ko && gzip b/scsi_mod.ko");
  assert_int_equal (build ("two", wanted, &error), 0);
  shell ("cmp \"$1/one\" \"$1/two\" >&2");
  shell ("cd \"$1/modules/kernel\" && unxz sd_mod.ko.xz && "
         "echo x >later.ko.xz && rm later.ko && gunzip b/scsi_mod.ko.gz");
  assert_int_equal (build ("three", (const char *const[]) { "later", NULL },
                           &error), -1);
  assert_non_null (strstr (error, "later.ko.xz"));
  assert_null (strchr (error, '\n'));
  free (error);
}

static void
assert_fails (const struct initramfs_options *options, const char *out,
              const char *words)
{
  char *path = in_work (out), *error = NULL;

  assert_int_equal (initramfs_build (path, options, &error), -1);
  assert_non_null (error);
  if (strstr (error, words) == NULL)
    fail_msg ("'%s' does not say '%s'", error, words);
  assert_int_equal (access (path, F_OK), -1);
  free (error);
  free (path);
}

static void
test_errors (void **state)
{
  static const char *const broken[] = { "broken", NULL };
  char *agent = in_work ("agent"), *dir = in_work ("modules");
  char *empty = in_work ("empty"), *absent = in_work ("absent");

  (void) state;
  assert_fails (&(struct initramfs_options) {
                  .agent_path = absent, .job = job,
                }, "no", "absent: No such file");
  assert_fails (&(struct initramfs_options) {
                  .agent_path = agent, .job = job, .module_dir = empty,
                }, "no", "no kernel modules");
  assert_fails (&(struct initramfs_options) {
                  .agent_path = agent, .job = job, .module_dir = dir,
                  .modules = broken,
                }, "no", "nowhere, needed by broken");
  assert_fails (&(struct initramfs_options) {
                  .agent_path = agent, .job = job,
                }, "no-folder/no", "No such file");
  free (agent);
  free (dir);
  free (empty);
  free (absent);
}

static void
test_ext2 (void **state)
{
  static const char *const wanted[] = { "sd_mod", NULL };
  char *agent = in_work ("agent"), *dir = in_work ("modules");
  char *out = in_work ("initrd.gz"), *again = in_work ("again.gz");
  const char *const args[] = { work, NULL };
  struct initramfs_options options = {
    .agent_path = agent, .job = job, .module_dir = dir, .modules = wanted,
  };
  char *error = NULL, *text;
  int kib = 0;

  (void) state;
  if (system ("PATH=$PATH:/sbin:/usr/sbin command -v mke2fs debugfs e2fsck "
              ">/dev/null") != 0)
    skip ();
  if (ext2_initrd_build (out, &options, &kib, &error) == -1)
    fail_msg ("%s", error);
  assert_int_equal (ext2_initrd_build (again, &options, &kib, &error), 0);
  shell ("cmp \"$1/initrd.gz\" \"$1/again.gz\" >&2");
  shell ("gzip -dc \"$1/initrd.gz\" >\"$1/initrd\"; PATH=$PATH:/usr/sbin:/sbin"
         "; e2fsck -fn \"$1/initrd\" >&2");
  assert_int_equal (script_run (
    "PATH=$PATH:/usr/sbin:/sbin; cd \"$1\"; stat -c %s initrd; "
    "dumpe2fs -h initrd 2>/dev/null | grep -E 'features|Inode size' | "
    "tr -s '\\t ' ' '; "
    "debugfs -R 'cat modules/order' initrd 2>/dev/null; "
    "debugfs -R 'cat job' initrd 2>/dev/null; "
    "debugfs -R 'cat init' initrd 2>/dev/null; "
    "debugfs -R 'stat dev/console' initrd 2>/dev/null | grep Device; "
    "debugfs -R 'stat init' initrd 2>/dev/null | grep -o 'Mode:  0755'",
    args, &text, NULL, &error), 0);
  assert_int_equal (atoi (text), kib * 1024);
  assert_non_null (strstr (text, "(none)"));
  assert_non_null (strstr (text, "Inode size: 128"));
  assert_non_null (strstr (text, "scsi_mod.ko\nfast_generic.ko\ncrc_sum.ko\n"
                           "sd_mod.ko\nmodules\npoweroff\n#!agent"));
  assert_non_null (strstr (text, "major/minor number: 05:01"));
  assert_non_null (strstr (text, "Mode:  0755"));
  free (text);
  free (agent);
  free (dir);
  free (out);
  free (again);
}

/* Where the kernel in file NAME of the work folder ends in memory. */
static int
end_of (const char *name)
{
  char *path = in_work (name), *error = NULL;
  struct kernel kernel;
  int end_mib;

  assert_int_equal (kernel_find (path, &kernel, &error), 0);
  assert_string_equal (kernel.release, "3.14.1-x");
  end_mib = kernel.end_mib;
  kernel_free (&kernel);
  free (path);
  return end_mib;
}

static void
test_kernel_end (void **state)
{
  static char bz[0x300] = { [0x206] = 0xa, [0x207] = 2, [0x20e] = 0x80 };
  struct { Elf64_Ehdr e; Elf64_Phdr p[2]; char text[64]; } wide = {
    .e = { .e_ident = ELFMAG, .e_phoff = sizeof (Elf64_Ehdr),
           .e_phnum = 2 },
    .p = { { .p_type = PT_LOAD, .p_paddr = 0x3079000, .p_memsz = 0x1987000 },
           { .p_type = PT_NOTE, .p_paddr = 1 << 30, .p_memsz = 1 } },
    .text = "Linux version 3.14.1-x (",
  };
  struct { Elf32_Ehdr e; Elf32_Phdr p[1]; char text[128]; } narrow = {
    .e = { .e_ident = ELFMAG, .e_phoff = sizeof (Elf32_Ehdr),
           .e_phnum = 1 },
    .p = { { .p_type = PT_LOAD, .p_paddr = 0x1c39000, .p_memsz = 0x3d3001 } },
    .text = "Linux version 3.14.1-x (",
  };

  (void) state;
  wide.e.e_ident[EI_CLASS] = ELFCLASS64;
  narrow.e.e_ident[EI_CLASS] = ELFCLASS32;
  put_file ("wide", (char *) &wide, sizeof wide);
  put_file ("narrow", (char *) &narrow, sizeof narrow);
  assert_int_equal (end_of ("wide"), 74);
  assert_int_equal (end_of ("narrow"), 33);
  memcpy (bz + 0x202, "HdrS", 4);
  strcpy (bz + 0x280, "3.14.1-x (someone)");
  bz[0x25b] = 1;                /* 16 MiB */
  bz[0x262] = 0x30;             /* 3 MiB */
  put_file ("bz", bz, sizeof bz);
  assert_int_equal (end_of ("bz"), 19);
  bz[0x206] = 9;                /* it does not say yet */
  put_file ("old", bz, sizeof bz);
  assert_int_equal (end_of ("old"), 0);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (test_archive),
    cmocka_unit_test (test_repeatable),
    cmocka_unit_test (test_compressed),
    cmocka_unit_test (test_errors),
    cmocka_unit_test (test_ext2),
    cmocka_unit_test (test_kernel_end),
  };

  return cmocka_run_group_tests_name ("initramfs", tests, set_up, tear_down);
}
