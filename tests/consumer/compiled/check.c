/* SPDX-License-Identifier: Apache-2.0 */
/* Compares calls of karpos.h with plain loops, and refuses wrong ones. Arrays are on the host; "device" as an argument says
 * that kernels reach them. */
#include <karpos.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 5000

static int failures = 0;
static karpos_context context;
static int on_host; /* whether the context's arrays are on the host: handles have copies of them */

static void check(int holds, char const* what, int line) {
  if (holds) return;
  ++failures;
  printf("line %d: %s; last error: %s\n", line, what, karpos_last_error());
}
#define CHECK(condition) check((condition) != 0, #condition, __LINE__)
#define OK(call) CHECK((call) == KARPOS_OK)
/* A call that fails, with words of its message. */
static int refuses(karpos_status got, karpos_status status, char const* words) {
  return got == status && strstr(karpos_last_error(), words) != NULL;
}

static void maps(void) {
  static uint64_t keys[N], found[N];
  static int32_t small_keys[N];
  static float values[N], values_found[N];
  static bool stored[N];
  uint64_t const none = 77, most = UINT64_MAX;
  uint64_t n = 0, i;
  karpos_map map = NULL, small = NULL;
  for (i = 0; i < N; ++i) keys[i] = i / 2 * 1000003, found[i] = i;

  OK(karpos_map_create(context, KARPOS_U64, KARPOS_U64, 10, &map));
  OK(karpos_map_insert(map, N, keys, keys, &n));
  CHECK(n == N / 2);
  OK(karpos_map_size(map, &n));
  CHECK(n == N / 2);
  OK(karpos_map_insert_or_assign(map, 2, keys, found + 8, NULL)); /* key 0 gets 8 or 9 */
  OK(karpos_map_erase(map, 4, keys + 2, &n));                     /* two keys, twice each */
  CHECK(n == 2);
  OK(karpos_map_find(map, N, keys, &none, found));
  for (i = 0; i < N; ++i)
    CHECK(i < 2 ? found[i] == 8 || found[i] == 9 : found[i] == (i < 6 ? none : keys[i]));
  OK(karpos_map_find(map, 3, keys + 1, NULL, found));
  CHECK(found[1] == 0 && found[2] == 0);
  OK(karpos_map_contains(map, N, keys, stored));
  for (i = 0; i < N; ++i) CHECK(stored[i] == (i < 2 || i >= 6));
  CHECK(refuses(karpos_map_retrieve_all(map, 5, found, keys, &n), KARPOS_INVALID_ARGUMENT, "short"));
  OK(karpos_map_retrieve_all(map, N, found, keys, &n));
  CHECK(n == N / 2 - 2);
  for (i = 0; i < n; ++i) CHECK(found[i] % 1000003 == 0 && (found[i] == 0 || found[i] == keys[i]));
  CHECK(refuses(karpos_map_insert(map, 1, &most, keys, NULL), KARPOS_INVALID_ARGUMENT, "sentinel"));
  OK(karpos_map_clear(map));
  OK(karpos_map_size(map, &n));
  CHECK(n == 0);

  for (i = 0; i < N; ++i) small_keys[i] = (int32_t)i - N / 2, values[i] = 0.5f * (float)i;
  OK(karpos_map_create(context, KARPOS_I32, KARPOS_F32, N, &small));
  OK(karpos_map_insert(small, N, small_keys, values, &n)); /* with -1, -2 and -3 */
  CHECK(n == N);
  OK(karpos_map_find(small, N, small_keys, NULL, values_found));
  for (i = 0; i < N; ++i) CHECK(values_found[i] == values[i]);

  CHECK(refuses(karpos_map_insert(map, 2, NULL, keys, NULL), KARPOS_INVALID_ARGUMENT, "null pointer"));
  CHECK(refuses(karpos_map_insert(map, UINT64_MAX, keys, keys, NULL), KARPOS_INVALID_ARGUMENT, "too many"));
  CHECK(refuses(karpos_map_size(map, NULL), KARPOS_INVALID_ARGUMENT, "karpos_map_size: "));
  OK(karpos_map_insert(map, 0, NULL, NULL, &n));
  CHECK(karpos_map_create(context, KARPOS_U32, KARPOS_U32, UINT64_MAX, &map) != KARPOS_OK);
  CHECK(refuses(karpos_map_create(context, KARPOS_F32, KARPOS_U32, 1, &map), KARPOS_INVALID_ARGUMENT, "type"));
  CHECK(refuses(karpos_map_create(context, (karpos_type)9, KARPOS_U32, 1, &map), KARPOS_INVALID_ARGUMENT, "9"));
  CHECK(refuses(karpos_map_create(context, KARPOS_U32, KARPOS_U32, 1, NULL), KARPOS_INVALID_ARGUMENT, "null"));
  CHECK(refuses(karpos_map_create(NULL, KARPOS_U32, KARPOS_U32, 1, &map), KARPOS_INVALID_HANDLE, "null handle"));
  CHECK(refuses(karpos_map_size((karpos_map)context, &n), KARPOS_INVALID_HANDLE, "of another kind"));
  OK(karpos_free(map));
  CHECK(refuses(karpos_free(map), KARPOS_INVALID_HANDLE, "freed"));
  CHECK(refuses(karpos_map_size(map, &n), KARPOS_INVALID_HANDLE, "no map"));
  OK(karpos_free(small));
  OK(karpos_free(NULL));
}

static void reductions(void) {
  enum { GROUPS = 17 };
  static uint32_t keys[N], out_keys[N];
  static double values[N], out[N];
  static int64_t whole[N], out_whole[N];
  static uint64_t counts[N];
  double sums[GROUPS] = {0};
  int64_t least[GROUPS] = {0}, most[GROUPS] = {0};
  uint64_t groups = 0, times[GROUPS] = {0}, i;
  for (i = 0; i < N; ++i) {
    uint32_t const g = (uint32_t)(i * i % GROUPS);
    keys[i] = g, values[i] = (double)i - 1000, whole[i] = (int64_t)(i * 7919 % 4001) - 2000;
    sums[g] += values[i];
    if (times[g] == 0 || whole[i] < least[g]) least[g] = whole[i];
    if (times[g] == 0 || whole[i] > most[g]) most[g] = whole[i];
    ++times[g];
  }
  OK(karpos_reduce_by_key(context, KARPOS_U32, KARPOS_F64, KARPOS_SUM, N, keys, values, GROUPS, out_keys, out, &groups));
  CHECK(groups == 9); /* the squares modulo 17 */
  for (i = 0; i < groups; ++i) CHECK(out[i] == sums[out_keys[i]]);
  OK(karpos_reduce_by_key(context, KARPOS_U32, KARPOS_I64, KARPOS_MIN, N, keys, whole, N, out_keys, out_whole, &groups));
  for (i = 0; i < groups; ++i) CHECK(out_whole[i] == least[out_keys[i]]);
  OK(karpos_reduce_by_key(context, KARPOS_U32, KARPOS_I64, KARPOS_MAX, N, keys, whole, N, out_keys, out_whole, &groups));
  for (i = 0; i < groups; ++i) CHECK(out_whole[i] == most[out_keys[i]]);
  OK(karpos_count_by_key(context, KARPOS_U32, N, keys, N, out_keys, counts, &groups));
  CHECK(groups == 9);
  for (i = 0; i < groups; ++i) CHECK(counts[i] == times[out_keys[i]]);

  CHECK(refuses(karpos_count_by_key(context, KARPOS_U32, N, keys, 3, out_keys, counts, &groups), KARPOS_INVALID_ARGUMENT, "9"));
  CHECK(refuses(karpos_count_by_key(context, KARPOS_U32, N, keys, N, NULL, counts, &groups), KARPOS_INVALID_ARGUMENT, "null"));
  CHECK(refuses(karpos_count_by_key(context, KARPOS_F64, 0, keys, 0, keys, counts, &groups), KARPOS_INVALID_ARGUMENT, "type"));
  CHECK(refuses(karpos_reduce_by_key(context, KARPOS_U32, KARPOS_F64, (karpos_operation)3, N, keys, values, N, out_keys,
                                     out, &groups), KARPOS_INVALID_ARGUMENT, "operation"));
  CHECK(refuses(karpos_count_by_key(context, KARPOS_U32, UINT64_MAX / 2, keys, N, out_keys, counts, &groups),
                KARPOS_INVALID_ARGUMENT, "too many"));
}

static void joins(void) {
  enum { LEFT = 60, RIGHT = 90 };
  static int64_t left[LEFT], right[RIGHT];
  static uint64_t l[LEFT * RIGHT], r[LEFT * RIGHT];
  uint64_t rows = 0, pairs = 0, alone = 0, i, j;
  karpos_join join = NULL;
  for (i = 0; i < LEFT; ++i) left[i] = (int64_t)(i % 20) - 5;
  for (j = 0; j < RIGHT; ++j) right[j] = (int64_t)(j % 11) - 3;
  for (i = 0; i < LEFT; ++i) {
    uint64_t matches = 0;
    for (j = 0; j < RIGHT; ++j) matches += left[i] == right[j];
    pairs += matches, alone += matches == 0;
  }
  OK(karpos_join_create(context, KARPOS_I64, KARPOS_INNER, LEFT, left, RIGHT, right, &join));
  OK(karpos_join_size(join, &rows));
  CHECK(rows == pairs);
  OK(karpos_join_write(join, rows, l, r));
  for (i = 0; i < rows; ++i) {
    CHECK(left[l[i]] == right[r[i]]);
    CHECK(i == 0 || l[i - 1] < l[i] || (l[i - 1] == l[i] && r[i - 1] < r[i])); /* none twice */
  }
  CHECK(refuses(karpos_join_write(join, rows - 1, l, r), KARPOS_INVALID_ARGUMENT, "short"));
  CHECK(refuses(karpos_join_write(join, rows, l, NULL), KARPOS_INVALID_ARGUMENT, "null"));
  OK(karpos_free(join));

  OK(karpos_join_create(context, KARPOS_I64, KARPOS_LEFT, LEFT, left, RIGHT, right, &join));
  OK(karpos_join_size(join, &rows));
  CHECK(rows == pairs + alone);
  OK(karpos_join_write(join, rows, l, r));
  for (i = j = 0; i < rows; ++i) j += r[i] == KARPOS_NO_ROW;
  CHECK(j == alone);
  OK(karpos_join_create(context, KARPOS_I64, KARPOS_LEFT_ANTI, LEFT, left, RIGHT, right, &join));
  OK(karpos_join_size(join, &rows));
  CHECK(rows == alone);
  OK(karpos_join_write(join, rows, l, NULL));
  for (i = 0; i < rows; ++i) CHECK(left[l[i]] < -3 || left[l[i]] > 7);
  OK(karpos_join_create(context, KARPOS_I64, KARPOS_RIGHT_SEMI, LEFT, left, RIGHT, right, &join));
  if (on_host) memset(left, 1, sizeof(left)), memset(right, 2, sizeof(right));
  OK(karpos_join_size(join, &rows));
  CHECK(rows == RIGHT);
  OK(karpos_join_write(join, rows, NULL, r));
  CHECK(r[0] == 0 && r[RIGHT - 1] == RIGHT - 1);
  CHECK(refuses(karpos_join_create(context, KARPOS_I64, (karpos_join_kind)8, 1, left, 1, right, &join),
                KARPOS_INVALID_ARGUMENT, "kind"));
}

/* A grid of SIDE x SIDE vertices, each joined with those beside and below it; one more is alone. */
static void graphs(void) {
  enum { SIDE = 30, VERTICES = SIDE * SIDE + 1, MOST = 4 * VERTICES };
  static uint32_t ids[MOST], parents[VERTICES];
  static uint64_t offsets[VERTICES + 1];
  static int32_t short_offsets[VERTICES + 1], short_ids[MOST], distances[VERTICES];
  static double weights[MOST], paths[VERTICES];
  uint64_t edges = 0, v, i;
  karpos_graph graph = NULL;
  for (v = 0; v < SIDE * SIDE; ++v) {
    int const x = (int)(v % SIDE), y = (int)(v / SIDE);
    offsets[v] = edges;
    if (x > 0) ids[edges] = (uint32_t)v - 1, weights[edges++] = 1.5;
    if (x < SIDE - 1) ids[edges] = (uint32_t)v + 1, weights[edges++] = 1.5;
    if (y > 0) ids[edges] = (uint32_t)v - SIDE, weights[edges++] = 2;
    if (y < SIDE - 1) ids[edges] = (uint32_t)v + SIDE, weights[edges++] = 2;
  }
  offsets[VERTICES - 1] = offsets[VERTICES] = edges;
  for (v = 0; v <= VERTICES; ++v) short_offsets[v] = (int32_t)offsets[v];

  OK(karpos_graph_create(context, KARPOS_U32, KARPOS_U64, true, VERTICES, offsets, edges, ids, &graph));
  OK(karpos_bfs(graph, SIDE + 1, distances, parents));
  for (v = 0; v < SIDE * SIDE; ++v) {
    int const x = (int)(v % SIDE), y = (int)(v / SIDE);
    CHECK(distances[v] == abs(x - 1) + abs(y - 1));
    CHECK(distances[v] == 0 ? parents[v] == v : distances[parents[v]] == distances[v] - 1);
  }
  CHECK(distances[VERTICES - 1] == -1 && parents[VERTICES - 1] == UINT32_MAX);
  CHECK(refuses(karpos_sssp(graph, 0, paths, NULL), KARPOS_INVALID_ARGUMENT, "no weights"));
  OK(karpos_graph_set_weights(graph, KARPOS_F64, weights));
  OK(karpos_sssp(graph, 0, paths, NULL));
  for (v = 0; v < SIDE * SIDE; ++v) CHECK(paths[v] == 1.5 * (double)(v % SIDE) + 2 * (double)(v / SIDE));
  CHECK(paths[VERTICES - 1] > 1e300);
  CHECK(refuses(karpos_bfs(graph, VERTICES, distances, NULL), KARPOS_INVALID_ARGUMENT, "no vertex"));
  CHECK(refuses(karpos_bfs(graph, 0, NULL, NULL), KARPOS_INVALID_ARGUMENT, "distances are missing"));
  for (i = 0; i < edges; ++i) weights[i] = -1;
  CHECK(refuses(karpos_graph_set_weights(graph, KARPOS_F64, weights), KARPOS_INVALID_ARGUMENT, "weight"));
  OK(karpos_free(graph));

  memcpy(short_ids, ids, sizeof(ids));
  OK(karpos_graph_create(context, KARPOS_I32, KARPOS_I32, false, VERTICES, short_offsets, edges, short_ids, &graph));
  for (i = 0; i < edges; ++i) weights[i] = 1;
  OK(karpos_graph_set_weights(graph, KARPOS_F64, weights));
  if (on_host)
    memset(short_offsets, 3, sizeof(short_offsets)), memset(short_ids, 3, sizeof(short_ids)), memset(weights, 3, sizeof(weights));
  OK(karpos_sssp(graph, 0, paths, NULL));
  for (v = 0; v < SIDE * SIDE; ++v) CHECK(paths[v] == (double)(v % SIDE + v / SIDE));
  OK(karpos_bfs(graph, 0, distances, NULL));
  for (v = 0; v < SIDE * SIDE; ++v) CHECK(distances[v] == (int32_t)(v % SIDE + v / SIDE));
  if (!on_host) { /* the search reads this array: the distances of the last two vertices fall for ever */
    weights[edges - 4] = weights[edges - 2] = -1e-9;
    CHECK(refuses(karpos_sssp(graph, 0, paths, NULL), KARPOS_ERROR, "none negative"));
  }
  OK(karpos_free(graph));
  CHECK(refuses(karpos_graph_create(context, KARPOS_U64, KARPOS_U32, false, 1, offsets, 1, ids, &graph),
                KARPOS_INVALID_ARGUMENT, "longer"));
  CHECK(refuses(karpos_graph_create(context, KARPOS_U32, KARPOS_U64, false, UINT64_MAX, offsets, 1, ids, &graph),
                KARPOS_INVALID_ARGUMENT, "too many"));
  ids[3] = VERTICES;
  OK(karpos_graph_create(context, KARPOS_U32, KARPOS_U64, false, VERTICES, offsets, edges, ids, &graph));
  CHECK(refuses(karpos_bfs(graph, 0, distances, NULL), KARPOS_INVALID_ARGUMENT, "edge 3"));
}

static void rankings(void) {
  uint64_t const offsets[] = {0, 4, 7};
  uint32_t const ids[] = {5, 1, 2, 3, 2, 3, 5};
  float const scores[] = {9, 8, 7, 1, 6, 5, 1};
  double const weights[] = {1, 2};
  uint32_t best[8];
  double sums[8];
  uint64_t found = 0;
  OK(karpos_top_k(context, KARPOS_F32, 2, offsets, 0, ids, scores, NULL, 2, best, sums, &found));
  CHECK(found == 2 && best[0] == 2 && sums[0] == 13 && best[1] == 5 && sums[1] == 10);
  OK(karpos_top_k(context, KARPOS_F32, 2, offsets, 6, ids, scores, weights, 8, best, sums, &found));
  CHECK(found == 4 && best[0] == 2 && sums[0] == 19 && best[3] == 1 && sums[3] == 8);
  OK(karpos_top_k(context, KARPOS_F32, 2, offsets, 6, ids, scores, weights, 1, best, NULL, &found));
  CHECK(found == 1 && best[0] == 2);
  CHECK(refuses(karpos_top_k(context, KARPOS_F32, 33, offsets, 6, ids, scores, weights, 1, best, NULL, &found),
                KARPOS_INVALID_ARGUMENT, "at most 32"));
  CHECK(refuses(karpos_top_k(context, KARPOS_I32, 2, offsets, 6, ids, scores, weights, 1, best, NULL, &found),
                KARPOS_INVALID_ARGUMENT, "type"));
  CHECK(refuses(karpos_top_k(context, KARPOS_F32, 2, NULL, 6, ids, scores, weights, 1, best, NULL, &found),
                KARPOS_INVALID_ARGUMENT, "offsets"));
}

int main(int argc, char** argv) {
  karpos_context other = NULL;
  CHECK(refuses(karpos_context_create(KARPOS_HOST_MEMORY, &context), KARPOS_NOT_INITIALIZED, "karpos_initialize"));
  OK(karpos_initialize());
  OK(karpos_initialize());
  CHECK(refuses(karpos_context_create((karpos_memory)2, &context), KARPOS_INVALID_ARGUMENT, "memory"));
  on_host = argc < 2 || strcmp(argv[1], "device") != 0;
  OK(karpos_context_create(on_host ? KARPOS_HOST_MEMORY : KARPOS_DEVICE_MEMORY, &context));
  OK(karpos_context_create(KARPOS_HOST_MEMORY, &other));
  CHECK(other != context);
  maps();
  reductions();
  joins();
  graphs();
  rankings();
  OK(karpos_free(context));
  CHECK(karpos_free(context) == KARPOS_INVALID_HANDLE);
  OK(karpos_finalize()); /* frees the other one */
  CHECK(karpos_finalize() == KARPOS_NOT_INITIALIZED);
  CHECK(refuses(karpos_initialize(), KARPOS_NOT_INITIALIZED, "finalized"));
  CHECK(karpos_free(other) == KARPOS_NOT_INITIALIZED);
  printf("%d failures\n", failures);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
