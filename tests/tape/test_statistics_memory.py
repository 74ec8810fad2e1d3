# SPDX-License-Identifier: Apache-2.0
"""Statistics need next to no memory, however much was recorded, so that people can ask when there is none left."""

import gc
import subprocess
import sys
import textwrap
import tracemalloc

import numpy as np
import pytest

import codipy
from tests.strategies import BY_STATEMENT, each_pair
from tests.tape.test_bytes_of_records import KINDS

MOST = 24_000  # bytes; some 10,000 are seen, for 2900 records as for 5700


def peak(ask):
    gc.collect()
    tracemalloc.start()
    try:
        ask()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@each_pair(pairs=BY_STATEMENT)
@pytest.mark.parametrize("alive", [False, True])
def test_the_peak_does_not_grow_with_the_recording(variant, alive):
    """Also where a variable of each record is alive, or a position behind it."""
    tape = codipy.Tape(*variant)
    kept = []
    with tape:
        x, r = tape.register_input(np.linspace(0.5, 1.5, 100)), tape.register_input(0.7)
        for _ in range(150):
            for step in KINDS.values():
                result = step(x, r)
                if alive:
                    kept += [result, tape.position()]
        repr(result)
    assert len(tape.records) > 2500
    for ask in (tape.statistics, lambda: repr(tape)):
        ask()
        assert peak(ask) < MOST


EXHAUSTED = """
import resource, sys
import numpy as np, codipy
tape = codipy.Tape(sys.argv[1])
with tape:
    x = tape.register_input(np.linspace(0.5, 1.5, 20))
    for _ in range(10_000):
        y = np.cumsum(x) * x
    y = tape.register_output(y)
before = tape.statistics()
pages = int(open("/proc/self/statm").read().split()[0])
blocks, spare = [None] * 1_000_000, [bytearray(400) for _ in range(100)]
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(), resource.RLIM_INFINITY))
size, n = 1 << 28, 0
while size >= 64:
    try:
        blocks[n] = bytearray(size)
        n += 1
    except MemoryError:
        size //= 2
failed = 0
try:
    more = [bytes(4000) for _ in range(100)]
except MemoryError:
    failed = 1
more = None
del spare      # 40 KB, of those sizes that the objects of an answer have
said = tape.statistics()
text = str(said.total)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
blocks = None
assert failed and said == before, (failed, said, before)
print("same", text == str(before.total))
"""


@pytest.mark.release  # a sanitizer ends the process, or waits, where the address space is used up
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc and RLIMIT_AS")
@each_pair(pairs=BY_STATEMENT)
def test_an_answer_when_no_memory_is_left(variant):
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(EXHAUSTED), variant[0]],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert result.stdout.split() == ["same", "True"], result.stderr
