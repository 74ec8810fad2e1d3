# SPDX-License-Identifier: Apache-2.0
"""Allocations that fail when a test says so."""

import sys

import pytest

from codipy._testing import allocations


def failing_allocations():
    """What lets allocations of this thread fail; the test is skipped where CPython cannot go on then."""
    if sys.version_info >= (3, 12):
        pytest.skip("CPython itself crashes where it has no memory for a function or an error", allow_module_level=True)
    return allocations
