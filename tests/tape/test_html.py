# SPDX-License-Identifier: Apache-2.0
"""Notebooks show tapes, statistics, numbers and arrays as HTML in which everything is escaped."""

from html.parser import HTMLParser

import numpy as np
import pytest

import codipy
from codipy.tape.html import framed, html_table


class Cells(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.texts, self.tags, self.sources = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.sources += [value for name, value in attributes if name == "srcdoc"]

    def handle_data(self, data):
        self.texts.append(data)


def test_tables_and_frames_escape():
    cells = Cells(html_table(["<b>"], [["a & <script>"]], 1, "<i>"))
    assert cells.texts == ["<i>", "<b>", "a & <script>"]
    page = '<p title="x">a & b</p>'
    assert Cells(framed(page)).sources == [page]


def test_tape_and_statistics():
    tape = codipy.Tape()
    with tape:
        tape.register_output(tape.register_input(2.0) ** 2)
    found = Cells(tape._repr_html_())
    assert found.texts == Cells(tape.statistics()._repr_html_()).texts
    assert "Jacobian entries" in found.texts and "total" in found.texts


@pytest.mark.parametrize("active", [False, True])
def test_numbers_and_arrays(active):
    tape = codipy.Tape()
    with tape:
        x, a = codipy.Real(2.5), codipy.Array(np.arange(20.0).reshape(2, 10))
        if active:
            tape.register_input(x), tape.register_input(a)
        assert Cells(x._repr_html_()).texts == ["2.5"]
        texts = Cells(a._repr_html_()).texts
        assert ("active" in texts[0]) == active and "shape (2, 10)" in texts[0]
        assert texts[-1] == "19" and "…" in texts and "5" not in texts[10:14]
        assert "<pre>" in codipy.Array(np.zeros((2, 2, 2)))._repr_html_()
