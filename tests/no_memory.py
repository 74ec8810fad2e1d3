# SPDX-License-Identifier: Apache-2.0
"""Allocations that fail when a test says so."""

import sys

import pytest


def failing_allocations():
    """CPython's module that lets allocations fail; the test is skipped where there is none that can be used."""
    if sys.version_info >= (3, 12):
        pytest.skip("CPython itself crashes where it has no memory for a function or an error", allow_module_level=True)
    testcapi = pytest.importorskip("_testcapi")
    if not hasattr(testcapi, "set_nomemory"):
        pytest.skip("needs _testcapi.set_nomemory", allow_module_level=True)
    return testcapi
