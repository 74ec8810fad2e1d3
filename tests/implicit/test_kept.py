# SPDX-License-Identifier: Apache-2.0
"""What a plain run has left in a cache is refused where a derivative is lost with it; constants keep theirs of zero."""

import bisect
import functools
import math
import random
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize

import codipy
from codipy.active.recordings.recognised import recognised
from codipy.errors import ActiveError
from tests.strategies import each_strategy

POINT = np.array([0.3, 0.7])
SLOPE = np.sin(2.0 * POINT)
REFUSED = "where an earlier run without derivatives has kept it"


def energy(x):
    return np.sum(np.sin(x) ** 2)


class LastPoint:
    x = None

    def __init__(self, is_known=np.array_equal):
        self.is_known = is_known

    def energy(self, x):
        if self.x is None or not self.is_known(x, self.x):
            self.x, self.kept = x.copy(), energy(x)
        return self.kept

    def raised(self, x):
        return self.energy(x) + 1.0

    def penalised(self, x):
        return self.energy(x) + x @ x


class Slots:
    __slots__ = ("kept", "x")

    def __init__(self):
        self.x = None

    def energy(self, x):
        if self.x is None or not np.all(x == self.x):
            self.x, self.kept = x.copy(), energy(x)
        return self.kept


@dataclass
class Result:
    value: float
    steps: int


class Table:
    def __init__(self, key):
        self.key, self.table = key, {}

    def energy(self, x):
        key = self.key(x)
        if key not in self.table:
            self.table[key] = energy(x)
        return self.table[key]

    def penalised(self, x):
        return self.energy(x) + x @ x

    def pair(self, x):
        found = self.table.get(self.key(x))
        if found is None:
            found = self.table[self.key(x)] = (energy(x), "converged")
        return found[0]

    def result(self, x):
        try:
            return self.table[self.key(x)].value
        except KeyError:
            self.table[self.key(x)] = Result(energy(x), 3)
            return self.table[self.key(x)].value


class Filled:
    def __init__(self):
        self.table = np.full(10_000, np.nan)

    def energy(self, x):
        k = int(codipy.value(x[0]) * 1e4 + 0.5)
        if np.isnan(self.table[k]):
            self.table[k] = energy(x)
        return self.table[k]


class Listed:
    def __init__(self):
        self.points, self.values = [], []

    def energy(self, x):
        for point, value in zip(self.points, self.values):
            if np.array_equal(point, x):
                return value
        self.points.append(codipy.value(x).copy())
        self.values.append(energy(x))
        return self.values[-1]


GLOBAL = {}
LAST, KEPT = None, 0.0


def of_global(x):
    key = tuple(np.round(x, 8))
    if key not in GLOBAL:
        GLOBAL[key] = energy(x)
    return GLOBAL[key]


def of_variables(x):
    global LAST, KEPT
    if LAST is None or not np.allclose(x, LAST):
        LAST, KEPT = x.copy(), energy(x)
    return KEPT


def of_cells():
    last, kept = None, 0.0

    def found(x):
        nonlocal last, kept
        if last is None or (x != last).any():
            last, kept = x.copy(), energy(x)
        return kept

    return found


def decorated():
    table = {}

    def memo(f):
        @functools.wraps(f)
        def found(x):
            key = tuple(float(codipy.value(each)) for each in x)
            if key not in table:
                table[key] = f(x)
            return table[key]

        return found

    return memo(energy)


CACHES = {
    "array_equal": (lambda: LastPoint().energy, "LastPoint.kept"),
    "==": (lambda: LastPoint(lambda x, y: np.all(x == y)).energy, "LastPoint.kept"),
    "plain first": (lambda: LastPoint(lambda x, y: (y == x).all()).energy, "LastPoint.kept"),
    "lists": (lambda: LastPoint(lambda x, y: x.tolist() == y.tolist()).energy, "LastPoint.kept"),
    "norm": (lambda: LastPoint(lambda x, y: np.linalg.norm(x - y) < 1e-14).energy, "LastPoint.kept"),
    "computed from it": (lambda: LastPoint().raised, "LastPoint.kept"),
    "slots": (lambda: Slots().energy, "Slots.kept"),
    "str": (lambda: Table(str).energy, "the dict Table.table"),
    "format": (lambda: Table(lambda x: f"{x[0]:.3f} {x[1]:.3f}").energy, "the dict Table.table"),
    "rounded": (lambda: Table(lambda x: tuple(round(float(each), 10) for each in x)).energy, "the dict Table.table"),
    "whole": (lambda: Table(lambda x: tuple((x * 1e8).astype(int))).energy, "the dict Table.table"),
    "value": (lambda: Table(lambda x: codipy.value(x[0])).energy, "the dict Table.table"),
    "bytes": (lambda: Table(lambda x: codipy.value(x).tobytes()).energy, "the dict Table.table"),
    "tuple": (lambda: Table(repr).pair, "the dict Table.table"),
    "object": (lambda: Table(repr).result, "the dict Table.table"),
    "filled": (lambda: Filled().energy, "Filled.table"),
    "listed": (lambda: Listed().energy, "the list Listed.values"),
    "global": (lambda: of_global, "the dict GLOBAL"),
    "variables": (lambda: of_variables, "the variable KEPT"),
    "cells": (of_cells, "a variable of an enclosing function"),
    "decorated": (decorated, "a dict"),
}


@pytest.mark.parametrize("name", CACHES)
def test_a_cache_that_a_plain_run_has_filled_is_refused_and_named(name):
    make, place = CACHES[name]
    f = make()
    value = f(POINT)
    with pytest.raises(ActiveError, match=f"is made of what stands in {place}, {REFUSED}"):
        codipy.grad(f)(POINT)
    assert f(POINT) == value and type(value) is np.float64  # nothing of the runs that looked for it stays
    if name not in ("global", "variables"):
        np.testing.assert_allclose(codipy.grad(make())(POINT), SLOPE, rtol=1e-14)


class Rows:
    """A table of two lists, whose keys are plain numbers."""

    def __init__(self):
        self.keys, self.values = [], []

    def by_index(self, x):
        key = [float(codipy.value(each)) for each in x]
        if key in self.keys:
            return self.values[self.keys.index(key)] + x @ x
        self.keys.append(key)
        self.values.append(energy(x))
        return self.values[-1] + x @ x

    def by_bisection(self, x):
        key = [float(codipy.value(each)) for each in x]
        at = bisect.bisect_left(self.keys, key)
        if at == len(self.keys) or self.keys[at] != key:
            self.keys.insert(at, key)
            self.values.insert(at, energy(x))
        return self.values[at] + x @ x


BESIDE = {
    "math.isclose": lambda: LastPoint(lambda x, y: all(map(math.isclose, x, y))).penalised,
    "isclose of one": lambda: LastPoint(lambda x, y: math.isclose(x[0], y[0], rel_tol=1e-12)).penalised,
    "index": lambda: Rows().by_index,
    "bisect": lambda: Rows().by_bisection,
}


@pytest.mark.parametrize("name", BESIDE)
def test_so_is_one_whose_result_is_used_beside_what_is_active(name):
    f = BESIDE[name]()
    f(POINT)
    with pytest.raises(ActiveError, match=REFUSED):
        codipy.grad(f)(POINT)


DRIVERS = {
    "grad": lambda f: codipy.grad(f)(POINT),
    "as it stands": lambda f: codipy.grad(f, rebind=False)(POINT),
    "value_and_grad": lambda f: codipy.value_and_grad(f)(POINT),
    "aux": lambda f: codipy.value_and_grad(lambda x: (f(x), 5), has_aux=True)(POINT),
    "by name": lambda f: codipy.grad(f, argnames="x")(x=POINT),
    "of a dict": lambda f: codipy.grad(lambda p: f(p["x"]))({"x": POINT}),
    "of a list": lambda f: codipy.grad(lambda p: f(np.array(p)))(POINT.tolist()),
    "of a float": lambda f: codipy.grad(lambda a: f(np.array([a, 0.7])))(0.3),
    "fills": lambda f: codipy.grad(lambda x, w: (w.__setitem__(0, x[0]), f(x))[1])(POINT, np.zeros(2)),
    "vjp": lambda f: codipy.vjp(f, POINT),
    "jvp": lambda f: codipy.jvp(f, (POINT,), (POINT,)),
    "jacobian": lambda f: codipy.jacobian(f)(POINT),
    "forward": lambda f: codipy.jacobian(f, mode="forward")(POINT),
    "linearize": lambda f: codipy.linearize(f, POINT),
    "linearize grad": lambda f: codipy.linearize(codipy.grad(f), POINT),
    "hessian": lambda f: codipy.hessian(f)(POINT),
    "hessian, aux": lambda f: codipy.hessian(lambda x: (f(x), 5), has_aux=True)(POINT),
    "hessian, recorded": lambda f: codipy.hessian(f, strategy="jacobian")(POINT),
    "hvp": lambda f: codipy.hvp(f, (POINT,), (POINT,)),
    "taylor": lambda f: codipy.taylor(f, POINT, POINT, 3),
    "sparsity": lambda f: codipy.sparsity(f, POINT),
    "hessian_sparsity": lambda f: codipy.hessian_sparsity(f, POINT),
    "sparse jacobian": lambda f: codipy.jacobian(lambda x: np.array([f(x)]), sparsity=True)(POINT),
    "sparse hessian": lambda f: codipy.hessian(f, sparsity=True)(POINT),
    "problem": lambda f: codipy.problem(f, POINT).jac(POINT),
    "minimize": lambda f: minimize(f, POINT, jac=codipy.grad(f)),
    "twice": lambda f: codipy.grad(lambda x: np.sum(codipy.grad(f)(x) ** 2))(POINT),
    "inside of another": lambda f: codipy.grad(lambda s: s * np.sum(codipy.grad(f)(POINT)))(2.0),
}


@pytest.mark.parametrize("name", DRIVERS)
def test_all_drivers_refuse_it(name):
    f = LastPoint().energy
    f(POINT)
    with pytest.raises(ActiveError, match=REFUSED):
        DRIVERS[name](f)


@each_strategy
def test_so_do_all_strategies(strategy):
    f = Table(str).energy
    f(POINT)
    with pytest.raises(ActiveError, match=REFUSED):
        codipy.grad(f, strategy=strategy)(POINT)


@pytest.mark.parametrize("driver", [codipy.grad, codipy.jacobian, codipy.hessian], ids=lambda driver: driver.__name__)
@pytest.mark.parametrize("is_known", [np.array_equal, lambda x, y: np.all(y == x), lambda x, y: x.tolist() == [*y]],
                         ids=["array_equal", "==", "lists"])  # fmt: skip
def test_a_part_of_the_result_is_refused_where_the_arguments_were_compared(driver, is_known):
    f = LastPoint(is_known).penalised
    f(POINT)
    with pytest.raises(ActiveError, match=REFUSED):
        driver(f)(POINT)


KEYS = {
    "str": str,
    "format": lambda x: f"{x[0]} {x[1]}",
    "%": lambda x: "%.8f %.8f" % (x[0], x[1]),  # noqa: UP031
    "rounded": lambda x: tuple(x.round(8)),
    "round": lambda x: tuple(round(float(each), 8) for each in x),
    "whole": lambda x: tuple((x * 1e8).astype(int)),
    "value": lambda x: codipy.value(x).tobytes(),
}


@pytest.mark.parametrize("name", KEYS)
def test_so_is_a_part_that_is_looked_up_by_values(name):
    f = Table(KEYS[name]).penalised
    f(POINT)
    with pytest.raises(ActiveError, match=f"the dict Table.table, {REFUSED}"):
        codipy.grad(f)(POINT)
    np.testing.assert_allclose(codipy.grad(Table(KEYS[name]).penalised)(POINT), SLOPE + 2.0 * POINT, rtol=1e-14)


def test_caches_of_functools_keep_what_they_have():
    @functools.lru_cache
    def drawn(n):
        return tuple(random.random() for _ in range(n))

    class Stops:
        last = 1.0

        def at(self, x):
            self.last = drawn(2 if x[0] == 0.3 else 3)[0]
            return self.last

    f = Stops().at
    values = f(POINT)
    assert codipy.value_and_grad(f)(POINT)[0] == values == f(POINT)
    assert drawn.cache_info().currsize >= 1


@pytest.mark.parametrize("a", [0.3, np.float64(0.3)])
def test_so_is_a_part_for_a_number(a):
    class Last:
        a = None

        def sum(self, a, b):
            if self.a is None or self.a != a:
                self.a, self.sine = a, math.sin(a)
            return self.sine + b

    f = Last().sum
    f(a, 0.4)
    with pytest.raises(ActiveError, match="Last.sine, "):
        codipy.grad(f, (0, 1))(a, 0.4)
    np.testing.assert_allclose(codipy.grad(Last().sum, (0, 1))(a, 0.4), [math.cos(0.3), 1.0], rtol=1e-14)


class Model:
    """Functions that keep something, with results that are constants."""

    def __init__(self):
        self.calls, self.most, self.last, self.log, self.table = 0, 3.5, 1.0, [], {}

    def counted(self, x):
        self.calls += 1
        print("counted")
        return self.most

    def branch(self, x):
        self.last = np.sum(x)
        return 0.0 if x[0] > 0.2 else self.last

    def at_zero(self, x):
        if np.all(x == 0.3 * x):
            return 0.0
        self.last = np.sum(x**2)
        return self.last

    def at_an_edge(self, x):
        if x[0] >= 0.3:
            return self.most
        self.last = x[0] ** 2
        return self.last

    def logged(self, x):
        self.log.append(np.sum(x))
        return 1.0 if x[0] > 0.29 else np.sum(x)

    def of_a_table(self, x):
        k = int(x[0] * 10.0)
        if k not in self.table:
            self.table[k] = float(math.factorial(k))
        return self.table[k]

    def stopped(self, x):
        self.last = np.sum(codipy.value(x) ** 2)
        return self.last

    def fails_elsewhere(self, x):
        if x[0] != 0.3:
            raise ValueError("there")
        self.last = 2.0
        return self.last


@pytest.mark.parametrize("name", [name for name in vars(Model) if not name.startswith("_")])
def test_constants_keep_their_gradient_of_zero_and_the_function_runs_once(name, capsys):
    plain, model = Model(), Model()
    x = np.zeros(2) if name == "at_zero" else POINT
    for each in (plain, model):
        getattr(each, name)(x)
    capsys.readouterr()
    value, gradient = codipy.value_and_grad(getattr(model, name))(x)
    printed = capsys.readouterr().out
    assert value == getattr(plain, name)(x) and gradient.tolist() == [0.0, 0.0]
    assert printed == capsys.readouterr().out
    assert codipy.value(model.last) == codipy.value(plain.last)
    assert (model.calls, len(model.log), model.table) == (plain.calls, len(plain.log), plain.table)


def test_what_is_equal_and_depends_on_nothing_kept_is_differentiated():
    class Moving:
        def __init__(self):
            self.mean, self.start, self.last = 1.0, POINT.copy(), 3.0

        def smoothed(self, x):
            self.mean = 0.9 * self.mean + np.sum(x)
            found = self.mean
            self.mean = codipy.value(self.mean)
            return found if np.array_equal(x, self.start) else 0.0

        def scaled(self, x):
            if np.allclose(x, self.start):
                return np.sum(x) * self.last
            self.other = np.sum(x)
            return self.other

    model = Moving()
    np.testing.assert_allclose(codipy.grad(model.smoothed)(POINT), [1.0, 1.0])
    assert model.mean == 1.9
    np.testing.assert_allclose(codipy.grad(model.scaled)(POINT), [3.0, 3.0])


def test_a_table_of_gradients_is_none_of_the_function():
    def f(x):
        return x[0] * x[1] * len(f"{x[0]:.3f}")

    def inside(x):
        table = {}
        if "a" not in table:
            table["a"] = f(x)
        return table["a"]

    best, counts = {}, []
    for name, function in (("outside", f), ("inside", inside)):
        before = recognised[0]
        if name not in best:
            best[name] = codipy.grad(function)(POINT)
        counts.append(recognised[0] - before)
    assert counts[0] == 0 < counts[1]


def test_generators_of_random_numbers_go_on_as_in_the_plain_run():
    class Noise:
        def __init__(self):
            np.random.seed(1)
            random.seed(1)
            self.last, self.drawn = 1.0, (np.random.default_rng(2), np.random.RandomState(3), random.Random(4))

        def draw(self, x):
            self.last = x[0]
            self.last = 2.0
            own = [self.drawn[0].normal(), self.drawn[1].normal(), self.drawn[2].random()]
            return float(np.sum(own) + np.random.normal() + random.random())

    noise = Noise()
    expected = [noise.draw(POINT) for _ in range(3)]
    noise = Noise()
    assert [codipy.value_and_grad(noise.draw)(POINT)[0] for _ in range(3)] == expected
