/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The reverse of loading: what a profile says, in words.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader-impl.h"

static int64_t
fetch (const struct load *load, const struct key *key)
{
  const char *field = (const char *) load + key->offset;

  switch (key->width) {
  case sizeof (bool): return *(const bool *) field;
  case sizeof (uint32_t): return *(const uint32_t *) field;
  case sizeof (int64_t): return *(const int64_t *) field;
  default: abort ();
  }
}

/* n / 10^decimals without zeros at the end. */
static void
print_decimal (FILE *fp, int64_t n, int decimals)
{
  char digits[32];
  int len;

  if (n < 0)
    fputc ('-', fp);
  len = snprintf (digits, sizeof digits, "%0*lld", decimals + 1,
                  n < 0 ? -(long long) n : (long long) n);
  fprintf (fp, "%.*s", len - decimals, digits);
  while (decimals > 0 && digits[len - 1] == '0')
    len--, decimals--;
  if (decimals > 0)
    fprintf (fp, ".%.*s", decimals, digits + len - decimals);
}

static void
print_bus (FILE *fp, int64_t ps_per_byte)
{
  const char *mode = bus_mode_name (ps_per_byte);

  if (mode)
    fputs (mode, fp);
  else
    print_decimal (fp, (1000000000 + ps_per_byte / 2) / ps_per_byte, 3);
}

static void
print_zones (FILE *fp, const struct profile_geometry *g)
{
  for (uint32_t i = 0; i < g->n_zones; i++)
    fprintf (fp, "%s%u x %u", i ? ", " : "", g->zones[i].cylinders,
             g->zones[i].sectors_per_track);
}

static void
print_holes (FILE *fp, const struct profile_geometry *g)
{
  for (uint32_t i = 0; i < g->n_holes; i++)
    fprintf (fp, "%s%u/%lld+%u", i ? ", " : "", g->holes[i].zone,
             (long long) g->holes[i].first, g->holes[i].sectors);
}

static void
print_remaps (FILE *fp, const struct profile_geometry *g)
{
  for (uint32_t i = 0; i < g->n_remaps; i++)
    fprintf (fp, "%s%lld", i ? ", " : "", (long long) g->remaps[i].lba);
}

static void
print_points (FILE *fp, const struct profile_curve *curve)
{
  for (uint32_t i = 0; i < curve->n_points; i++) {
    fprintf (fp, "%s%u ", i ? ", " : "", curve->points[i].cylinders);
    print_decimal (fp, curve->points[i].time_ns, 6);
  }
}

static void
print_number (FILE *fp, const struct load *load, const struct key *key)
{
  int64_t n = fetch (load, key);

  if (key->kind == KEY_SKEW && n == PROFILE_SKEW_AUTO)
    fputs ("auto", fp);
  else if (key->kind == KEY_BUS)
    print_bus (fp, n);
  else
    print_decimal (fp, key->kind == KEY_KIB ? n * 10 / 1024 : n,
                   key_decimals (key->kind));
}

static void
print_value (FILE *fp, const struct load *load, const struct key *key)
{
  const char *field = (const char *) load + key->offset;
  const struct profile_geometry *g = &load->profile.geometry;

  switch (key->kind) {
  case KEY_TEXT:
    fputs (field, fp);
    break;
  case KEY_BOOL:
    fputs (fetch (load, key) ? "true" : "false", fp);
    break;
  case KEY_CHOICE:
    fputs (key->names[fetch (load, key)], fp);
    break;
  case KEY_ZONES:
    print_zones (fp, g);
    break;
  case KEY_HOLES:
    print_holes (fp, g);
    break;
  case KEY_REMAPS:
    print_remaps (fp, g);
    break;
  case KEY_SEEK_TABLE:
    print_points (fp, (const struct profile_curve *) field);
    break;
  case KEY_SOURCES:
    break;
  default:
    print_number (fp, load, key);
  }
}

/* An override has taken the place of what the file says. */
static void
find_origin (const struct load *load, const struct key *key,
             struct profile_value *value)
{
  const config_setting_t *setting = config_lookup (&load->config, key->path);

  value->given = load->origin[key - keys].line ||
    load->origin[key - keys].override;
  if (setting == NULL || load->origin[key - keys].override ||
      key->kind == KEY_SOURCES ||
      config_setting_type (setting) != CONFIG_TYPE_LIST)
    return;
  value->mark = config_setting_get_string_elem (setting, 1);
  value->source = config_setting_get_string_elem (setting, 2);
  if (config_setting_length (setting) == 4)
    value->note = config_setting_get_string_elem (setting, 3);
}

static int
visit_value (const struct load *load, const struct key *key,
             const struct profile_visitor *visitor, void *opaque)
{
  struct profile_value value = { .path = key->path, .text = key->text };
  char *text = NULL;
  size_t size;
  FILE *fp = open_memstream (&text, &size);

  if (fp == NULL)
    return -1;
  print_value (fp, load, key);
  if (fclose (fp) != 0) {
    free (text);
    return -1;
  }
  value.value = text;
  find_origin (load, key, &value);
  visitor->value (opaque, &value);
  free (text);
  return 0;
}

static void
visit_sources (const struct load *load, const struct profile_visitor *visitor,
               void *opaque)
{
  const config_setting_t *list = config_lookup (&load->config, "sources");
  const int n = list ? config_setting_length (list) : 0;

  for (int i = 0; i < n; i++) {
    const config_setting_t *source = config_setting_get_elem (list, i);
    const char *id = NULL, *text = NULL, *url = NULL;

    config_setting_lookup_string (source, "id", &id);
    config_setting_lookup_string (source, "text", &text);
    config_setting_lookup_string (source, "url", &url);
    visitor->source (opaque, id, text, url);
  }
}

int
profile_describe (const char *name_or_path, const char *const *overrides,
                  size_t n_overrides, struct profile *profile,
                  const struct profile_visitor *visitor, void *opaque,
                  char **error)
{
  struct load *load = load_new (name_or_path, overrides, n_overrides, error);
  int r = 0;

  if (load == NULL)
    return -1;
  if (profile)
    *profile = load->profile;
  for (size_t i = 0; visitor->value && i < n_keys && r == 0; i++)
    if (keys[i].kind != KEY_SOURCES)
      r = visit_value (load, &keys[i], visitor, opaque);
  if (r == 0 && visitor->source)
    visit_sources (load, visitor, opaque);
  load_free (load);
  return r;
}
