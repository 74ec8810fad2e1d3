# SPDX-License-Identifier: Apache-2.0
"""Compiled loops: memory that changes hands, the table of loops, the edge of the address space, refused memory."""

import ctypes
import mmap
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from codipy._testing.tiles import Call
from codipy.operations import codegen
from tests.programs.layouts import code, same_bits
from tests.programs.widths import WIDTHS, compiled, compiling

ROOT = Path(__file__).resolve().parents[2]

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at /proc, or protects pages")

START = """
import ctypes
import numpy as np
from codipy.operations import BY_NAME
from codipy.programs import tiles
from codipy._testing.tiles import Call

def steps(*rows):
    return [(BY_NAME[name].code, *sources) for name, *sources in rows]

def pages():
    "Loops that were compiled, if each takes one page."
    found = 0
    for line in open("/proc/self/maps"):
        if "r-xp 00000000 00:00 0" in line and "[" not in line:
            low, high = (int(end, 16) for end in line.split()[0].split("-"))
            found += (high - low) // 4096
    return found

def random_calls(count):
    "Programs of six operations, hardly any of them twice."
    rng = np.random.default_rng(0)
    names = ["add", "subtract", "multiply"]
    for _ in range(count):
        rows = [(names[rng.integers(3)], int(rng.integers(1 + s)), int(rng.integers(1 + s))) for s in range(6)]
        yield rows, Call(steps(*rows), [x], x.shape)

_, WIDTH = tiles._compile_from(64, -1)
tiles._compile_from(64, WIDTH)
x = np.linspace(1.0, 2.0, 600)
out = np.empty(x.size)
"""


def in_a_process(program):
    done = subprocess.run([sys.executable, "-c", START + program], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@compiled
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("row", ["positive", "identity"])
def test_a_value_that_is_handed_on_outlives_its_memory(row, width):
    """exp(x) is handed on twice; between that, its memory of the tile goes to x * x, in the same compiled loop."""
    x = np.linspace(0.1, 1.0, 1000)
    steps = [
        (code("exp"), 0), (code(row), 1), (code("multiply"), 0, 0), (code(row), 2),
        (code("exp"), 3), (code("exp"), 4), (code("subtract"), 5, 6),
    ]  # fmt: skip
    with compiling(width):
        found = Call(steps, [x], x.shape).values(np.empty(x.size))
    assert same_bits(found, np.exp(x * x) - np.exp(np.exp(x)))


@compiled
@linux
def test_a_loop_is_made_once_whatever_ran_before():
    """Programs in between leave other bytes on the stack."""
    in_a_process("""
call = Call(steps(("divide", 0, 0), ("sqrt", 1), ("divide", 2, 0)), [x], x.shape)
tiles._compile_from(0, WIDTH)
before = pages()
call.values(out)
assert pages() == before + 1
for name in ("add", "subtract", "multiply"):
    tiles._compile_from(0, -1)
    pair = steps(("add", 0, 0), (name, 1, 0), ("sqrt", 2), ("add", 3, 3), ("multiply", 4, 0))
    Call(pair, [x], x.shape).values(out)
    tiles._compile_from(0, WIDTH)
    call.values(out)
assert pages() == before + 1
""")


@compiled
@linux
def test_programs_that_ran_once_keep_no_other_from_being_compiled():
    in_a_process("""
for _, call in random_calls(3000):
    call.values(out)
before = pages()
call = Call(steps(("multiply", 0, 0), ("divide", 1, 0), ("sqrt", 2)), [x], x.shape)
for _ in range(64):
    call.values(out)
assert pages() == before + 1
assert np.array_equal(out, np.sqrt(x * x / x))
""")


@compiled
@linux
def test_many_compiled_loops_take_bounded_memory():
    in_a_process("""
tiles._compile_from(0, WIDTH)
for rows, call in random_calls(2500):
    found = call.values(out).copy()
    tiles._compile_from(0, -1)
    assert np.array_equal(found, call.values(out)), rows
    tiles._compile_from(0, WIDTH)
assert pages() <= 1024
""")


@compiled
@linux
@pytest.mark.parametrize(
    "forbid",
    [
        # PR_SET_MDWE: memory that can be written never becomes executable
        "if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0): raise SystemExit",
        "import resource; size = int(open('/proc/self/statm').read().split()[0]) * 4096\n"
        "resource.setrlimit(resource.RLIMIT_AS, (size, size))",
    ],
    ids=["not executable", "no memory"],
)
def test_where_memory_is_refused_tiles_run_loop_by_loop(forbid):
    in_a_process(f"""
call = Call(steps(("multiply", 0, 0), ("add", 1, 0), ("sqrt", 2)), [x], x.shape)
wanted = np.sqrt(x * x + x)
tiles._compile_from(0, WIDTH)
before = pages()
{forbid}
for _ in range(3):
    assert (call.values(out) == wanted).all()
assert pages() == before
""")


class Fenced:
    """Doubles between two pages that nobody may touch: the first begins, or the last ends, where a page does."""

    def __init__(self, size, at_end):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        page = mmap.PAGESIZE
        inner = -(-8 * size // page) * page
        self.memory = mmap.mmap(-1, inner + 2 * page)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.fences = (self.base, self.base + page + inner)
        self._protect(0)
        start = page + (inner - 8 * size if at_end else 0)
        self.array = np.frombuffer(self.memory, np.float64, size, start)

    def _protect(self, how):
        for fence in self.fences:
            assert self.libc.mprotect(fence, mmap.PAGESIZE, how) == 0


@compiled
@linux
@pytest.mark.parametrize("at_end", [True, False], ids=["end", "start"])
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_beside_an_array_is_touched(width, at_end):
    """Operands, adjoints, tangents and results of every length beside pages without access."""
    program = [(code("multiply"), 0, 1), (code("divide"), 3, 2), (code("sqrt"), 4), (code("subtract"), 5, 0)]
    fenced = [Fenced(1040, at_end) for _ in range(8)]
    rng = np.random.default_rng(2)
    for fence in fenced:
        fence.array[:] = rng.uniform(0.5, 2.0, 1040)
    for size in [*range(1, 70), 511, 512, 513, 1025, 1039]:
        part = slice(1040 - size, None) if at_end else slice(size)
        *arrays, out = (fence.array[part] for fence in fenced)
        with compiling(width):
            call = Call(program, arrays[:3], (size,))
            call.values(out)
            call.reverse(arrays[3:6], arrays[6])
            call.tangent(arrays[3:6], arrays[6])
        assert same_bits(out, np.sqrt(arrays[0] * arrays[1] / arrays[2]) - arrays[0])


def test_formulas_fit_what_reads_them():
    """`lines_formula` has a stack of eight, and a number is a capital letter."""
    text = codegen.formulas()
    assert int(re.search(r"FORMULA_NUMBERS = (\d+)", text)[1]) <= 26
    for formula in re.findall(r'"([^"]*)"', text[text.index("static const char") :]):
        depth = deepest = 0
        for letter in formula:
            depth += 0 if letter in "~|v" else -1 if letter in "+-*/" else 1
            deepest = max(deepest, depth)
        assert deepest <= 8 and depth == (formula != ""), formula
