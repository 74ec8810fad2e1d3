# SPDX-License-Identifier: Apache-2.0
"""Fixtures that several tests of the laboratory take."""

import pytest

from tests.laboratory.copies import in_copies


@pytest.fixture
def forked():
    """Studies measure in copies of this process."""
    with in_copies():
        yield
