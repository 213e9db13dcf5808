/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Scenarios: what is read, and how mistakes are reported.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "harness/job.h"
#include "harness/scenario.h"
#include "harness/sweep.h"

static char path[256];

#define STEP "{ name = \"a\"; read = \"direct\"; block-kib = 64; mib = 4; }"
#define GOOD \
  "name = \"s\";\n" \
  "drive = { profile = \"wd200bb\"; };\n" \
  "steps = ( " STEP " );\n"

/* The caller frees it. */
static struct scenario *
load_picked (const char *text, const struct scenario_pick *pick, char **error)
{
  const char *tmpdir = getenv ("TMPDIR");
  struct scenario *sc;
  FILE *fp;

  snprintf (path, sizeof path, "%s/scenario-test.cfg",
            tmpdir ? tmpdir : "/tmp");
  fp = fopen (path, "w");
  assert_non_null (fp);
  fputs (text, fp);
  fclose (fp);
  sc = scenario_load (path, pick, error);
  unlink (path);
  return sc;
}

static struct scenario *
load (const char *text, char **error)
{
  return load_picked (text, &(struct scenario_pick) { .guest = 0 }, error);
}

/* ERROR is what follows "PATH:". */
static void
refused (const char *text, const char *expected)
{
  char *error, *whole;
  struct scenario *sc = load (text, &error);

  assert_null (sc);
  assert_non_null (error);
  assert_true (asprintf (&whole, "%s:%s", path, expected) > 0);
  assert_string_equal (error, whole);
  assert_null (strchr (error, '\n'));
  free (whole);
  free (error);
}

static struct scenario *
accepted (const char *text)
{
  char *error;
  struct scenario *sc = load (text, &error);

  if (sc == NULL)
    fail_msg ("%s", error);
  return sc;
}

static void
the_least (void **state)
{
  struct scenario *sc = accepted (GOOD);

  (void) state;
  assert_string_equal (sc->name, "s");
  assert_string_equal (sc->kernel, "debian");
  assert_true (sc->machine.virtual_clock);
  assert_int_equal (sc->n_drives, 1);
  assert_string_equal (sc->drives[0].name, "wd200bb");
  assert_int_equal (sc->n_steps, 1);
  assert_int_equal (sc->steps[0].readahead, -1);
  assert_int_equal (sc->steps[0].unit, UNIT_MIB_PER_S);
  assert_int_equal (scenario_step_bytes (&sc->steps[0]), 4 << 20);
  scenario_free (sc);
}

static void
a_sweep_is_unrolled (void **state)
{
  struct scenario *sc = accepted (
    "name = \"s\"; drive = { profile = \"wd200bb\"; };\n"
    "steps = (\n"
    "  { name = \"ra{readahead}-x\"; read = \"buffered\"; block-kib = 64;\n"
    "    mib = 4; sweep = \"readahead\"; values = [0, 256];\n"
    "    offset-mib = 8; stride-mib = 36; },\n"
    "  { name = \"b{block-kib}\"; read = \"direct\"; pattern = \"random\";\n"
    "    requests = 10; sweep = \"block-kib\"; values = [4]; } );\n"
    "reported = ( { figure = \"ra256-x\"; over = \"ra0-x\"; value = 2; },\n"
    "             { figure = \"ra256-x\"; value = 3.5; kernel = \"2.6.0\"; }"
    ");\n");
  struct sweep s;

  (void) state;
  assert_int_equal (sc->n_steps, 3);
  assert_string_equal (sc->steps[1].name, "ra256-x");
  assert_int_equal (sc->steps[1].readahead, 256);
  assert_int_equal (sc->steps[1].offset_mib, 44);
  assert_string_equal (sc->steps[2].name, "b4");
  assert_int_equal (sc->steps[2].unit, UNIT_MS);
  assert_int_equal (scenario_step_bytes (&sc->steps[2]), 40960);
  assert_int_equal (sc->reported[0].unit, UNIT_RATIO);
  assert_int_equal (sc->reported[1].unit, UNIT_MIB_PER_S);
  s = sweep_at (sc, "wd200bb", 0);
  assert_int_equal (s.n_values, 2);
  assert_int_equal (s.n_families, 1);
  assert_int_equal (s.n_kernels, 1);
  assert_null (sweep_reported (&s, sc, "wd200bb", 0, 0));
  assert_ptr_equal (sweep_reported (&s, sc, "wd200bb", 1, 0),
                    &sc->reported[1]);
  scenario_free (sc);
}

static void
the_job (void **state)
{
  struct scenario *sc = accepted (
    "name = \"s\"; drive = { profile = \"wd200bb\"; };\n"
    "host = { queue = [\"max_sectors_kb=64\"]; };\n"
    "steps = ( { name = \"w\"; write = \"buffered\"; fsync = \"end\";\n"
    "  pattern = \"random\"; block-kib = 4; requests = 2; readahead = 8;\n"
    "  offset-mib = 1; span-mib = 2; seed = 7; ms = 9; } );\n");
  const struct profile no_flush = { .title = "" };
  const struct machine_drive d = { .profile = &no_flush };
  char *job = job_text (sc, &d, 1);

  (void) state;
  assert_string_equal (job,
    "modules\n"
    "device path=/dev/sda\n"
    "sysfs path=queue/write_cache value=none\n"
    "sysfs path=queue/max_sectors_kb value=64\n"
    "readahead sectors=8\n"
    "sync\n"
    "drop\n"
    "write name=w mode=buffered pattern=random block=4096 bytes=8192 "
    "offset=1048576 span=2097152 seed=7 ms=9 fsync=1\n"
    "poweroff\n");
  free (job);
  scenario_free (sc);
}

/* Two drives in one guest, a copy, a mix, a restart. */
static void
job_of_two (void **state)
{
  struct scenario *sc = accepted (
    "name = \"s\";\n"
    "drive = ( { profile = \"wd200bb\"; name = \"a\"; },\n"
    "          { profile = \"wd200bb\"; name = \"b\"; } );\n"
    "host = { machine = \"ahci\"; queue-depth = 1; };\n"
    "steps = ( { name = \"c\"; copy = \"direct\"; from = \"b\";\n"
    "  to = \"a\"; block-kib = 4; requests = 2; jobs = 2; },\n"
    "  { name = \"m\"; mix = \"direct\"; drive = \"b\"; writes = 30;\n"
    "  block-kib = 4; requests = 2; reboot = true; } );\n");
  const struct profile flush = { .interface.flush = true };
  const struct machine_drive d[2] = {
    { .profile = &flush }, { .profile = &flush }
  };
  char *job = job_text (sc, d, 2);

  (void) state;
  assert_true (sc->together);
  assert_true (scenario_reboots (sc));
  assert_string_equal (job,
    "modules\n"
    "device name=a scsi=0:0:0:0\n"
    "sysfs path=device/queue_depth value=1\n"
    "device name=b scsi=1:0:0:0\n"
    "sysfs path=device/queue_depth value=1\n"
    "device name=b\n"
    "sync\n"
    "drop\n"
    "copy name=c from=b to=a block=4096 bytes=8192 offset=0 jobs=2\n"
    "reboot\n"
    "device name=b\n"
    "sync\n"
    "drop\n"
    "mix name=m mode=direct pattern=seq block=4096 bytes=8192 offset=0 "
    "seed=1 writes=30\n"
    "poweroff\n");
  free (job);
  scenario_free (sc);
}

#define DISK \
  "name = \"s\"; drive = { profile = \"wd200bb\"; };\n" \
  "disk = { partition-lba = 63; file-system = \"ext3\"; " \
  "mount = \"noatime\";\n" \
  "  files = ( { name = \"big\"; mib = 64; },\n" \
  "    { name = \"f{n}\"; count = 80; kib = 100; shrink = \"count\"; },\n" \
  "    { name = \"usr\"; count = 800; per-folder = 9; kib = 14;\n" \
  "      layout = \"shuffled\"; } ); };\n"

/* Files: all of it, and an eighth. */
static void
files_and_scale (void **state)
{
  static const char text[] = DISK "scale = 8;\n"
    "steps = (\n"
    "  { name = \"h\"; hdparm = \"3s\"; },\n"
    "  { name = \"h2\"; hdparm = \"64mib\"; block-kib = 64; repeats = 2; },\n"
    "  { name = \"c\"; read = \"buffered\"; file = \"f{job}\"; jobs = 2;\n"
    "    block-bytes = 512; unit = \"s\"; also = [\"first\"];\n"
    "    sysctl = [\"vm.dirty_ratio=40\"]; before = \"sync\"; },\n"
    "  { name = \"w\"; write = \"buffered\"; file = \"new\"; create = true;\n"
    "    close = true; fsync = \"end\"; mib = 8; block-kib = 4; },\n"
    "  { name = \"p\"; read = \"buffered\"; file = \"new\";\n"
    "    pattern = \"random\"; requests = 80; block-kib = 1;\n"
    "    before = \"forget\"; also = [\"disk-ms\", \"disk\"]; },\n"
    "  { name = \"t\"; walk = \"buffered\"; file = \"usr\"; block-kib = 4;\n"
    "    before = \"nothing\"; },\n"
    "  { name = \"m\"; frames = \"buffered\"; file = \"f{n}\";\n"
    "    sound = \"big\"; output = \"o\"; output-bytes = 8000;\n"
    "    requests = 80; block-kib = 4; } );\n";
  struct scenario *sc = accepted (text);
  struct profile flush = { .interface.flush = true };
  struct machine_drive d = { .profile = &flush };
  char *job = job_text (sc, &d, 1), *error;

  (void) state;
  assert_int_equal (sc->disk.files[0].bytes, 8 << 20);
  assert_int_equal (sc->disk.files[1].count, 10);
  assert_int_equal (sc->disk.files[1].bytes, 100 << 10);
  assert_int_equal (sc->disk.files[2].count, 100);
  assert_int_equal (sc->n_steps, 10);
  assert_string_equal (sc->steps[3].name, "c-first");
  assert_int_equal (sc->steps[3].verb, STEP_ALSO);
  assert_int_equal (sc->steps[3].unit, UNIT_S);
  assert_string_equal (sc->steps[6].name, "p-disk");
  assert_int_equal (sc->steps[7].of, 5);
  assert_string_equal (job,
    "modules\n"
    "device path=/dev/sda\n"
    "mount type=ext3 partition=1 options=noatime\n"
    "sync\ndrop\n"
    "read name=h mode=buffered pattern=seq block=1048576 "
    "bytes=1125899906842624 offset=0 ms=375\n"
    "sync\ndrop\n"
    "read name=h2 mode=buffered pattern=seq block=65536 bytes=8388608 "
    "offset=0\n"
    "sync\ndrop\n"
    "read name=h2 mode=buffered pattern=seq block=65536 bytes=8388608 "
    "offset=0\n"
    "sysfs path=/proc/sys/vm/dirty_ratio value=40\n"
    "sync\n"
    "read name=c mode=buffered pattern=seq block=512 offset=0 file=f% "
    "jobs=2\n"
    "sync\ndrop\n"
    "write name=w mode=buffered pattern=seq block=4096 bytes=1048576 "
    "offset=0 file=new create=1 close=1 fsync=1\n"
    "sync\nforget file=new\n"
    "read name=p mode=buffered pattern=random block=1024 bytes=10240 "
    "offset=0 file=new seed=1 slow-us=50\n"
    "walk name=t block=4096 file=usr\n"
    "sync\ndrop\n"
    "frames name=m block=4096 file=f% sound=big output=o count=10 "
    "output-bytes=1000\n"
    "poweroff\n");
  free (job);
  scenario_free (sc);
  sc = load_picked (text, &(struct scenario_pick) { .full = true }, &error);
  assert_non_null (sc);
  assert_int_equal (sc->disk.files[0].bytes, 64 << 20);
  assert_int_equal (sc->disk.files[2].count, 800);
  assert_int_equal (scenario_step_bytes (&sc->steps[5]), 80 << 10);
  scenario_free (sc);
}

/* Two guests on two kernels: what is said for one is not for the other. */
static void
guests_and_kernels (void **state)
{
  static const char text[] = GOOD
    "host = { memory-mib = 256; queue = [\"a=1\"]; };\n"
    "guests = ( { name = \"as\"; elevator = \"as\"; },\n"
    "  { name = \"small\"; memory-mib = 96; queue = [\"b=2\"]; } );\n"
    "kernels = ( \"debian\", { name = \"2.6.0\"; image = \"k/z\"; } );\n"
    "reported = ( { figure = \"a\"; value = 1; guest = \"as\"; },\n"
    "  { figure = \"a\"; value = [2, 4]; guest = \"small\"; } );\n";
  struct scenario *sc = accepted (text);
  char *error, *kernel;

  (void) state;
  assert_int_equal (sc->n_guests, 2);
  assert_int_equal (sc->n_kernels, 2);
  assert_string_equal (sc->guest, "as");
  assert_string_equal (sc->elevator, "as");
  assert_string_equal (sc->kernel, "debian");
  assert_int_equal (sc->machine.memory_mib, 256);
  assert_int_equal (sc->n_reported, 1);
  assert_true (sc->reported[0].value == 1 && sc->reported[0].above == 0);
  scenario_free (sc);
  sc = load_picked (text, &(struct scenario_pick) { .guest = 1, .kernel = 1 },
                    &error);
  assert_non_null (sc);
  assert_string_equal (sc->guest, "small");
  assert_null (sc->elevator);
  assert_int_equal (sc->machine.memory_mib, 96);
  assert_int_equal (sc->queue.n, 2);
  assert_string_equal (sc->kernel_name, "2.6.0");
  kernel = strrchr (sc->kernel, '/') - 1;
  assert_string_equal (kernel, "k/z");
  assert_int_equal (sc->n_reported, 1);
  assert_true (sc->reported[0].value == 3 && sc->reported[0].below == 1 &&
               sc->reported[0].above == 1);
  scenario_free (sc);
}

static void
mistakes (void **state)
{
  static const struct { const char *text, *error; } cases[] = {
    { "name = ;\n", "1: syntax error" },
    { "drive = { profile = \"x\"; };\n", " name is missing" },
    { "nmae = \"s\";\n", "1: nmae: \"s\": unknown key; did you mean name?" },
    { "name = \"a b\";\n",
      "1: name: \"a b\": up to 63 letters, digits, - _ and ." },
    { "name = \"s\";\n", " drive is missing" },
    { "name = 5;\n", "1: name: 5: a string, \"...\"" },
    { "name = \"s\";\ndrive = { };\n", "2: drive: profile is missing" },
    { GOOD "host = { clock = \"virtul\"; };\n",
      "4: host.clock: \"virtul\": \"real\" or \"virtual\"" },
    { GOOD "host = { shift = 11; };\n",
      "4: host.shift: 11: a whole number from 0 to 10" },
    { GOOD "host = { shift = 1; cpu = \"Duron 750\"; };\n",
      "4: host.cpu: \"Duron 750\": either cpu or shift" },
    { GOOD "host = { cpu = \"Durun 750\"; };\n",
      "4: host.cpu: \"Durun 750\": unknown CPU; did you mean Duron?" },
    { GOOD "host = { cpu = \"Duron\"; };\n",
      "4: host.cpu: \"Duron\": a CPU and its clock rate in MHz, "
      "\"Duron 750\"" },
    { GOOD "host = { clock = \"real\"; shift = 2; };\n",
      "4: host.shift: 2: for clock = \"virtual\" only" },
    { GOOD "host = { queue-depth = 4; };\n",
      "4: host.queue-depth: 4: for machine = \"ahci\" only" },
    { GOOD "host = { machine = \"ahci\"; queue-depth = 4; };\n"
      "guests = ( { name = \"a\"; machine = \"ide\"; } );\n",
      "4: host.queue-depth: 4: for machine = \"ahci\" only" },
    { GOOD "host = { shift = 1.5; };\n",
      "4: host.shift: 1.5: a whole number from 0 to 10" },
    { GOOD "host = 1;\n", "4: host: 1: a group, { ... }" },
    { GOOD "reported = ( { figure = \"aa\"; value = 1; } );\n",
      "4: reported[0].figure: \"aa\": no step of that name; "
      "did you mean \"a\"?" },
    { GOOD "reported = ( { figure = \"abcdefgh\"; value = 1; } );\n",
      "4: reported[0].figure: \"abcdefgh\": no step of that name" },
    { GOOD "reported = ( { figure = \"a\"; value = 0; } );\n",
      "4: reported[0].value: 0: a number from 1e-09 to 1e+09" },
    { GOOD "reported = ( { figure = \"a\"; value = 1; unit = \"ms\"; } );\n",
      "4: reported[0].unit: \"ms\": \"MiB/s\", which is what a is measured "
      "in" },
    { GOOD "reported = ( { figure = \"a\"; value = 1; drive = \"x\"; } );\n",
      "4: reported[0].drive: \"x\": the name of one of the drives" },
    { GOOD "reported = ( { figure = \"a\"; value = [1, 0]; } );\n",
      "4: reported[0].value[1]: 0: a number from 1e-09 to 1e+09" },
    { GOOD "reported = ( { figure = \"a\"; value = 1; guest = \"x\"; } );\n",
      "4: reported[0].guest: \"x\": the name of one of the guests" },
    { GOOD "guests = ( { elevator = \"as\"; } );\n",
      "4: guests[0]: name is missing" },
    { GOOD "host = { name = \"a\"; };\n",
      "4: host.name: \"a\": only guests have names" },
    { GOOD "kernels = ( 5 );\n",
      "4: kernels[0]: 5: a name, \"debian\", or a group, "
      "{ name = \"...\"; image = \"...\"; }" },
    { GOOD "kernels = ( );\n", "4: kernels: at least one kernel" },
    { GOOD "disk = { files = ( { name = \"a\"; mib = 1; } ); };\n",
      "4: disk.files: files need a file-system" },
    { GOOD "disk = { file-system = \"ext4\"; };\n",
      "4: disk.file-system: \"ext4\": \"ext2\" or \"ext3\"" },
    { GOOD "disk = { file-system = \"ext2\"; block-bytes = 3000; };\n",
      "4: disk.block-bytes: 3000: 1024, 2048 or 4096" },
    { GOOD "disk = { file-system = \"ext2\"; mount = \"a b\"; };\n",
      "4: disk.mount: \"a b\": words with commas between them" },
    { GOOD "disk = { file-system = \"ext2\";\n"
      "files = ( { name = \"a\"; count = 2; mib = 1; } ); };\n",
      "5: disk.files[0].name: \"a\": must contain {n}, as there are "
      "several" },
    { GOOD "disk = { file-system = \"ext2\";\n"
      "files = ( { name = \"a\"; mib = 1; kib = 1; } ); };\n",
      "5: disk.files[0]: only one of mib, kib and bytes" },
    { GOOD "disk = { file-system = \"ext2\";\n"
      "files = ( { name = \"a\"; mib = 1; layout = \"shuffled\"; } ); };\n",
      "5: disk.files[0].layout: \"shuffled\": \"contiguous\", "
      "\"interleaved\" or \"spread\"" },
    { GOOD "drives = ( );\n", "4: drives: either drive or drives" },
    { "name = \"s\"; drive = { profile = \"p\"; }; steps = ( );\n",
      "1: steps: at least 1 group" },
    { "name = \"s\"; drive = { profile = \"p\"; };\nsteps = (\n"
      STEP ",\n" STEP ");\n", "4: steps[1]: a second step called a" },
  };
  size_t i;

  (void) state;
  for (i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    refused (cases[i].text, cases[i].error);
}

static void
mistakes_in_steps (void **state)
{
  static const struct { const char *step, *error; } cases[] = {
    { "name = \"a\";", ": read is missing" },
    { "name = \"a\"; read = \"direct\"; mib = 1;", ": block-kib is missing" },
    { "name = \"a\"; read = \"direct\"; block-kib = 4;",
      ": mib (or requests) is missing" },
    { "name = \"a\"; read = \"direct\"; block-kib = 4; mib = 1; "
      "requests = 1;", ": either mib or requests" },
    { "name = \"a\"; read = \"direct\"; write = \"direct\"; block-kib = 4; "
      "mib = 1;", ": either read or write" },
    { "name = \"a\"; read = \"direct\"; block-kib = 4; mib = 1; "
      "values = [1];", ": values and stride-mib need a sweep" },
    { "name = \"a\"; read = \"direct\"; block-kib = 4; mib = 1; "
      "sweep = \"readahead\";", ": values is missing" },
    { "name = \"a\"; read = \"direct\"; block-kib = 4; block-bytes = 512;"
      "mib = 1;", ": either block-kib or block-bytes" },
    { "name = \"a\"; read = \"direct\"; hdparm = \"3s\";",
      ": either hdparm or read" },
    { "name = \"a\"; hdparm = \"4s\";",
      ".hdparm: \"4s\": \"3s\" or \"64mib\"" },
    { "name = \"a\"; read = \"buffered\"; block-kib = 4; file = \"x\";",
      ".file: \"x\": disk.file-system is missing" },
    { "name = \"a\"; write = \"buffered\"; block-kib = 4; mib = 1; "
      "close = true;", ": file is missing: create, close and forget are for "
      "files" },
    { "name = \"a\"; hdparm = \"3s\"; also = [\"first\"];",
      ".also[0]: \"first\": only where there are several jobs" },
    { "name = \"a\"; hdparm = \"3s\"; also = [\"last\"];",
      ".also[0]: \"last\": \"first\", \"disk\" or \"disk-ms\"" },
    { "name = \"a\"; walk = \"buffered\"; block-kib = 4;",
      ": file is missing" },
    { "name = \"a\"; walk = \"buffered\"; block-kib = 4; mib = 4;",
      ".mib: 4: a walk step has no such key" },
  };
  char *text, *error;
  size_t i;

  (void) state;
  for (i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    assert_true (asprintf (&text, "name = \"s\"; "
                           "drive = { profile = \"p\"; };\n"
                           "steps = ( { %s } );\n", cases[i].step) > 0);
    assert_true (asprintf (&error, "2: steps[0]%s", cases[i].error) > 0);
    refused (text, error);
    free (text);
    free (error);
  }
}

static void
no_file (void **state)
{
  char *error;

  (void) state;
  assert_null (scenario_load ("/nowhere/x.cfg",
                              &(struct scenario_pick) { .guest = 0 },
                              &error));
  assert_string_equal (error, "/nowhere/x.cfg: No such file or directory");
  free (error);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (the_least),
    cmocka_unit_test (a_sweep_is_unrolled),
    cmocka_unit_test (the_job),
    cmocka_unit_test (job_of_two),
    cmocka_unit_test (files_and_scale),
    cmocka_unit_test (guests_and_kernels),
    cmocka_unit_test (mistakes),
    cmocka_unit_test (mistakes_in_steps),
    cmocka_unit_test (no_file),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
