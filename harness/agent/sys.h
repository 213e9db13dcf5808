// SPDX-License-Identifier: BSD-3-Clause
//
// The i386 system calls the agent uses: numbers, structures and constants as
// every kernel from 2.4 has them (Linux never changes these).  A call gives
// its result, or -errno.

#ifndef AGENT_SYS_H
#define AGENT_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sys_number {
  SYS_EXIT = 1, SYS_FORK = 2, SYS_READ = 3, SYS_WRITE = 4, SYS_OPEN = 5,
  SYS_CLOSE = 6, SYS_WAITPID = 7, SYS_UNLINK = 10, SYS_MKNOD = 14,
  SYS_MOUNT = 21, SYS_SYNC = 36, SYS_RENAME = 38, SYS_MKDIR = 39,
  SYS_PIPE = 42, SYS_UMOUNT2 = 52,
  SYS_IOCTL = 54, SYS_GETTIMEOFDAY = 78, SYS_REBOOT = 88, SYS_MMAP = 90,
  SYS_IOPL = 110, SYS_FSYNC = 118, SYS_UNAME = 122, SYS_INIT_MODULE = 128,
  SYS_LLSEEK = 140, SYS_NANOSLEEP = 162, SYS_PREAD64 = 180,
  SYS_PWRITE64 = 181, SYS_GETDENTS64 = 220, SYS_FADVISE64 = 250,
  SYS_CLOCK_GETTIME = 265, SYS_FINIT_MODULE = 350,
  SYS_CLOCK_GETTIME64 = 403,
};

enum sys_errno {
  SYS_EPERM = 1, SYS_ENOENT = 2, SYS_EIO = 5, SYS_ENXIO = 6, SYS_EEXIST = 17,
  SYS_ENODEV = 19, SYS_ENOTDIR = 20, SYS_EINVAL = 22, SYS_ENOSYS = 38,
  SYS_E2BIG = 7,
};

enum sys_open_flags {
  O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_CREAT = 0100, O_NOCTTY = 0400,
  O_TRUNC = 01000,
  O_DIRECT = 040000, O_LARGEFILE = 0100000,
};

#define IOCTL_TCGETS 0x5401
#define IOCTL_TCSETS 0x5402
#define IOCTL_TCSBRK 0x5409
#define IOCTL_BLKGETSIZE 0x1260
#define IOCTL_BLKFLSBUF 0x1261
#define IOCTL_BLKRASET 0x1262
#define IOCTL_BLKRAGET 0x1263
#define IOCTL_BLKGETSIZE64 0x80041272U  /* sizeof (size_t) of i386 */
#define IOCTL_HDIO_GET_IDENTITY 0x030d
#define IOCTL_BLKDISCARD 0x1277

#define MODE_CHAR 0020600
#define MODE_BLOCK 0060600

/* glibc's two fields of the 32-bit kernel structure. */
struct sys_timespec {
  int32_t sec, nsec;
};

struct sys_utsname {
  char sysname[65], nodename[65], release[65], version[65], machine[65],
    domainname[65];
};

/* One raw call; unused arguments are 0. */
long sys5 (enum sys_number number, long a, long b, long c, long d, long e);

#define sys4(n, a, b, c, d) \
  sys5 (n, (long) (a), (long) (b), (long) (c), (long) (d), 0)
#define sys3(n, a, b, c) sys4 (n, a, b, c, 0)
#define sys2(n, a, b) sys4 (n, a, b, 0, 0)
#define sys1(n, a) sys4 (n, a, 0, 0, 0)
#define sys0(n) sys4 (n, 0, 0, 0, 0)

int sys_open (const char *path, int flags);
void sys_close (int fd);
/* The bytes of a file, or -errno; it is then at its beginning. */
int64_t sys_file_size (int fd);

/* Positioned transfers; a file offset has 64 bits in two registers. */
long sys_pread (int fd, void *buf, size_t bytes, int64_t offset);
long sys_pwrite (int fd, const void *buf, size_t bytes, int64_t offset);

/* Anonymous zeroed memory, or NULL.  Shared: with children, too. */
void *sys_map (size_t bytes);
void *sys_map_shared (size_t bytes);

/* Read a whole small file into buf and end it with NUL.  Gives the length,
 * or -errno; a longer file is -E2BIG. */
long sys_read_file (const char *path, char *buf, size_t size);
/* Write a string to an existing file.  Gives 0 or -errno. */
long sys_write_file (const char *path, const char *text);

void sys_sleep_ns (uint32_t ns);

/* Guest time in ns from an arbitrary start: CLOCK_MONOTONIC, or the wall
 * clock (µs) where a kernel has nothing better. */
int64_t sys_now_ns (void);

/* The processor's time stamp counter, or 0 where it has none. */
int64_t sys_tsc (void);

/* Write one byte to an I/O port. */
void sys_outb (uint16_t port, uint8_t value);

/* Write text to the debug port 0xe9, where QEMU's isa-debugcon has it at
 * once: no driver, and next to no time, is in between. */
void sys_debug (const char *text);

/* A byte of the CMOS memory, which lives as long as the machine does. */
uint8_t sys_cmos_read (uint8_t index);
void sys_cmos_write (uint8_t index, uint8_t value);

#endif
