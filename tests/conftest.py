# SPDX-License-Identifier: Apache-2.0
"""What every test shares: the profile of hypothesis, and which build is under test."""

import gc
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# One thread for each BLAS, said before NumPy is loaded: files are tested side by side, a process for each core, and
# threads that wait for one another there take ten times as long for the same small matrices.
for _variable in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# No deadline: machines are shared, and the traced build is ten times slower. Derandomised: a failure can be repeated.
settings.register_profile(
    "codipy", deadline=None, derandomize=True, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("codipy")

BUILD = "+".join(kind for kind in ("DEBUG", "TRACE", "SANITIZE") if os.environ.get(f"CODIPY_{kind}") == "1").lower()


def pytest_report_header(config):
    return f"codipy build: {BUILD or 'release'}"


def _keep_out():
    """Take all that there is out of later collections, and of searches for who has an array."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish(session):
    """The tests themselves, some thirty thousand objects and what they hold, are kept out of every later collection."""
    _keep_out()


@pytest.fixture(scope="module", autouse=True)
def _older_files_stay():
    """What earlier files have left is kept out."""
    _keep_out()


@pytest.fixture
def older_objects_stay():
    """What earlier tests have left is kept out, too: where each test asks the collector, it adds up.

    For each test: a collection then visits what one test has made. Rebound programs leave so much behind that after
    forty of them a collection takes fifty times as long.
    """
    _keep_out()


MOST_CASES = 24  # of one test function while lines are counted
# Files of 8 to 30 seconds of processor time, which begin first: a file is tested in one process, and one that began
# last would be waited for.
LONGEST = ["fuzz/test_fuzz.py", "scipy/test_ode.py", "scipy/test_stats.py", "laboratory/test_command.py",
           "numpy/test_aliasing.py", "fuzz/test_second.py", "scipy/test_ndimage.py", "test_cli.py",
           "tape/test_bytes_of_records.py", "laboratory/test_study.py", "series/test_program.py",
           "tools/test_exchanged_arrays.py", "tools/test_shared_arrays.py", "fuzz/test_sparse.py",
           "test_stubs.py"]  # fmt: skip


def pytest_collection_modifyitems(config, items):
    """Long files first; skip what holds for the release build only, of which the variables say that made the build.

    While lines are counted, which takes twenty times as long, some cases of each test do: fewer lines may be run, never
    more.
    """
    turns = {Path(__file__).parent / name: turn for turn, name in enumerate(LONGEST)}
    items.sort(key=lambda item: turns.get(item.path, len(turns)))
    if os.environ.get("COVERAGE_RUN"):
        items[:] = _thinned(items)
    if not BUILD:
        return
    skip = pytest.mark.skip(reason=f"holds for the release build, this one is {BUILD}")
    for item in items:
        if item.get_closest_marker("release"):
            item.add_marker(skip)


def _thinned(items):
    """At most MOST_CASES of each test function, evenly spread."""
    functions = {}
    for item in items:
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept = set()
    for cases in functions.values():
        count = min(len(cases), MOST_CASES)
        kept.update(id(cases[k * len(cases) // count]) for k in range(count))
    return [item for item in items if id(item) in kept]
