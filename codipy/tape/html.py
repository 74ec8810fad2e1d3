# SPDX-License-Identifier: Apache-2.0
"""Pieces of HTML for notebooks: tables of text, everything escaped."""
from __future__ import annotations

from html import escape

__all__ = ["framed", "html_table"]

_RIGHT, _LEFT = ' style="text-align: right; white-space: nowrap"', ' style="text-align: left"'


def html_table(header, rows, texts=1, title=""):
    """A table, its first `texts` columns to the left.

    Examples
    --------
    >>> html_table(["a<b"], [])
    '<table><thead><tr><th style="text-align: left">a&lt;b</th></tr></thead><tbody></tbody></table>'
    """
    def line(kind, cells):
        return "<tr>" + "".join(f"<{kind}{_LEFT if k < texts else _RIGHT}>{escape(cell)}</{kind}>"
                                for k, cell in enumerate(cells)) + "</tr>"

    caption = f'<caption style="white-space: nowrap">{escape(title)}</caption>' if title else ""
    return (f"<table>{caption}<thead>{line('th', header)}</thead>"
            f"<tbody>{''.join(line('td', row) for row in rows)}</tbody></table>")


def framed(page, height="40rem"):
    """A whole page inside of another, which neither sees nor changes it."""
    return (f'<iframe sandbox="allow-scripts" style="width: 100%; height: {height}; border: 0" '
            f'srcdoc="{escape(page)}"></iframe>')
