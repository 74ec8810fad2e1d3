# SPDX-License-Identifier: Apache-2.0
"""What functions keep on the side while a solver calls them: as in the plain run, and no constant in silence."""

import collections
import contextlib
import functools
import types

import numpy as np
import pytest
from scipy import integrate, optimize
from scipy.sparse import linalg

import codipy
from codipy.errors import ActiveError, TapeError
from tests.strategies import STRATEGIES

K, STEP = 2.0, 1e-5
TIGHT = {"rtol": 1e-7, "atol": 1e-7}


def difference(f):
    return (f(K + STEP) - f(K - STEP)) / (2.0 * STEP)


# ---- Solvers, which call `note` with a number that depends on k and on the unknown -----------------------------------
def rooted(solve):
    return lambda k, note: solve(lambda x: (note(k * np.reshape(x, -1)[0]), x**3 - k)[1])


def made_least(solve):
    return lambda k, note: solve(lambda x: (note(k * np.reshape(x, -1)[0]), np.sum((x - k) ** 2 + x**4))[1])


def fitted(solve):
    return lambda k, note: solve(lambda x: (note(k * x[0]), np.stack([x[0] - k, x[0] ** 2 - k]))[1])


def integrated(method, **options):
    def solve(k, note):
        def slope(t, y):
            note(k * y[0])
            return -k * y

        return integrate.solve_ivp(slope, (0.0, 1.0), [1.0], method, **TIGHT, **options).y[0, -1]

    return solve


def by_odeint(k, note):
    return integrate.odeint(lambda y, t: (note(k * y[0]), -k * y)[1], [1.0], [0.0, 1.0])[-1, 0]


def curve(k, note):
    t = np.array([1.0, 2.0, 3.0])
    return optimize.curve_fit(lambda t, a: (note(k * a), a * t + a**2)[1], t, k * np.array([1.0, 2.0, 3.1]))[0][0]


def held(k, note):
    return optimize.minimize(
        lambda x: (note(k * x[0]), (x[0] - k) ** 2 + x[1] ** 2)[1], [1.0, 1.0], method="SLSQP", tol=1e-11,
        constraints={"type": "eq", "fun": lambda x: x[0] - 2.0 * x[1] - k}).x[0]  # fmt: skip


def by_operator(k, note):
    A = linalg.LinearOperator((2, 2), matvec=lambda v: (note(k * v[0]), k * v)[1], dtype=float)
    return linalg.cg(A, np.array([1.0, 2.0]))[0][0]


def by_constant_operator(k, note):
    A = linalg.LinearOperator((2, 2), matvec=lambda v: (note(v[0]), v * np.array([2.0, 3.0]))[1], dtype=float)
    return linalg.cg(A, np.stack([k, 2.0]), rtol=1e-12)[0][0]


def by_own_solver(k, note):
    def f(u, k):
        note(k * u)
        return u**3 - k

    def newton(k):
        u = 1.0
        for _ in range(20):
            u = u - f(u, k) / (3.0 * u**2)
        return u

    return codipy.implicit.root(f, newton)(k)


# Those of the first kind end with a call at the solution, the others somewhere else.
AT_END = {
    "brentq": rooted(lambda f: optimize.brentq(f, 0.1, 3.0)),
    "newton": rooted(lambda f: optimize.newton(f, 1.0)),
    "root_scalar": rooted(lambda f: optimize.root_scalar(f, bracket=(0.1, 3.0)).root),
    "fsolve": rooted(lambda f: optimize.fsolve(f, [1.0])[0]),
    "root": rooted(lambda f: optimize.root(f, [1.0], method="lm").x[0]),
    "fixed_point": lambda k, note: optimize.fixed_point(lambda x: (note(k * x), np.sqrt(k + x))[1], 1.0),
    "BFGS": made_least(lambda f: optimize.minimize(f, [1.0], tol=1e-9).x[0]),
    "Nelder-Mead": made_least(lambda f: optimize.minimize(f, [1.0], method="Nelder-Mead", tol=1e-9).x[0]),
    "minimize_scalar": made_least(lambda f: optimize.minimize_scalar(f).x),
    "SLSQP": held,
    "least_squares": fitted(lambda f: optimize.least_squares(f, [1.0], xtol=1e-12, ftol=1e-12).x[0]),
    "leastsq": fitted(lambda f: optimize.leastsq(f, [1.0], xtol=1e-12, ftol=1e-12)[0][0]),
    "curve_fit": curve,
    "quad": lambda k, note: integrate.quad(lambda x: (note(k * x), k * x**2)[1], 0.0, 1.0)[0],
    "RK45": integrated("RK45"),
    "Radau": integrated("Radau"),
    "BDF": integrated("BDF"),
}
ELSEWHERE = {
    "dense DOP853": integrated("DOP853", dense_output=True),
    "LSODA": integrated("LSODA"),
    "odeint": by_odeint,
    "cg": by_operator,
    "cg of a constant matrix": by_constant_operator,
    "codipy.implicit.root": by_own_solver,
}


def last_number():
    kept = {}
    return lambda v: kept.update(last=v), lambda: kept["last"] ** 2


def first_number():
    kept = []
    return kept.append, lambda: kept[0] ** 2


def calls():
    kept = []
    return kept.append, lambda: len(kept)


def with_kept(solve, keeping):
    def f(k):
        note, used = keeping()
        return solve(k, note) + used()

    return f


@pytest.mark.parametrize("name", AT_END)
def test_a_last_state_at_the_solution_has_its_derivative(name):
    f = with_kept(AT_END[name], last_number)
    value, gradient = codipy.value_and_grad(f)(K)
    assert value == f(K)
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-3)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_a_last_state_elsewhere_is_refused(name):
    with pytest.raises(TapeError, match=r"call that function once more, with what\s+the solver returns"):
        codipy.grad(with_kept(ELSEWHERE[name], last_number))(K)


@pytest.mark.parametrize("name", [*AT_END, *ELSEWHERE])
def test_what_an_earlier_call_kept_is_refused(name):
    with pytest.raises(TapeError, match="kept"):
        codipy.grad(with_kept((AT_END | ELSEWHERE)[name], first_number))(K)


@pytest.mark.parametrize("name", [*AT_END, *ELSEWHERE])
def test_counts_are_those_of_the_plain_run(name):
    f = with_kept((AT_END | ELSEWHERE)[name], calls)
    value, gradient = codipy.value_and_grad(f)(K)
    assert value == f(K)
    np.testing.assert_allclose(gradient, codipy.grad(lambda k: (AT_END | ELSEWHERE)[name](k, lambda v: None))(K),
                               rtol=1e-6)  # fmt: skip


FILLED = np.zeros(2)


def in_filled():
    def note(v):
        FILLED[1] = v

    return note, lambda: FILLED[1] ** 2


@pytest.mark.parametrize("name", [*AT_END, *ELSEWHERE])
def test_an_array_that_holds_before_what_it_is_filled_with(name):
    f = with_kept((AT_END | ELSEWHERE)[name], in_filled)
    by_difference = difference(f)
    f(K)
    if name in ELSEWHERE:
        with pytest.raises(TapeError, match="FILLED"):
            codipy.grad(f)(K)
    else:
        np.testing.assert_allclose(codipy.grad(f)(K), by_difference, rtol=1e-3)


@pytest.mark.parametrize("copies", [True, False])
def test_an_array_that_holds_before_the_solution_that_a_solver_puts_there(copies):
    def solver(k):
        FILLED[:] = np.sqrt(np.stack([k, k + 1.0]))
        return FILLED.copy() if copies else FILLED

    def f(k):
        u = codipy.implicit.root(lambda u, k: u * u - np.stack([k, k + 1.0]), solver)(k)
        return np.sum(u) + np.sum(FILLED)

    f(K)
    said = "np.asarray.. of an active Array|`FILLED` is from|return a copy"
    for _ in range(2):
        with pytest.raises((ActiveError, TapeError), match=said):
            codipy.grad(f)(K)
        f(K + 1.0)      # the array holds other numbers


class Counted:
    __slots__ = ("calls",)


class CountedAgain(Counted):
    __slots__ = ("calls",)


def test_a_slot_that_two_classes_have_is_that_of_the_later_one():
    def f(k):
        counted = CountedAgain()
        counted.calls = 0

        def residual(u):
            counted.calls += 1
            return u**3 + k * u - 1.0

        return optimize.newton(residual, 0.5) + counted.calls

    assert codipy.value_and_grad(f)(2.0)[0] == f(2.0)


# ---- Kinds of keeping, each in one solver ----------------------------------------------------------------------------
LATEST = None


def in_global():
    def note(v):
        global LATEST
        LATEST = v

    return note, lambda: LATEST**2


def in_cell():
    kept = None

    def note(v):
        nonlocal kept
        kept = v

    return note, lambda: kept**2


class Model:
    count = 0

    def __init__(self):
        self.work, self.whole, self.last = np.zeros(3), np.zeros(3), None

    def note(self, v):
        Model.count += 1
        self.last = v

    def fill(self, v):
        self.work[1] = v
        self.work[2] = 2.0 * self.work[1]

    def fill_all(self, v):
        self.whole[:] = v


class Slotted:
    __slots__ = ("last",)


def in_attribute():
    model = Model()
    return model.note, lambda: model.last**2


def in_elements():
    model = Model()
    return model.fill, lambda: model.work[2] ** 2


def in_array():
    model = Model()
    return model.fill_all, lambda: np.sum(model.whole**2)


def in_local_array():
    kept = np.zeros(2)

    def note(v):
        kept[0] = v
        kept[1] = kept[0] * v

    return note, lambda: kept[1] * 3.0


def in_slot():
    kept = Slotted()
    return lambda v: setattr(kept, "last", v), lambda: kept.last**2


def in_namespace():
    kept = types.SimpleNamespace(pair=[1.0, 2.0])

    def note(v):
        kept.pair[1] = v

    return note, lambda: kept.pair[0] + kept.pair[1] ** 2


def in_log():
    kept = []
    return kept.append, lambda: kept[-1] ** 2


def in_log_of_tuples():
    kept = []
    return lambda v: kept.append((v, 2.0 * v, "at")), lambda: kept[-1][1] ** 2


def in_log_of_arrays():
    kept = []
    return lambda v: kept.append(np.array([v, 2.0 * v])), lambda: np.sum(kept[-1] ** 2)


def in_lists_of_a_dict():
    kept = collections.defaultdict(list)
    return lambda v: kept["all"].append(v), lambda: kept["all"][-1] ** 2


def in_deque():
    kept = collections.deque(maxlen=3)
    return kept.append, lambda: kept[-1] ** 2


def by_partial():
    kept = []
    return functools.partial(list.append, kept), lambda: kept[-1] ** 2


def by_generator():
    kept = []

    def taking():
        while True:
            kept.append((yield))

    running = taking()
    next(running)
    return running.send, lambda: kept[-1] ** 2


RIGHT = [in_global, in_cell, in_attribute, in_elements, in_array, in_local_array, in_slot, in_namespace, in_log,
         in_log_of_tuples, in_log_of_arrays, in_lists_of_a_dict, in_deque, by_partial, by_generator]  # fmt: skip


@pytest.mark.parametrize("keeping", RIGHT)
def test_kinds_of_keeping(keeping):
    f = with_kept(AT_END["brentq"], keeping)
    value, gradient = codipy.value_and_grad(f)(K)
    assert value == f(K)
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-6)
    with pytest.raises(TapeError):
        codipy.grad(with_kept(ELSEWHERE["LSODA"], keeping))(K)


def of_largest():
    kept = -np.inf

    def note(v):
        nonlocal kept
        kept = max(kept, v)

    return note, lambda: kept * 1.0


def of_mean():
    kept = 0.0

    def note(v):
        nonlocal kept
        kept = 0.5 * kept + 0.5 * v

    return note, lambda: kept * 1.0


def of_sum():
    kept = [0.0]

    def note(v):
        kept[0] += v

    return note, lambda: kept[0]


def of_mean_in_an_array():
    kept = np.zeros(1)

    def note(v):
        kept[0] = 0.5 * kept[0] + 0.5 * v

    return note, lambda: kept[0] * 1.0


@pytest.mark.parametrize("keeping", [of_largest, of_mean, of_sum, of_mean_in_an_array])
@pytest.mark.parametrize("name", ["brentq", "BFGS", "RK45", "cg of a constant matrix"])
def test_what_is_made_of_several_calls_is_refused(name, keeping):
    with pytest.raises(TapeError):
        codipy.grad(with_kept((AT_END | ELSEWHERE)[name], keeping))(K)


# ---- What functions compute with, since they have kept it ------------------------------------------------------------
class Remembering:
    """Computes once for each x what both the residual and the user want."""

    def __init__(self, k):
        self.k, self.x, self.computed = k, None, 0

    def square(self, x):
        if self.x is None or not np.array_equal(x, self.x):
            self.x, self.known, self.computed = np.array(x), self.k * x[0] ** 2, self.computed + 1
        return self.known

    def residual(self, x):
        return [self.square(x) + x[0] - 3.0 * self.k]


class Scaled:
    """Divides by what the first call gave."""

    def __init__(self, k):
        self.k, self.first = k, None

    def __call__(self, x):
        found = (x[0] - self.k) ** 2 + x[0] ** 4 + 1.0
        if self.first is None:
            self.first = found
        return found / self.first


class Lazy:
    """Makes its matrix in the first call."""

    def __init__(self, k):
        self.k, self.matrix, self.made = k, None, 0

    def __call__(self, x):
        if self.matrix is None:
            self.matrix = np.array([[self.k, 1.0], [0.0, self.k]])
            self.made += 1
        return self.matrix @ x + x**3 - 1.0


def remembered(k):
    model = Remembering(k)
    root = optimize.fsolve(model.residual, [1.0], xtol=1e-12)
    counts.append(model.computed)
    return root[0]


counts = []


def scaled(k):
    found = optimize.minimize(Scaled(k), [1.0], tol=1e-10)
    return found.x[0] + found.fun


def lazy(k):
    model = Lazy(k)
    return np.sum(optimize.fsolve(model, [0.1, 0.1], xtol=1e-12)) + model.made + model.matrix[0, 0]


def lazy_slopes(k):
    model = Lazy(k)
    found = integrate.solve_ivp(lambda t, y: -model(y), (0.0, 1.0), [0.1, 0.1], **TIGHT)
    return np.sum(found.y[:, -1]) + model.made


def cached(k):
    @functools.cache
    def product(x):
        return k * x

    root = optimize.brentq(lambda x: product(x) * x - 3.0, 0.1, 3.0)
    return root + product(root)


def twice_in_one_array(k):
    work, total = np.zeros(2), 0.0

    def least(x):
        work[0] = k * x[0]
        work[1] = x[1] * x[0]
        return (work[0] + work[1] - 3.0) ** 2 + (work[1] - x[0]) ** 2

    for weight in (1.0, 2.0):
        total = total + weight * optimize.minimize(least, [1.0, 1.2], tol=1e-10).x[0]
    return total


def slopes_in_one_array(k):
    work, total = np.zeros(2), 0.0

    def slope(t, y):
        work[0] = -k * y[0]
        work[1] = y[0] - y[1]
        return work.copy()

    for method in ("RK45", "Radau", "LSODA"):
        total = total + integrate.solve_ivp(slope, (0.0, 1.0), [1.0, 0.5], method, **TIGHT).y[0, -1]
    return total


@pytest.mark.parametrize("f", [remembered, scaled, lazy, lazy_slopes, cached, twice_in_one_array, slopes_in_one_array])
def test_what_a_function_has_kept_to_compute_with(f):
    del counts[:]
    value, gradient = codipy.value_and_grad(f)(K)
    np.testing.assert_allclose(value, f(K), rtol=1e-14)
    assert len(set(counts)) <= 1
    np.testing.assert_allclose(gradient, difference(f), rtol=2e-3 if f is scaled else 1e-5)


# ---- Elsewhere -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_strategies(strategy):
    f = with_kept(AT_END["brentq"], in_elements)
    np.testing.assert_allclose(codipy.grad(f, strategy=strategy)(K), difference(f), rtol=1e-6)


@pytest.mark.parametrize("name", ["brentq", "BFGS"])
def test_forward_and_second_derivatives(name):
    f = with_kept(AT_END[name], last_number)
    np.testing.assert_allclose(codipy.jvp(f, (K,), (1.0,))[1], difference(f), rtol=2e-4)
    np.testing.assert_allclose(codipy.hessian(f)(K), difference(codipy.grad(f)), rtol=1e-3)


def test_a_solver_that_fails_has_kept_no_constants():
    def f(k, uses):
        kept = []
        with contextlib.suppress(RuntimeError):
            optimize.newton(lambda x: (kept.append(x), x**3 - k)[1], 1.0, maxiter=2)
        return kept[-1] * k if uses else len(kept) * k

    assert codipy.value_and_grad(f)(K, False) == (f(K, False), f(K, False) / K)
    with pytest.raises(TapeError):
        codipy.grad(f)(K, True)


def test_where_nothing_is_active_all_is_plain():
    def f(k):
        kept = []
        root = optimize.brentq(lambda x: (kept.append(x), x**3 - 2.0)[1], 0.1, 3.0)
        return k * root * kept[-1] * len(kept)

    assert codipy.value_and_grad(f)(K) == (f(K), f(1.0))


def test_what_is_kept_can_be_looked_at():
    def f(k):
        kept = []
        root = optimize.brentq(lambda x: (kept.append(k * x), x**3 - k)[1], 0.1, 3.0)
        texts.append(f"{kept[0]:.6f} {kept[-1]:.6f}")
        return root + codipy.value(kept[0])

    texts = []
    value, gradient = codipy.value_and_grad(f)(K)
    assert value == f(K)
    assert texts[0] == texts[1]
    np.testing.assert_allclose(gradient, 1.0 / (3.0 * K ** (2.0 / 3.0)), rtol=1e-9)


def test_a_replay_solves_again_at_other_inputs():
    def f(k):
        kept = {}

        def residual(x, k):
            kept["last"] = k * x
            return x**3 - k

        return optimize.brentq(residual, 0.1, 3.0, args=(k,), xtol=1e-14) + kept["last"] ** 2

    tape = codipy.Tape(strategy="primal")
    with tape:
        k = tape.register_input(K)
        y = tape.register_output(codipy.rebind(f)(k))
    tape.set_primal(k, 2.5)
    tape.evaluate_primal()
    np.testing.assert_allclose(tape.get_primal(y), f(2.5), rtol=1e-12)


def with_products(factor, is_active):
    """Solutions by `bicgstab`, where every second product is that of another matrix."""
    def f(x):
        calls, sizes = [0], 3.0 + np.arange(3.0)

        def multiply(v):
            calls[0] += 1
            made = v * (sizes + x if is_active else sizes)
            made[1:] += 0.5 * v[:-1]
            return made * factor if calls[0] % 2 else made

        operator = linalg.LinearOperator((3, 3), matvec=multiply, rmatvec=multiply, dtype=float)
        found, info = linalg.bicgstab(operator, x + np.arange(3.0), rtol=1e-9)
        return np.sum(found) * x + calls[0] + info

    return f


@pytest.mark.parametrize("is_active", [True, False])
def test_products_that_are_not_those_of_one_matrix(is_active):
    with pytest.raises(ArithmeticError, match="what the solver gave is no solution: .*must be those of one matrix"):
        codipy.grad(with_products(1.2, is_active))(K)


def test_products_of_one_matrix_that_are_counted():
    f = with_products(1.0, True)
    found, gradient = codipy.value_and_grad(f)(K)
    assert found == f(K)
    assert gradient == pytest.approx(difference(f), rel=1e-6)
