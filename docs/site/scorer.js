/* SPDX-License-Identifier: Apache-2.0 */
/* What Sphinx adds to the score of a result, and our own: a page that has the name of a word searched for comes first, what was measured last. */
var Scorer = {
  objNameMatch: 11, objPartialMatch: 6, objPrio: {0: 15, 1: 5, 2: -5}, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
  score: ([page, , anchor, , score]) => {
    const words = new URLSearchParams(location.search).get("q").toLowerCase().replace(/_/g, "").split(/\W+/);
    const [, kind, name] = page.match(/^(docs\/|api\/karpos_)(\w+)$/) || [];
    const named = name && words.includes(name.replace(/_/g, "")) ? (kind === "docs/" ? 200 : 100) : 0;
    return score + named - (anchor && named ? 50 : 0) - (page.startsWith("perf/") ? 20 : 0);
  },
};
