# SPDX-License-Identifier: Apache-2.0
"""Arrays that stand in several places, or that the caller has too, can be filled: they stay one array."""

import gc
import sys
import threading

import numpy as np
import pytest
import scipy.optimize

import codipy
from codipy.errors import ActiveError
from tests.covering import in_turn
from tests.strategies import STRATEGIES

pytestmark = pytest.mark.usefixtures("older_objects_stay")

# Arrays that two names, attributes or items have, and each other thing that a program may have them in.
SHARED = """
W[0] = p; return weighted(W) * V[0]
V[1] = p * W[0]; W[2] = V[1] * p; return weighted(V)
u = W; u *= p; return weighted(V)
solver.u[0] = p; return weighted(mesh.u) * solver.u[0]
solver.u += p; return weighted(mesh.u)
mesh.fill(p); return weighted(solver.u)
L[0][1] = p; return weighted(FIRST) * p
FIRST[1] = p; FIRST[2:] *= L[0][1]; return weighted(L[0])
for v in L: v[0] = p\x00return weighted(FIRST) * L[1][0]
D["a"][1] = p; return weighted(D["b"]["c"])
T[0][0] = p; return weighted(T[1]) * weighted(N.v)
N.v[0] = p; return weighted(T[1])
slotted.u[0] = p; return weighted(SLOTTED_U)
Owner.shared[0] = p; return weighted(owner.own)
owner.own[0] = p; return weighted(Owner.shared)
return closed(p) * weighted(inside())
return with_default(p) * weighted(DEFAULT)
return with_default(p) + with_default(p * p)
DEFAULT[0] = p; return with_default(p)
W[0] = p; mesh.u[1] = W[0] * p; L[0][1] = mesh.u[1]; return weighted(V) * weighted(solver.u) * weighted(FIRST)
solver.u[0] = p; solver.u, other.u = other.u, solver.u; other.u[1] = p * p; return weighted(mesh.u) * weighted(other.u)
W[0] = p; L.append(V); L[-1][1] = p; L.pop(); return weighted(W)
F[0, 1] = p; return weighted(G[0]) + float_sum(F.ravel("K")[:3] * p)
S[0] = p; return weighted(S32)
""".strip().splitlines()

SHARING = """
W = np.linspace(0.2, 0.9, 4)
V = W
class Part:
    def __init__(self, u): self.u = u
    def fill(self, p): self.u[1:] = p * self.u[:-1]
_u = U0 * 2.0
solver, mesh, other = Part(_u), Part(_u), Part(U0 * 2.5)
del _u
L = [U0 * 3.0, U0 * 4.0]
FIRST = L[0]
D = {"a": U0 * 5.0, "b": {}}
D["b"]["c"] = D["a"]
_t = U0 * 6.0
T = (_t, _t)
N = collections.namedtuple("Pair", "v w")(_t, 1.0)
del _t
class Slotted:
    __slots__ = ("u",)
slotted = Slotted()
slotted.u = SLOTTED_U = U0 * 7.0
class Owner:
    shared = U0 * 8.0
owner = Owner()
owner.own = Owner.shared
def closing():
    w = U0 * 9.0
    kept = [w]
    def closed(p):
        w[0] = p
        w[1:] *= kept[0][0]
        return weighted(kept[0])
    return closed, lambda: w
closed, inside = closing()
DEFAULT = U0 * 10.0
def with_default(p, out=DEFAULT):
    out[1] = p
    return weighted(out)
F = G = np.asfortranarray(np.arange(1.0, 9.0).reshape(2, 4))
S = S32 = np.arange(1.0, 5.0, dtype=np.float32)
def pairs():
    return [(W, V), (solver.u, mesh.u) if solver.u is mesh.u else (other.u, mesh.u), (L[0], FIRST),
            (D["a"], D["b"]["c"]), (T[0], T[1]), (T[0], N.v), (slotted.u, SLOTTED_U), (Owner.shared, owner.own),
            (inside(), inside()), (DEFAULT, with_default.__defaults__[0]), (F, G), (S, S32), (L[1], L[1]),
            (other.u, other.u)]
"""


def left_by(module, f, p):
    """The value of the plain run and what it leaves, for two calls one after the other."""
    value = f(p)
    return value, [a.copy() for a, _ in module.pairs()]


# Differences of float32 say little: one comparison is enough.
IN_TURN = [(strategy, line) for strategy, line in in_turn(STRATEGIES, SHARED) if strategy == "auto" or "S[" not in line]


@pytest.mark.parametrize(("strategy", "program"), IN_TURN)
def test_all_places_of_an_array_stay_one(strategy, program, user_module):
    def fresh():
        return user_module([tuple(program.split("\x00"))], SHARING)

    def value_at(x, *earlier):
        other = fresh()
        for q in earlier:
            other.f0(q)
        return other.f0(x)

    module, plain = fresh(), fresh()
    h = 2.0**-12 if "S[" in program else 1e-6
    for p, *earlier in ((0.7,), (0.4, 0.7)):
        found = [value_at(x, *earlier) for x in (p + h, p - h)]
        expected, left = left_by(plain, plain.f0, p)
        value, slope = codipy.value_and_grad(module.f0, strategy=strategy)(p)
        assert value == expected
        assert slope == pytest.approx((found[0] - found[1]) / (2 * h), rel=1e-3 if h > 1e-4 else 1e-6)
        assert all(type(a) is np.ndarray and a is b for a, b in module.pairs())
        assert all(np.array_equal(a, b) for (a, _), b in zip(module.pairs(), left))


def filled(p, work):
    work[0] = p
    work[1:] *= p * work[0]
    return work.sum() * p


def by_name(p, *, work, scale=2.0):
    work[0] = p * scale
    return (work * work).sum()


def two(p, a, b):
    a[0] = p
    b[1] = p * a[0]
    return (a * a).sum() * b.sum()


def of_tree(p, state):
    state["u"][0] = p
    state["l"][1][1] = p * p
    return state["u"].sum() * state["l"][1].sum()


def of_pair(p, pair):
    a, b = pair
    a[0] = p
    b[1] = p * a[0]
    return a.sum() * b.sum()


def by_helper(p, work):
    fill(work[1:], p)
    return work.sum() * p


def fill(out, p):
    out[:] = p * np.arange(float(len(out)))


class Model:
    def step(self, p, out):
        out[1:] = p * out[:-1]
        return out.sum() * p

    def __call__(self, p, out):
        return self.step(p, out)


@codipy.value_and_grad
def decorated(p, work):
    work[0] = p
    return work.sum() * p


GLOBAL = np.ones(3)


def at_module_level(p, work):
    work[0] = p
    return (work * GLOBAL).sum() * GLOBAL[0]


def give(array):
    return array


CALLS = {
    "position": (filled, lambda d, p, u, v: d(p, u)),
    "keyword": (filled, lambda d, p, u, v: d(p, work=u)),
    "keyword only": (by_name, lambda d, p, u, v: d(p, work=u)),
    "unpacked": (filled, lambda d, p, u, v: d(p, *(u,))),
    "unpacked whole": (filled, lambda d, p, u, v: d(*(p, u))),
    "unpacked dict": (filled, lambda d, p, u, v: d(p, work=u)),
    "two": (two, lambda d, p, u, v: d(p, u, v)),
    "twice": (two, lambda d, p, u, v: d(p, u, u)),
    "dict": (of_tree, lambda d, p, u, v: d(p, {"u": u, "l": [1.0, v]})),
    "dict twice": (of_tree, lambda d, p, u, v: d(p, {"u": u, "l": [1.0, u]})),
    "tuple": (of_pair, lambda d, p, u, v: d(p, (u, v))),
    "list twice": (of_pair, lambda d, p, u, v: d(p, [u, u])),
    "helper": (by_helper, lambda d, p, u, v: d(p, u)),
    "method": (Model().step, lambda d, p, u, v: d(p, u)),
    "callable": (Model(), lambda d, p, u, v: d(p, out=u)),
    "map": (filled, lambda d, p, u, v: list(map(d, [p], [u]))[0]),
    "result": (filled, lambda d, p, u, v: d(p, give(u))),
}


@pytest.mark.parametrize(("strategy", "name"), in_turn(STRATEGIES, CALLS))
def test_an_argument_of_the_caller_has_the_values_of_the_plain_run(strategy, name):
    f, call = CALLS[name]

    def run(d, p, repeats):
        u, v = np.linspace(0.5, 1.0, 4), np.full(3, 2.0)
        found = [call(d, p, u, v) for _ in range(repeats)]  # in 3.11 the arrays are in cells here
        assert type(u) is np.ndarray
        return found[-1], u, v

    driver, h = codipy.value_and_grad(f, strategy=strategy), 1e-6
    for repeats in (1, 2):
        (value, slope), u, v = run(driver, 0.7, repeats)
        expected, u0, v0 = run(f, 0.7, repeats)
        assert value == expected
        assert np.array_equal(u, u0)
        assert np.array_equal(v, v0)
        if repeats == 1:
            assert slope == pytest.approx((run(f, 0.7 + h, 1)[0] - run(f, 0.7 - h, 1)[0]) / (2 * h), rel=1e-7)


@pytest.mark.parametrize("driver", [
    lambda f, p, u: codipy.grad(f)(p, u),
    lambda f, p, u: codipy.grad(f, argnums=(0,))(p, u)[0],
    lambda f, p, u: codipy.grad(f, argnames="p")(p, work=u),
    lambda f, p, u: codipy.grad(f, argnames="p")(work=u, p=p),
    lambda f, p, u: codipy.jacobian(f)(p, u),
    lambda f, p, u: codipy.jacobian(f, mode="forward")(p, work=u),
    lambda f, p, u: codipy.jvp(f, (p, u), (1.0,), argnums=0)[1],
    lambda f, p, u: codipy.jvp(f, (p,), (1.0,), kwargs={"work": u})[1],
    lambda f, p, u: codipy.vjp(f, p, u, argnums=0)[1](1.0)[0],
    lambda f, p, u: codipy.linearize(f, p, u, argnums=0)[1](1.0),
])  # fmt: skip
def test_every_driver_that_runs_the_function_once_fills_arguments(driver):
    u, expected = np.linspace(0.5, 1.0, 4), np.linspace(0.5, 1.0, 4)
    slope = driver(filled, 0.7, u)
    filled(0.7, expected)
    assert np.array_equal(u, expected)
    others = [filled(x, np.linspace(0.5, 1.0, 4)) for x in (0.7 + 1e-6, 0.7 - 1e-6)]
    assert slope == pytest.approx((others[0] - others[1]) / 2e-6, rel=1e-7)
    assert sys.getrefcount(u) == 2


def test_a_sweep_after_the_caller_has_written_to_an_argument():
    work = np.ones(3)
    value, pullback = codipy.vjp(lambda p, work: squared(p, work), 0.7, work, argnums=0)
    work[:] = np.nan
    assert value == squared(0.7, np.ones(3))
    assert pullback(1.0)[0] == pytest.approx(4.0 * 0.7 + 4.0 * 0.7**3)


def squared(p, work):
    work[:] *= p
    work[0] = work[1] * work[2]
    return (work * work)[:1].sum() + 2.0 * (work * work)[1]


def in_place(x, out):
    out[:] = x * x
    return out


def test_a_result_that_is_an_argument():
    out, x = np.zeros(3), np.arange(3.0)
    assert np.array_equal(codipy.jacobian(in_place)(x, out), np.diag(2.0 * x))
    assert np.array_equal(out, x * x)
    value, pullback = codipy.vjp(in_place, x, out, argnums=0)
    assert np.array_equal(value, x * x)
    assert value is not out
    assert np.array_equal(pullback(np.ones(3))[0], 2.0 * x)


def objective(x, work):
    work[:] = x * x
    return (work * np.arange(1.0, 4.0)).sum() - x.sum()


@pytest.mark.parametrize("method", ["BFGS", "L-BFGS-B", "CG"])
def test_arguments_of_an_optimisation(method):
    work = np.zeros(3)
    for jac in (codipy.grad(objective), True):
        f = codipy.value_and_grad(objective) if jac is True else objective
        found = scipy.optimize.minimize(f, np.ones(3), args=(work,), jac=jac, method=method)
        assert found.x == pytest.approx(0.5 / np.arange(1.0, 4.0), abs=1e-5)
        assert type(work) is np.ndarray
        assert work == pytest.approx(found.x**2, abs=1e-4)


@pytest.mark.parametrize("is_held", [False, True])
def test_an_argument_that_garbage_refers_to(is_held):
    """Solvers leave cycles behind that refer to their args=. What lives and refers to it is no garbage."""
    work = np.zeros(3)
    cycle = [memoryview(work) if is_held else work]
    cycle.append(cycle)
    kept = cycle if is_held else None
    del cycle
    gc.disable()
    try:
        if is_held:
            with pytest.raises(ActiveError, match="`work` is a plain array of NumPy"):
                codipy.grad(objective)(np.ones(3), work)
        else:
            assert codipy.grad(objective)(np.ones(3), work).tolist() == [1.0, 3.0, 5.0]
            assert work.tolist() == [1.0, 1.0, 1.0]
    finally:
        gc.enable()
    assert kept is None or kept[1] is kept


def test_a_variable_of_the_module_that_is_an_argument_is_the_same_array():
    GLOBAL[:] = 1.0
    expected = at_module_level(0.7, GLOBAL)
    GLOBAL[:] = 1.0
    value, slope = codipy.value_and_grad(at_module_level)(0.7, GLOBAL)
    assert (value, GLOBAL.tolist()) == (expected, [0.7, 1.0, 1.0])
    assert slope == pytest.approx(3.0 * 0.7**2 + 2.0)
    GLOBAL[:] = 1.0


def test_a_decorated_function_and_an_array_that_nobody_else_has():
    assert decorated(0.7, np.ones(2))[1] == pytest.approx(2.0 * 0.7 + 1.0)
    rows = np.ones((2, 3))
    assert decorated(0.7, rows[1])[1] == pytest.approx(2.0 * 0.7 + 2.0)  # the caller alone has the rows
    assert rows[1, 0] == 0.7


KEPT: list = []


class Holding:
    own = None


@pytest.mark.parametrize("keep", [
    lambda work: KEPT.append(work), lambda work: setattr(Holding, "own", work),
    lambda work: KEPT.append({"a": (1.0, work)}),
])  # fmt: skip
def test_what_the_function_keeps_of_an_argument_is_the_callers_array(keep):
    def f(p, work):
        work[0] = p
        keep(work)
        return work.sum()

    work = np.ones(3)
    KEPT.clear()
    try:
        assert codipy.grad(f)(0.7, work) == 1.0
        kept = [Holding.own, *KEPT, *(item["a"][1] for item in KEPT if isinstance(item, dict))]
        assert any(item is work for item in kept)
    except ActiveError as error:
        assert "keeps it" in str(error)
    assert work.tolist() == [0.7, 1.0, 1.0]
    KEPT.clear()
    Holding.own = None


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(4,), (2, 2)])
def test_a_view_of_an_argument_that_the_function_keeps_is_one_of_the_callers_array(shape, order):
    def f(p, work):
        work[0] = p
        KEPT.append(work[1:])
        KEPT.append(work.T[::-1])
        return work.sum()

    work = np.ones(shape, order=order)
    assert codipy.grad(f)(0.7, work) == work[0].size
    for kept, expected in zip(KEPT, (work[1:], work.T[::-1])):
        assert type(kept) is np.ndarray and kept.base is work
        assert kept.strides == expected.strides and np.array_equal(kept, expected)
    KEPT.clear()


def test_what_the_function_keeps_where_nobody_looks_is_refused():
    def f(p, work):
        work[0] = p
        KEPT.append({work.size: iter([work[1:]])})
        return work.sum()

    work = np.ones(3)
    with pytest.raises(ActiveError, match="keeps it, or a view of it"):
        codipy.grad(f)(0.7, work)
    assert work.tolist() == [0.7, 1.0, 1.0]
    KEPT.clear()


def test_an_error_leaves_the_values_of_the_plain_run():
    def f(p, work):
        part = work[1:]
        work[0] = p
        part[1] = p * p
        raise KeyError("half-way")

    work = np.ones(3)
    for _ in range(2):
        with pytest.raises(KeyError):
            codipy.grad(f)(0.7, work)
        assert work.tolist() == [0.7, 1.0, 0.7 * 0.7]
        assert type(work) is np.ndarray


def test_an_error_that_the_function_caught_leaves_the_values_too():
    def attempt(p, work):
        work[0] = p
        raise ValueError

    def f(p, work):
        try:
            attempt(p, work)
        except ValueError:
            work[1] = p * work[0]
        return work.sum()

    work = np.ones(3)
    assert codipy.grad(f)(0.7, work) == pytest.approx(1.0 + 1.4)
    assert work.tolist() == [0.7, 0.7 * 0.7, 1.0]


def test_recursion_and_generators_in_the_function():
    def f(p, work):
        def descend(k):
            work[k] = p * (k + 1.0)
            if k:
                descend(k - 1)

        def walk():
            for k in range(3):
                work[k] *= p
                yield work[k]

        descend(2)
        return sum(walk())

    work = np.ones(3)
    for _ in range(3):
        assert codipy.grad(f)(0.7, work) == pytest.approx(2.0 * 6.0 * 0.7)
        assert np.array_equal(work, [0.7 * 0.7, 0.7 * 2.0 * 0.7, 0.7 * 3.0 * 0.7])


def test_views_that_stay_with_the_caller():
    def alone():
        work = np.ones(4)
        view = work[1:]
        assert codipy.grad(decorated.f)(0.7, view) == pytest.approx(2.0 * 0.7 + 2.0)
        assert work.tolist() == [1.0, 0.7, 1.0, 1.0]

    alone()


@pytest.mark.parametrize("have", ["bytes", "generator", "reference", "buffer", "set", "stack", "object"])
def test_what_cannot_be_exchanged_is_refused(have):
    import weakref

    def generate(array):
        yield array.sum()
        yield array.sum()

    work = np.ones(4)
    kept = {"bytes": lambda: work.view(np.int64), "object": lambda: np.array({1: work}),
            "generator": lambda: generate(work), "reference": lambda: weakref.ref(work),
            "buffer": lambda: memoryview(work), "set": lambda: {type("Own", (), {"__slots__": ("u",)})},
            "stack": lambda: None}[have]()  # fmt: skip
    if have == "generator":
        next(kept)
    if have == "set":
        return
    with pytest.raises(ActiveError, match="is a plain array of NumPy"):
        give_both(work, codipy.grad(filled)(0.7, work)) if have == "stack" else codipy.grad(filled)(0.7, work)
    assert work.tolist() == [1.0] * 4
    assert kept is not work


def give_both(*both):
    return both


def test_what_is_differentiated_and_filled_at_once_is_refused():
    def f(x, work):
        work[0] = x[0] * x[1]
        return work.sum()

    x = np.ones(3)
    with pytest.raises(ActiveError, match="`work` is a plain array"):
        codipy.grad(f)(x, x)
    with pytest.raises(ActiveError, match="`work` is a plain array"):
        codipy.grad(f)(x, x[:2])
    assert x.tolist() == [1.0] * 3


def test_another_thread_that_has_an_argument_is_refused():
    work, ready, done = np.ones(3), threading.Event(), threading.Event()

    def waiting(array):
        ready.set()
        done.wait()
        assert type(array) is np.ndarray

    thread = threading.Thread(target=waiting, args=(work,))
    thread.start()
    ready.wait()
    try:
        with pytest.raises(ActiveError):
            codipy.grad(filled)(0.7, work)
    finally:
        done.set()
        thread.join()


def test_on_a_tape_of_ones_own_the_caller_goes_on_and_is_refused():
    work = np.ones(3)
    rebound = codipy.rebind(filled)
    with codipy.Tape() as tape:
        p = tape.register_input(codipy.Real(0.7))
        with pytest.raises(ActiveError):
            rebound(p, work)
    assert work.tolist() == [1.0] * 3


def test_a_driver_in_a_function_that_is_recorded():
    def inner(q, work):
        work[0] = q * q
        return work.sum() * q

    def f(p, work):
        work[1] = p
        return codipy.grad(inner)(p, work.copy()) * work[1]

    def plain(p):
        return (3.0 * p * p + p + 1.0) * p

    work = np.ones(3)
    value, slope = codipy.value_and_grad(f)(0.7, work)
    assert value == pytest.approx(plain(0.7))
    assert work.tolist() == [1.0, 0.7, 1.0]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_arrays_that_are_only_read_are_given_as_they_are(strategy):
    seen = []

    def f(p, data):
        seen.append(data)
        return (data * p).sum()

    data = np.ones(3)
    assert codipy.grad(f, strategy=strategy)(0.7, data) == 3.0
    assert seen[0] is data


FIRST = np.array([0.5, 1.5])
SECOND = FIRST


def of_itself(x):
    FIRST[0] = x[1] * x[1]
    return x[0] + SECOND.sum()


@pytest.mark.parametrize("driver", [
    lambda: codipy.grad(of_itself)(FIRST), lambda: codipy.vjp(of_itself, FIRST),
    lambda: codipy.jacobian(of_itself)(FIRST),
    lambda: codipy.jvp(of_itself, (FIRST,), (np.ones(2),)), lambda: codipy.linearize(of_itself, FIRST),
    lambda: codipy.vjp(lambda t: of_itself(t["a"]), {"a": FIRST}), lambda: codipy.hessian(of_itself)(FIRST),
    lambda: codipy.jvp(of_itself, HELD, (np.ones(2),)), lambda: codipy.vjp(of_itself, *HELD),
])  # fmt: skip
def test_what_is_differentiated_by_is_not_exchanged_elsewhere(driver):
    with pytest.raises(ActiveError, match="`FIRST` is a plain array"):
        driver()
    assert FIRST.tolist() == [0.5, 1.5]


HELD = (FIRST,)
