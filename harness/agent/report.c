// SPDX-License-Identifier: BSD-3-Clause

#include "report.h"
#include "sys.h"
#include "text.h"

/* Standard output until a console is opened: the kernel gives init one. */
static int console_fd = 1;
static bool any_error;
static char line[8192];
static size_t line_bytes;

long
report_open (const char *path)
{
  enum { OPOST = 1, TERMIOS_BYTES = 64 };
  uint32_t termios[TERMIOS_BYTES / 4];
  int fd = sys_open (path, O_WRONLY | O_NOCTTY);

  if (fd < 0)
    return fd;
  /* A line feed shall stay one byte: word 1 of struct termios is c_oflag. */
  if (sys3 (SYS_IOCTL, fd, IOCTL_TCGETS, termios) == 0) {
    termios[1] &= ~(uint32_t) OPOST;
    sys3 (SYS_IOCTL, fd, IOCTL_TCSETS, termios);
  }
  console_fd = fd;
  /* What the firmware or the kernel printed last may lack its line feed. */
  sys3 (SYS_WRITE, fd, "\n", 1);
  return 0;
}

static void
put (char c)
{
  if (line_bytes < sizeof line)
    line[line_bytes++] = c;
}

static void
put_raw (const char *s)
{
  while (*s != '\0')
    put (*s++);
}

static void
put_string (const char *s)
{
  static const char hex[] = "0123456789abcdef";

  put ('"');
  for (; *s != '\0'; s++) {
    unsigned char c = *s;

    if (c == '"' || c == '\\')
      put ('\\');
    /* Bytes of no known encoding are shown as Latin-1. */
    if (c >= 0x20 && c < 0x7f)
      put (c);
    else {
      put_raw ("\\u00");
      put (hex[c >> 4]);
      put (hex[c & 15]);
    }
  }
  put ('"');
}

static void
put_key (const char *key)
{
  put (',');
  put_string (key);
  put (':');
}

void
report_begin (const char *event)
{
  line_bytes = 0;
  put_raw ("@spindle {\"event\":");
  put_string (event);
}

void
report_text (const char *key, const char *value)
{
  put_key (key);
  put_string (value);
}

void
report_number (const char *key, int64_t value)
{
  char buf[TEXT_DIGITS];

  put_key (key);
  put_raw (text_decimal (value, buf));
}

void
report_flag (const char *key, bool value)
{
  put_key (key);
  put_raw (value ? "true" : "false");
}

void
report_end (void)
{
  size_t done = 0;

  put_raw ("}\n");
  while (done < line_bytes) {
    long n = sys3 (SYS_WRITE, console_fd, line + done, line_bytes - done);

    if (n <= 0)
      break;
    done += n;
  }
}

static void
report_problem (const char *event, const char *step, long errno_value,
                const char *why)
{
  report_begin (event);
  report_text ("step", step);
  report_number ("errno", errno_value);
  if (why != NULL)
    report_text ("why", why);
  report_end ();
}

void
report_error (const char *step, long errno_value, const char *why)
{
  any_error = true;
  report_problem ("error", step, errno_value, why);
}

void
report_warning (const char *step, long errno_value, const char *why)
{
  report_problem ("warning", step, errno_value, why);
}

bool
report_failed (void)
{
  return any_error;
}

void
report_drain (void)
{
  sys3 (SYS_IOCTL, console_fd, IOCTL_TCSBRK, 1);
}
