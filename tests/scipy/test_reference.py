# SPDX-License-Identifier: Apache-2.0
"""The page on SciPy's functions says what the tables say."""

from pathlib import Path

import pytest
import scipy

from codipy.scipy.reference import render

PAGE = Path(__file__).parents[2] / "docs" / "scipy.md"


@pytest.mark.skipif(not scipy.__version__.startswith("1.17."), reason="other versions have other functions")
def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == render(), "run `python -m codipy.scipy.reference docs/scipy.md`"
