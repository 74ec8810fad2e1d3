# SPDX-License-Identifier: Apache-2.0
"""Several threads for one array program: the same bits for any number of them, whatever the operands share."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from codipy._testing.tiles import Call
from codipy.operations import BY_NAME
from codipy.programs import tiles
from tests.programs.layouts import same_bits

pytestmark = pytest.mark.skipif(not tiles.HAS_THREADS, reason="no threads here")
ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(21)
THREADS = (2, 3, 7)


def code(name):
    return BY_NAME[name].code


SHORT = [(code("multiply"), 0, 1)]
LONG = [(code("multiply"), 0, 1), (code("exp"), 2), (code("tanh"), 3), (code("subtract"), 4, 0), (code("divide"), 5, 1)]
SCIPY = [(code("erf"), 0), (code("log"), 1), (code("power"), 1, 2), (code("add"), 3, 4)]
PROGRAMS = {"short": SHORT, "long": LONG, "scipy": SCIPY}
each_program = pytest.mark.parametrize("steps", PROGRAMS.values(), ids=PROGRAMS)


@pytest.fixture(autouse=True)
def small_shares():
    """One operation on an element is enough for a thread; what was set before comes back."""
    share, count = tiles._share_from(1), tiles.threads()
    yield
    tiles._share_from(share)
    tiles.set_threads(count)


def draw(*shape):
    return RNG.uniform(0.5, 1.5, shape)


LAYOUTS = {
    "one row": lambda: draw(9001),
    "every third": lambda: draw(27003)[::3],
    "backwards": lambda: draw(9001)[::-1],
    "rows of 300": lambda: draw(41, 300),
    "rows of 65": lambda: draw(130, 65),
    "rows of 3": lambda: draw(4000, 3),
    "rows of 70, in parts": lambda: draw(90, 130)[:, 11:111],
    "rows of 3, in parts": lambda: draw(3000, 8)[:, 2:5],
    "planes": lambda: draw(20, 40, 30)[:, 3:33, ::2],
    "transposed": lambda: draw(120, 110).T,
    "planes backwards": lambda: draw(12, 33, 40)[::-1, :, ::-1],
    "a column": lambda: np.broadcast_to(draw(130, 1), (130, 90)),
    "a row": lambda: np.broadcast_to(draw(90), (130, 90)),
    "a short row": lambda: np.broadcast_to(draw(5), (3000, 5)),
    "one element": lambda: np.broadcast_to(draw(1), (90, 200)),
}
each_layout = pytest.mark.parametrize("layout", LAYOUTS)


def like(layout):
    """Another array of the layout, writable, of zeros: an array of adjoints."""
    found = LAYOUTS[layout]()
    base = found
    while base.base is not None:
        base = base.base
    base[...] = 0.0
    return found


def with_threads(count, function):
    tiles.set_threads(count)
    return function()


def same_for_all(function):
    """Whether `function`, which returns arrays, gives the same bits for each number of threads."""
    alone = with_threads(1, function)
    for count in THREADS:
        found = with_threads(count, function)
        assert all(same_bits(a, b) for a, b in zip(alone, found, strict=True)), count
    return alone


@each_layout
@each_program
def test_values(steps, layout):
    x = LAYOUTS[layout]()
    y = draw(*x.shape)
    call = Call(steps, [x, y], x.shape)
    with np.errstate(all="ignore"):
        same_for_all(lambda: [call.values(np.empty(x.shape)), call.values(np.empty((*x.shape, 2))[..., 1])])
    assert call.threads() == THREADS[-1]


@each_layout
@each_program
def test_tangents(steps, layout):
    x, dx = LAYOUTS[layout](), LAYOUTS[layout]()
    y = draw(*x.shape)
    call = Call(steps, [x, y], x.shape)
    same_for_all(lambda: [call.tangent([dx, y], np.empty(x.shape)), call.tangent([None, dx], np.empty(x.shape))])


@each_layout
@each_program
def test_jacobians(steps, layout):
    x = LAYOUTS[layout]()
    y = draw(*x.shape)
    assert same_for_all(lambda: Call(steps, [x, y], x.shape).jacobians([True, True]))[0].all()
    unread = Call([*steps, (code("sin"), 1)], [x, y], x.shape)
    assert not same_for_all(lambda: unread.jacobians([True, True]))[0].any()


def sweep_back(call, shape, make, keep=False):
    """Adjoints after a sweep with a gap of zeros in the seed; `make` gives the operands' adjoints, then their bases."""
    seed = np.linspace(-1.0, 1.0, int(np.prod(shape))).reshape(shape)
    seed.reshape(-1)[3000:5000] = 0.0

    def run():
        adjoints, bases = make()
        for k, base in enumerate(bases):
            base.reshape(-1)[:] = np.linspace(-0.3, 0.7, base.size) * (k + 1)
            base.reshape(-1)[::7] = -0.0
        lhs = seed.copy()
        assert call.threads(adjoints, lhs) in {1, tiles.threads()}
        call.reverse(adjoints, lhs, keep)
        return [*bases, lhs]

    return same_for_all(run)


@each_layout
@each_program
@pytest.mark.parametrize("keep", [False, True])
def test_reverse(steps, layout, keep):
    x = LAYOUTS[layout]()
    call = Call(steps, [x, draw(*x.shape)], x.shape)

    def make():
        adjoint = like(layout)
        base = adjoint
        while base.base is not None:
            base = base.base
        other = np.zeros(x.shape)
        return [adjoint, other], [base, other]

    sweep_back(call, x.shape, make, keep)


N = 9000
SHARED = {     # the adjoints of two operands in one array of 3 N, and whether the sweep may take several threads
    "the same": (lambda a: (a[:N], a[:N]), True),
    "side by side": (lambda a: (a[:N], a[N:2 * N]), True),
    "columns": (lambda a: (a[::3], a[1::3]), True),
    "columns backwards": (lambda a: (a[::-3], a[1::3]), True),
    "one element and others": (lambda a: (a[:1], a[1:N + 1]), True),
    "twice one element": (lambda a: (a[5:6], a[5:6]), True),
    "two elements": (lambda a: (a[5:6], a[3:4]), True),
    "shifted": (lambda a: (a[:N], a[1:N + 1]), False),
    "shifted by most": (lambda a: (a[:N], a[N - 1:2 * N - 1]), False),
    "backwards": (lambda a: (a[:N], a[:N][::-1]), False),
    "every second": (lambda a: (a[:N], a[:2 * N:2]), False),
    "one of the others": (lambda a: (a[7:8], a[:N]), False),
}


@pytest.mark.parametrize("shared", SHARED)
@each_program
def test_operands_that_share_adjoints(steps, shared):
    views, several = SHARED[shared]
    call = Call(steps, [draw(N), draw(N)], (N,))

    def make():
        base = np.zeros(3 * N)
        return views(base), [base]

    sweep_back(call, (N,), make)
    tiles.set_threads(3)
    assert call.threads(make()[0], np.ones(N)) == (3 if several else 1)


PLANES = {     # adjoints of one operand of 100 x 120 in an array of 200 x 240
    "a part": (lambda a: a[20:120, 7:127], True),
    "steps": (lambda a: a[::2, ::-2], True),
    "transposed": (lambda a: a[:120, :100].T, True),
    "a row": (lambda a: np.broadcast_to(a[3, :120], (100, 120)), False),
    "a column": (lambda a: np.broadcast_to(a[:100, :1], (100, 120)), False),
    "windows": (lambda a: np.lib.stride_tricks.as_strided(a, (100, 120), (8, 8)), False),
    "windows that meet": (lambda a: np.lib.stride_tricks.as_strided(a, (100, 120), (119 * 8, 8)), False),
    "windows that do not": (lambda a: np.lib.stride_tricks.as_strided(a, (100, 120), (120 * 8, 8)), True),
}


@pytest.mark.parametrize("plane", PLANES)
def test_planes_of_adjoints(plane):
    view, several = PLANES[plane]
    call = Call(LONG, [draw(100, 120), draw(100, 120)], (100, 120))

    def make():
        base = np.zeros((200, 240))
        return [view(base), None], [base]

    sweep_back(call, (100, 120), make)
    tiles.set_threads(3)
    assert call.threads(make()[0], np.ones((100, 120))) == (3 if several else 1)


def test_small_calls_stay_on_their_thread():
    """They may hold the GIL; and without a hook a thread is started for much work only."""
    tiles.set_threads(7)
    assert Call(LONG, [draw(8191), draw(8191)], (8191,)).threads() == 1
    assert Call(LONG, [draw(0, 9), draw(0, 9)], (0, 9)).threads() == 1
    tiles._share_from(400_000)
    assert Call(SHORT, [draw(100_000), draw(100_000)], (100_000,)).threads() == 1
    assert Call(LONG, [draw(100_000), draw(100_000)], (100_000,)).threads() == 5


def test_a_sweep_without_derivative():
    call = Call([(code("sin"), 1)], [draw(N), draw(N)], (N,))
    assert not same_for_all(lambda: [call.tangent([np.ones(N), None], np.ones(N))])[0].any()
    base = np.zeros(N)
    sweep_back(call, (N,), lambda: ([base, None], [base]))


def test_python_threads_at_once():
    arrays = [(draw(150, 70), draw(150, 70)) for _ in range(6)]
    alone = [Call(LONG, [x, y], x.shape).values(np.empty(x.shape)) for x, y in arrays]
    tiles.set_threads(3)

    def work(both):
        return [Call(LONG, both, (150, 70)).values(np.empty((150, 70))) for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        for found, expected in zip(pool.map(work, arrays), alone, strict=True):
            assert all(same_bits(values, expected) for values in found)


def fresh(program):
    """Run a program in an interpreter of its own; an endless wait is a failure."""
    head = """
import numpy as np
from codipy.programs import tiles
from codipy._testing.tiles import Call
from codipy.operations import BY_NAME
code = lambda name: BY_NAME[name].code
tiles._share_from(1)
tiles.set_threads(2)
x = np.linspace(0.1, 2.0, 20000)
"""
    found = subprocess.run([sys.executable, "-c", head + program], cwd=ROOT, timeout=60, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize("name", ["exp", "erf", "log"])
def test_the_first_call_looks_for_loops_before_it_starts_threads(name):
    if BY_NAME[name].scipy and not BY_NAME[name].numpy:
        pytest.importorskip("scipy.special")
    fresh(f"""
call = Call([(code({name!r}), 0)], [x], x.shape)
out, adjoint = np.empty(20000), np.zeros(20000)
call.reverse([adjoint], np.ones(20000))     # its derivative may need a loop of its own
call.values(out)
assert np.isfinite(out).all() and adjoint.all()
""")


@pytest.mark.release  # a sanitizer ends the process where it gets no memory for a thread
def test_a_system_that_gives_no_thread():
    """No memory for a stack: the caller does all of it."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("needs to know how much memory it has")
    fresh("""
import resource
call = Call([(code("exp"), 0)], [x], x.shape)
out = np.empty(20000)
with open("/proc/self/statm") as file:
    pages = int(file.read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize(),) * 2)
call.values(out)
assert (out[::500] == np.exp(x[::500])).all()
""")
