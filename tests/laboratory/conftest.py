# SPDX-License-Identifier: Apache-2.0
"""Fixtures that several tests of the laboratory take."""

import multiprocessing

import pytest

from codipy.laboratory import process


@pytest.fixture
def forked(monkeypatch):
    """Studies measure in copies of this process, where a fresh one, which imports everything first, proves no more.

    What a study asks, keeps, compares and says is then the same, and takes a fifth of the processor time. Without fork
    processes stay fresh.
    """
    if "fork" in multiprocessing.get_all_start_methods():
        monkeypatch.setattr(process, "_fresh", process._forked)
