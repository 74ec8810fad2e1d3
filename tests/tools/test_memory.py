# SPDX-License-Identifier: Apache-2.0
"""Sampled memory: it grows by what the tape holds, it is checked against getrusage, failures come through."""
import pytest

from codipy.tools import memory
from codipy.tools.target import TargetError

FILE = """
def wide(x):
    total = x
    for _ in range(400_000):
        total = total * 1.0 + x
    return total
wide.x0 = 1.0

def fails(x):
    raise KeyError("mine")
fails.x0 = 1.0
"""


@pytest.fixture
def file(tmp_path):
    pytest.importorskip("memory_profiler")
    path = tmp_path / "wide.py"
    path.write_text(FILE)
    return path


def test_the_peak_grows_by_what_the_tape_holds(file):
    steps = []
    plain, taped = memory.measure(
        f"{file}:wide", pairs=[("jacobian", "operation")], progress=lambda *step: steps.append(step))
    assert plain["strategy"] == "plain" and (taped["strategy"], taped["granularity"]) == ("jacobian", "operation")
    assert taped["over_plain"] > 15 << 20      # 800 000 statements of one or two arguments
    assert taped["peak"] - taped["baseline"] > 15 << 20
    assert plain["warning"] is None and taped["warning"] is None
    assert steps == [(1, 2), (2, 2)]


def test_a_process_that_fails(file):
    with pytest.raises(TargetError, match="(?s)memory run of plain failed.*KeyError: 'mine'"):
        memory.measure(f"{file}:fails")


def test_samples_that_getrusage_contradicts():
    assert memory._warning(100 << 20, 101 << 20) is None
    assert memory._warning(100 << 20, None) is None
    assert "too short for the sampler" in memory._warning(50 << 20, 100 << 20)
    assert "above the true peak" in memory._warning(100 << 20, 50 << 20)
