/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The undo store against a simple idea of a drive with a write cache: a
 * backing that has everything, a medium that has what was destaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "undo.h"

#define SECTORS 48
#define IN_FLIGHT 6
#define SECTOR 512

/* Sectors hold a version number, many times over. */
struct content {
  uint32_t words[SECTOR / 4];
};

struct write {
  uint64_t tag;
  int64_t lba, sectors;
  uint32_t version;
  bool cached;
  bool overtaken[SECTORS];      /* written behind the drive's back since */
};

struct rig {
  struct undo *undo;
  uint64_t tag;
  uint32_t version;
  struct content backing[SECTORS];
  uint32_t medium[SECTORS];
  bool dirty[SECTORS];
  uint32_t cache[SECTORS];
  struct write queue[IN_FLIGHT];
  int queued;
  unsigned seed;
};

static int
pick (struct rig *r, int n)
{
  r->seed = r->seed * 1103515245 + 12345;
  return (int) ((r->seed >> 8) % (unsigned) n);
}

static void
fill (struct content *c, uint32_t version)
{
  for (size_t i = 0; i < SECTOR / 4; i++)
    c->words[i] = version;
}

static int
setup (void **state)
{
  struct rig *r = calloc (1, sizeof *r);

  assert_non_null (r);
  r->undo = undo_new (SECTORS);
  assert_non_null (r->undo);
  *state = r;
  return 0;
}

static int
teardown (void **state)
{
  struct rig *r = *state;

  undo_free (r->undo);
  free (r);
  return 0;
}

static void
submit (struct rig *r, int64_t lba, int64_t sectors, bool cached)
{
  struct write *w = &r->queue[r->queued++];
  struct undo_write *saved;

  assert_true (r->queued <= IN_FLIGHT);
  *w = (struct write) {
    .tag = ++r->tag, .lba = lba, .sectors = sectors,
    .version = ++r->version, .cached = cached,
  };
  saved = undo_write_new (lba, sectors, !cached);
  assert_non_null (saved);
  memcpy (undo_write_old (saved), &r->backing[lba],
          (size_t) sectors * SECTOR);
  undo_pending (r->undo, w->tag, saved);
  for (int64_t s = lba; s < lba + sectors; s++)
    fill (&r->backing[s], w->version);
}

/* The oldest write completes. */
static void
complete (struct rig *r)
{
  struct write *w = &r->queue[0];

  for (int64_t s = w->lba; s < w->lba + w->sectors; s++)
    if (!w->overtaken[s]) {
      r->dirty[s] = w->cached;
      *(w->cached ? &r->cache[s] : &r->medium[s]) = w->version;
    }
  if (w->cached)
    undo_accepted (r->undo, w->tag);
  else
    undo_passed (r->undo, w->tag, w->lba, w->sectors);
  memmove (&r->queue[0], &r->queue[1],
           (size_t) --r->queued * sizeof r->queue[0]);
}

static void
destage (struct rig *r, int64_t lba, int64_t sectors)
{
  for (int64_t s = lba; s < lba + sectors; s++)
    if (r->dirty[s]) {
      r->medium[s] = r->cache[s];
      r->dirty[s] = false;
    }
  undo_destaged (r->undo, lba, sectors);
}

static void
write_behind (struct rig *r, int64_t lba, int64_t sectors)
{
  r->version++;
  for (int64_t s = lba; s < lba + sectors; s++) {
    fill (&r->backing[s], r->version);
    r->medium[s] = r->version;
    r->dirty[s] = false;
    for (int i = 0; i < r->queued; i++)
      r->queue[i].overtaken[s] = true;
  }
  undo_forget (r->undo, lba, sectors);
}

static int
put_back (void *opaque, int64_t lba, const void *old)
{
  struct rig *r = opaque;

  assert_in_range (lba, 0, SECTORS - 1);
  memcpy (&r->backing[lba], old, SECTOR);
  return 0;
}

/* A write that goes through is under way: it has written some sectors. */
static void
stop (struct rig *r, int64_t sectors)
{
  struct write *w = &r->queue[0];

  undo_stopped (r->undo, w->lba, sectors);
  for (int64_t s = w->lba; s < w->lba + sectors; s++)
    if (!w->overtaken[s])
      r->medium[s] = w->version;
}

static int64_t
dirty_sectors (const struct rig *r)
{
  int64_t n = 0;

  for (int64_t s = 0; s < SECTORS; s++)
    n += r->dirty[s];
  return n;
}

/* What the medium has remains. */
static void
cut_power (struct rig *r)
{
  assert_int_equal (undo_accepted_sectors (r->undo), dirty_sectors (r));
  if (r->queued > 0 && !r->queue[0].cached)
    stop (r, pick (r, (int) r->queue[0].sectors));
  assert_int_equal (undo_restore (r->undo, put_back, r), 0);
  assert_int_equal (undo_bytes (r->undo), 0);
  assert_int_equal (undo_accepted_sectors (r->undo), 0);
  for (int64_t s = 0; s < SECTORS; s++) {
    uint32_t version = r->backing[s].words[0];

    for (size_t i = 0; i < SECTOR / 4; i++)
      assert_int_equal (r->backing[s].words[i], version);
    assert_int_equal (version, r->medium[s]);
    r->dirty[s] = false;
  }
  r->queued = 0;
}

static void
nothing_comes_back (void **state)
{
  struct rig *r = *state;

  submit (r, 3, 4, true);
  assert_int_equal (undo_bytes (r->undo), 4 * SECTOR);
  complete (r);
  assert_int_equal (undo_bytes (r->undo), 4 * SECTOR);
  destage (r, 3, 2);
  assert_int_equal (undo_bytes (r->undo), 2 * SECTOR);
  destage (r, 5, 2);
  assert_int_equal (undo_bytes (r->undo), 0);
  cut_power (r);
  assert_int_equal (r->backing[3].words[0], 1);
}

static void
oldest_content_comes_back (void **state)
{
  struct rig *r = *state;

  submit (r, 0, 8, true);
  complete (r);
  destage (r, 0, 8);
  submit (r, 2, 2, true);
  complete (r);
  submit (r, 3, 2, true);
  complete (r);
  assert_int_equal (undo_bytes (r->undo), 3 * SECTOR);
  submit (r, 3, 1, true);
  cut_power (r);
  for (int s = 0; s < 8; s++)
    assert_int_equal (r->backing[s].words[0], 1);
}

/* The newer write is still on its way when the older one is destaged. */
static void
pending_write_keeps_its_own (void **state)
{
  struct rig *r = *state;

  submit (r, 7, 1, true);
  submit (r, 7, 1, true);
  complete (r);
  destage (r, 7, 1);
  assert_int_equal (undo_bytes (r->undo), SECTOR);
  complete (r);
  cut_power (r);
  assert_int_equal (r->backing[7].words[0], 1);
}

static void
writing_through_settles (void **state)
{
  struct rig *r = *state;

  submit (r, 10, 4, true);
  complete (r);
  submit (r, 12, 4, false);
  complete (r);
  assert_int_equal (undo_bytes (r->undo), 2 * SECTOR);
  cut_power (r);
  assert_int_equal (r->backing[11].words[0], 0);
  assert_int_equal (r->backing[12].words[0], 2);
}

static void
written_behind_the_back (void **state)
{
  struct rig *r = *state;

  submit (r, 10, 4, true);
  complete (r);
  submit (r, 10, 4, true);
  write_behind (r, 11, 2);
  complete (r);
  cut_power (r);
  assert_int_equal (r->backing[10].words[0], 0);
  assert_int_equal (r->backing[11].words[0], 3);
}

static void
half_of_a_write_that_goes_through (void **state)
{
  struct rig *r = *state;

  submit (r, 20, 2, true);
  complete (r);
  submit (r, 20, 4, false);
  submit (r, 20, 4, false);
  stop (r, 3);
  assert_int_equal (undo_restore (r->undo, put_back, r), 0);
  for (int s = 20; s < 23; s++)
    assert_int_equal (r->backing[s].words[0], 2);
  assert_int_equal (r->backing[23].words[0], 0);
}

static void
write_that_fails_is_taken_back (void **state)
{
  struct rig *r = *state;
  struct undo_write *w;

  fill (&r->backing[4], 9);
  w = undo_write_new (4, 2, false);
  assert_non_null (w);
  memcpy (undo_write_old (w), &r->backing[4], 2 * SECTOR);
  fill (&r->backing[4], 1);
  fill (&r->backing[5], 1);
  assert_int_equal (undo_write_restore (w, put_back, r), 0);
  assert_int_equal (r->backing[4].words[0], 9);
  assert_int_equal (r->backing[5].words[0], 0);
  undo_write_free (w);
}

static int
fail_second (void *opaque, int64_t lba, const void *old)
{
  int *calls = opaque;

  (void) lba;
  (void) old;
  return ++*calls == 2 ? -1 : 0;
}

static void
restore_can_be_repeated (void **state)
{
  struct rig *r = *state;
  int calls = 0;

  submit (r, 0, 3, true);
  complete (r);
  assert_int_equal (undo_restore (r->undo, fail_second, &calls), -1);
  assert_int_equal (undo_bytes (r->undo), 2 * SECTOR);
  assert_int_equal (undo_restore (r->undo, put_back, r), 0);
  assert_int_equal (undo_bytes (r->undo), 0);
}

static void
anything (void **state)
{
  struct rig *r = *state;

  r->seed = 1;
  for (int i = 0; i < 100000; i++) {
    int64_t lba = pick (r, SECTORS);
    int64_t sectors = 1 + pick (r, (int) (SECTORS - lba));

    switch (pick (r, 8)) {
    case 0: case 1: case 2:
      if (r->queued < IN_FLIGHT)
        submit (r, lba, sectors, pick (r, 4) > 0);
      break;
    case 3: case 4: case 5:
      if (r->queued > 0)
        complete (r);
      break;
    case 6:
      destage (r, lba, sectors);
      break;
    case 7:
      if (pick (r, 10) == 0)
        write_behind (r, lba, sectors);
      if (pick (r, 10) == 0)
        cut_power (r);
      break;
    }
    assert_true (undo_bytes (r->undo) <=
                 (1 + IN_FLIGHT) * SECTORS * SECTOR);
  }
}

int
main (void)
{
#define TEST(f) cmocka_unit_test_setup_teardown (f, setup, teardown)
  const struct CMUnitTest tests[] = {
    TEST (nothing_comes_back),
    TEST (oldest_content_comes_back),
    TEST (pending_write_keeps_its_own),
    TEST (writing_through_settles),
    TEST (written_behind_the_back),
    TEST (half_of_a_write_that_goes_through),
    TEST (write_that_fails_is_taken_back),
    TEST (restore_can_be_repeated),
    TEST (anything),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
