/*
 * Licensed under nothing.
 *
 * Sorts numbers.
 */
#include <stdio.h>
#include "mine.h"

/* Sorts in place. */
int sort(int *a, size_t n)
{
  if (n) {
  }
  for (;;) { }
}

static void no(void) {}

struct point {
};
