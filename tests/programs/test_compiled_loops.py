# SPDX-License-Identifier: Apache-2.0
"""Compiled loops give the bits of loop after loop, for every length, layout and number."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from codipy._testing.tiles import Call
from codipy.operations import BY_NAME, TABLE
from codipy.operations.formulas import Formulas
from tests.programs.layouts import code, same_bits
from tests.programs.widths import HAS, NEVER, WIDTHS, compiled, compiling

EXACT = [row for row in TABLE if Formulas().of(row.value) and row.name not in ("degrees", "radians")]
OTHERS = [BY_NAME[name] for name in ("exp", "log", "tanh", "erf", "maximum", "sin", "log1p", "atan")]
SPECIALS = np.array([0.0, -0.0, 1.0, -1.0, 2.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 1.7e308, 0.5, -2.5])

pytestmark = compiled


def random_program(rng, operands, steps, rows):
    """Steps that read late registers more often than early ones, so that some are read once and some are far apart."""
    program = []
    for step in range(steps):
        row = rows[rng.integers(len(rows))]
        known = operands + step
        program.append((row.code, *(int(known - 1 - rng.integers(known) * rng.random()) for _ in range(row.arity))))
    return program


def everything(program, arguments, shape, seeds, width):
    """Values, adjoints, tangents and Jacobians of a program."""
    call = Call(program, arguments, shape)
    with compiling(width):
        out = call.values(np.empty(shape))
        adjoints = [None if k % 4 == 3 else seeds[1].copy() for k in range(len(arguments))]
        call.reverse(adjoints, seeds[0].copy(), keep=False)
        tangents = [None if k % 4 == 3 else seeds[2] for k in range(len(arguments))]
        tangent = call.tangent(tangents, np.empty(shape))
        jacobians = call.jacobians([k % 4 != 3 for k in range(len(arguments))])
    return [out, tangent, *(a for a in adjoints + jacobians if a is not None)]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("shape", [(1,), (3,), (4,), (9,), (517,), (2000,), (40, 5), (7, 199), (3, 4, 70)], ids=str)
@pytest.mark.parametrize("rows", [EXACT, EXACT + OTHERS], ids=["exact", "mixed"])
def test_random_programs(rows, shape, width):
    rng = np.random.default_rng(len(shape) + shape[-1])
    for operands, steps in [(1, 2), (2, 5), (3, 9), (5, 16), (12, 48), (32, 48)]:
        program = random_program(rng, operands, steps, rows)
        arguments = [rng.normal(size=shape) if k % 3 else np.array(rng.normal()) for k in range(operands)]
        seeds = rng.normal(size=(3, *shape))
        seeds[0].ravel()[::5] = 0.0
        with np.errstate(all="ignore"):
            found = everything(program, arguments, shape, seeds, width)
            wanted = everything(program, arguments, shape, seeds, NEVER)
        assert all(map(same_bits, found, wanted)), program


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_every_operation_between_others(row, width):
    """Special numbers too: what flows through 0 * inf, and the signs of zeros."""
    grid = [a.ravel() for a in np.meshgrid(*[SPECIALS] * row.arity)]
    if row.name == "scale":
        grid[1] = np.where(abs(grid[1]) < 1e9, np.floor(grid[1]), 3.0)
    size, last = grid[0].size, row.arity
    program = [(code("negative"), 0), (row.code, last, *range(1, row.arity)), (code("add"), last + 1, 0)]
    for seed in (np.ones(size), np.resize([0.0, -0.0, np.inf, np.nan, 2.0], size)):
        seeds = np.array([seed, np.zeros(size), seed])
        with np.errstate(all="ignore"):
            found = everything(program, grid, (size,), seeds, width)
            wanted = everything(program, grid, (size,), seeds, NEVER)
        assert all(map(same_bits, found, wanted))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("size", [1, 3, 8, 100, 1003])
def test_no_flag_is_raised_by_what_is_not_there(size, width):
    """The lanes past the end of a tile hold zeros: 0 / 0 there is nobody's division."""
    x = np.linspace(1.0, 2.0, size)
    divided = Call([(code("divide"), 0, 0), (code("divide"), 1, 0), (code("sqrt"), 2)], [x], x.shape)
    out = np.empty(size)
    with compiling(width), np.errstate(all="raise"):
        divided.values(out)
        np.add(out, 0.0, out=out)
    assert same_bits(out, np.sqrt(x / x / x))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("shift", [0, 1, 2, 7, 63, 600])
@pytest.mark.parametrize("length", [130, 1500])
def test_adjoints_that_overlap(length, shift, width):
    """Slices of one array, shifted against each other by less than a vector, a tile or by nothing."""
    rng = np.random.default_rng(shift)
    u, seed = rng.normal(size=(2, length + 2 * shift))
    slices = [slice(k * shift, k * shift + length) for k in range(3)]
    program = [(code("multiply"), 0, 1), (code("subtract"), 3, 2), (code("multiply"), 4, 1), (code("add"), 5, 0)]
    expected = np.zeros(u.size)
    a, b, c = (u[part] for part in slices)
    g = seed[:length]
    for part, slope in zip(slices, (b * b + 1, a * b + (a * b - c), -b), strict=True):
        expected[part] += g * slope
    with compiling(width):
        found = np.zeros(u.size)
        Call(program, [a, b, c], (length,)).reverse([found[part] for part in slices], g.copy())
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-14)
    with compiling(NEVER):
        again = np.zeros(u.size)
        Call(program, [a, b, c], (length,)).reverse([again[part] for part in slices], g.copy())
    assert same_bits(found, again)


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_of_one_matrix_whose_adjoints_have_other_strides(width):
    rng = np.random.default_rng(5)
    x, y, seed = rng.normal(size=(3, 6, 150))
    memory = np.zeros(2000)
    near, far = memory[:900].reshape(6, 150), memory[100:1900].reshape(6, 300)[:, :150]
    program = [(code("multiply"), 0, 1), (code("add"), 2, 0)]
    with compiling(width):
        Call(program, [x, y], x.shape).reverse([near, far], seed.copy())
    expected = np.zeros(2000)
    expected[:900] += (seed * (y + 1)).ravel()
    expected[100:1900].reshape(6, 300)[:, :150] += seed * x
    np.testing.assert_allclose(memory, expected, rtol=1e-13, atol=1e-14)


def test_loops_are_compiled_when_they_were_wanted_often_enough():
    """Whether is seen by a loop that exists: the second call of a process that may write no code any more."""
    program = """
import resource, sys
import numpy as np
from codipy.operations import BY_NAME
from codipy._testing.tiles import Call
steps = [(BY_NAME["multiply"].code, 0, 0), (BY_NAME["add"].code, 1, 0), (BY_NAME["subtract"].code, 2, 0)]
x = np.linspace(0.0, 1.0, 100_000)
def executable():
    return sum("r-xp 00000000 00:00 0" in line for line in open("/proc/self/maps"))
before = executable()
Call(steps, [x[:2000]], (2000,)).values(np.empty(2000))
assert executable() == before, "4 tiles are too few"
for _ in range(3):
    assert np.array_equal(Call(steps, [x], x.shape).values(np.empty(x.size)), x * x + x - x)
    assert executable() == before + 1, "one loop, made once"
"""
    if not sys.platform.startswith("linux"):
        pytest.skip("looks at /proc")
    subprocess.run([sys.executable, "-c", program], check=True)


def test_threads_compile_at_once():
    rng = np.random.default_rng(8)
    x = rng.normal(size=3000)
    programs = [random_program(rng, 1, 12, EXACT) for _ in range(40)]
    with np.errstate(all="ignore"), compiling(HAS):
        wanted = [Call(p, [x], x.shape).values(np.empty(x.size)) for p in programs]
        more = [[*p, (code("negative"), len(p))] for p in programs]
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda p: Call(p, [x], x.shape).values(np.empty(x.size)), more * 3))
    assert all(same_bits(a, -b) for a, b in zip(found, wanted * 3, strict=True))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_goes_on():
    x = np.linspace(-1.0, 1.0, 5000)
    steps = [(code("multiply"), 0, 0), (code("add"), 1, 0), (code("multiply"), 2, 1)]
    with compiling(HAS):
        wanted = Call(steps, [x], x.shape).values(np.empty(x.size))
        child = os.fork()
        if child == 0:
            same = False
            try:
                same = same_bits(Call(steps, [x], x.shape).values(np.empty(x.size)), wanted)
            finally:
                os._exit(0 if same else 1)
        assert os.waitpid(child, 0)[1] == 0
