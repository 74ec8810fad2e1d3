# SPDX-License-Identifier: Apache-2.0
"""What the tests of the laboratory share."""

import gc

import pytest


@pytest.fixture(scope="package", autouse=True)
def _older_objects_stay():
    """Take what other tests have left out of later collections, as `tests/conftest.py` does with the tests."""
    gc.collect()
    gc.freeze()
