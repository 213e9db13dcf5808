// SPDX-License-Identifier: BSD-3-Clause

#include "job.h"
#include "text.h"

static void
cut_pair (struct step *step, char *word)
{
  char *value = word;

  while (*value != '\0' && *value != '=')
    value++;
  if (*value == '\0' || step->n_keys == STEP_KEYS) {
    step->problem = *value == '\0' ? "a word is not key=value"
                                   : "too many words";
    return;
  }
  *value++ = '\0';
  step->keys[step->n_keys].key = word;
  step->keys[step->n_keys].value = value;
  step->keys[step->n_keys].used = false;
  step->n_keys++;
}

bool
step_parse (struct step *step, const char *line)
{
  char *next = step->words, *word;

  step->problem = NULL;
  step->n_keys = 0;
  text_copy (step->text, sizeof step->text, line);
  if (!text_copy (step->words, sizeof step->words, line))
    step->problem = "line too long";
  step->verb = text_word (&next);
  if (step->verb == NULL || step->verb[0] == '#')
    return false;
  while ((word = text_word (&next)) != NULL && word[0] != '#')
    cut_pair (step, word);
  return true;
}

const char *
step_text (struct step *step, const char *key)
{
  for (int i = 0; i < step->n_keys; i++)
    if (text_equal (step->keys[i].key, key)) {
      step->keys[i].used = true;
      return step->keys[i].value;
    }
  return NULL;
}

int64_t
step_number (struct step *step, const char *key, int64_t fallback,
             int64_t min, int64_t max)
{
  const char *text = step_text (step, key);
  int64_t value = fallback;

  if (text != NULL && !text_number (text, &value))
    step->problem = "a value is not a number";
  else if (text == NULL && fallback < min)
    step->problem = "a key is missing";
  else if (value < min || value > max)
    step->problem = "a number is out of range";
  return value;
}

int
step_choice (struct step *step, const char *key, const char *const *choices,
             int fallback)
{
  const char *text = step_text (step, key);

  if (text == NULL) {
    if (fallback == -1)
      step->problem = "a key is missing";
    return fallback;
  }
  for (int i = 0; choices[i] != NULL; i++)
    if (text_equal (text, choices[i]))
      return i;
  step->problem = "a value is none of its choices";
  return fallback;
}

void
step_check_unknown (struct step *step)
{
  for (int i = 0; i < step->n_keys && step->problem == NULL; i++)
    if (!step->keys[i].used)
      step->problem = "a key is unknown or given twice";
}
