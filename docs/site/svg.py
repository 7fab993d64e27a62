# SPDX-License-Identifier: Apache-2.0
"""Pictures and charts as SVG, for light and dark screens. Python's standard library only."""
import itertools
import math
from xml.sax.saxutils import escape

STYLE = """
text{font-family:system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;font-size:13px;fill:#1f2328}
.paper{fill:#ffffff;stroke:#d0d7de}.faint{fill:#57606a}.bold{font-weight:600}.small{font-size:11px}.large{font-size:16px}
.code{font-family:ui-monospace,"DejaVu Sans Mono",monospace;font-size:12px}
.line{stroke:#57606a;fill:none;stroke-width:1.4}.grid{stroke:#d8dee4;fill:none}.tip{fill:#57606a}
.plain{fill:#f6f8fa;stroke:#8c959f}.hole{fill:none;stroke:#8c959f;stroke-dasharray:3 3}
.c0{fill:#0969da;stroke:#0969da}.c1{fill:#bc4c00;stroke:#bc4c00}.c2{fill:#1a7f37;stroke:#1a7f37}.c3{fill:#8250df;stroke:#8250df}
.c4{fill:#9a6700;stroke:#9a6700}.c5{fill:#57606a;stroke:#57606a}
.box.c0{fill:#ddf4ff}.box.c1{fill:#fff1e5}.box.c2{fill:#dafbe1}.box.c3{fill:#fbefff}.box.c4{fill:#fff8c5}.box.c5{fill:#eaeef2}
path.c0,path.c1,path.c2,path.c3,path.c4,path.c5{fill:none}
@media(prefers-color-scheme:dark){
text{fill:#e6edf3}.paper{fill:#161b22;stroke:#30363d}.faint{fill:#9da7b3}
.line{stroke:#9da7b3}.grid{stroke:#30363d}.tip{fill:#9da7b3}.plain{fill:#21262d;stroke:#6e7681}.hole{stroke:#6e7681}
.c0{fill:#58a6ff;stroke:#58a6ff}.c1{fill:#f0883e;stroke:#f0883e}.c2{fill:#3fb950;stroke:#3fb950}.c3{fill:#bc8cff;stroke:#bc8cff}
.c4{fill:#d29922;stroke:#d29922}.c5{fill:#9da7b3;stroke:#9da7b3}
.box.c0{fill:#0c2d6b}.box.c1{fill:#5a1e02}.box.c2{fill:#033a16}.box.c3{fill:#3c1e70}.box.c4{fill:#4b2900}.box.c5{fill:#21262d}
path.c0,path.c1,path.c2,path.c3,path.c4,path.c5{fill:none}
}"""


class Picture:
    """A sheet that shapes are put on; (0, 0) is its upper left corner, lengths are pixels."""

    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
                      f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
                      f'<rect class="paper" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>']

    def words(self, x, y, text, kind="", anchor="start"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>')

    def box(self, x, y, width, height, text="", kind="plain", words="", round_by=4):
        self.parts.append(f'<rect class="box {kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{round_by}"/>')
        lines = text.split("\n") if text else []
        for i, line in enumerate(lines):
            self.words(x + width / 2, y + height / 2 + 4.5 + 16 * (i - (len(lines) - 1) / 2), line, words, "middle")

    def bar(self, x, y, width, height, kind):
        self.parts.append(f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" rx="2"/>')

    def cells(self, x, y, texts, width=34, height=26, kinds="plain", words="small"):
        """A row of boxes side by side; kinds: one for all, or one for each."""
        for i, text in enumerate(texts):
            self.box(x + i * width, y, width, height, text, kinds if isinstance(kinds, str) else kinds[i], words, 0)

    def arrow(self, x1, y1, x2, y2, bend=0.0, kind="line"):
        """From one point to another; bend: how far its middle lies to the side."""
        length = math.hypot(x2 - x1, y2 - y1)
        mx, my = (x1 + x2) / 2 - (y2 - y1) / length * bend, (y1 + y2) / 2 + (x2 - x1) / length * bend
        self.parts.append(f'<path class="{kind}" d="M{x1:.1f} {y1:.1f}Q{mx:.1f} {my:.1f} {x2:.1f} {y2:.1f}"/>')
        angle = math.atan2(y2 - my, x2 - mx)
        ends = [(x2 - 8 * math.cos(angle + side), y2 - 8 * math.sin(angle + side)) for side in (-0.4, 0.4)]
        self.parts.append(f'<path class="tip" d="M{x2:.1f} {y2:.1f}' + "".join(f"L{x:.1f} {y:.1f}" for x, y in ends) + 'Z"/>')

    def line(self, points, kind="line", dashes=""):
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        self.parts.append(f'<path class="{kind}" d="M{path}" stroke-width="2"' + (f' stroke-dasharray="{dashes}"' if dashes else "") + "/>")

    def dot(self, x, y, kind, radius=3.5):
        self.parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>')

    def text(self):
        return "\n".join([*self.parts, "</svg>", ""])


def short(value):
    """A number in three digits."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    rounded = round(value, digits)
    return f"{rounded:,.{min(digits, 6)}f}".rstrip("0").rstrip(".") if digits else f"{rounded:,.0f}"


def nice_step(top, count=5):
    raw = top / count
    power = 10 ** math.floor(math.log10(raw))
    return next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw)


def legend(picture, names, x, y, width):
    """Names with their colours and dashes, in lines of that width. Returns: the height."""
    at, down = x, 0
    for name, kind, dashes in names:
        need = 34 + 7.2 * len(name)
        if at > x and at + need > x + width:
            at, down = x, down + 18
        picture.line([(at, y + down - 4), (at + 18, y + down - 4)], kind, dashes)
        picture.words(at + 24, y + down, name, "small")
        at += need
    return down + 18


def line_chart(title, subtitle, axes, series, x_is_log=False, x_text=short, size=(720, 380)):
    """Lines over two axes. axes: the names of x and y. series: (name, points, dashed) each; y begins at 0."""
    width, height = size
    p = Picture(width, height, f"{title}: {subtitle}")
    p.words(20, 28, title, "bold large")
    p.words(20, 47, subtitle, "faint small")
    names = [(name, f"c{i % 6}", "5 4" if dashed else "") for i, (name, _, dashed) in enumerate(series)]
    down = 68 + legend(p, names, 20, 68, width - 40)
    left, right, top, bottom = 58, width - 24, down + 16, height - 46
    xs = sorted({x for _, points, _ in series for x, _ in points})
    step = nice_step(max(y for _, points, _ in series for _, y in points) * 1.02)
    y_top = step * math.ceil(max(y for _, points, _ in series for _, y in points) * 1.02 / step)
    scale = math.log2 if x_is_log else float
    low, high = scale(xs[0]), scale(xs[-1])
    place_x = lambda x: left + 12 + (right - left - 24) * (scale(x) - low) / ((high - low) or 1)
    place_y = lambda y: bottom - (bottom - top) * y / y_top
    for i in range(round(y_top / step) + 1):
        p.line([(left, place_y(i * step)), (right, place_y(i * step))], "grid")
        p.words(left - 8, place_y(i * step) + 4, short(i * step), "small faint", "end")
    last = -1e9
    for x in xs:
        if place_x(x) - last > 52:
            p.words(place_x(x), bottom + 17, x_text(x), "small faint", "middle")
            last = place_x(x)
    p.words((left + right) / 2, height - 10, axes[0], "small", "middle")
    p.words(left - 8, top - 8, axes[1], "small faint", "start")
    for (_, points, _), (_, kind, dashes) in zip(series, names):
        placed = [(place_x(x), place_y(y)) for x, y in sorted(points)]
        p.line(placed, kind, dashes)
        if not dashes:
            for x, y in placed:
                p.dot(x, y, kind)
    return p.text()


def bar_lengths(rows, scale):
    """The length of each bar, as a fraction of the longest possible one; scale: as bar_chart takes it."""
    values = [value for _, value, _ in rows if value is not None]
    base = 10 ** math.floor(math.log10(min(values)) - 0.3)
    lengths = []
    for i, (_, value, _) in enumerate(rows):
        if value is None:
            group = list(itertools.takewhile(lambda v: v is not None, (v for _, v, _ in rows[i + 1:])))
            longest = max(group)
            lengths.append(0)
        elif scale == "logarithmic":
            lengths.append(math.log10(value / base) / math.log10(max(values) / base))
        else:
            lengths.append(value / (longest if scale == "each group at a scale of its own" else max(values)))
    return lengths


def bar_chart(title, subtitle, unit, rows, scale="", width=720):
    """Bars beside their names. rows: (name, value, colour) each, colour from 0; a row without a value is a heading of a group.
    scale: "" (linear), "logarithmic", or "each group at a scale of its own"; the sheet says so."""
    height = 62 + sum(24 if value is not None else 26 for _, value, _ in rows) + 16
    p = Picture(width, height, f"{title}: {subtitle}")
    p.words(20, 28, title, "bold large")
    p.words(20, 47, subtitle + (f" ({scale})" if scale else ""), "faint small")
    left, right = 40 + 6.6 * max(len(name) for name, value, _ in rows if value is not None), width - 110
    y = 62
    for (name, value, colour), length in zip(rows, bar_lengths(rows, scale)):
        if value is None:
            p.words(20, y + 18, name, "bold")
            y += 26
            continue
        p.words(left - 8, y + 15, name, "small", "end")
        p.bar(left, y + 3, max(1.5, (right - left) * length), 16, f"c{colour}")
        p.words(left + max(1.5, (right - left) * length) + 7, y + 15, f"{short(value)} {unit}", "small")
        y += 24
    return p.text()
