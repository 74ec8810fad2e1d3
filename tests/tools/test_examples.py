# SPDX-License-Identifier: Apache-2.0
"""The examples in the docstrings of the drivers and tools run."""
import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name",
    ["laboratory.axes", "laboratory.run",
     "testing", "tools.comparison.compare", "tools.derivatives.drivers", "tools.pool", "tools.comparison.report",
    "tools.console.table", "tools.arguments.trees"],
)
def test_examples(name):
    result = doctest.testmod(importlib.import_module(f"codipy.{name}"))
    assert result.attempted > 0 and result.failed == 0
