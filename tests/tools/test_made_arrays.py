# SPDX-License-Identifier: Apache-2.0
"""Plain arrays that a function makes and fills with what is active, however it makes them and fills them."""

import itertools

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.strategies import STRATEGIES
from tests.tools.filled import check

pytestmark = pytest.mark.usefixtures("older_objects_stay")  # SciPy's objects have the collector asked who has an array

WAYS = """
u = U0.copy()
u = U0 * 1.0
u = -U0
u = 1.0 - U0 / 3.0
u = U0 * 0.5; w = np.append(u, p)
u = U0 * 0.5; w = np.insert(u, 1, p)
u = U0 * 0.5; np.add(u, u, out=u, where=u > 0.2)
u = U0[::-1].copy()
u = U0[[0, 1, 3, 2]]
u = U0[U0 > 0.0]
u = np.sin(U0)
u = np.copy(U0)
u = np.array(U0)
u = A @ U0
u = A.dot(U0)
u = np.dot(A, U0)
u = A.sum(axis=0)
u = A.diagonal().copy()
u = U0.astype(float)
u = U0.clip(0.3, 0.7)
u = U0.cumsum()
u = U0.repeat(2)[::2].copy()
u = U0.reshape(2, 2).T.copy().ravel()
u = A[:, 1].copy()
u = A.T[1] + 0.0
u = np.linalg.solve(A, U0)
u = np.linalg.inv(A)[0].copy()
u = np.where(U0 > 0.5, U0, 0.0)
u = np.concatenate([U0[:2], U0[:2]])
u = np.random.default_rng(0).random(4)
u = np.random.default_rng(1).normal(size=4)
u = np.random.default_rng(1).permutation(U0)
u = np.loadtxt(io.StringIO("1 2 3 4"))
u = np.fromstring("1 2 3 4", sep=" ")
u = copy.copy(U0)
u = copy.deepcopy(U0)
u = pickle.loads(pickle.dumps(U0))
u = scipy.linalg.solve(A, U0)
u = scipy.sparse.csr_matrix(A) @ U0
u = scipy.sparse.csr_matrix(A).diagonal()
u = sum([U0, U0])
u = made_by_function()
u = made_after_work()
u = made_if_missing()
u = Model().make()
u = Model().fresh
u = next(arrays())
u = [U0.copy(), U0 * 2.0][1]
u = {"a": U0.copy()}["a"]
u = U0.copy() if p > 0 else None
u = None or U0.copy()
u = (lambda: U0 * 2.0)()
u: object = U0.copy()
v, u = 2.0, U0.copy()
v, u = np.linalg.eigh(A)[0], U0.copy()
u, v = np.linalg.eigh(A)
u = v = U0.copy()
(u := U0.copy())
for u in (U0.copy(), U0 * 2.0): pass
for u in [x * 2.0 for x in (U0, U0)]: pass
v, u = (U0 * (k + 1.0) for k in range(2))
u = np.ma.filled(U0.copy())
""".strip().splitlines()

FILLS = """
u[0] = p
u[1:3] = p * u[:2]
u[...] = p
u[u > 0.3] = p
u[[0, 2]] = p
u[0], u[1] = p, p * p
u += p
u *= p
u[1:] -= p
u.fill(p)
u.flat[1] = p
u.T[0] = p
u.put(0, p)
np.put(u, [1], p)
np.copyto(u, p)
np.copyto(u[:2], p)
np.add.at(u, [0, 0], p)
np.multiply(u, p, out=u)
fill(u, p)
fill(u=u, p=p)
fill_later(u, p)
fill_word(p, where=u)
Model().fill(u, p)
w = u; w[1] = p
w = u[1:]; w[0] = p
w = u.T; w[1] += p
w = np.asarray(u); w[1] *= p
for i in range(3): u[i] = u[i + 1] * p
[u.__setitem__(0, p) for k in (0,)]
def g(): u[1] = p
    g()
g = lambda: u.fill(p); g()
h = [u, 1.0]; h[0][1] = p
h = dict(u=u); h["u"][1] = p
h = {}; h["u"] = u; h["u"] += p
s = State(u); s.u[0] = p
s = State(u=u); s.u += p
s = types.SimpleNamespace(u=u); s.u[2] = p
m = Model(); m.u = u; m.u[1] = p
""".strip().replace("\n    ", "\x00").splitlines()  # fmt: skip

HELD = """
s = State(U0.copy()); s.u[0] = p; u = s.u
s = State(u=U0 * 2.0); s.u[1:] *= p; u = s.u
m = Model(); m.u[1] = p; u = m.u
m = Model(); m.u = U0.copy(); m.u += p; u = m.u
s = {"u": U0.copy()}; s["u"][1] = p; u = s["u"]
s = dict(u=U0.copy()); s["u"] += p; u = s["u"]
s = {}; s["u"] = np.sin(U0); s["u"][0] = p; u = s["u"]
s = []; s.append(U0.copy()); s[0][1] = p; u = s[0]
s = [U0.copy() for k in range(2)]; s[1][0] = p; u = s[1]
s = {k: U0 * k for k in range(3)}; s[2][0] = p; u = s[2]
s = [U0.copy(), U0.copy()]; s[0][0] = p; s[1][1] = s[0][0] * p; u = s[1]
s = types.SimpleNamespace(u=U0.copy()); s.u[0] = p; u = s.u
s = functools.partial(fill, U0.copy()); s(p); u = s.args[0]
""".strip().splitlines()

# Plain arrays that others can see too: by another name, a view, a list, a memo, a weak reference, a generator.
SEEN = """
u = view_of_kept()
u = watched()
u = exported()
u = next(BUFFERS)
u = np.frombuffer(bytearray(32))
""".strip().splitlines()

# Those that stand where they are found are filled there.
FOUND = """
u = CACHE.setdefault("u", U0 * 2.0)
u = kept()
u = kept_view()
""".strip().splitlines()

SEEING = """
import weakref

KEPT = []
def kept(): u = U0 * 2.0; KEPT.append(u); return u
def kept_view(): u = U0 * 2.0; KEPT.append(u[1:]); return u
def view_of_kept(): u = U0 * 2.0; KEPT.append(u); return u[::-1]
def watched(): u = U0 * 2.0; KEPT.append(weakref.ref(u)); return u
def exported(): u = U0 * 2.0; KEPT.append(memoryview(u)); return u
def buffers():
    u = U0.copy()
    while True: yield u
BUFFERS = buffers()
"""


@pytest.mark.parametrize("way", WAYS)
def test_an_array_that_the_function_makes_can_be_filled_in_any_way(way, user_module):
    fills = FILLS[::5] if "scipy.sparse" in way else FILLS  # at each of which the collector is asked who has an array
    module = user_module([(way, fill, "return weighted(u)") for fill in fills])
    strategies = itertools.cycle(STRATEGIES)
    slopes = [check(module, f"f{k}", strategy) for k in range(len(fills)) for strategy in ("auto", next(strategies))]
    assert sum(map(bool, slopes)) > len(slopes) // 2  # a derivative that is lost would not be seen where it is zero


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_arrays_that_are_made_into_a_list_a_dict_or_an_object(strategy, user_module):
    module = user_module([(line, "return weighted(u)") for line in HELD])
    assert all(check(module, f"f{k}", strategy) for k in range(len(HELD)))


@pytest.mark.parametrize("way", SEEN)
def test_an_array_that_others_can_see_is_not_filled(way, user_module):
    module = user_module([(way, "u[0] = p", "return u.sum()"), (way, "u *= p", "return u.sum()")], SEEING)
    for f in (module.f0, module.f1):
        with pytest.raises(ActiveError):
            codipy.grad(f)(0.7)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("way", FOUND)
def test_an_array_that_stands_where_it_is_found_is_filled_there(way, strategy, user_module):
    module = user_module([(way, "u[0] = p", "u *= p", "return weighted(u)")], SEEING)
    check_state(module, strategy)


def check_state(module, strategy):
    """Raise unless value, slope and what stays where it was found are those of the plain run."""
    found, h = [], 1e-6
    for p in (0.7 + h, 0.7 - h, 0.7):
        emptied(module)
        found.append(module.f0(p))
    kept = emptied(module)
    value, slope = codipy.value_and_grad(module.f0, strategy=strategy)(0.7)
    assert value == found[2]
    assert slope == pytest.approx((found[0] - found[1]) / (2 * h), rel=1e-7)
    (left,) = emptied(module)
    assert type(left) is np.ndarray and np.array_equal(left, kept[0])


def emptied(module):
    """What the function has put away."""
    kept = [*module.CACHE.values(), *module.KEPT]
    module.CACHE.clear()
    module.KEPT.clear()
    return kept


def layout(u):
    return type(u).__name__, u.dtype, u.shape, u.strides, u.base is None, u.flags.writeable, u.flags.owndata


@pytest.mark.parametrize("way", [*WAYS, *FOUND, *SEEN[:1], "u = np.ones((2, 3, 4)).transpose(2, 0, 1).copy('K')",
                                 "u = np.random.default_rng(0).random((3, 4)).T", "u = np.arange(9.0)[::-2]",
                                 "u = U0.astype(np.float32)", "u = np.arange(4) * 2",
                                 "u = np.float32(1) * np.ones((2, 3), np.float32)[:, ::2]"])  # fmt: skip
def test_the_array_is_laid_out_as_numpys(way, user_module):
    module = user_module([(way, "LAYOUT(u)", "if p > 9.0: u[0] = p", "return p * u.sum()")], SEEING)
    seen = []
    module.LAYOUT = lambda u: seen.append(layout(u))
    module.f0(0.7)
    codipy.grad(module.f0)(0.7)
    (_, *plain), (_, *recorded) = seen
    assert plain == recorded


def test_arrays_of_other_kinds_stay_what_they_are(user_module):
    ways = ["np.arange(4) * 2", "U0 * 1j", "U0 > 0.5", "np.array(['a'] * 4)", "np.ma.masked_array(U0) * 2.0",
            "U0.astype('>f8')", "np.array([None] * 4)", "U0.astype('g')", "list(U0)", "U0.tobytes()"]  # fmt: skip
    module = user_module([(f"u = {way}", "KIND(u)", "if p > 9.0: u[0] = p", "return p") for way in ways])
    for k in range(len(ways)):
        seen = []
        module.KIND = lambda u, seen=seen: seen.append((type(u), getattr(u, "dtype", None)))
        f = getattr(module, f"f{k}")
        f(0.7)
        codipy.grad(f)(0.7)
        assert seen[0] == seen[1]


def test_what_is_not_filled_stays_a_plain_array(user_module):
    programs = [("u = U0.copy()", "SEEN.append(type(u))", f"{use}(u)", "return p * u.sum()")
                for use in ("reads", "np.sin", "len", "np.ndarray.tobytes", "tobytes", "float_sum")]  # fmt: skip
    module = user_module(programs, "def reads(u): return u[0] + 1.0\nSEEN, tobytes = [], np.ndarray.tobytes\n")
    for k in range(len(programs)):
        codipy.grad(getattr(module, f"f{k}"))(0.7)
    assert module.SEEN == [np.ndarray] * len(programs)


def test_nothing_is_made_an_array_where_no_tape_records(user_module):
    module = user_module([("u = U0.copy()", "if isinstance(p, float): SEEN.append(type(u))", "u[0] = p",
                           "return u.sum()")], "SEEN = []\n")  # fmt: skip
    codipy.rebind(module.f0)(0.7)
    assert module.SEEN == [np.ndarray]
