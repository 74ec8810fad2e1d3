# SPDX-License-Identifier: Apache-2.0
"""Lists, dicts and other containers that functions get through a solver: they are the user's own."""

import dataclasses

import numpy as np
import pytest
from scipy import optimize

import codipy
from codipy.errors import ActiveError, TapeError
from tests.implicit.differences import X, difference

TIGHT = {"xtol": 1e-14, "ftol": 1e-14, "gtol": 1e-14}


@dataclasses.dataclass
class Log:
    calls: int = 0
    rate: float = 1.0

    def append(self, _):
        self.calls += 1

    def __len__(self):
        return self.calls


def cube(p, y, log):
    log.append(p)
    return p**3 + p - y


def square(p, y, log):
    log.append(p)
    return np.sum((p - y) ** 2)


def exponential(t, k, rate):
    t["log"].append(k)
    return np.exp(-k * t["times"]) * rate


def by_constraints(kind):
    def solve(x, log):
        own = {"type": "eq", "fun": lambda p, y, log: (log.append(p), p[0] - y)[1], "args": (x[1], log)}
        found = optimize.minimize(lambda p: np.sum((p - x[:2]) ** 2), [0.0, 0.0], constraints=kind([own]),
                                  method="SLSQP")
        return found.x[1]

    return solve


SOLVERS = {
    "minimize": lambda x, log: optimize.minimize(square, [0.0, 0.0], args=(x[:2], log), tol=1e-10).x[1],
    "basinhopping": lambda x, log: optimize.basinhopping(square, [0.1], 0, minimizer_kwargs={"args": (x[0], log)}).x[0],
    "minimize_scalar": lambda x, log: optimize.minimize_scalar(square, args=(x[0], log), tol=1e-12).x,
    "fmin_cobyla": lambda x, log: optimize.fmin_cobyla(
        lambda p: np.sum(p), [1.0, 1.0], [lambda p, log: (log.append(p), p[0] - x[0])[1], lambda p, log: p[1] - x[1]],
        consargs=(log,), rhoend=1e-9)[1],
    "constraints in a list": by_constraints(list),
    "constraints in a tuple": by_constraints(tuple),
    "brentq": lambda x, log: optimize.brentq(cube, -3.0, 3.0, args=(x[0], log), xtol=1e-14),
    "newton": lambda x, log: optimize.newton(cube, 0.5, args=(x[0], log), tol=1e-14),
    "fsolve": lambda x, log: optimize.fsolve(cube, [1.0, 1.0], args=(x[:2], log), xtol=1e-14)[1],
    "fixed_point": lambda x, log: optimize.fixed_point(lambda u, y, log: (log.append(u), y * np.cos(u))[1], 1.0,
                                                       args=(x[0], log), xtol=1e-14),
    "least_squares": lambda x, log: optimize.least_squares(cube, 1.0, args=(x[0],), kwargs={"log": log}, **TIGHT).x[0],
    "curve_fit": lambda x, log: optimize.curve_fit(
        lambda t, k: exponential(t, k, x[0]), {"times": np.linspace(0.0, 1.0, 6), "log": log},
        np.linspace(1.0, 0.3, 6), [1.0], **TIGHT)[0][0],
}  # fmt: skip


@pytest.mark.parametrize("solve, make", [*((solve, list) for solve in SOLVERS.values()), (SOLVERS["brentq"], Log)],
                         ids=[*SOLVERS, "a dataclass"])
def test_what_a_function_adds_to_it(solve, make):
    def f(x):
        log = make()
        found = solve(x, log)
        return found * x[2] + len(log)

    found, gradient = codipy.value_and_grad(f)(X)
    assert found == f(X)

    def alone(x):
        return solve(x, Log()) * x[2]

    np.testing.assert_allclose(gradient, difference(alone), rtol=1e-3, atol=2e-4)


@pytest.mark.parametrize("solve", [
    lambda f, x: optimize.least_squares(f, 1.0, args=[x[0]], **TIGHT).x[0],
    lambda f, x: optimize.fmin_slsqp(lambda p, y: (p[0] - f(x[1], y)) ** 2, [1.0], args=[x[0]], iprint=0)[0],
    lambda f, x: optimize.brentq(lambda p, given: f(p, *given), -3.0, 3.0, args=[x[0]]),
], ids=["least_squares", "fmin_slsqp", "brentq"])  # fmt: skip
def test_a_list_of_arguments_is_to_the_function_what_it_is_in_the_plain_run(solve):
    def f(x):
        kinds = []

        def residual(p, y):
            kinds.append(isinstance(y, list))
            return p**3 + p - y

        return solve(residual, x) + any(kinds)

    assert codipy.value_and_grad(f)(X)[0] == f(X)


@pytest.mark.parametrize("strategy", ["auto", "primal-reuse"])
def test_a_number_that_a_function_keeps_in_it(strategy):
    def f(x):
        kept = {"flux": 0.0}

        def residual(p, y, kept):
            kept["flux"] = p[0] * p[0] * y
            return p**3 + p - y

        found = optimize.fsolve(residual, [1.0], args=(x[0], kept), xtol=1e-14)
        return found[0] * x[1] + kept["flux"]

    found, gradient = codipy.value_and_grad(f, strategy=strategy)(X)
    assert found == f(X)
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-6)


def test_second_derivatives_of_a_number_that_is_kept_in_it():
    def f(x):
        kept = [0.0]

        def residual(p, y, kept):
            kept[0] = p * p * y
            return p**3 + p - y

        optimize.brentq(residual, -3.0, 3.0, args=(x[0], kept), xtol=1e-15)
        return kept[0] * x[1]

    expected = np.array([difference(lambda x, k=k: codipy.grad(f)(x)[k]) for k in range(3)])
    np.testing.assert_allclose(codipy.hessian(f)(X), expected, rtol=1e-5, atol=1e-6)


def test_a_work_array_in_it():
    def f(x):
        work = [np.zeros(2), 1.0, 0]

        def residual(p, y, work):
            work[0][:] = p * y
            work[2] += 1
            return work[0] + p**3 - y

        found = optimize.fsolve(residual, [1.0, 1.0], args=(x[:2], work), xtol=1e-14)
        return np.sum(found) * x[2] + np.sum(work[0]) + work[2]

    found, gradient = codipy.value_and_grad(f)(X)
    assert found == f(X)
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-5)


@pytest.mark.parametrize("make", [lambda k: {"k": k, "n": 0}, lambda k: Log(0, k)], ids=["dict", "dataclass"])
def test_variables_in_it_beside_a_count(make):
    def f(x):
        model = make(x[0])

        def residual(p, model):
            if type(model) is dict:
                model["n"] += 1
                return p**3 + p - model["k"]
            model.append(p)
            return p**3 + p - model.rate

        root = optimize.brentq(residual, -3.0, 3.0, args=(model,), xtol=1e-14)
        return root * x[1] + min(model["n"] if type(model) is dict else len(model), 4)

    found, gradient = codipy.value_and_grad(f)(X)
    assert found == f(X)
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-6)


def test_a_function_may_ask_whether_it_is_the_same():
    def f(x):
        table = {}

        def residual(p, given):
            return p**3 + p - 0.3 if given is table else p - 0.3

        return optimize.brentq(residual, -3.0, 3.0, args=(table,)) * x[0]

    assert codipy.value_and_grad(f)(X)[0] == f(X)


def test_variables_in_the_data_of_a_fit():
    times = np.linspace(0.0, 1.0, 6)

    def f(x):
        def model(data, k):
            return np.exp(-k * data["times"]) * data["rate"]

        return optimize.curve_fit(model, {"times": times, "rate": x[0]}, np.exp(-times), [1.0], **TIGHT)[0][0]

    found, gradient = codipy.value_and_grad(f)(X)
    assert found == f(X)
    np.testing.assert_allclose(gradient, difference(f), rtol=1e-4, atol=1e-6)


def replayed(residual, at):
    def f(x):
        return optimize.brentq(residual, -3.0, 3.0, args=({"k": x[0], "n": 0},), xtol=1e-14)

    tape = codipy.Tape("primal")
    with tape:
        x = tape.register_input(X)
        y = tape.register_output(codipy.rebind(f)(x))
    tape.set_primal(x, at)
    tape.evaluate_primal()
    assert tape.get_primal(y) == f(at)


def test_a_replay_finds_the_root_anew_where_nothing_is_written():
    replayed(lambda p, model: p**3 + p - model["k"], X + 0.1)


def test_a_replay_where_a_function_may_write_says_what_to_hand_over():
    def residual(p, model):
        model["n"] += 1
        return p**3 + p - model["k"]

    replayed(residual, X)
    with pytest.raises(TapeError, match="each by itself and not in a list or dict there"):
        replayed(residual, X + 0.1)


def test_a_fit_of_a_function_that_writes_to_its_data_names_it():
    def model(t, k):
        t[t < -1.0] = 0.0
        return np.exp(-k * t)

    def f(x):
        times = np.linspace(0.0, 1.0, 6)
        return optimize.curve_fit(model, times, np.exp(-x[0] * times), [1.0])[0][0]

    with pytest.raises(ActiveError, match=r"model, which scipy.optimize.curve_fit calls, writes to an array"):
        codipy.grad(f)(X)


def test_the_solver_of_a_root_gets_the_list_of_the_caller():
    def f(x):
        table, log = {}, []

        def solver(p, given):
            log.append(p)
            return p**0.5 if given is table else -(p**0.5)

        return codipy.implicit.root(lambda u, p, given: u * u - p, solver)(x[0], table) + len(log)

    assert codipy.value_and_grad(f)(X)[0] == f(X) == X[0] ** 0.5 + 1.0

    def writing(x):
        log = []

        def solver(p, log):
            log.append(1)
            return p**0.5

        return codipy.implicit.root(lambda u, p, log: u * u - p, solver)(x[0], log) + len(log)

    assert writing(X) == X[0] ** 0.5 + 1.0
    with pytest.raises(ActiveError, match=r"solver wrote to argument 1\[0\]"):
        codipy.grad(writing)(X)
