# SPDX-License-Identifier: Apache-2.0
"""Notebooks show what tools and studies found, as tables or as the page of the study, everything escaped."""

from html import unescape

import numpy as np
import pytest

import codipy
import codipy.testing
from codipy.laboratory import Study


def model(x):
    return x * x + 1.0


def test_comparison_and_prediction_are_tables_of_all_ways():
    found = codipy.compare(model, 2.0, strategies=["jacobian", "primal"], repeat=1)
    found.disagreements.append("a < b")
    text = found._repr_html_()
    assert text.count("<table>") == len(found.tables())
    assert text.count(">primal<") == text.count(">jacobian<") >= len(found.tables()) and "a &lt; b" in text
    found = codipy.predict(model, 2.0, strategies=["jacobian", "primal"])
    assert found._repr_html_().count(">primal<") == len([row for row in found.rows if row.strategy == "primal"])


def test_a_study_is_its_page_in_a_frame_of_its_own():
    header = {"finished": True, "repeat": 1, "warnings": [], "points": []}
    study = Study("<f>", header, [])
    frame = study._repr_html_()
    assert frame.startswith('<iframe sandbox="allow-scripts"') and "<f>" not in frame
    assert unescape(frame[frame.index("srcdoc=") + 8 : -len('"></iframe>')]) == study.to_html()


def test_timelines_and_reports_escape_what_the_program_is_called():
    def odd(x):
        return x * x

    odd.__name__ = "<odd>"
    assert "<odd>" not in codipy.timeline(odd, 2.0)._repr_html_()
    report = codipy.debug(lambda p: p["<b>"] * 2.0, {"<a>": 1.0, "<b>": np.float64(2.0)})
    assert "&lt;a&gt;" in report._repr_html_() and "<a>" not in report._repr_html_()


def test_a_report_of_derivatives_is_a_table_and_names_the_worst_components():
    found = codipy.check_derivatives(model, 2.0, strategies=["jacobian", "primal"])
    text = found._repr_html_()
    assert text.count("<tr>") == 1 + len(found.rows) and "derivatives agree" in text and "<pre>" not in text
    with pytest.raises(codipy.testing.DerivativeError) as caught:
        codipy.check_derivatives(lambda x: x["<a>"] * codipy.value(x["<a>"]), {"<a>": 2.0}, strategies="primal")
    text = caught.value.report._repr_html_()
    assert "&lt;- wrong" in text and "<pre>Worst of primal" in text and "<a>" not in text


def test_what_was_found_is_one_line_at_a_prompt():
    def long(x):
        for _ in range(300):
            x = x * 0.5 + 1.0
        return x.sum()

    point = np.ones(1000)
    for found in (codipy.compare(long, point, strategies="auto", repeat=1), codipy.timeline(long, point),
                  codipy.debug(model, 2.0), codipy.check_derivatives(long, point, strategies="auto"),
                  codipy.profile(model, 2.0)):  # fmt: skip
        assert len(repr(found)) < 100 and "\n" not in repr(found)
    assert repr(codipy.profile(model, 2.0)).startswith("<codipy.Profile of 1 recording, ")
    assert codipy.debug(model, 2.0)._repr_html_() == "<p>1 recording and 1 reverse sweep looked at: nothing found</p>"
