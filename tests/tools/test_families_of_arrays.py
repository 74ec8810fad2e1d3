# SPDX-License-Identifier: Apache-2.0
"""An array and its views, each wherever it stands, are filled as one: by whatever way the function comes upon them."""

import gc
import types

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.covering import in_turn
from tests.strategies import STRATEGIES
from tests.tools.filled import HEAD, module_of

pytestmark = pytest.mark.usefixtures("older_objects_stay")

STATE = """
import itertools, operator
class Solver:
    def __init__(self):
        self.u = np.linspace(0.2, 0.9, 6)
        self.inner = self.u[1:-1]
        self.rev = self.u[::-1]
        self.mat = self.u.reshape(2, 3)
        self.last = self.u[-1:]
class Kept:
    def __init__(self):
        self.u = np.linspace(0.2, 0.9, 6)
        self.kept = None
        self.log = []
S = Solver()
K = Kept()
grid = np.linspace(0.1, 1.2, 8).reshape(2, 4)
top, bottom = grid
_own = np.linspace(0.3, 0.8, 6)
a1, a2 = _own[:3], _own[3:]
del _own
F = np.asfortranarray(np.arange(1., 7.).reshape(2, 3))
FT = F.T
col = F[:, 1]
ro = np.linspace(0.2, 0.9, 6)
rov = ro[1:3]
rov.flags.writeable = False
slots = {"u": np.linspace(0.2, 0.9, 6)}
slots["v"] = slots["u"][2:]
L = [np.linspace(0.1, 0.4, 4), np.linspace(0.5, 0.8, 4)]
def arrays():
    return [S.u, S.inner, S.rev, S.mat, S.last, grid, top, bottom, a1, a2, F, FT, col, ro, rov, slots["u"], slots["v"],
            K.u, *L]
def total():
    return sum([(x * np.arange(1.0, x.size + 1).reshape(x.shape)).sum() ** 2 for x in arrays()])
def inner_fill(w, p): w[0] = p
def with_many(u, w, p): u[0] = p; w[0] = u[1] * p
def recurse(w, p, k):
    w[k] = p * k
    if k: recurse(w, p, k - 1)
def fill_and_sum(w, p):
    w[0] = p
    return w.sum()
"""

# Bodies of functions of `p`.
PROGRAMS = """
S.inner[:] = p; return total()
S.u[2] = p; S.inner[2] *= p; return total()
S.rev[0] = p; S.mat[0] *= S.last[0]; return total()
S.mat[1, 1] = p; S.inner += S.rev[1:-1] * p; return total()
S.u, S.inner = S.inner, S.u; S.u[0] = p; S.u, S.inner = S.inner, S.u; return total()
top[0] = p; bottom[:] = top * p; return total()
grid[1] = p; top[:] = bottom * p; return total()
a1[0] = p; a2[:] = a1 * p; return total()
FT[1] = p; col[0] = FT[1, 0] * p; return total()
col[:] = p; return total()
ro[1] = p; return total() * rov[0]
slots["v"][0] = p; return total()
slots["u"][2:] *= p; return total()
v = S.inner; w = v[1:]; w[0] = p; return total() * w[0]
v = S.u[2:5]; v[:] = p * S.inner[:3]; return total()
S.u = S.u * p; S.inner[0] = p; r = total(); S.u = S.inner.base; return r
S.inner = S.u[2:]; S.inner[0] = p; r = total(); S.inner = S.u[1:-1]; return r
K.kept = K.u[1:]; K.u[2] = p; return total() * K.kept[1]
K.kept = K.u; K.u[2] = p; return total() * K.kept[1]
K.u[2] = p; K.log.append(K.u); r = total() * K.log[-1][0]; return r
K.u[2] = p; K.log.append(K.u[:2]); return total() * K.log[-1][0]
w = L.pop(); w[0] = p; L.insert(0, w); return total()
w = L.pop(0); w[0] = p; L.append(w); w[1] = p * p; return total()
L[0], L[1] = L[1], L[0]; L[0][0] = p; return total()
w = L.pop(); w[0] = p; K.kept = w; L.append(w); return total() * K.kept[0]
def inner(z): z[0] = p\x00map(inner, L); list(map(inner, [S.inner, top])); return total()
g = (x for x in L); w = next(g); w[0] = p; w2 = next(g); w2[:] = w * p; return total()
def gen(x):\x00  for i in range(3): x[i] = p * i; yield x[i]\x00return sum(gen(S.inner)) + total()
def gen(x):\x00  for i in range(3): x[i] = p * i; yield x[i]\x00it = gen(S.inner); next(it); next(it); return total()
try:\x00    S.inner[0] = p\x00    raise ValueError("x")\x00except ValueError:\x00    S.u[3] = p * p\x00return total()
f = functools.partial(inner_fill, S.inner); f(p); return total()
f = functools.partial(inner_fill, w=top); f(p=p); return total()
globals()["top"][0] = p; return total()
vars(S)["inner"][0] = p; return total()
S.__dict__["inner"][1:] = p; return total()
getattr(S, "in" + "ner")[1:] = p; return total()
setattr(S, "extra", S.inner); S.extra[0] = p; r = total() * S.extra[0]; del S.extra; return r
d = {**slots}; d["v"][0] = p; return total() * d["u"][2]
d = dict(slots); d.pop("v")[0] = p; return total() * d["u"][2]
x, *rest = (S.inner, top, bottom); x[0] = p; rest[0][1] = p; return total()
(lambda w: w.__setitem__(0, p))(S.inner); return total()
operator.setitem(S.inner, 0, p); return total()
np.copyto(S.inner, p); return total()
np.multiply(S.inner, p, out=S.inner); return total()
np.add.at(S.inner, [0, 0], p); return total()
S.inner.fill(p); return total()
S.inner[S.inner > 0.5] = p; return total()
for x in (S.inner, top): x *= p\x00return total()
with_many(S.u, S.inner, p); return total()
with_many(w=S.inner, u=S.u, p=p); return total()
u = S.u; v = S.inner; u[1] = p; v[1] = p * 2; return total() * v[0]
for x in itertools.chain([S.inner], L): x[0] = p\x00return total()
c = itertools.cycle(L); next(c)[0] = p; next(c)[0] = p * p; next(c)[1] = p; return total()
m = copy.copy(S); m.inner[0] = p; return total()
m = copy.deepcopy(S); m.inner[0] = p; return total() * m.u[1]
recurse(S.inner, p, 2); return total()
w = S.inner\x00def nested(): w[0] = p\x00nested(); return total()
w = S.inner\x00def nested():\x00  nonlocal w; w[0] = p; w = top; w[0] = p\x00nested(); return total() * w[0]
return np.sum([fill_and_sum(x, p) for x in (S.inner, S.u, top)]) + total()
class T:\x00    def __init__(self, w): self.w = w\x00    def go(self): self.w[0] = p\x00T(S.inner).go(); return total()
""".strip().splitlines()


def source_of(number):
    return STATE + "\ndef f(p):\n    " + PROGRAMS[number].replace("\x00", "\n    ") + "\n"


def plain_module(number):
    """The same module without a file, so that it takes no compiling."""
    module = types.ModuleType("plain")
    exec(HEAD + source_of(number), module.__dict__)
    return module


def shared(arrays):
    return [[np.shares_memory(a, b) for a in arrays] for b in arrays]


CASES = in_turn(STRATEGIES, range(len(PROGRAMS)))


@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=PROGRAMS)
def test_a_family_is_filled_as_in_the_plain_run(number, tmp_path):
    h = 1e-6
    found = [plain_module(number).f(p) for p in (0.7 + h, 0.7 - h)]
    plain = plain_module(number)
    expected = []
    for p in (0.7, 0.4):
        expected.append((plain.f(p), [array.copy() for array in plain.arrays()]))
    for strategy in (strategy for strategy, k in CASES if k == number):
        module = module_of(tmp_path, f"families_of_the_user_{strategy.replace('-', '_')}", source_of(number))
        f = codipy.value_and_grad(module.f, strategy=strategy)
        for p, (value, arrays) in zip((0.7, 0.4), expected):
            got, slope = f(p)
            assert got == value
            if p == 0.7:
                assert slope == pytest.approx((found[0] - found[1]) / (2 * h), rel=1e-6)
            left = module.arrays()
            assert all(type(array) is np.ndarray for array in left)
            assert all(np.array_equal(a, b) for a, b in zip(left, arrays))
        assert shared(left) == shared(plain.arrays())


def with_work(p, work):
    work[0] = p
    return (work * work).sum()


def test_a_cell_that_only_the_collector_finds_is_found_again_and_again():
    gradient = codipy.grad(with_work)

    def several(first):
        work = np.full(3, first)
        return [(gradient(0.1 * k, work), work[0]) for k in range(20)], work  # in a cell up to Python 3.11

    for first in (1.0, 2.0):
        found, work = several(first)
        assert found == [(pytest.approx(0.2 * k), 0.1 * k) for k in range(20)]
        assert type(work) is np.ndarray and work.tolist() == [0.1 * 19, first, first]


CACHED = """
@functools.cache
def work(n): return np.zeros(n)
@functools.lru_cache(maxsize=4)
def bounded(n): return np.zeros(n)
@functools.lru_cache
def pair(n): return np.zeros(n), np.ones(n)
KEPT = work(3)
@functools.lru_cache
def named(n): return {"u": np.ones(n), "v": [np.ones(n)]}
class Owner:
    @functools.lru_cache(None)
    def own(self, n): return np.ones(n)
OWNER = Owner()
for k in (2, 3):
    bounded(k), pair(k), named(k), OWNER.own(k)

def whole(p):
    w = work(3); w[0] = p; w[1:] += p * work(3)[:-1]
    return (work(3) * w).sum() + KEPT[0]

def several(p):
    for n in (2, 3):
        u = bounded(n); u[:] += p * n
    v, w = pair(2); v[0] = p; w += v
    OWNER.own(3)[1] = p * bounded(2)[0]
    return bounded(2).sum() * bounded(3).sum() * pair(2)[1].sum() * OWNER.own(3).sum()

def in_dicts(p):
    d = named(2); d["u"][0] = p; d["v"][0][:] *= p
    return named(2)["u"].sum() * named(2)["v"][0].sum()

def cold(p):
    w = work(7); w[0] += p
    return (work(7) ** 2).sum()

def left(): return [work(3), KEPT, bounded(2), bounded(3), *pair(2), OWNER.own(3), named(2)["u"], *named(2)["v"]]
"""


@pytest.mark.parametrize("name", ["whole", "several", "in_dicts", "cold"])
def test_work_arrays_that_a_cache_gives(name, tmp_path):
    h = 1e-6

    def fresh(strategy):
        return module_of(tmp_path, f"caches_of_the_user_{strategy.replace('-', '_')}", CACHED)

    found = [getattr(fresh("plain"), name)(p) for p in (0.7 + h, 0.7 - h)]
    plain = fresh("plain")
    expected = getattr(plain, name)(0.7)
    for strategy in STRATEGIES:
        module = fresh(strategy)
        value, slope = codipy.value_and_grad(getattr(module, name), strategy=strategy)(0.7)
        assert value == expected
        assert slope == pytest.approx((found[0] - found[1]) / (2 * h), rel=1e-7)
        assert all(type(a) is np.ndarray and np.array_equal(a, b) for a, b in zip(module.left(), plain.left()))
        assert module.KEPT is module.work(3)


# What gives the function its arrays in ways of its own, and what is left in them.
GIVEN = {
    "with": """
POOL = [np.zeros(4), np.zeros(4)]
@contextlib.contextmanager
def scratch():
    w = POOL.pop()
    try: yield w
    finally: POOL.append(w)
def f(p):
    with scratch() as w:
        w[:] = p * np.arange(4.0)
        with scratch() as v:
            v[:] = w * p
            return (w * v).sum()
def left(): return POOL
""",
    "loop": """
A, B = np.zeros(3), np.ones(3)
class Buffers:
    def both(self):
        for w in (A, B): yield w
def f(p):
    for w in Buffers().both(): w[0] = p; w[1:] += p * w[:1]
    return (A * B).sum()
def left(): return [A, B]
""",
    "partialmethod": """
class Model:
    def __init__(self): self.w = np.zeros(3)
    def put(self, k, v): self.w[k] = v
    first = functools.partialmethod(put, 0)
MODEL = Model()
second = functools.partial(MODEL.put, 1)
def f(p): MODEL.first(p); second(p * p); return (MODEL.w ** 2).sum()
def left(): return [MODEL.w]
""",
    "product": """
A = scipy.sparse.csr_matrix(np.diag(np.arange(1.0, 5.0)) + np.eye(4, k=1))
u = np.ones(4)
def f(p): r = A.dot(u * p); u[:] = r - A.T @ u; return (u * u).sum()
def left(): return [u]
""",
}


@pytest.mark.parametrize("name", GIVEN)
def test_arrays_that_are_given_in_ways_of_their_own(name, tmp_path):
    h = 1e-6

    def fresh(strategy):
        return module_of(tmp_path, f"given_{name}_{strategy.replace('-', '_')}", "import contextlib\n" + GIVEN[name])

    found = [fresh("plain").f(p) for p in (0.7 + h, 0.7 - h)]
    plain = fresh("plain")
    expected = plain.f(0.7)
    for strategy in STRATEGIES:
        module = fresh(strategy)
        value, slope = codipy.value_and_grad(module.f, strategy=strategy)(0.7)
        assert value == expected
        assert slope == pytest.approx((found[0] - found[1]) / (2 * h), rel=1e-7)
        assert all(type(a) is np.ndarray and np.array_equal(a, b) for a, b in zip(module.left(), plain.left()))


def test_what_the_collector_does_not_track_any_more_is_found(tmp_path):
    """It stops to track a tuple of arrays when it runs, which it may do at any time."""
    first, module = (module_of(tmp_path, f"given_{name}", GIVEN["loop"]) for name in ("tracked", "untracked"))
    expected = codipy.grad(first.f)(0.7)      # which leaves its arrays changed
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        assert codipy.grad(module.f)(0.7) == expected
    finally:
        gc.set_threshold(*before)


BASE = np.arange(1.0, 6.0)
WINDOWS = np.lib.stride_tricks.sliding_window_view(BASE, 2)


def test_windows_of_an_array_that_is_filled():
    """They show its memory and are no views of it by name, so that the array cannot be exchanged: refused."""
    def f(x):
        BASE[0] = x
        return WINDOWS.sum()

    with pytest.raises(ActiveError, match="BASE"):
        codipy.grad(f)(7.0)
    assert BASE.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
