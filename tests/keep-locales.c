/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For nbdkit with AddressSanitizer preloaded.  On Debian 12 any program that
 * has libp11-kit in it (nbdkit has, by way of GnuTLS) then hangs in exit ()
 * once it has printed %m: glibc's lock around locales is left in disorder,
 * and the library's destructor calls freelocale.  So nothing is freed.
 */
#include <locale.h>

void
freelocale (locale_t locale)
{
  (void) locale;
}
