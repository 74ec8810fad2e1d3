# SPDX-License-Identifier: Apache-2.0
"""What the tests of compiled loops share: for which vectors this machine compiles, and how to make it do so at once."""

from contextlib import contextmanager

import pytest

from codipy.programs import tiles

NEVER, AVX2, AVX512 = -1, 0, 1
HAS = tiles._compile_from(64, AVX2)[1]
tiles._compile_from(64, HAS)
WIDTHS = [width for width in (AVX2, AVX512) if width <= HAS]

compiled = pytest.mark.skipif(HAS == NEVER, reason="no loops are compiled for this processor or build")


@contextmanager
def compiling(width):
    """Loops are compiled at once, or never."""
    before = tiles._compile_from(0, width)
    try:
        yield
    finally:
        tiles._compile_from(*before)
