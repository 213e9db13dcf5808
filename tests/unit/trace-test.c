/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Every reader of traces with good and bad input, and the fuzzer's corpus.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>
#include <zlib.h>

#include "harness/trace-file.h"

#define MS(x) ((int64_t) ((x) * 1000000))
#define CORPUS "tests/fuzz/corpus/trace"

static int
file_of (const void *data, size_t n)
{
  int fd = memfd_create ("trace", MFD_CLOEXEC);

  assert_true (fd != -1);
  assert_int_equal (write (fd, data, n), (ssize_t) n);
  assert_int_equal (lseek (fd, 0, SEEK_SET), 0);
  return fd;
}

static int
read_text (const char *text, const char *device, struct trace_file *t,
           char **error)
{
  return trace_file_read_fd (file_of (text, strlen (text)), "T", NULL,
                             device, t, error);
}

static void
good_of (const char *text, const char *format, const char *device,
         struct trace_file *t)
{
  char *error;

  if (read_text (text, device, t, &error) == -1)
    fail_msg ("%s", error);
  assert_string_equal (t->format, format);
}

static void
good (const char *text, const char *format, struct trace_file *t)
{
  good_of (text, format, NULL, t);
}

static void
bad (const char *text, const char *expected)
{
  struct trace_file t;
  char *error = NULL;

  if (read_text (text, NULL, &t, &error) != -1)
    fail_msg ("accepted instead of: %s", expected);
  assert_non_null (error);
  if (strncmp (error, expected, strlen (expected)) != 0)
    fail_msg ("\"%s\" instead of \"%s\"", error, expected);
  assert_null (strchr (error, '\n'));
  free (error);
}

static void
is (const struct trace_file *t, size_t i, enum disk_op op, int64_t lba,
    int64_t sectors, int64_t arrival_ns, int64_t response_ns,
    int64_t think_ns)
{
  const struct trace_request *q = &t->request[i];

  assert_in_range (i, 0, t->n - 1);
  assert_int_equal (q->op, op);
  assert_int_equal (q->lba, lba);
  assert_int_equal (q->sectors, sectors);
  assert_int_equal (q->arrival_ns, arrival_ns);
  assert_int_equal (q->response_ns, response_ns);
  assert_int_equal (q->think_ns, think_ns);
}

static void
csv (void **state)
{
  struct trace_file t;

  (void) state;
  good ("arrival_ms,lba,blocks,op,measured_response_ms\n"
        "0.000000,2992396,4,R,13.670000\r\n"
        "49.612000,2992400,4,W,0.874000\n\n"
        "50,0,0,F,\n"
        "51,9007199254740993,1,t,1", "csv", &t);
  assert_int_equal (t.n, 4);
  assert_int_equal (t.n_measured, 3);
  assert_int_equal (t.n_overlapping, 1);
  is (&t, 0, DISK_READ, 2992396, 4, 0, MS (13.67), MS (35.942));
  is (&t, 1, DISK_WRITE, 2992400, 4, MS (49.612), MS (0.874), 0);
  is (&t, 2, DISK_FLUSH, 0, 0, MS (50), TRACE_UNKNOWN, MS (1));
  is (&t, 3, DISK_TRIM, INT64_C (9007199254740993), 1, MS (51), MS (1), 0);
  assert_int_equal (t.request[3].line, 6);
  trace_file_free (&t);

  good ("# anything\nthink_us, op, bytes, offset, flags\n"
        "1.5,read,1024,512,\n,WRITE,512,4096,fua\n", "csv", &t);
  assert_false (t.timed);
  is (&t, 0, DISK_READ, 1, 2, 0, TRACE_UNKNOWN, 1500);
  is (&t, 1, DISK_WRITE, 8, 1, 1500, TRACE_UNKNOWN, 0);
  assert_int_equal (t.request[0].flags, 0);
  assert_int_equal (t.request[1].flags, DISK_FUA);
  trace_file_free (&t);
}

static void
times_are_exact (void **state)
{
  struct trace_file t;

  (void) state;
  good ("op,lba,sectors,arrival_s\nr,0,1,0.0000000014999\n"
        "r,0,1,0.0000000015\nr,0,1,99999999.999999999\n", "csv", &t);
  assert_int_equal (t.request[0].arrival_ns, 1);
  assert_int_equal (t.request[1].arrival_ns, 2);
  assert_int_equal (t.request[2].arrival_ns, INT64_C (99999999999999999));
  trace_file_free (&t);
}

static void
csv_refused (void **state)
{
#define H "arrival_ms,lba,sectors,op\n"
  (void) state;
  bad ("", "T:1: trace: is empty");
  bad ("\n \n", "T:3: trace: is empty");
  bad ("what is this", "T:1: trace: what is this: a line that begins");
  bad (H, "T:2: trace: has no request");
  bad ("arival_ms,lba,sectors,op\n",
       "T:1: column: arival_ms: unknown; did you mean arrival_ms?");
  bad ("arrival_ms,lba,op\n", "T:1: columns: sectors, blocks or bytes");
  bad ("lba,offset,sectors,op\n", "T:1: columns: lba or offset, not both");
  bad ("lba,sectors,blocks,op\n",
       "T:1: column: blocks: sectors is there already");
  bad ("lba,sectors,complete_ns,op\n", "T:1: column: complete_ns: with");
  bad ("0.0,1,1,R\n", "T:1: column: 0.0: unknown");
  bad (H "1,2,3\n", "T:2: line: 1: 4 fields");
  bad (H "1,2,3,X\n", "T:2: op: X: read, write");
  bad (H "1,2,3,\n", "T:2: op: : read, write");
  bad (H "1,-2,3,R\n", "T:2: lba: -2: a whole number from 0");
  bad (H "1,+2,3,R\n", "T:2: lba: +2: a whole");
  bad (H "1,0x2,3,R\n", "T:2: lba: 0x2: a whole");
  bad (H "1,,3,R\n", "T:2: place: : a number");
  bad (H "1,2,0,R\n", "T:2: sectors: 0: a whole number from 1");
  bad (H "1,9223372036854775808,1,R\n", "T:2: lba: 9223372036854775808:");
  bad (H "1,18014398509481983,1,R\n", "T:2: request: within");
  bad (H ",2,3,R\n", "T:2: arrival_ms: : a time");
  bad (H "-1,2,3,R\n", "T:2: arrival_ms: -1: milliseconds from 0");
  bad (H "1e3,2,3,R\n", "T:2: arrival_ms: 1e3: milliseconds");
  bad (H ".,2,3,R\n", "T:2: arrival_ms: .: milliseconds");
  bad (H "100000000001,2,3,R\n", "T:2: arrival_ms: 100000000001:");
  bad (H "99999999999999999999999,2,3,R\n", "T:2: arrival_ms: 99999");
  bad (H "2,2,3,R\n1,2,3,R\n", "T:3: arrival: not before the request on "
       "line 2");
  bad ("lba,bytes,op\n1,513,R\n", "T:2: bytes: 513: a multiple of 512");
  bad ("lba,bytes,op\n1,0,R\n", "T:2: bytes: 0: more than 0");
  bad ("lba,bytes,op,flags\n1,512,W,sync\n", "T:2: flags: sync: fua");
#undef H
}

static const char own_header[] =
  "seq,arrival_ns,start_ns,complete_ns,op,lba,sectors,flags,hit,segment,"
  "queue_ns,overhead_ns,actuator_ns,seek_ns,settle_ns,rotation_ns,media_ns,"
  "bus_ns,background,error\n";

static void
own_trace (void **state)
{
  char text[2048];
  struct trace_file t;

  (void) state;
  snprintf (text, sizeof text, "# spindle-trace 1\n# profile=x\n%s%s",
            own_header,
            "2,10,10,70,flush,0,0,,none,-1,0,0,0,0,0,0,0,0,0,0\n"
            "3,50,50,90,read,7,1,,miss,0,0,0,0,0,0,0,0,0,0,5\n"
            "1,0,0,95,write,5,4,fua,through,-1,0,0,0,0,0,0,0,0,2,0\n");
  good (text, "csv", &t);
  assert_int_equal (t.n, 2);    /* one had failed */
  is (&t, 0, DISK_WRITE, 5, 4, 0, 95, 0);
  is (&t, 1, DISK_FLUSH, 0, 0, 10, 60, 0);
  assert_int_equal (t.request[0].flags, DISK_FUA);
  trace_file_free (&t);
  bad ("# spindle-trace 2\n", "T:1: spindle-trace: 2: version 1");
  bad ("seq,arrival_ns,complete_ns,op,lba,sectors\n1,5,4,read,0,1\n",
       "T:2: complete_ns: 4: not before");
  bad ("seq,arrival_ns,complete_ns,op,lba,sectors\nx,5,6,read,0,1\n",
       "T:2: seq: x: a whole number");
}

static void
fio (void **state)
{
  struct trace_file t;

  (void) state;
  good ("fio version 2 iolog\n/d add\n/d open\n/d wait 100 0\n"
        "/d read 4096 8192\n/d wait 150 0\n/d wait 50 0\n"
        "/d write 512 512\n/d sync 512 0\n/d datasync 0 0\n"
        "/d trim 1024 2048\n/d close\n", "fio", &t);
  assert_int_equal (t.n, 5);
  assert_false (t.timed);
  is (&t, 0, DISK_READ, 8, 16, 100000, TRACE_UNKNOWN, 200000);
  is (&t, 1, DISK_WRITE, 1, 1, 300000, TRACE_UNKNOWN, 0);
  is (&t, 2, DISK_FLUSH, 0, 0, 300000, TRACE_UNKNOWN, 0);
  is (&t, 3, DISK_FLUSH, 0, 0, 300000, TRACE_UNKNOWN, 0);
  is (&t, 4, DISK_TRIM, 2, 4, 300000, TRACE_UNKNOWN, 0);
  trace_file_free (&t);

  good ("fio version 3 iolog\n249 /a add\n300 /a open\n"
        "21367 /a write 61440 4096\n21440 /a sync 61440 0\n"
        "21501 /a close\n", "fio", &t);
  assert_true (t.timed);
  is (&t, 0, DISK_WRITE, 120, 8, 21367000, TRACE_UNKNOWN, 73000);
  is (&t, 1, DISK_FLUSH, 0, 0, 21440000, TRACE_UNKNOWN, 0);
  trace_file_free (&t);

  good_of ("fio version 2 iolog\n/a read 0 512\n/b read 512 512\n", "fio",
           "/b", &t);
  assert_int_equal (t.n, 1);
  is (&t, 0, DISK_READ, 1, 1, 0, TRACE_UNKNOWN, 0);
  trace_file_free (&t);
}

static void
fio_refused (void **state)
{
#define V2 "fio version 2 iolog\n"
#define V3 "fio version 3 iolog\n"
  (void) state;
  bad ("fio version 1 iolog\n", "T:1: version: fio version 1 iolog: \"fio");
  bad (V2 "/a\n", "T:2: line: /a: file, action");
  bad (V2 "/a add now\n", "T:2: add: now: nothing after it");
  bad (V2 "/a read 0\n", "T:2: action: read: add, open or close, or");
  bad (V2 "/a reed 0 512\n", "T:2: action: reed: add");
  bad (V2 "/a read 1 512\n", "T:2: offset: 1: a multiple of 512");
  bad (V2 "/a read 0 0\n", "T:2: length: 0: more than 0");
  bad (V2 "/a read 9223372036854775296 1024\n", "T:2: request: within");
  bad (V2 "/a read 0 512\n/b read 0 512\n", "T:3: device: /b: only one");
  bad (V3 "/a read 0 512\n", "T:2: action: 0: add, open or close, or");
  bad (V3 "1 /a wait 5 0\n", "T:2: action: wait: not in version 3");
  bad (V3 "5 /a read 0 512\n4 /a read 0 512\n", "T:3: arrival: not before");
#undef V2
#undef V3
}

static void
blkparse (void **state)
{
  struct trace_file t;

  (void) state;
  good ("  8,0    3        1     0.000000000   697  A   W 2 + 8 <- (8,1) 1\n"
        "  8,0    3        2     0.000001829   697  Q   W 2 + 8 [a b]\n"
        "  8,0    3        4     0.000003000   697  P   N [a]\n"
        "  8,0    3        6     0.000005000   697  U   N [a] 1\n"
        "  8,0    3        7     0.000006000   697  D   W 2 + 8 [k/0:1 H]\n"
        "  8,0    1        1     0.000005500     0  m   N cfq a b c\n"
        "  8,0    3        8     0.000010000     7  D  RM 9 + 8 [x]\n"
        "  8,0    3        9     0.000009000     7  D FWFSM 20 + 8 [x]\n"
        "  8,0    3       10     0.000020000     0  C   W 2 + 8 [0]\n"
        "  8,0    3       11     0.000030000     0  C  RM 9 + 8 [0]\n"
        "  8,0    3       12     0.000040000     0  D  FN [f]\n"
        "  8,0    3       13     0.000050000     0  D   R 36 (12 00) [h]\n"
        "  8,0    3       14     0.000050000     0  D  DS 64 + 128 [t]\n"
        "  8,0    3       15     0.000060000     0  C  FN 0 [0]\n"
        "CPU0 (sda):\n what follows is of no interest\n", "blkparse", &t);
  assert_int_equal (t.n, 6);
  is (&t, 0, DISK_WRITE, 2, 8, 6000, 14000, 0);
  is (&t, 1, DISK_FLUSH, 0, 0, 9000, TRACE_UNKNOWN, 0);
  is (&t, 2, DISK_WRITE, 20, 8, 9000, TRACE_UNKNOWN, 1000);
  is (&t, 3, DISK_READ, 9, 8, 10000, 20000, 10000);
  is (&t, 4, DISK_FLUSH, 0, 0, 40000, 20000, 0);
  is (&t, 5, DISK_TRIM, 64, 128, 50000, TRACE_UNKNOWN, 0);
  assert_int_equal (t.request[1].flags, 0);
  assert_int_equal (t.request[2].flags, DISK_FUA);
  trace_file_free (&t);

  good ("8,0 1 1 0.5 1 Q RM 5 + 8 [a]\n8,0 1 2 0.25 1 Q WS 50 + 16 [a]\n",
        "blkparse", &t);
  assert_int_equal (t.n, 2);
  is (&t, 0, DISK_WRITE, 50, 16, MS (250), TRACE_UNKNOWN, MS (250));
  trace_file_free (&t);

  good_of ("8,0 1 1 0.5 1 Q R 5 + 8 [a]\n8,16 1 2 0.6 1 Q W 50 + 16 [a]\n",
           "blkparse", "8,16", &t);
  assert_int_equal (t.n, 1);
  trace_file_free (&t);
}

static void
blkparse_refused (void **state)
{
  (void) state;
  bad ("8,0 1 1 0.5 1 Q\n", "T:1: line: 8,0: device, CPU");
  bad ("8,0 1 1 0.5 1 Y R 5 + 8 [a]\n", "T:1: action: Y: one of");
  bad ("8,0 1 1 0.5 1 Q Z 5 + 8 [a]\n", "T:1: kind: Z: R, W");
  bad ("8,0 1 1 half 1 Q R 5 + 8 [a]\n", "T:1: time: half: seconds");
  bad ("8,0 1 1 0.5 1 Q R x + 8 [a]\n", "T:1: sector: x: a whole");
  bad ("8,0 1 1 0.5 1 Q R 5 + -8 [a]\n", "T:1: count: -8: a whole");
  bad ("8,0 1 1 0.5 1 Q R 5 + 8 [a]\n8,16 1 2 0.6 1 Q W 5 + 1 [a]\n",
       "T:2: device: 8,16: only one, like 8,0 above");
  bad ("8,0 1 1 0.5 1 Q R 5 + 8 [a]\nhello world\n",
       "T:2: device: hello: like 8,0");
  bad ("8,0 1 1 0.5 1 D R 5 + 8 [a]\n8,0 1 1 0.4 1 C R 5 + 8 [0]\n",
       "T:2: time: 0.4: not before");
}

static void
disksim (void **state)
{
  struct trace_file t;

  (void) state;
  good ("0.000000 0 123456 8 1\n0.25 0 99 16 0\n7 0 1000 1 0x1F\n",
        "disksim", &t);
  assert_int_equal (t.n, 3);
  is (&t, 0, DISK_READ, 123456, 8, 0, TRACE_UNKNOWN, 250000);
  is (&t, 1, DISK_WRITE, 99, 16, 250000, TRACE_UNKNOWN, MS (6.75));
  is (&t, 2, DISK_READ, 1000, 1, MS (7), TRACE_UNKNOWN, 0);
  trace_file_free (&t);

  good ("R Hit 2992396 4 13670 35942\nW Miss 3865568 8 1971.25 29108\n",
        "disksim-validate", &t);
  is (&t, 0, DISK_READ, 2992396, 4, 0, 13670000, 35942000);
  is (&t, 1, DISK_WRITE, 3865568, 8, 49612000, 1971250, 29108000);
  trace_file_free (&t);

  bad ("0 0 1 8\n", "T:1: line: 0: five fields");
  bad ("0 0 1 8 g\n", "T:1: flags: g: a hexadecimal");
  bad ("0 0 1 8 100000001\n", "T:1: flags: 100000001: a hexadecimal");
  bad ("0 0 1 0 1\n", "T:1: size: 0: a whole number from 1");
  bad ("0 0 1 8 1\n1 1 1 8 1\n", "T:2: device: 1: only one");
  bad ("R Hit 1 1 1\n", "T:1: line: R: six fields");
  bad ("R Hit 1 1 1 1\nX Hit 1 1 1 1\n", "T:2: op: X: R or W");
}

static void
no_text (void **state)
{
  static const char nul[] = "lba,sectors,op\n1,1,r\0\n";
  char long_line[5000];
  struct trace_file t;
  char *error;

  (void) state;
  assert_int_equal (trace_file_read_fd (file_of (nul, sizeof nul - 1), "T",
                                        NULL, NULL, &t, &error), -1);
  assert_string_equal (error, "T:2: line: 1,1,r: text, at most 4095 "
                       "characters");
  free (error);
  memset (long_line, 'x', sizeof long_line - 1);
  long_line[sizeof long_line - 1] = '\0';
  bad (long_line, "T:1: line: xxxx");
  bad ("lba,\033[31msectors\n", "T:1: column: ?[31msectors: unknown");
}

static void
gzip (void **state)
{
  static const char text[] = "lba,sectors,op\n1,2,read\n";
  unsigned char packed[256];
  z_stream z = { .next_in = (unsigned char *) text,
                 .avail_in = sizeof text - 1,
                 .next_out = packed, .avail_out = sizeof packed };
  struct trace_file t;
  char *error = NULL;

  (void) state;
  assert_int_equal (deflateInit2 (&z, 9, Z_DEFLATED, 15 + 16, 8,
                                  Z_DEFAULT_STRATEGY), Z_OK);
  assert_int_equal (deflate (&z, Z_FINISH), Z_STREAM_END);
  deflateEnd (&z);
  for (size_t n = z.total_out; n > 2; n--) {
    int r = trace_file_read_fd (file_of (packed, n), "T", NULL, NULL, &t,
                                &error);

    assert_int_equal (r, n == z.total_out ? 0 : -1);
    if (r == 0) {
      is (&t, 0, DISK_READ, 1, 2, 0, TRACE_UNKNOWN, 0);
      trace_file_free (&t);
    }
    else
      free (error);
  }
  packed[z.total_out / 2] ^= 0x55;
  assert_int_equal (trace_file_read_fd (file_of (packed, z.total_out), "T",
                                        NULL, NULL, &t, &error), -1);
  free (error);
}

static void
fits_the_drive (void **state)
{
  struct trace_file t;
  char *error;

  (void) state;
  good ("lba,sectors,op\n95,5,r\n,,f\n1096,5,w\n98,3,r\n", "csv", &t);
  assert_int_equal (trace_file_fit (&t, 100, false, &error), -1);
  assert_string_equal (error, "T:4: request: 1096 + 5: the drive has 100 "
                       "sectors; --wrap folds what is beyond");
  free (error);
  assert_int_equal (trace_file_fit (&t, 100, true, &error), 0);
  assert_int_equal (t.request[0].lba, 95);
  assert_int_equal (t.request[2].lba, 95);
  assert_int_equal (t.request[3].lba, 97);
  assert_int_equal (trace_file_fit (&t, 4, true, &error), -1);
  assert_string_equal (error, "T:2: request: 95 + 5: the drive has 4 "
                       "sectors");
  free (error);
  trace_file_free (&t);
}

static void
no_such_file (void **state)
{
  struct trace_file t;
  char *error;

  (void) state;
  assert_int_equal (trace_file_read ("/no/such", NULL, NULL, &t, &error),
                    -1);
  assert_string_equal (error, "/no/such: No such file or directory");
  free (error);
  assert_int_equal (trace_file_read ("tests", NULL, NULL, &t, &error), -1);
  assert_string_equal (error, "tests:1: cannot read: Is a directory");
  free (error);
}

/* One input of the fuzzer, through every reader. */
static void
try_all (const char *data, size_t n)
{
  for (int i = -1; i == -1 || trace_formats[i]; i++) {
    struct trace_file t;
    char *error = NULL;

    if (trace_file_read_fd (file_of (data, n), "T",
                            i == -1 ? NULL : trace_formats[i], NULL, &t,
                            &error) == 0)
      trace_file_free (&t);
    else
      assert_non_null (error);
    free (error);
  }
}

static void
corpus (void **state)
{
  DIR *dir = opendir (CORPUS);
  struct dirent *e;
  int n = 0;

  (void) state;
  assert_non_null (dir);
  while ((e = readdir (dir)) != NULL) {
    char path[512], data[65536];
    size_t size;
    FILE *fp;

    if (e->d_name[0] == '.')
      continue;
    snprintf (path, sizeof path, "%s/%s", CORPUS, e->d_name);
    fp = fopen (path, "re");
    assert_non_null (fp);
    size = fread (data, 1, sizeof data, fp);
    fclose (fp);
    assert_true (size > 1);
    try_all (data + 1, size - 1);
    n++;
  }
  closedir (dir);
  assert_true (n > 10);
}

int
main (void)
{
  const struct CMUnitTest tests[] = {
    cmocka_unit_test (csv),
    cmocka_unit_test (times_are_exact),
    cmocka_unit_test (csv_refused),
    cmocka_unit_test (own_trace),
    cmocka_unit_test (fio),
    cmocka_unit_test (fio_refused),
    cmocka_unit_test (blkparse),
    cmocka_unit_test (blkparse_refused),
    cmocka_unit_test (disksim),
    cmocka_unit_test (no_text),
    cmocka_unit_test (gzip),
    cmocka_unit_test (fits_the_drive),
    cmocka_unit_test (no_such_file),
    cmocka_unit_test (corpus),
  };

  return cmocka_run_group_tests (tests, NULL, NULL);
}
