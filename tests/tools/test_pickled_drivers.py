# SPDX-License-Identifier: Apache-2.0
"""Every driver goes into a spawned process, with every option it has: drivers and options are read off the package."""

import functools
import inspect
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import codipy

X = np.array([0.5, 2.0])


def total(x, power=3.0):
    return np.sum(x**power) * np.prod(np.sin(x))


def with_second(x, power=3.0):
    return total(x, power), {"power": power}


@codipy.rebind
def decorated(x):
    return np.sum(np.sin(x) ** 3)


@codipy.preaccumulate
def part(x):
    return np.sum(np.exp(x))


# Functions of `codipy` that take a function: with a report or a study for a result, or none.
REPORTS = {"check_derivatives", "compare", "debug", "predict", "profile", "study", "timeline"}
NO_DRIVERS = {"primitive", "rebind"}  # the first has a class of its own, the second returns a function
# What they are called with, beside the function; the others return what is called with X.
ARGUMENTS = {
    "vjp": (X,), "jvp": ((X,), (X,)), "linearize": (X,), "hvp": ((X,), (X,)), "gradient_and_hvp": ((X,), (X,)),
    "taylor": (X, np.ones(2), 3), "sparsity": (X,), "hessian_sparsity": (X,), "problem": (X,),
}  # fmt: skip
VALUES = {
    "argnums": [(0,)], "argnames": ["power"], "has_aux": [True], "strategy": ["primal", "jacobian"],
    "granularity": ["operation"], "rebind": [False], "sparsity": [True], "mode": ["forward", "reverse"], "width": [2],
    "kwargs": [{"power": 2.0}],
}  # fmt: skip
FUNCTIONS = {
    "function": total, "partial": functools.partial(total, power=2.0), "rebound": codipy.rebind(total),
    "rebound with modules": codipy.rebind(total, modules=["statistics"]), "decorated": decorated,
    "preaccumulated": part, "another driver": codipy.preaccumulate(total),
}  # fmt: skip


def drivers():
    """All of the package whose first parameter is a function."""
    found = {}
    for name in dir(codipy):
        one = getattr(codipy, name)
        if callable(one) and not inspect.isclass(one) and not name.startswith("_"):
            parameters = list(inspect.signature(one).parameters)
            if parameters[:1] == ["f"]:
                found[name] = parameters[1:]
    return {name: options for name, options in found.items() if name not in REPORTS | NO_DRIVERS}


DRIVERS = drivers()


def options_of(name):
    """Each option alone, by each of its values; `argnames` with the keyword that it names."""
    yield {}
    for key in DRIVERS[name]:
        for value in VALUES.get(key, ()):
            if key != "argnames":
                yield {key: value}
            elif "kwargs" in DRIVERS[name] and "tangents" not in DRIVERS[name]:
                yield {key: value, "kwargs": {value: 2.0}}


def made(name, f, options):
    driver = getattr(codipy, name)
    if name in ARGUMENTS:
        return functools.partial(driver, f, *ARGUMENTS[name], **options)
    return functools.partial(driver(f, **options), X)


def numbers(found):
    """What a result has, as text: derivatives, and what those that are called give."""
    if isinstance(found, (tuple, list)):
        return [numbers(one) for one in found]
    if isinstance(found, dict):
        return {key: numbers(one) for key, one in found.items()}
    if hasattr(found, "toarray"):
        return found.toarray().tolist()
    if hasattr(found, "hessp"):
        return [numbers(found.fun(X)), numbers(found.jac(X)), numbers(found.hessp(X, X))]
    if hasattr(found, "indices"):
        return [np.asarray(found.indices).tolist(), np.asarray(found.indptr).tolist()]
    if callable(found):
        return "a map, which keeps a recording"
    return np.asarray(found).tolist() if isinstance(found, (float, np.ndarray, np.generic)) else repr(found)


def called(one):
    """In another process: where that is, and what it gives."""
    return multiprocessing.current_process().name, numbers(one())


@pytest.fixture(scope="module")
def spawned():
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def test_no_option_is_forgotten():
    """A driver or an option that is new has to say here what it is called with."""
    plain = {"args", "tangents", "x", "direction", "order", "x0", "curve"}  # the last one is tried below
    assert set().union(*DRIVERS.values()) - plain == VALUES.keys()
    assert ARGUMENTS.keys() <= DRIVERS.keys()
    assert DRIVERS.keys() - ARGUMENTS.keys() == {"grad", "hessian", "jacobian", "preaccumulate", "value_and_grad"}


CASES = [(name, "function", options) for name in DRIVERS for options in options_of(name)]
# Beside a driver pickle asks for a function by its name, and finds the one that is not rebuilt.
CASES += [(name, kind, {}) for name in DRIVERS for kind in FUNCTIONS
          if kind != "function" and not (name in ARGUMENTS and kind.startswith("rebound"))]  # fmt: skip


@pytest.mark.parametrize("name, kind, options", CASES, ids=str)
def test_into_a_spawned_process(spawned, name, kind, options):
    f = with_second if options.get("has_aux") else FUNCTIONS[kind]
    one = made(name, f, options)
    expected = numbers(one())
    where, found = spawned.submit(called, one).result(timeout=120)
    assert where != multiprocessing.current_process().name
    assert found == expected
    assert numbers(pickle.loads(pickle.dumps(one))()) == expected


def test_a_rebound_function_keeps_its_modules():
    again = pickle.loads(pickle.dumps(codipy.grad(codipy.rebind(total, modules=["statistics"]), strategy="primal")))
    assert again.f is codipy.rebind(total, modules=["statistics"])
    assert again.options["strategy"] == "primal"


def curve(t, a, b):
    return a * np.exp(b * t)


def test_a_problem_of_a_curve(spawned):
    problem, times = codipy.problem(curve, X, curve=True), np.linspace(0.0, 1.0, 5)
    found = spawned.submit(problem.jac, times, *X).result(timeout=120)
    np.testing.assert_array_equal(found, problem.jac(times, *X))
    assert found.shape == (5, 2)
