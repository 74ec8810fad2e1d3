# SPDX-License-Identifier: Apache-2.0
"""The page on SciPy's functions says what the tables say."""

from pathlib import Path

import numpy as np
import pytest
import scipy

from codipy.scipy.reference import render

PAGE = Path(__file__).parents[2] / "docs" / "scipy.md"


@pytest.mark.skipif(np.lib.NumpyVersion(scipy.__version__) < "1.17.0", reason="older versions have other functions")
def test_the_page_is_up_to_date():
    assert PAGE.read_text(encoding="utf-8") == render(), "run `python -m codipy.scipy.reference docs/scipy.md`"
