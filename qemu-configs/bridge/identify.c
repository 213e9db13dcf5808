/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qemu-configs/bridge/drive.h"
#include "qemu-configs/bridge/identify.h"
#include "qemu-configs/bridge/qemu.h"
#include "qemu-configs/bridge/report.h"

#define WORDS 256
#define IDENTIFY_SIZE (WORDS * 2)
#define MODEL_WORD 27
#define MODEL_SIZE 40
#define MAX_MODELS 8
#define MAX_COPIES 16

/* Every millisecond at first, then every ten: the BIOS asks within 50 ms,
 * a kernel booted without one later.
 */
#define FINE_NS INT64_C (1000000)
#define FINE_UNTIL_NS INT64_C (100000000)
#define COARSE_NS INT64_C (10000000)
#define LIMIT_NS INT64_C (3000000000)
/* The BIOS asks several drives one after the other. */
#define SEVERAL_NS INT64_C (50000000)

#define CHUNK_SIZE (1 << 20)

/* word = (word & keep) | set */
struct model {
  char name[MODEL_SIZE];        /* bytes swapped, as in the block */
  uint16_t keep[WORDS], set[WORDS];
};

static struct model models[MAX_MODELS];
static size_t nr_models;

static struct copy {
  uintptr_t address;
  const struct model *model;
} copies[MAX_COPIES];
static size_t nr_copies;

static union qemu_timer timer;
static int mem_fd = -1;
static char chunk[CHUNK_SIZE];  /* what is being looked through */

static struct model *
add_model (const char *name)
{
  struct model *m = &models[nr_models];
  const size_t length = strlen (name);
  size_t i;

  if (nr_models == MAX_MODELS)
    bridge_fatal ("SPINDLE_IDENTIFY: more than %d models", MAX_MODELS);
  if (length == 0 || length > MODEL_SIZE)
    bridge_fatal ("SPINDLE_IDENTIFY: model '%s': 1 to %d characters", name,
                  MODEL_SIZE);
  nr_models++;
  for (i = 0; i < MODEL_SIZE; i++)
    m->name[i ^ 1] = i < length ? name[i] : ' ';
  for (i = 0; i < WORDS; i++)
    m->keep[i] = 0xffff;
  return m;
}

/* "wN=V", "wN&=V" or "wN|=V". */
static void
add_word (struct model *m, const char *item)
{
  const char *p = item;
  unsigned long word, value;
  char *end, op;

  word = *p++ == 'w' ? strtoul (p, &end, 10) : WORDS;
  if (m == NULL || word >= WORDS || end == p)
    goto wrong;
  op = *end;
  if (op == '&' || op == '|')
    end++;
  if (*end++ != '=')
    goto wrong;
  p = end;
  errno = 0;
  value = strtoul (p, &end, 0);
  if (errno != 0 || end == p || *end != '\0' || value > 0xffff)
    goto wrong;
  if (op != '|')
    m->keep[word] &= op == '&' ? value : 0;
  if (op != '&')
    m->set[word] |= value;
  m->set[word] &= op == '&' ? value : 0xffff;
  return;

 wrong:
  bridge_fatal ("SPINDLE_IDENTIFY: '%s': wN=V, wN&=V or wN|=V after a model=,"
                " N at most 255, V at most 0xffff", item);
}

void
identify_configure (const char *config)
{
  char *copy = strdup (config), *item, *save = NULL;
  struct model *m = NULL;

  if (copy == NULL)
    bridge_fatal ("out of memory");
  for (item = strtok_r (copy, ";", &save); item != NULL;
       item = strtok_r (NULL, ";", &save)) {
    if (strncmp (item, "model=", 6) == 0)
      m = add_model (item + 6);
    else
      add_word (m, item);
  }
  free (copy);
}

/* Through /proc/self/mem a wrong address is an error, not a crash. */
static bool
peek (uintptr_t address, void *buf, size_t size)
{
  return pread (mem_fd, buf, size, address) == (ssize_t) size;
}

/* A disk's block: word 0 says ATA device, the model stands where it must. */
static bool
is_block_of (const uint16_t *block, const struct model *m)
{
  return (block[0] & 0x8000) == 0 && block[0] != 0 &&
    memcmp (block + MODEL_WORD, m->name, MODEL_SIZE) == 0;
}

/* Word 255: if there is a checksum keep it right. */
static void
fix_checksum (uint16_t *block)
{
  const unsigned char *bytes = (const unsigned char *) block;
  unsigned char sum = 0;
  size_t i;

  if ((block[255] & 0xff) != 0xa5)
    return;
  for (i = 0; i < IDENTIFY_SIZE - 1; i++)
    sum += bytes[i];
  block[255] = (uint16_t) ((unsigned char) -sum << 8) | 0xa5;
}

static bool
poke (uintptr_t address, const void *buf, size_t size)
{
  return pwrite (mem_fd, buf, size, address) == (ssize_t) size;
}

static bool
patch (const struct copy *copy)
{
  uint16_t block[WORDS], wanted[WORDS];
  size_t i;

  if (!peek (copy->address, block, sizeof block) ||
      !is_block_of (block, copy->model))
    return false;
  for (i = 0; i < WORDS; i++)
    wanted[i] = (block[i] & copy->model->keep[i]) | copy->model->set[i];
  fix_checksum (wanted);
  for (i = 0; i < WORDS; i++)
    if (wanted[i] != block[i] &&
        !poke (copy->address + i * 2, &wanted[i], sizeof wanted[i]))
      return false;
  return true;
}

static void
found (uintptr_t address, const struct model *m)
{
  const struct copy copy = { .address = address, .model = m };

  if (nr_copies < MAX_COPIES && patch (&copy))
    copies[nr_copies++] = copy;
}

/* chunk holds size bytes from address. */
static void
scan_chunk (size_t size, uintptr_t address)
{
  const size_t lead = MODEL_WORD * 2;
  const char *p;
  size_t i, offset;

  for (i = 0; i < nr_models; i++)
    for (offset = lead; offset + MODEL_SIZE <= size;
         offset = p - chunk + 1) {
      p = memmem (chunk + offset, size - offset, models[i].name, MODEL_SIZE);
      if (p == NULL)
        break;
      found (address + (p - chunk) - lead, &models[i]);
    }
}

/* Chunks overlap by a block, so that none is cut. */
static void
scan_mapping (uintptr_t from, uintptr_t to)
{
  uintptr_t p;
  size_t n;

  for (p = from; p + IDENTIFY_SIZE <= to; p += CHUNK_SIZE - IDENTIFY_SIZE) {
    n = to - p < CHUNK_SIZE ? to - p : CHUNK_SIZE;
    if (peek (p, chunk, n))
      scan_chunk (n, p);
  }
}

/* The drive is an object that QEMU's main thread has allocated, small
 * enough for the C library to take it from the heap proper.  Guest memory,
 * stacks and buffers are elsewhere.
 */
static void
scan (void)
{
  FILE *maps = fopen ("/proc/self/maps", "re");
  char line[512];
  uintptr_t from, to;

  nr_copies = 0;
  if (maps == NULL)
    return;
  while (fgets (line, sizeof line, maps) != NULL)
    if (strstr (line, "[heap]") != NULL &&
        sscanf (line, "%" SCNxPTR "-%" SCNxPTR, &from, &to) == 2)
      scan_mapping (from, to);
  fclose (maps);
}

static void
arm (int64_t now_ns)
{
  const int64_t step_ns = now_ns < FINE_UNTIL_NS ? FINE_NS : COARSE_NS;

  qemu.timer_mod (&timer, (now_ns / step_ns + 1) * step_ns);
}

/* Has every model been found? */
static bool
found_all (void)
{
  const struct model *m;
  size_t i;

  for (m = models; m < models + nr_models; m++) {
    for (i = 0; i < nr_copies && copies[i].model != m; i++)
      ;
    if (i == nr_copies)
      return false;
  }
  return true;
}

static void
look (void *opaque)
{
  const int64_t now_ns = qemu_now_ns ();

  (void) opaque;
  scan ();
  report.copies = nr_copies;
  if (!report.patched && found_all ()) {
    report.patched = true;
    report.patched_ns = now_ns;
  }
  if (report.patched ? now_ns < report.patched_ns + SEVERAL_NS &&
      drives_several () : now_ns < LIMIT_NS)
    arm (now_ns);
}

void
identify_start (void)
{
  if (nr_models == 0 || mem_fd != -1)
    return;
  mem_fd = open ("/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (mem_fd == -1)
    bridge_fatal ("/proc/self/mem: %m");
  qemu_timer_init (&timer, look, NULL);
  arm (0);
}

void
identify_check (void)
{
  size_t i;

  for (i = 0; i < nr_copies; i++)
    patch (&copies[i]);
}
