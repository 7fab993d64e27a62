/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KARPOS_H
#define KARPOS_H

#include <stdbool.h>
#include <stdint.h>

/* C interface of Karpos: bulk calls on arrays, as karpos/compiled.hpp has them for C++.
 * docs/compiled.md has examples in C and Fortran.
 *
 * - Every function but karpos_last_error returns a status. Unless it is KARPOS_OK,
 *   karpos_last_error returns a sentence, and results are unspecified unless the call's comment
 *   says what they are. No exception leaves a call. Calls block until their work is done.
 * - Handles are opaque. karpos_free frees any of them, in any order; a freed handle is refused.
 *   NULL is no handle.
 * - Arrays lie in the memory that the context was made for. KARPOS_HOST_MEMORY: on the host;
 *   calls copy them to and from a GPU. KARPOS_DEVICE_MEMORY: where Kokkos' default execution space
 *   reaches them, such as the memory of a GPU; nothing is copied. Single values, such as *inserted,
 *   are always on the host, and so are small arrays if the call's comment says so. Outputs overlap
 *   no other array.
 * - Sizes come before arrays, in elements. An array of 0 elements may be NULL.
 * - An array of void is of the type that a karpos_type names.
 * - All contexts work on the default instance of Kokkos' default execution space (on a GPU: its
 *   stream), which orders earlier work there before a call. Calls must not run concurrently. */

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  KARPOS_OK = 0,
  KARPOS_INVALID_ARGUMENT = 1, /* a wrong size, number, pointer, graph or weight; too much data */
  KARPOS_INVALID_HANDLE = 2,   /* NULL, freed, or of another kind */
  KARPOS_NOT_INITIALIZED = 3,  /* before karpos_initialize, or after the end of Kokkos */
  KARPOS_OUT_OF_MEMORY = 4,
  KARPOS_CAPACITY = 5, /* a map that has grown to 16 slots a key has no slot for some keys of an
                          insertion, because their hashes crowd; all other keys are stored */
  KARPOS_RANGE = 6,    /* a result does not fit its type */
  KARPOS_ERROR = 7     /* any other, such as a bfs or sssp that finds its arrays changed */
} karpos_status;

typedef enum {
  KARPOS_U32 = 0,
  KARPOS_I32 = 1,
  KARPOS_U64 = 2,
  KARPOS_I64 = 3,
  KARPOS_F32 = 4,
  KARPOS_F64 = 5
} karpos_type;

typedef enum { KARPOS_HOST_MEMORY = 0, KARPOS_DEVICE_MEMORY = 1 } karpos_memory;

/* Returns the sentence of the calling thread's last failure, or "". It is valid until the
 * thread's next failure. */
char const* karpos_last_error(void);

/* Initialises Kokkos, unless the program has. A second call before karpos_finalize does
 * nothing. */
karpos_status karpos_initialize(void);
/* Frees all handles, and finalises Kokkos if karpos_initialize has initialised it; it cannot be
 * initialised again then. If the program finalises Kokkos itself, that frees all handles, too.
 * After either, karpos_finalize and karpos_free of a handle return KARPOS_NOT_INITIALIZED. */
karpos_status karpos_finalize(void);

typedef struct karpos_context_handle* karpos_context;
/* Makes a context, which says where arrays lie. */
karpos_status karpos_context_create(karpos_memory memory, karpos_context* context);
/* Frees a handle. Maps, joins and graphs stay valid when their context is freed. NULL: does
 * nothing. */
karpos_status karpos_free(void const* handle);

/* Maps. Keys are integers, values any karpos_type. A map grows. Keys that cannot be stored: the
 * two largest of the type; with KARPOS_U64 also UINT64_MAX - 2, with KARPOS_I64 also -3. Keys of
 * 4 bytes with values of 8 may be any. Inserting a key that cannot be stored is an invalid
 * argument; all other keys of the call are stored then. */
typedef struct karpos_map_handle* karpos_map;
/* Makes an empty map, with memory for max_keys keys. */
karpos_status karpos_map_create(karpos_context context, karpos_type key, karpos_type value,
                                uint64_t max_keys, karpos_map* map);
/* Inserts pairs whose key is new. If keys of one call are equal, one of their pairs is inserted; it
 * is unspecified which. *inserted (may be NULL): how many were. */
karpos_status karpos_map_insert(karpos_map map, uint64_t n, void const* keys, void const* values,
                                uint64_t* inserted);
/* Inserts pairs, or overwrites values. If keys of one call are equal, one of their values is
 * stored; it is unspecified which. *inserted (may be NULL): how many keys were new. */
karpos_status karpos_map_insert_or_assign(karpos_map map, uint64_t n, void const* keys,
                                          void const* values, uint64_t* inserted);
/* Writes the value of each key, or *missing (on the host; NULL: 0). */
karpos_status karpos_map_find(karpos_map map, uint64_t n, void const* keys, void const* missing,
                              void* values);
/* Writes whether each key is stored. */
karpos_status karpos_map_contains(karpos_map map, uint64_t n, void const* keys, bool* stored);
/* Removes keys. *erased (may be NULL): how many were stored. */
karpos_status karpos_map_erase(karpos_map map, uint64_t n, void const* keys, uint64_t* erased);
karpos_status karpos_map_clear(karpos_map map);
karpos_status karpos_map_size(karpos_map map, uint64_t* keys);
/* Writes all pairs, in no particular order, to arrays of capacity elements, at least
 * karpos_map_size. *n (may be NULL): their number. */
karpos_status karpos_map_retrieve_all(karpos_map map, uint64_t capacity, void* keys, void* values,
                                      uint64_t* n);

typedef enum { KARPOS_SUM = 0, KARPOS_MIN = 1, KARPOS_MAX = 2 } karpos_operation;
/* Reduces the values of equal keys: writes each different key once, in no particular order, and
 * the result of its values at the same index, to arrays of capacity elements; capacity n always
 * suffices. *groups: the number of different keys. Keys are integers, values any karpos_type;
 * sums of integers wrap. If capacity is too small: returns KARPOS_INVALID_ARGUMENT, leaves *groups
 * as it was, and karpos_last_error says how many elements would do. */
karpos_status karpos_reduce_by_key(karpos_context context, karpos_type key, karpos_type value,
                                   karpos_operation operation, uint64_t n, void const* keys,
                                   void const* values, uint64_t capacity, void* out_keys,
                                   void* out_values, uint64_t* groups);
/* Counts how often each key occurs. Otherwise as karpos_reduce_by_key. */
karpos_status karpos_count_by_key(karpos_context context, karpos_type key, uint64_t n,
                                  void const* keys, uint64_t capacity, void* out_keys,
                                  uint64_t* out_counts, uint64_t* groups);

/* Joins of two tables by equal keys. A row is the index of a key. Inner, left, right and full joins
 * have pairs, with KARPOS_NO_ROW for a missing row; the others have rows of one table. */
typedef struct karpos_join_handle* karpos_join;
typedef enum {
  KARPOS_INNER = 0,
  KARPOS_LEFT = 1,
  KARPOS_RIGHT = 2,
  KARPOS_FULL = 3,
  KARPOS_LEFT_SEMI = 4,
  KARPOS_LEFT_ANTI = 5,
  KARPOS_RIGHT_SEMI = 6,
  KARPOS_RIGHT_ANTI = 7
} karpos_join_kind;
#define KARPOS_NO_ROW UINT64_MAX
/* Finds the matches. In device memory the right keys must stay as they are until the handle is
 * freed. */
karpos_status karpos_join_create(karpos_context context, karpos_type key, karpos_join_kind kind,
                                 uint64_t left_rows, void const* left_keys, uint64_t right_rows,
                                 void const* right_keys, karpos_join* join);
karpos_status karpos_join_size(karpos_join join, uint64_t* rows);
/* Writes the rows, to arrays of capacity elements, at least karpos_join_size. Of a join without
 * pairs, the array of the other table is not used, and may be NULL. */
karpos_status karpos_join_write(karpos_join join, uint64_t capacity, uint64_t* left,
                                uint64_t* right);

/* Graphs in compressed sparse rows: the neighbours of vertex v are column_indices[i] for i from
 * row_offsets[v] to row_offsets[v + 1] - 1. */
typedef struct karpos_graph_handle* karpos_graph;
/* Makes a graph. row_offsets has vertices + 1 elements, column_indices has edges. Ids and offsets
 * are integers; ids are not longer than offsets. undirected: the caller states that the arrays have
 * every edge in both directions. No call checks this; if an edge lacks its reverse, results of
 * searches may be wrong. In device memory the arrays must stay as they are until the handle is
 * freed. */
karpos_status karpos_graph_create(karpos_context context, karpos_type id, karpos_type offset,
                                  bool undirected, uint64_t vertices, void const* row_offsets,
                                  uint64_t edges, void const* column_indices, karpos_graph* graph);
/* Gives each edge a weight (KARPOS_F32 or KARPOS_F64), for karpos_sssp. Checks the graph and the
 * weights, which may not be negative or NaN. In device memory they must stay as they are until the
 * handle is freed. Another call replaces them; if it fails, the old ones stay. */
karpos_status karpos_graph_set_weights(karpos_graph graph, karpos_type weight, void const* weights);
/* Writes how many edges each vertex is away from the source; -1: unreachable. parents: an id for
 * each vertex, or NULL. A source is its own parent, unreachable vertices get -1 (the largest
 * number of an unsigned type). The first karpos_bfs of a graph checks it, and reads all degrees. */
karpos_status karpos_bfs(karpos_graph graph, uint64_t source, int32_t* distances, void* parents);
/* Writes the length of the shortest path to each vertex, in the type of the weights; unreachable:
 * infinity. parents: as karpos_bfs. */
karpos_status karpos_sssp(karpos_graph graph, uint64_t source, void* distances, void* parents);

/* Finds the k objects with the highest weighted sum of their scores in sorted lists. List i has
 * the entries offsets[i] to offsets[i + 1] - 1 of ids and scores (KARPOS_F32 or KARPOS_F64), by
 * falling score. Objects that a list lacks have the score 0 in it.
 * offsets: lists + 1 of them, on the host. weights: one for each list, on the host, or NULL: 1.
 * objects: a number above all ids, or 0 if that is not known, which is slower.
 * out_scores: k sums, or NULL. *found: k, or the number of objects if there are fewer; the
 * elements behind are not written. */
karpos_status karpos_top_k(karpos_context context, karpos_type score, uint64_t lists,
                           uint64_t const* offsets, uint64_t objects, uint32_t const* ids,
                           void const* scores, double const* weights, uint64_t k, uint32_t* out_ids,
                           double* out_scores, uint64_t* found);

#ifdef __cplusplus
}
#endif
#endif
