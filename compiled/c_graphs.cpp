// SPDX-License-Identifier: Apache-2.0
//
// The calls of karpos.h on graphs and on sorted lists.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "compiled/c_interface.hpp"

namespace karpos::compiled::c {
namespace {

struct graph : object {
  virtual void set_weights(karpos_type weight, void const* weights) = 0;
  virtual void bfs(std::uint64_t source, std::int32_t* distances, void* parents) = 0;
  virtual void sssp(std::uint64_t source, void* distances, void* parents) = 0;
};

template <class VertexId, class EdgeOffset>
class graph_of : public graph {
 public:
  graph_of(std::shared_ptr<context> c, bool undirected, std::uint64_t vertices,
           void const* row_offsets, std::uint64_t edges, void const* column_indices)
      : m_context(std::move(c)),
        m_offsets(*m_context, vertices + 1, row_offsets, "row offsets", true),
        m_columns(*m_context, edges, column_indices, "column indices", true),
        m_graph(m_offsets.view, m_columns.view) {
    if (undirected) m_graph = m_graph.undirected();
  }

  void set_weights(karpos_type type, void const* weights) override {
    with_type_of<float, double>(type, "weights", [&]<class Weight>(Weight) {
      m_paths = paths<Weight>(*m_context, m_graph, weights);
    });
  }
  void bfs(std::uint64_t source, std::int32_t* distances, void* parents) override {
    if (!m_searches) m_searches.emplace(m_context->exec, m_graph);
    array<std::int32_t> const to(*m_context, m_graph.vertices(), distances, "distances");
    array<VertexId> const tree(*m_context, tree_size(parents), parents, "parents");
    compiled::bfs(m_context->exec, *m_searches, vertex(source), to.view, tree.view);
    to.write_back();
    tree.write_back();
  }
  void sssp(std::uint64_t source, void* distances, void* parents) override {
    std::visit([&](auto const& p) { this->find_paths(p, source, distances, parents); }, m_paths);
  }

 private:
  using searches = bfs_workspace<VertexId, EdgeOffset>;
  using graph_type = typename searches::graph_type;
  template <class Weight>
  struct paths {
    paths(context const& c, graph_type const& g, void const* data)
        : weights(c, g.edges(), data, "weights", true),
          workspace(c.exec, g, weights.view) {}
    array<Weight const> weights;
    sssp_workspace<VertexId, EdgeOffset, Weight> workspace;
  };

  VertexId vertex(std::uint64_t number) const {
    if (number >= m_graph.vertices())
      reject("the source is no vertex",
             std::to_string(number) + " of " + std::to_string(m_graph.vertices()) + " vertices",
             "pass a number below that of the vertices");
    return static_cast<VertexId>(number);
  }
  std::uint64_t tree_size(void const* parents) const {
    return parents == nullptr ? 0 : m_graph.vertices();
  }
  void find_paths(std::monostate, std::uint64_t, void*, void*) {
    reject("the graph has no weights", "none were set", "call karpos_graph_set_weights first");
  }
  template <class Weight>
  void find_paths(paths<Weight> const& p, std::uint64_t source, void* distances, void* parents) {
    array<Weight> const to(*m_context, m_graph.vertices(), distances, "distances");
    array<VertexId> const tree(*m_context, tree_size(parents), parents, "parents");
    compiled::sssp(m_context->exec, p.workspace, vertex(source), to.view, tree.view);
    to.write_back();
    tree.write_back();
  }

  std::shared_ptr<context> m_context;
  array<EdgeOffset const> m_offsets;
  array<VertexId const> m_columns;
  graph_type m_graph;
  std::optional<searches> m_searches;
  std::variant<std::monostate, paths<float>, paths<double>> m_paths;
};

std::shared_ptr<graph> graph_of_handle(karpos_graph handle) {
  return object_of<graph>(handle, "graph");
}

}  // namespace
}  // namespace karpos::compiled::c

using namespace karpos::compiled::c;

karpos_status karpos_graph_create(karpos_context handle, karpos_type id, karpos_type offset,
                                  bool undirected, std::uint64_t vertices, void const* row_offsets,
                                  std::uint64_t edges, void const* column_indices,
                                  karpos_graph* to) {
  return guarded("karpos_graph_create", [&] {
    auto const c = context_of(handle);
    if (vertices + 1 == 0)
      reject("vertices are too many", std::to_string(vertices), "pass the number of vertices");
    with_key(id, [&]<class VertexId>(VertexId) {
      with_key(offset, [&]<class EdgeOffset>(EdgeOffset) {
        if constexpr (sizeof(VertexId) > sizeof(EdgeOffset))
          reject("ids are longer than offsets", "64 bits against 32", "pass offsets of 64 bits");
        else
          make_object(to, [&] {
            return std::make_shared<graph_of<bits<VertexId>, bits<EdgeOffset>>>(
                c, undirected, vertices, row_offsets, edges, column_indices);
          });
      });
    });
  });
}
karpos_status karpos_graph_set_weights(karpos_graph graph, karpos_type weight,
                                       void const* weights) {
  return guarded("karpos_graph_set_weights",
                 [&] { graph_of_handle(graph)->set_weights(weight, weights); });
}
karpos_status karpos_bfs(karpos_graph graph, std::uint64_t source, std::int32_t* distances,
                         void* parents) {
  return guarded("karpos_bfs", [&] { graph_of_handle(graph)->bfs(source, distances, parents); });
}
karpos_status karpos_sssp(karpos_graph graph, std::uint64_t source, void* distances,
                          void* parents) {
  return guarded("karpos_sssp", [&] { graph_of_handle(graph)->sssp(source, distances, parents); });
}

karpos_status karpos_top_k(karpos_context handle, karpos_type score, std::uint64_t lists,
                           std::uint64_t const* offsets, std::uint64_t objects,
                           std::uint32_t const* ids, void const* scores, double const* weights,
                           std::uint64_t k, std::uint32_t* out_ids, double* out_scores,
                           std::uint64_t* found) {
  return guarded("karpos_top_k", [&] {
    auto const c = context_of(handle);
    require_pointer(offsets, "the array of offsets");
    require_pointer(found, "the variable for the number of objects found");
    if (lists > karpos::max_lists)
      reject("too many lists", std::to_string(lists),
             "rank at most " + std::to_string(karpos::max_lists) + " together");
    std::uint64_t const entries = offsets[lists];
    array<std::uint32_t const> const i(*c, entries, ids, "ids");
    array<std::uint32_t> const to(*c, k, out_ids, "ids of objects");
    array<double> const sums(*c, out_scores == nullptr ? 0 : k, out_scores, "sums");
    Kokkos::View<std::uint64_t const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const at(
        offsets, lists + 1);
    karpos::top_k_options<> o;
    if (weights != nullptr)
      o.aggregate = karpos::weighted_sum(std::vector<double>(weights, weights + lists));
    with_type_of<float, double>(score, "scores", [&]<class Score>(Score) {
      array<Score const> const s(*c, entries, scores, "scores");
      karpos::sorted_lists<std::uint32_t, Score, karpos::compiled::memory_space> all(i.view, s.view,
                                                                                     at);
      if (objects > 0) all = all.dense(objects);
      *found = karpos::compiled::top_k(c->exec, all, k, to.view, sums.view, o).found;
    });
    to.write_back(*found);
    if (out_scores != nullptr) sums.write_back(*found);
  });
}
