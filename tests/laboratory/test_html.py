# SPDX-License-Identifier: Apache-2.0
"""Notebooks show what tools and studies found, as tables or as the page of the study, everything escaped."""

from html import unescape

import numpy as np

import codipy
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
