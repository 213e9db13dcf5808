// SPDX-License-Identifier: BSD-3-Clause
//
// Entry point and system calls.

#include "sys.h"

/* The kernel starts the program with argc at the stack pointer and no return
 * address; the C code wants an aligned stack. */
__asm__ (".text\n"
         ".global _start\n"
         "_start:\n"
         "  xorl %ebp, %ebp\n"
         "  andl $-16, %esp\n"
         "  call agent_main\n"
         "1: hlt\n"
         "  jmp 1b\n");

long
sys5 (enum sys_number number, long a, long b, long c, long d, long e)
{
  long result;

  __asm__ volatile ("int $0x80"
                    : "=a" (result)
                    : "a" (number), "b" (a), "c" (b), "d" (c), "S" (d),
                      "D" (e)
                    : "memory", "cc");
  return result;
}

int
sys_open (const char *path, int flags)
{
  return sys3 (SYS_OPEN, path, flags | O_LARGEFILE, 0644);
}

void
sys_close (int fd)
{
  sys1 (SYS_CLOSE, fd);
}

int64_t
sys_file_size (int fd)
{
  enum { SEEK_SET, SEEK_END = 2 };
  int64_t size = 0, start;
  long error = sys5 (SYS_LLSEEK, fd, 0, 0, (long) &size, SEEK_END);

  sys5 (SYS_LLSEEK, fd, 0, 0, (long) &start, SEEK_SET);
  return error < 0 ? error : size;
}

long
sys_pread (int fd, void *buf, size_t bytes, int64_t offset)
{
  return sys5 (SYS_PREAD64, fd, (long) buf, bytes, (long) offset,
               (long) (offset >> 32));
}

long
sys_pwrite (int fd, const void *buf, size_t bytes, int64_t offset)
{
  return sys5 (SYS_PWRITE64, fd, (long) buf, bytes, (long) offset,
               (long) (offset >> 32));
}

static void *
map (size_t bytes, uint32_t flags)
{
  /* The oldest mmap takes its six arguments from memory: address, length,
   * PROT_READ | PROT_WRITE, flags, fd, offset. */
  uint32_t args[6] = { 0, bytes, 3, flags, (uint32_t) -1, 0 };
  unsigned long result = sys1 (SYS_MMAP, args);

  return result > -4096UL ? NULL : (void *) result;
}

void *
sys_map (size_t bytes)
{
  return map (bytes, 0x22);     /* MAP_PRIVATE | MAP_ANONYMOUS */
}

void *
sys_map_shared (size_t bytes)
{
  return map (bytes, 0x21);     /* MAP_SHARED | MAP_ANONYMOUS */
}

long
sys_read_file (const char *path, char *buf, size_t size)
{
  size_t done = 0;
  int fd = sys_open (path, O_RDONLY);

  if (fd < 0)
    return fd;
  while (done < size) {
    long n = sys3 (SYS_READ, fd, buf + done, size - done);

    if (n <= 0) {
      sys_close (fd);
      buf[done] = '\0';
      return n < 0 ? n : (long) done;
    }
    done += n;
  }
  sys_close (fd);
  return -SYS_E2BIG;
}

long
sys_write_file (const char *path, const char *text)
{
  size_t bytes = 0;
  int fd = sys_open (path, O_WRONLY | O_TRUNC);
  long n;

  if (fd < 0)
    return fd;
  while (text[bytes] != '\0')
    bytes++;
  n = sys3 (SYS_WRITE, fd, text, bytes);
  sys_close (fd);
  return n < 0 ? n : 0;
}

void
sys_sleep_ns (uint32_t ns)
{
  struct sys_timespec ts = { .sec = 0, .nsec = ns };

  sys2 (SYS_NANOSLEEP, &ts, NULL);
}

int64_t
sys_now_ns (void)
{
  enum { MONOTONIC = 1 };
  static enum sys_number works = SYS_CLOCK_GETTIME;
  union {
    struct sys_timespec ts;
    struct { int64_t sec, nsec; } ts64;
    struct { int32_t sec, usec; } tv;
  } t = { .ts64 = { 0, 0 } };

  /* A kernel that lacks a call says so at the first use, for good. */
  if (works == SYS_CLOCK_GETTIME) {
    if (sys2 (SYS_CLOCK_GETTIME, MONOTONIC, &t) == 0)
      return t.ts.sec * 1000000000LL + t.ts.nsec;
    works = SYS_CLOCK_GETTIME64;
  }
  if (works == SYS_CLOCK_GETTIME64) {
    if (sys2 (SYS_CLOCK_GETTIME64, MONOTONIC, &t) == 0)
      return t.ts64.sec * 1000000000LL + t.ts64.nsec;
    works = SYS_GETTIMEOFDAY;
  }
  sys2 (SYS_GETTIMEOFDAY, &t, NULL);
  return t.tv.sec * 1000000000LL + t.tv.usec * 1000LL;
}

int64_t
sys_tsc (void)
{
  uint32_t a = 1, b, c = 0, d, lo, hi;

  __asm__ volatile ("cpuid" : "+a" (a), "=b" (b), "+c" (c), "=d" (d));
  if ((d & 0x10) == 0)
    return 0;
  __asm__ volatile ("rdtsc" : "=a" (lo), "=d" (hi));
  return (int64_t) hi << 32 | lo;
}

void
sys_outb (uint16_t port, uint8_t value)
{
  if (sys1 (SYS_IOPL, 3) == 0)
    __asm__ volatile ("outb %0, %1" : : "a" (value), "Nd" (port));
}

void
sys_debug (const char *text)
{
  uint32_t length = 0;

  while (text[length] != '\0')
    length++;
  if (sys1 (SYS_IOPL, 3) == 0)
    __asm__ volatile ("rep outsb" : "+S" (text), "+c" (length)
                      : "d" (0xe9) : "memory", "cc");
}

/* The clock's driver uses the same two ports: look whether it came between. */
uint8_t
sys_cmos_read (uint8_t index)
{
  uint8_t value, again;

  if (sys1 (SYS_IOPL, 3) < 0)
    return 0;
  do {
    __asm__ volatile ("outb %1, $0x70; inb $0x71, %0"
                      : "=a" (value) : "0" (index));
    __asm__ volatile ("outb %1, $0x70; inb $0x71, %0"
                      : "=a" (again) : "0" (index));
  } while (value != again);
  return value;
}

void
sys_cmos_write (uint8_t index, uint8_t value)
{
  while (sys1 (SYS_IOPL, 3) == 0 && sys_cmos_read (index) != value) {
    sys_outb (0x70, index);
    sys_outb (0x71, value);
  }
}
