# SPDX-License-Identifier: Apache-2.0
"""What every test shares: the profile of hypothesis, and which build is under test."""

import os

import pytest
from hypothesis import HealthCheck, settings

# No deadline: machines are shared, and the traced build is ten times slower. Derandomised: a failure can be repeated.
settings.register_profile(
    "codipy", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("codipy")

BUILD = "+".join(kind for kind in ("DEBUG", "TRACE", "SANITIZE") if os.environ.get(f"CODIPY_{kind}") == "1").lower()


def pytest_report_header(config):
    return f"codipy build: {BUILD or 'release'}"


def pytest_collection_modifyitems(config, items):
    """Skip what holds for the release build only; the variables are those that made the build (see setup.py)."""
    if not BUILD:
        return
    skip = pytest.mark.skip(reason=f"holds for the release build, this one is {BUILD}")
    for item in items:
        if item.get_closest_marker("release"):
            item.add_marker(skip)
