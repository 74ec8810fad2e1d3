# SPDX-License-Identifier: Apache-2.0
"""The page on NumPy's functions says what the tables say."""

from pathlib import Path

import numpy as np
import pytest

from codipy.numpy.functions import SETS
from codipy.numpy.reference import render

PAGE = Path(__file__).parents[2] / "docs" / "numpy.md"


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.4.0", reason="older versions have other functions")
def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == render(), "run `python -m codipy.numpy.reference docs/numpy.md`"


def test_every_function_has_a_line():
    page = render()
    for names in SETS.values():
        for name in names:
            assert f"| `np.{name}` |" in page


def test_every_line_has_a_convention():
    assert [line for line in render().splitlines() if line.startswith("| `np.") and line.endswith("|  |")] == []
