# SPDX-License-Identifier: Apache-2.0
"""One array or list under two names: right where nothing is written to it, refused where NumPy would show a write."""
import collections
import functools
import types
from dataclasses import dataclass

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from codipy.implicit.solvers import _number_of

G = np.array([1.0, 2.0, 3.0])
BIG = np.ones(5000)


def fills_first(a, b):
    a[0] = 5.0 * a[1]
    return (b * b).sum() + a[0]


def fills_second_with_a_number(a, b):
    b[0] = 5.0
    return (b * b).sum() + a[0]


def only_reads(a, b):
    return (a * b).sum()


def fills_and_reads_global(x):
    x[0] = 2 * x[1]
    return (G * x).sum()


def fills_and_reads_only_itself(x):
    x[0] = 2 * x[1]
    return (x * x).sum()


def writes_to_global(x):
    G[0] = 7.0
    return (x * x).sum()


def writes_to_large_global(x):
    BIG[17] = 7.0
    return (x * x).sum()


DRIVERS = {
    "grad": lambda f, *args: codipy.grad(f)(*args),
    "auto": lambda f, *args: codipy.grad(f, strategy="auto")(*args),
    "jacobian-linear": lambda f, *args: codipy.grad(f, strategy="jacobian")(*args),
    "value_and_grad": lambda f, *args: codipy.value_and_grad(f)(*args),
    "has_aux": lambda f, *args: codipy.grad(lambda *a: (f(*a), 1), has_aux=True)(*args),
    "hessian": lambda f, *args: codipy.hessian(f)(*args),
    "jacobian": lambda f, *args: codipy.jacobian(f)(*args),
    "vjp": lambda f, *args: codipy.vjp(f, *args),
    "jvp": lambda f, *args: codipy.jvp(f, args, tuple(np.ones_like(x) for x in args)),
    "linearize": lambda f, *args: codipy.linearize(f, *args),
}


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=list(DRIVERS))
def test_write_that_shows_elsewhere_raises(driver):
    a = np.array([1.0, 2.0, 3.0])
    with pytest.raises(ActiveError, match=r"may read the same memory in a"):
        driver(fills_first, a, a)
    with pytest.raises(ActiveError, match="as the global variable G"):
        driver(fills_and_reads_global, G)
    with pytest.raises(ActiveError, match="may read the same memory"):
        driver(fills_first, a[:2], a)      # a view of it, in another argument


@pytest.mark.parametrize("driver", DRIVERS.values(), ids=list(DRIVERS))
def test_without_such_a_write_nothing_is_refused(driver):
    a = np.array([1.0, 2.0, 3.0])
    driver(only_reads, a, a)
    driver(fills_first, a, a.copy())
    driver(fills_and_reads_global, G.copy())
    driver(fills_and_reads_only_itself, G)
    assert (a == [1.0, 2.0, 3.0]).all()


def test_two_variables_have_a_gradient_each():
    a = np.array([1.0, 2.0, 3.0])
    first, second = codipy.grad(only_reads, argnums=(0, 1))(a, a)
    assert (first == a).all() and (second == a).all()


@pytest.mark.parametrize("f, x", [(writes_to_global, G), (writes_to_large_global, BIG)])
def test_write_under_another_name_raises(f, x):
    before = x.copy()
    with pytest.raises(ActiveError, match="under another name"):
        codipy.grad(f)(x)
    x[:] = before
    assert (codipy.grad(f)(x.copy()) == 2 * before).all()
    x[:] = before


def test_number_written_into_other_argument():
    a = np.array([1.0, 2.0, 3.0])
    with pytest.raises(ActiveError, match="under another name"):
        codipy.grad(fills_second_with_a_number)(a, a)


Z = np.array([1.0 + 2.0j, 3.0j])


def test_complex_arrays():
    def fills(a, b):
        a[0] = 2.0 * a[1]
        return np.abs(a * b).sum()

    def writes(a):
        Z[0] = 1.0
        return np.abs(a).sum()

    z = Z.copy()
    with pytest.raises(ActiveError, match="in argument 1"):
        codipy.grad(fills)(z, z)
    codipy.grad(fills)(z, z.copy())
    with pytest.raises(ActiveError, match="under another name"):
        codipy.grad(writes)(Z)


class Model:
    other = None

    def __init__(self):
        self.w, self.v = np.ones(3), np.ones(3)

    def reads_w(self, w):
        w[0] = 3.0 * w[1]
        return (w * self.w).sum()

    def reads_v(self, w):
        w[0] = 3.0 * w[1]
        return (w * self.v).sum()


def test_attributes_that_the_source_names():
    model = Model()
    with pytest.raises(ActiveError, match="as the attribute w"):
        codipy.grad(model.reads_w)(model.w)
    with pytest.raises(ActiveError, match="as the attribute w"):
        codipy.grad(lambda w: model.reads_w(w))(model.w)
    assert (codipy.grad(model.reads_v)(model.w) == [0.0, 4.0, 1.0]).all()


def test_closures_defaults_partials_and_containers():
    held = np.ones(3)

    def closed(x):
        x[1] = x[0]
        return (x * held).sum()

    def default(x, y=held):
        x[1] = x[0]
        return (x * y).sum()

    def item(x, box):
        x[1] = x[0]
        return (x * box["y"]).sum()

    def named(x, names):
        x[1] = x[0]
        return (x * names.y).sum()

    with pytest.raises(ActiveError, match="the variable held of an enclosing function"):
        codipy.grad(closed)(held)
    with pytest.raises(ActiveError, match="default argument"):
        codipy.grad(default)(held)
    with pytest.raises(ActiveError, match="same memory"):
        codipy.grad(functools.partial(default, y=held))(held)
    with pytest.raises(ActiveError, match=r"in argument 1\['y'\]"):
        codipy.grad(item)(held, {"y": held})
    assert codipy.grad(item)(held, {"y": np.ones(3)}).tolist() == [2.0, 0.0, 1.0]
    with pytest.raises(ActiveError, match="as the attribute y"):
        codipy.grad(named)(held, types.SimpleNamespace(y=held))
    assert codipy.grad(named)(held, types.SimpleNamespace(y=np.ones(3), z=held)).tolist() == [2.0, 0.0, 1.0]


def total_after_write(rows):
    rows[0][0] = 2.0 * rows[1][1]
    return sum(sum(row) for row in rows)


def squares(rows):
    return sum(v * v for row in rows for v in row)


def test_list_that_stands_in_two_places():
    rows = [[1.0, 2.0]] * 3
    assert codipy.grad(squares)(rows) == [[2.0, 4.0]] * 3
    with pytest.raises(ActiveError, match="stands in two places"):
        codipy.grad(total_after_write)(rows)
    assert codipy.grad(total_after_write)([list(row) for row in rows]) == [[0.0, 1.0], [1.0, 3.0], [1.0, 1.0]]
    table = {"a": 1.0}
    with pytest.raises(ActiveError, match="this dict stands in two places"):
        codipy.grad(lambda t: t[0].update(a=2.0) or t[1]["a"])([table, table])


def fills_list(p, q):
    p[0] = p[0] * 3
    return p[0] + q[0]


@pytest.mark.parametrize("argnums", [0, 1, (0, 1)])
def test_list_that_is_two_arguments(argnums):
    p = [1.0, 2.0]
    with pytest.raises(ActiveError, match="stands in two places"):
        codipy.grad(fills_list, argnums=argnums)(p, p)
    assert p == [1.0, 2.0]
    codipy.grad(fills_list, argnums=argnums)(p, list(p))


@dataclass
class Point:
    x: float


@dataclass(slots=True)
class Slotted:
    x: float


@dataclass(frozen=True)
class Fixed:
    x: float


def moves(p):
    p[0].x = 3.0 * p[0].x
    return p[0].x * p[1].x


@pytest.mark.parametrize("kind", [Point, Slotted, Fixed])
def test_dataclass_that_stands_in_two_places(kind):
    point = kind(2.0)
    assert codipy.grad(lambda p: p[0].x * p[1].x)([point, point]) == [point, point]
    if kind is not Fixed:
        with pytest.raises(ActiveError, match="stands in two places"):
            codipy.grad(moves)([point, point])
        assert codipy.grad(moves)([point, kind(2.0)]) == [kind(6.0), kind(6.0)]


def test_drivers_of_drivers_and_inside_of_functions():
    a, rows = np.array([1.0, 2.0, 3.0]), [1.0, 2.0]

    def inner(z):
        w = z * 1.0
        return (codipy.grad(fills_first)(w, w) ** 2).sum()

    for attempt in (
        lambda: codipy.grad(inner)(a), lambda: codipy.jacobian(codipy.grad(fills_first))(a, a),
        lambda: codipy.hessian(fills_first, sparsity=True)(a, a), lambda: codipy.hessian(fills_list)(rows, rows),
        lambda: codipy.check_derivatives(fills_first, a, a),
        lambda: codipy.grad(fills_and_reads_global, rebind=False)(G),
    ):
        with pytest.raises(ActiveError, match="copies|copy"):
            attempt()
    assert codipy.jacobian(codipy.grad(only_reads))(a, a.copy()).tolist() == np.zeros((3, 3)).tolist()


def holders(held):
    """Ways to come upon an array."""
    class Base:
        shared = held

    class Child(Base):
        __slots__ = ("_own",)

        @property
        def mine(self):
            return self._own

    child = Child()
    child._own = held
    cached = functools.lru_cache(lambda: held)
    cached()
    objects = np.empty(2, object)
    objects[1] = held
    table = {"w1": held}
    yield "property", lambda: child.mine
    yield "inherited", lambda: child.shared
    yield "made key", lambda: table[f"w{1}"]
    yield "values", lambda: next(iter(table.values()))
    yield "vars", lambda: next(iter(vars(types.SimpleNamespace(w=held)).values())) if table else None
    yield "cache", cached
    yield "objects", lambda: objects[1]
    yield "deque", functools.partial(collections.deque([held]).__getitem__, 0)
    yield "chain", lambda chain=collections.ChainMap({}, table): chain["w1"]
    much = [[0.5] * 30_000, *map(str, range(30_000)), held]
    yield "beside much", lambda: much[-1]
    yield "a row", functools.partial(getattr, held[None], "T")


@pytest.mark.parametrize("number", range(11))
def test_other_ways_to_the_same_array(number):
    held = np.array([1.0, 2.0, 3.0])
    found = list(holders(held))[number][1]

    def f(x):
        x[0] = 5 * x[1]
        return (np.ravel(found()) * x).sum()

    with pytest.raises(ActiveError, match="may read the same memory"):
        codipy.grad(f)(held)


def test_attributes_of_functions_that_nobody_reads():
    fills_and_reads_only_itself.x0 = np.array([1.0, 2.0, 3.0])
    assert codipy.grad(fills_and_reads_only_itself)(fills_and_reads_only_itself.x0).tolist() == [0.0, 20.0, 6.0]


def test_what_shares_no_number_is_taken():
    m = np.arange(8.0).reshape(4, 2)
    expected = codipy.grad(fills_first, argnums=(0, 1))(m[:, 0].copy(), m[:, 1].copy())
    for found, known in zip(codipy.grad(fills_first, argnums=(0, 1))(m[:, 0], m[:, 1]), expected):
        assert np.array_equal(found, known)


def test_numbers_of_a_list_are_not_asked_in_pairs_whether_they_share_memory(monkeypatch):
    asked = []
    share = codipy.tools.arguments.aliases._share
    monkeypatch.setattr(codipy.tools.arguments.aliases, "_share", lambda *pair: asked.append(pair) or share(*pair))
    gradient = codipy.grad(lambda x, a: sum(v * v * v for v in x) + (a * a).sum())
    _, found = codipy.jvp(gradient, ([1.0, 2.0, 3.0], np.ones(2)), ([1.0, 0.0, 0.0], np.zeros(2)))
    assert found == [6.0, 0.0, 0.0]
    assert asked and len(asked) <= 2       # the array and itself among the arguments


def test_messages_name_no_variables_of_functions_of_codipy():
    held = np.array([1.0, 2.0, 3.0])

    def fills(x, kept):
        x[0] = 5.0
        return np.sum(x * kept)

    function = _number_of("minimize", fills, {}, {}, {"kept": held})
    with pytest.raises(ActiveError, match="may read the same memory in what it is called with, where"):
        codipy.grad(function, rebind=False)(held)
