# SPDX-License-Identifier: Apache-2.0
#
# Misuse of the library, each with the sentence that the user must read.
karpos_add_compile_fail(NAME key_not_trivially_copyable FILE key_not_trivially_copyable.cpp
  REGEX "karpos: keys and values must be trivially copyable")
karpos_add_compile_fail(NAME unordered_map_of_views FILE unordered_map_of_views.cpp
  REGEX "karpos: keys and values of an unordered_map must be trivially copyable" LINES 60)
karpos_add_compile_fail(NAME unordered_map_padded_key FILE unordered_map_padded_key.cpp
  REGEX "karpos: this key has padding, or members that compilers cannot read" LINES 60)
karpos_add_compile_fail(NAME key_too_large FILE key_too_large.cpp
  REGEX "karpos: values have at most eight bytes, and keys too, or 16 in a hash_map" LINES 60 FIRST)
karpos_add_compile_fail(NAME hopscotch_key_too_large FILE hopscotch_key_too_large.cpp
  REGEX "karpos: values have at most eight bytes, and keys too, or 16 in a hash_map" LINES 60 FIRST)
karpos_add_compile_fail(NAME key_without_compare_and_swap FILE key_without_compare_and_swap.cpp
  REGEX "karpos: keys of more than eight bytes need a compare-and-swap of 16 bytes" LINES 20 FIRST)
karpos_add_compile_fail(NAME value_too_large FILE value_too_large.cpp
  REGEX "karpos: values have at most eight bytes, and keys too, or 16 in a hash_map" LINES 60)
karpos_add_compile_fail(NAME key_with_padding FILE key_with_padding.cpp
  REGEX "karpos: this key has padding or floating-point members" FIRST)
karpos_add_compile_fail(NAME key_of_two_doubles FILE key_of_two_doubles.cpp
  REGEX "karpos: this key has padding or floating-point members.* use karpos::unordered_map" FIRST)
karpos_add_compile_fail(NAME map_captured_by_kernel FILE map_captured_by_kernel.cpp
  REGEX "karpos: .* kernels capture ref.. of the container" FIRST LINES 40)
karpos_add_compile_fail(NAME call_without_instance FILE call_without_instance.cpp
  REGEX "karpos: bulk calls take an instance of the container's execution space first" FIRST LINES 30)
karpos_add_compile_fail(NAME vector_as_view FILE vector_as_view.cpp
  REGEX "karpos: this argument is a Kokkos::View of rank one, not a container" FIRST LINES 40)
karpos_add_compile_fail(NAME keys_with_nulls FILE reduced_nulls.cpp
  REGEX "karpos: keys with nulls, and strings, are numbered first" FIRST LINES 40)
karpos_add_compile_fail(NAME values_with_nulls FILE reduced_nulls.cpp
  REGEX "karpos: values with nulls are a column of an aggregate" LINES 60)
karpos_add_compile_fail(NAME view_of_rank_two FILE view_of_rank_two.cpp
  REGEX "karpos: this argument is a view of rank one, not of another rank" FIRST LINES 40)
karpos_add_compile_fail(NAME integer_scores FILE integer_scores.cpp
  REGEX "karpos: scores of sorted lists are float or double: copy integers to a view of double" FIRST)
karpos_add_compile_fail(NAME join_of_views FILE join_of_views.cpp
  REGEX "karpos: the left side of a join is rows" FIRST)
karpos_add_compile_fail(NAME unreachable_view FILE unreachable_view.cpp
  REGEX "karpos: a view lies in a memory space that the execution space cannot reach")
karpos_add_compile_fail(NAME unreachable_view_async FILE unreachable_view_async.cpp
  REGEX "karpos: a view lies in a memory space that the execution space cannot reach")
karpos_add_compile_fail(NAME compiled_key_of_another_type FILE compiled_key_of_another_type.cpp
  REGEX "karpos: compiled calls take keys of .* for others include the header of the implementation" FIRST)
karpos_add_compile_fail(NAME wrong_key_type FILE wrong_key_type.cpp
  REGEX "karpos: keys must come in a view of the container's key type")
karpos_add_compile_fail(NAME wrong_key_type_to_build FILE wrong_key_type_to_build.cpp
  REGEX "karpos: keys must come in a view of the container's key type")
karpos_add_compile_fail(NAME wrong_value_type FILE wrong_value_type.cpp
  REGEX "karpos: values must come in a view of the container's value type")
karpos_add_compile_fail(NAME fraction_for_all FILE fraction_for_all.cpp
  REGEX "karpos: a fraction cannot be the value of a table of integers")
karpos_add_compile_fail(NAME counts_as_fractions FILE counts_as_fractions.cpp
  REGEX "karpos: counts are written to a view of integers, not const")
karpos_add_compile_fail(NAME counts_by_key_const FILE counts_by_key_const.cpp
  REGEX "karpos: counts are written to a view of integers, not const")
karpos_add_compile_fail(NAME aggregate_const FILE aggregate_const.cpp
  REGEX "karpos: results of a reduction are written to views that are not const")
karpos_add_compile_fail(NAME aggregate_count_const FILE aggregate_count_const.cpp
  REGEX "karpos: results of a reduction are written to views that are not const")
karpos_add_compile_fail(NAME partition_const FILE partition_const.cpp
  REGEX "karpos: rows are split into a view that is not const")
karpos_add_compile_fail(NAME operations_of_another_type FILE operations_of_another_type.cpp
  REGEX "karpos: operations come in a view of map_operation<Key, T>")
karpos_add_compile_fail(NAME window_not_a_multiple FILE window_not_a_multiple.cpp
  REGEX "karpos: the number of slots of a window divides the width of the tile")
karpos_add_compile_fail(NAME not_a_tile FILE not_a_tile.cpp REGEX "karpos: a call with these arguments takes a tile first")
karpos_add_compile_fail(NAME tile_of_three FILE tile_of_three.cpp REGEX "karpos: a call with these arguments takes a tile first")
karpos_add_compile_fail(NAME distances_of_another_type FILE distances_of_another_type.cpp
  REGEX "karpos: distances come in a view of std::int32_t, not unsigned" FIRST)
karpos_add_compile_fail(NAME parents_of_another_type FILE parents_of_another_type.cpp
  REGEX "karpos: parents come in a view of the graph's vertex type")
karpos_add_compile_fail(NAME top_k_ids_of_another_type FILE top_k_ids_of_another_type.cpp
  REGEX "karpos: ids come in a view of the lists' id type")
karpos_add_compile_fail(NAME cuckoo_query_of_another_type FILE cuckoo_query_of_another_type.cpp
  REGEX "karpos: a cuckoo table takes queries of its key type only")
karpos_add_compile_fail(NAME cuckoo_host_find_of_another_type
  FILE cuckoo_host_find_of_another_type.cpp
  REGEX "karpos: a cuckoo table takes queries of its key type only")
karpos_add_compile_fail(NAME cuckoo_host_contains_of_another_type
  FILE cuckoo_host_contains_of_another_type.cpp
  REGEX "karpos: a cuckoo table takes queries of its key type only")
karpos_add_compile_fail(NAME found_values_of_another_type FILE found_values_of_another_type.cpp
  REGEX "karpos: values that are found need a view of the table's values")
karpos_add_compile_fail(NAME rows_of_value_and_key FILE rows_of_value_and_key.cpp
  REGEX "designator order|out.of.order|declaration order")
karpos_add_compile_fail(NAME rows_with_padding FILE rows_with_padding.cpp
  REGEX "karpos: rows of values with padding or with floating-point members, or of std::string_view, need a hash")
karpos_add_compile_fail(NAME queries_of_other_columns FILE queries_of_other_columns.cpp
  REGEX "karpos: queries have columns of the types of the index' columns")
karpos_add_compile_fail(NAME join_of_other_columns FILE join_of_other_columns.cpp
  REGEX "karpos: the two sides of a join have columns of the same types")
