# SPDX-License-Identifier: Apache-2.0
"""A study as one page of HTML that needs nothing from elsewhere: tables that sort, figures, light and dark, print."""
from __future__ import annotations

from html import escape

from codipy.laboratory.figures import COLOURS, figures
from codipy.laboratory.svg import svg

__all__ = ["document", "page", "sortable"]


def _colours(dark):
    return " ".join(f"--c{k}: {pair[dark]};" for k, pair in enumerate(COLOURS))


_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #ffffff; --soft: #6a737d; --rule: #d5dae0; --band: #f4f6f8;
  """ + _colours(0) + """ }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --paper: #0d1117; --soft: #9198a1; --rule: #30363d;
  --band: #161b22; """ + _colours(1) + """ } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 68rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 0.9rem; }
th, td { padding: 0.2rem 0.7rem; border-bottom: 1px solid var(--rule); text-align: right; white-space: nowrap; }
th.text, td.text { text-align: left; } tbody tr:nth-child(even) { background: var(--band); }
th button { font: inherit; font-weight: 600; color: inherit; background: none; border: 0; padding: 0; cursor: pointer; }
th[aria-sort=ascending] button::after { content: " \\25B2"; }
th[aria-sort=descending] button::after { content: " \\25BC"; }
figure { margin: 1rem 0; } figcaption { font-weight: 600; }
svg { max-width: 46rem; width: 100%; height: auto; font: 11px system-ui, sans-serif; } svg text { fill: var(--ink); }
.grid { stroke: var(--rule); } .axis { stroke: var(--soft); }
.front { stroke: var(--soft); stroke-width: 1.5; fill: none; }
polyline { stroke-width: 1.8; } .hollow { fill: var(--paper) !important; stroke-width: 2; }
""" + "".join(f".c{k} {{ stroke: var(--c{k}); fill: var(--c{k}); }} " for k in range(len(COLOURS))) + """
polyline { fill: none !important; } rect { stroke: none !important; } dl { color: var(--soft); font-size: 0.9rem; }
dt { float: left; clear: left; width: 9rem; } dd { margin: 0 0 0 9rem; } .wrong { color: var(--c4); font-weight: 600; }
@media print { body { max-width: none; margin: 0; font-size: 10pt; } button { pointer-events: none; }
  figure, tr { break-inside: avoid; } .wide { overflow: visible; }
  table { font-size: 8pt; } th, td { padding: 1pt 4pt; } }
"""

# The page asks nobody for anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

# Sorts by the column that is clicked: numbers with their units, else text; what is not there stays below.
_SCRIPT = """
const units = {B: 1, KB: 1024, MB: 2 ** 20, GB: 2 ** 30, us: 1e-6, ms: 1e-3, s: 1, "GB/s": 1e9};
function value(text) {
  const found = /^(-?\\d[\\d.]*(?:e[-+]?\\d+)?)(?: (B|KB|MB|GB|us|ms|s|GB\\/s)(?![a-z]))?/.exec(text);
  return found ? Number(found[1]) * (units[found[2]] ?? 1) : NaN;
}
function compare(a, b) {
  const x = value(a), y = value(b);
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a.localeCompare(b);
  return x - y;
}
for (const button of document.querySelectorAll("th button")) button.addEventListener("click", () => {
  const head = button.closest("th"), body = head.closest("table").tBodies[0], column = head.cellIndex;
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentNode.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const cell = row => row.cells[column].textContent, rows = [...body.rows];
  const missing = row => cell(row) === "-";
  rows.sort((p, q) => missing(p) - missing(q) || (down ? -1 : 1) * compare(cell(p), cell(q)));
  body.append(...rows);
});
"""


def page(study):
    """The text of the page."""
    title = f"Study of {study.function}"
    header = "".join(f"<dt>{escape(str(name))}</dt><dd>{escape(str(value))}</dd>"
                     for name, value in study.header.items() if value is not None and name != "points")
    said = "".join(f'<li{_wrong(study, line)}>{escape(line)}</li>' for line in study.findings())
    drawn = "".join(f'<figure id="{figure.name}"><figcaption>{escape(figure.title)}</figcaption>{svg(figure)}</figure>'
                    for figure in figures(study))
    tables = "".join(sortable(number, one) for number, one in enumerate(study.tables()))
    return document(title, f"""{"".join(f"<p>{escape(line)}</p>" for line in study.summary())}
<h2>What it says</h2><ul>{said}</ul>
<h2>Figures</h2>{drawn}
<h2>Tables</h2><p>A click on a title sorts.</p>{tables}
<h2>How it was measured</h2><dl>{header}</dl>
""")


def document(title, body, style=""):
    """A page of its own: `body` below the title, with what sorts tables; `style` beside that of all pages."""
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<title>{escape(title)}</title><style>{_STYLE}{style}</style></head>
<body><h1>{escape(title)}</h1>
{body}<script>{_SCRIPT}</script></body></html>
"""


def _wrong(study, line):
    return ' class="wrong"' if line in study.disagreements or " failed: " in line else ""


def sortable(number, one):
    """A Table as a section of a page; a click on the title of a column sorts."""
    def kind(column):
        return ' class="text"' if column < one.texts else ""

    head = "".join(f'<th scope="col"{kind(k)}><button type="button">{escape(name)}</button></th>'
                   for k, name in enumerate(one.header))
    body = "".join("<tr>" + "".join(f"<td{kind(k)}>{escape(cell)}</td>" for k, cell in enumerate(row)) + "</tr>"
                   for row in one.rows)
    return (f'<section id="table-{number}"><h3>{escape(one.title)}</h3><div class="wide"><table><thead><tr>{head}</tr>'
            f"</thead><tbody>{body}</tbody></table></div></section>")
