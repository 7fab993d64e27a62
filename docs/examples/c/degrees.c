/* SPDX-License-Identifier: Apache-2.0 */
/* Counts how often each id occurs, and looks some ids up in a map. */
#include <inttypes.h>
#include <karpos.h>
#include <stdio.h>
#include <stdlib.h>

static void require(karpos_status status) {
  if (status == KARPOS_OK) return;
  fprintf(stderr, "%s\n", karpos_last_error());
  exit(EXIT_FAILURE);
}

int main(void) {
  uint64_t const ids[] = {7, 1000000007, 7, 42, 42, 99, 7, 1000000007, 5};
  uint64_t const asked[] = {7, 42, 8};
  uint64_t const none = 0;
  uint64_t different[9], counts[9], found[3], n = 0;
  karpos_context context;
  karpos_map map;

  require(karpos_initialize());
  require(karpos_context_create(KARPOS_HOST_MEMORY, &context));
  require(karpos_count_by_key(context, KARPOS_U64, 9, ids, 9, different, counts, &n));

  require(karpos_map_create(context, KARPOS_U64, KARPOS_U64, n, &map));
  require(karpos_map_insert(map, n, different, counts, NULL));
  require(karpos_map_find(map, 3, asked, &none, found));
  printf("%" PRIu64 " ids; 7 occurs %" PRIu64 " times, 42 %" PRIu64 " times, 8 %" PRIu64 " times\n", n, found[0],
         found[1], found[2]);

  require(karpos_finalize()); /* frees map and context */
  return n == 5 && found[0] == 3 && found[1] == 2 && found[2] == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
