# SPDX-License-Identifier: Apache-2.0
"""The pictures of the guide: one for each algorithm, and the chart of which map to choose."""
from svg import Picture


def which_map():
    p = Picture(760, 520, "Which map?")
    p.words(24, 34, "Which map?", "bold large")
    questions = [(70, "Kokkos::UnorderedMap in the code today?", "unordered_map", "change the type; keys and values of any size"),
                 (142, "May a key occur more than once?", "hash_multimap, _multiset", "the values of a key lie side by side"),
                 (214, "Several columns, or structs, as keys?", "row_index", "equal rows found, counted, numbered; join"),
                 (286, "Built once, then only queried?", "cuckoo_map, cuckoo_set", "a lookup reads a bounded number of slots"),
                 (358, "Erased and inserted all the time, in one kernel?", "hopscotch_map, _set", "slots of erased keys are free at once")]
    for y, question, answer, why in questions:
        p.box(24, y, 330, 46, question, "c5")
        p.arrow(354, y + 23, 440, y + 23)
        p.words(397, y + 17, "yes", "small faint", "middle")
        p.box(440, y, 296, 46, "", "c0")
        p.words(452, y + 20, answer, "bold")
        p.words(452, y + 37, why, "small")
        p.arrow(189, y + 46, 189, y + 72)
        p.words(196, y + 63, "no", "small faint")
    p.box(24, 430, 330, 56, "", "c2")
    p.words(36, 453, "hash_map, hash_set", "bold")
    p.words(36, 472, "the fastest insertions; the usual choice", "small")
    p.box(440, 430, 296, 56, "", "c4")
    p.words(452, 453, "No map at all?", "bold")
    p.words(452, 472, "sums of equal keys: reduce_by_key", "small")
    return p


def hash_map():
    p = Picture(720, 216, "hash_map: pairs of buckets and overflow marks")
    p.words(20, 28, "A key's path through the table", "bold")
    p.box(20, 92, 70, 30, "key", "c0")
    for pair, (x, fill) in enumerate(((140, 8), (440, 5))):
        p.words(x, 60, f"pair {'of the hash' if pair == 0 else 'a stride further'}", "small faint")
        for bucket in (0, 1):
            kinds = ["c2" if 4 * bucket + i < fill else "hole" for i in range(4)]
            p.cells(x + bucket * 124, 92, ["kv" if k == "c2" else "" for k in kinds], 29, 30, kinds)
        p.words(x, 160, "overflow marks", "small faint")
        p.cells(x + 124, 146, list("01000000" if pair == 0 else "00000000"), 14, 18, "c4")
    p.arrow(90, 107, 138, 107)
    p.arrow(200, 90, 320, 90, -26)
    p.arrow(330, 124, 446, 124, 26)
    p.words(20, 186, "Each bucket (32 bytes on GPUs, 64 on CPUs) is read in one step. A search ends at a bucket with a free slot,", "small faint")
    p.words(20, 202, "or after a pair without an overflow mark (one byte a pair) of its key's class.", "small faint")
    return p


def hash_multimap():
    p = Picture(720, 200, "hash_multimap: values of a key side by side")
    p.words(20, 28, "Keys in a table, their values in lists", "bold")
    keys = [("a", 3, "c0"), ("", 0, "hole"), ("b", 1, "c1"), ("c", 6, "c2"), ("", 0, "hole")]
    p.cells(20, 60, [k for k, n, _ in keys], 84, 32, [c for *_, c in keys])
    p.words(20, 52, "a slot for each different key: where its first block of values begins", "small faint")
    x = 20
    for i, (key, n, kind) in enumerate(keys):
        if n:
            p.arrow(20 + 84 * i + 42, 93, x + 30, 138)
            p.cells(x, 140, [f"{key}{j}" for j in range(n)], 44, 28, kind)
            x += 44 * n + 20
    p.words(20, 188, "a frequent key is read like an array, by as many threads as it has values", "small faint")
    return p


def unordered_map():
    p = Picture(720, 236, "unordered_map: packed and wide tables")
    p.words(20, 28, "An index stays until its key is erased", "bold")
    p.words(20, 56, "packed (keys and values of up to 8 bytes): a bucket of 32 bytes and its neighbour", "small faint")
    p.cells(20, 64, ["k v", "k v", "", "k v"], 60, 28, ["c2", "c2", "hole", "c2"])
    p.cells(276, 64, ["k v", "", "k v", ""], 60, 28, ["c2", "hole", "c2", "hole"])
    p.words(20, 124, "wide (any size): bits of the hash and a state in buckets; records at the same indices", "small faint")
    p.cells(20, 132, ["w", "w", "", "w", "w", "", "", "w"], 60, 24, ["c4", "c4", "hole", "c4", "c4", "hole", "hole", "c4"])
    p.cells(20, 172, ["k v", "k v", "", "k v", "k v", "", "", "k v"], 60, 34, ["c2", "c2", "hole", "c2", "c0", "hole", "hole", "c2"])
    p.arrow(290, 157, 290, 170)
    p.words(20, 224, "key_at(4), value_at(4): the record of index 4", "small faint")
    return p


def hopscotch_map():
    p = Picture(720, 210, "hopscotch_map: the home line and its neighbourhood")
    p.words(20, 28, "A key is in its home line, or in one of 25 slots that the hop word knows", "bold")
    p.words(20, 58, "home line: 64 bytes", "small faint")
    p.cells(20, 66, ["hop word", *(f"{i}" for i in range(7))], 60, 30, ["c4", *["c2"] * 5, "c0", "hole"])
    for i, x in enumerate((40, 210, 380, 550)):
        p.words(x, 140, f"far line {i + 1}", "small faint")
        p.cells(x, 148, [""] * 7, 20, 24, ["c2", "hole", "c0" if i == 2 else "c2", "hole", "c2", "hole", "hole"])
    p.arrow(50, 97, 428, 147, 24)
    p.words(20, 196, "erased: the slot is free at once. full: a key nearby moves further within its own neighbourhood, copied first, then cleared", "small faint")
    return p


def cuckoo_map():
    p = Picture(720, 220, "cuckoo_map: three candidate slots for a key")
    p.words(20, 28, "A key has three candidate slots; a key that is evicted moves to its next one", "bold")
    p.box(20, 90, 70, 32, "key", "c0")
    for i in range(3):
        y = 56 + 46 * i
        p.cells(220, y, [""] * 9, 34, 30, ["c2", "hole", "c2", "c2", "c0" if i == 1 else "c2", "c2", "hole", "c2", "c2"])
        p.words(540, y + 20, f"subtable {i}", "small faint")
        p.arrow(92, 106, 220 + 34 * (2 if i == 0 else 4 if i == 1 else 6) + 10, y + (30 if i == 0 else 15 if i == 1 else 2), (-10, 0, 10)[i])
    p.words(20, 208, "two levels: pairs are divided into buckets, each bucket built in a team's scratch · dense: windows of eight slots, loads to 0.98", "small faint")
    return p


def partition():
    p = Picture(720, 190, "partition: rows by partition")
    p.words(20, 28, "Rows of a partition are stored side by side", "bold")
    rows = [0, 2, 1, 0, 1, 2, 2, 0, 1, 0, 2, 1]
    p.cells(20, 60, [str(r) for r in rows], 56, 28, [f"c{r}" for r in rows])
    order = sorted(range(len(rows)), key=lambda i: rows[i])
    for to, i in enumerate(order):
        p.arrow(20 + 56 * i + 28, 90, 20 + 56 * to + 28, 132)
    p.cells(20, 134, [str(rows[i]) for i in order], 56, 28, [f"c{rows[i]}" for i in order])
    p.words(20, 180, "partition 0", "small faint")
    p.words(244, 180, "partition 1", "small faint")
    p.words(468, 180, "partition 2", "small faint")
    return p


def reduce_by_key():
    p = Picture(720, 190, "reduce_by_key: equal keys are combined")
    p.words(20, 28, "One value for each different key", "bold")
    rows = [("a", 4), ("b", 1), ("a", 2), ("c", 5), ("b", 7), ("a", 3), ("a", 1), ("c", 2)]
    kind = {"a": "c0", "b": "c1", "c": "c2"}
    p.cells(20, 56, [k for k, _ in rows], 84, 26, [kind[k] for k, _ in rows])
    p.cells(20, 82, [str(v) for _, v in rows], 84, 26, "plain")
    totals = {k: sum(v for j, v in rows if j == k) for k in "abc"}
    for i, (k, _) in enumerate(rows):
        p.arrow(20 + 84 * i + 42, 110, 150 + 200 * "abc".index(k), 138)
    for i, k in enumerate("abc"):
        p.cells(108 + 200 * i, 140, [k, str(totals[k])], 42, 28, [kind[k], "plain"])
    return p


def row_index():
    p = Picture(720, 200, "row_index: equal rows get one group")
    p.words(20, 28, "Several columns as one key", "bold")
    columns = [("i", "1 4 1 2 4 1"), ("j", "0 7 0 3 7 9"), ("k", "5 5 5 8 5 5")]
    kinds = ["c0", "c1", "c0", "c2", "c1", "c3"]
    for r, (name, values) in enumerate(columns):
        p.words(20, 76 + 28 * r, name, "code")
        p.cells(44, 58 + 28 * r, values.split(), 50, 26, kinds)
    p.words(400, 52, "groups, and the rows of each", "small faint")
    for g, (rows, kind) in enumerate((("0 2", "c0"), ("1 4", "c1"), ("3", "c2"), ("5", "c3"))):
        p.cells(400, 58 + 32 * g, [f"group {g}"], 70, 26, kind)
        p.cells(484, 58 + 32 * g, [f"row {r}" for r in rows.split()], 62, 26, kind)
    p.words(20, 168, "rows find each other by hash;", "small faint")
    p.words(20, 184, "columns are compared, not copied", "small faint")
    return p


def join():
    p = Picture(720, 230, "join: rows of two tables that match")
    p.words(20, 28, "Row numbers of all pairs that match", "bold")
    left, right = ["a", "b", "c", "b"], ["b", "a", "d"]
    kind = {"a": "c0", "b": "c1", "c": "c5", "d": "c5"}
    p.words(60, 56, "left", "small faint", "middle")
    p.words(310, 56, "right, indexed", "small faint", "middle")
    for i, k in enumerate(left):
        p.box(30, 64 + 36 * i, 60, 28, f"{i}: {k}", kind[k])
    for i, k in enumerate(right):
        p.box(280, 64 + 36 * i, 60, 28, f"{i}: {k}", kind[k])
    for i, k in enumerate(left):
        for j, other in enumerate(right):
            if k == other:
                p.arrow(92, 78 + 36 * i, 278, 78 + 36 * j)
    p.words(440, 56, "pairs (inner)", "small faint")
    for i, (l, r, k) in enumerate(((0, 1, "a"), (1, 0, "b"), (3, 0, "b"))):
        p.cells(440, 64 + 36 * i, [str(l), str(r)], 50, 28, kind[k])
    p.words(580, 56, "and one more", "small faint")
    p.cells(580, 64, ["2", "none"], 50, 28, "c5")
    p.words(580, 112, "if left, or full", "small faint")
    return p


def bfs():
    p = Picture(720, 260, "bfs: levels of a search")
    p.words(20, 28, "Level by level, from whichever side is cheaper", "bold")
    levels = [(80, [140]), (230, [80, 140, 200]), (400, [82, 124, 166, 208]), (570, [110, 180])]
    edges = [(0, 0, 0), (0, 0, 1), (0, 0, 2), (1, 0, 0), (1, 0, 1), (1, 1, 1), (1, 1, 2), (1, 2, 3), (2, 0, 0), (2, 1, 0), (2, 2, 1), (2, 3, 1)]
    for level, a, b in edges:
        (x1, ys), (x2, zs) = levels[level], levels[level + 1]
        forwards = level != 2
        (p.arrow(x1 + 16, ys[a], x2 - 16, zs[b]) if forwards else p.arrow(x2 - 16, zs[b], x1 + 16, ys[a]))
    for level, (x, ys) in enumerate(levels):
        for y in ys:
            p.dot(x, y, f"c{level}", 13)
        p.words(x, 236, f"distance {level}", "small faint", "middle")
    p.words(155, 54, "top-down", "small bold", "middle")
    p.words(485, 54, "bottom-up: unvisited vertices search for a parent", "small bold", "middle")
    return p


def bfs_batch():
    p = Picture(720, 190, "bfs_batch: a word of searches for each vertex")
    p.words(20, 28, "64 searches share each access to an edge", "bold")
    for i, (name, bits) in enumerate((("u", "1101"), ("v", "0100"))):
        x = 40 + 370 * i
        p.dot(x + 10, 96, "c0", 14)
        p.words(x + 10, 130, name, "small", "middle")
        p.cells(x + 40, 82, [*bits, "…"], 34, 28, ["c2" if b == "1" else "hole" for b in bits] + ["plain"])
        p.words(x + 40, 74, "searches that have reached it", "small faint")
    p.arrow(252, 96, 398, 96)
    p.words(325, 88, "edge", "small", "middle")
    p.words(450, 150, "new: seen(u) and not seen(v) = 1001…", "code")
    p.words(450, 168, "one operation on a word for 64 searches", "small faint")
    return p


def topk():
    p = Picture(720, 230, "top_k: sorted lists are read until the answer is certain")
    p.words(20, 28, "Read forward, and no further than needed", "bold")
    lists = [["a .9", "b .8", "c .7", "d .3", "e .2", "f .1"], ["b .9", "a .8", "d .6", "c .4", "f .2", "e .1"], ["b .8", "c .7", "a .7", "e .3", "d .2", "f .1"]]
    for i, entries in enumerate(lists):
        p.words(20, 76 + 38 * i, f"list {i}", "small faint")
        kinds = [("c0" if e[0] == "b" else "c1" if e[0] == "a" else "plain") if j < 3 else "hole" for j, e in enumerate(entries)]
        p.cells(70, 58 + 38 * i, entries, 62, 28, kinds)
    p.line([(258, 48), (258, 178)], "c1", "5 4")
    p.words(262, 192, "read so far: an unseen object has at most .7 + .6 + .7 = 2.0", "small faint")
    p.words(480, 76, "b: 2.5 for certain", "small")
    p.words(480, 114, "a: 2.4 for certain", "small")
    p.words(480, 152, "c, d: at most 2.0", "small")
    p.words(20, 216, "the best two are known: reading ends", "small faint")
    return p


def distributed():
    p = Picture(720, 210, "distributed: rows go to the rank that owns them")
    p.words(20, 28, "Every key has a rank that owns it; rows go there, answers come back", "bold")
    for rank in range(3):
        x = 40 + 230 * rank
        p.box(x, 56, 180, 50, "", "plain")
        p.words(x + 90, 50, f"rank {rank}: its rows", "small faint", "middle")
        p.cells(x + 16, 68, ["", "", ""], 50, 26, ["c0", "c1", "c2"])
        p.box(x, 150, 180, 40, f"table on rank {rank}", f"c{rank}", "small")
        for owner in range(3):
            p.arrow(x + 41 + 50 * owner, 96, 40 + 230 * owner + 90, 148)
    return p


def sssp():
    p = Picture(720, 216, "sssp: buckets of distances, and a reach")
    p.words(20, 28, "Near first; beyond the reach, vertices pull their distances", "bold")
    p.line([(30, 150), (690, 150)])
    for i, x in enumerate((30, 150, 270, 390)):
        p.line([(x, 142), (x, 158)])
        p.words(x, 174, ("source", "delta", "2 delta", "reach")[i], "small faint", "middle")
    p.words(690, 174, "distance", "small faint", "end")
    for x, kind in ((62, "c5"), (108, "c5"), (182, "c2"), (236, "c2"), (318, "c0"), (352, "c0"), (460, "c1"), (545, "c1"), (640, "c1")):
        p.dot(x, 128, kind, 9)
    for x, words in ((90, "settled"), (210, "near queue"), (330, "far queue"), (550, "no queue")):
        p.words(x, 62, words, "small bold", "middle")
    p.arrow(191, 122, 310, 122, -24)
    p.arrow(240, 120, 346, 120, -34)
    p.arrow(640, 116, 362, 116, 40)
    p.words(20, 200, "Push: neighbours' distances, bucket by bucket. Pull, once the queues are empty: the minimum of neighbour + weight.", "small faint")
    return p


def connected_components():
    p = Picture(720, 210, "connected_components: hook, then compress")
    p.words(20, 28, "The root of a tree is the smallest vertex of its component", "bold")
    trees = [(60, "an edge joins two trees"), (300, "the larger root is hooked"), (540, "all point to the root")]
    for x, words in trees:
        p.words(x + 60, 196, words, "small faint", "middle")
    for step, (x, _) in enumerate(trees):
        spots = {2: (x + 10, 70), 5: (x + 10, 140), 3: (x + 110, 70) if step < 2 else (x + 60, 140), 7: (x + 110, 140)}
        points = [(5, 2), (7, 3)] if step == 0 else [(5, 2), (7, 3), (3, 2)] if step == 1 else [(5, 2), (3, 2), (7, 2)]
        for below, above in points:
            (x1, y1), (x2, y2) = spots[below], spots[above]
            dx, dy = x2 - x1, y2 - y1
            length = (dx * dx + dy * dy) ** 0.5
            p.arrow(x1 + 16 * dx / length, y1 + 16 * dy / length, x2 - 17 * dx / length, y2 - 17 * dy / length)
        if step == 0:
            p.line([(x + 26, 140), (x + 94, 140)], "line", "4 3")
        for vertex, (cx, cy) in spots.items():
            p.box(cx - 15, cy - 15, 30, 30, str(vertex), "c2" if vertex == 2 else "c1" if vertex == 3 and step == 0 else "c0", "small", 15)
    return p


ALL = [which_map, hash_map, hash_multimap, unordered_map, hopscotch_map, cuckoo_map, partition, reduce_by_key, row_index, join, bfs, bfs_batch, sssp,
       connected_components, topk, distributed]
