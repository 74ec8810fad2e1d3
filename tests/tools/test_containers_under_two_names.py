# SPDX-License-Identifier: Apache-2.0
"""A list, dict or dataclass under two names: never the number of another program than Python would run.

The value is that of the plain run on the same objects, or the driver raises and names where the function finds them.
"""
import collections
import copy
import functools
import itertools
import types
import weakref
from dataclasses import dataclass, field

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.covering import pairs

HELD = None      # what a function finds under a global name


@dataclass
class Point:
    x: float
    y: float
    made: int = field(default=0, init=False)

    @functools.cached_property
    def norm(self):
        return self.x * self.x + self.y


@dataclass(slots=True)
class Slotted:
    x: float
    y: float


@dataclass
class Path:
    points: list
    last: Point


class Row(list):
    pass




Pair = collections.namedtuple("Pair", "one two")




class Kind:
    """A form of arguments: how to make one, to read a number of it, and to write one."""

    def __init__(self, make, read, write):
        self.make, self.read, self.write = make, read, write


def _set(x, value):
    x[0] = value


def _key(x, value):
    x["a"] = value


def _attribute(x, value):
    x.x = value


KINDS = {
    "list": Kind(lambda: [1.5, 2.0], lambda p: p[0] * p[-1], lambda p: _set(p, p[1] * 3.0)),
    "append": Kind(lambda: [1.5, 2.0], lambda p: p[0] * p[-1], lambda p: p.append(p[1] * 3.0)),
    "reverse": Kind(lambda: [1.5, 2.0], lambda p: p[0] * p[0] * p[1], lambda p: p.reverse()),
    "subclass": Kind(lambda: Row([1.5, 2.0]), lambda p: p[0] * p[1], lambda p: _set(p, p[1] * 3.0)),
    "dict": Kind(lambda: {"a": 1.5, "b": 2.0}, lambda p: p["a"] * p["b"], lambda p: _key(p, p["b"] * 3.0)),
    "update": Kind(lambda: {"a": 1.5, "b": 2.0}, lambda p: p["a"] * p["b"], lambda p: p.update(a=p["b"] * 3.0)),
    "default": Kind(lambda: collections.defaultdict(float, a=1.5, b=2.0), lambda p: p["a"] * p["b"],
                    lambda p: _key(p, p["b"] * 3.0)),
    "ordered": Kind(lambda: collections.OrderedDict(a=1.5, b=2.0), lambda p: next(iter(p.values())) * p["b"],
                    lambda p: p.move_to_end("a")),
    "rows": Kind(lambda: [[1.5, 2.0], [0.5]], lambda p: p[0][0] * p[1][0], lambda p: _set(p[0], p[1][0] * 3.0)),
    "tree": Kind(lambda: {"a": ({"a": [1.5, 2.0]}, 0.5)}, lambda p: p["a"][0]["a"][0] * p["a"][1],
                 lambda p: _set(p["a"][0]["a"], p["a"][1] * 3.0)),
    "named": Kind(lambda: Pair([1.5, 2.0], 0.5), lambda p: p.one[0] * p.two, lambda p: _set(p.one, p.two * 3.0)),
    "dataclass": Kind(lambda: Point(1.5, 2.0), lambda p: p.x * p.y, lambda p: _attribute(p, p.y * 3.0)),
    "slots": Kind(lambda: Slotted(1.5, 2.0), lambda p: p.x * p.y, lambda p: _attribute(p, p.y * 3.0)),
    "path": Kind(lambda: Path([Point(1.5, 2.0)], Point(0.5, 0.25)), lambda p: p.points[0].x * p.last.y,
                 lambda p: _attribute(p.points[0], p.last.x * 3.0)),
    "arrays": Kind(lambda: {"a": np.array([1.5, 2.0]), "b": np.array([0.5, 0.25])},
                   lambda p: np.sum(p["a"] * p["b"]), lambda p: _key(p, p["b"] * 3.0)),
    "array in place": Kind(lambda: {"a": np.array([1.5, 2.0])}, lambda p: np.sum(p["a"] * p["a"]),
                           lambda p: _set(p["a"], p["a"][1] * 3.0)),
    "popped": Kind(lambda: {"a": 1.5, "b": 2.0}, lambda p: p.get("a", 7.0) * p["b"], lambda p: p.pop("a")),
}  # fmt: skip


def by_global(held):
    global HELD
    HELD = held
    return lambda act: lambda p: act(p, HELD)


def by_closure(held):
    return lambda act: lambda p: act(p, held)


def by_default(held):
    return lambda act: lambda p, other=held: act(p, other)


def by_partial(held):
    return lambda act: functools.partial(lambda p, other: act(p, other), other=held)


def by_attribute(held):
    owner = types.SimpleNamespace(held=held)
    return lambda act: lambda p: act(p, owner.held)


def by_method(held):
    class Owner:
        def __init__(self, act):
            self.held, self.act = held, act

        def loss(self, p):
            return self.act(p, self.held)

    return lambda act: Owner(act).loss


def by_class(held):
    class Owner:
        shared = held

    return lambda act: lambda p: act(p, Owner.shared)


def by_dict(held):
    table = {"w1": held}
    return lambda act: lambda p: act(p, table[f"w{1}"])


def by_tuple(held):
    kept = (0, (held,))
    return lambda act: lambda p: act(p, kept[1][0])


def by_deque(held):
    queue = collections.deque([held])
    return lambda act: lambda p: act(p, queue[0])


def by_chain(held):
    chain = collections.ChainMap({}, {"w": held})
    return lambda act: lambda p: act(p, chain["w"])


def by_cycle(held):
    cycle = itertools.cycle([held])
    return lambda act: lambda p: act(p, next(cycle))


def by_cache(held):
    cached = functools.lru_cache(lambda: held)
    cached()
    return lambda act: lambda p: act(p, cached())


WAYS = {name[3:]: way for name, way in list(globals().items()) if name.startswith("by_")}

# What a function does, by the argument and by the other name.
ACTIONS = {
    "writes to the argument": lambda kind: lambda p, q: (kind.write(p), kind.read(q) + 0.0 * kind.read(p))[1],
    "writes elsewhere": lambda kind: lambda p, q: (kind.write(q), kind.read(p) + 0.0 * kind.read(q))[1],
    "writes to both": lambda kind: lambda p, q: (kind.write(p), kind.write(q), kind.read(p) * kind.read(q))[2],
}


def same(one, other):
    """Whether two trees hold the same numbers."""
    return repr(codipy.value(one)) == repr(codipy.value(other))


@pytest.mark.parametrize(("kind", "way", "action"), pairs(KINDS, WAYS, ACTIONS))
def test_what_is_written_under_one_name_and_read_under_another_raises(kind, way, action):
    kind = KINDS[kind]
    held = kind.make()
    f = WAYS[way](held)(ACTIONS[action](kind))
    with pytest.raises(ActiveError, match=r"Python would show|NumPy would show"):
        codipy.grad(f)(held)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_only_read_there_is_taken(kind, way):
    kind = KINDS[kind]
    held = kind.make()
    f = WAYS[way](held)(lambda p, q: kind.read(p) * kind.read(q))
    value, gradient = codipy.value_and_grad(f)(held)
    own_value, own_gradient = codipy.value_and_grad(kind.read)(kind.make())
    assert value == f(held) == own_value**2 and same(held, kind.make())
    found, known = [], []
    for tree, leaves in ((gradient, found), (own_gradient, known)):
        codipy.tools.arguments.forms.flatten(tree, "gradient", leaves)
    assert all(np.allclose(one, own_value * other) for one, other in zip(found, known, strict=True))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_copies_are_taken_and_stay_as_they_are(kind, way):
    kind = KINDS[kind]
    held, given = kind.make(), kind.make()
    f = WAYS[way](held)(lambda p, q: (kind.write(p), kind.read(p) * kind.read(q))[1])
    for _ in range(2):
        value, _ = codipy.value_and_grad(f)(given)
        assert value == f(copy.deepcopy(given))
        assert same(given, kind.make()) and same(held, kind.make())


def writes_and_reads_global(p):
    p["a"] = p["a"] * 2.0
    return HELD["a"] ** 2 * p["b"]


def writes_list_and_reads_global(p):
    p[0] = p[0] * 2.0
    return HELD[0] ** 2 * p[1]


DRIVERS = {
    "grad": lambda f, x: codipy.grad(f)(x),
    "not rebuilt": lambda f, x: codipy.grad(f, rebind=False)(x),
    "has_aux": lambda f, x: codipy.grad(lambda p: (f(p), 1), has_aux=True)(x),
    "by name": lambda f, x: codipy.grad(f, argnames="p")(p=x),
    "jacobian": lambda f, x: codipy.jacobian(f)(x),
    "forward": lambda f, x: codipy.jacobian(f, mode="forward")(x),
    "hessian": lambda f, x: codipy.hessian(f)(x),
    "linearize": codipy.linearize,
    "vjp": codipy.vjp,
    "jvp": lambda f, x: codipy.jvp(f, (x,), (copy.deepcopy(x),)),
    "hvp": lambda f, x: codipy.hvp(f, (x,), (copy.deepcopy(x),)),
    "sparsity": codipy.sparsity,
    "check": codipy.check_derivatives,
    "compare": lambda f, x: codipy.compare(f, x, repeat=1),
    "of a gradient": lambda f, x: codipy.jacobian(codipy.grad(f))(x),
    "inside": lambda f, x: codipy.grad(lambda t: t * codipy.value_and_grad(f)(x)[0])(1.0),
    "inside of its own": lambda f, x: codipy.grad(lambda p: codipy.value_and_grad(f)(p)[0])(x),
}


@pytest.mark.parametrize("f, x", [(writes_and_reads_global, {"a": 1.5, "b": 2.0}),
                                  (writes_list_and_reads_global, [1.5, 2.0])], ids=["dict", "list"])
@pytest.mark.parametrize("driver", DRIVERS.values(), ids=list(DRIVERS))
def test_every_driver_looks(driver, f, x):
    global HELD
    HELD, before = x, copy.deepcopy(x)
    with pytest.raises(ActiveError, match="as the global variable HELD"):
        driver(f, HELD)
    assert HELD == before
    HELD = copy.deepcopy(x)
    driver(f, x)      # two of them: no error


def test_what_the_error_says():
    global HELD
    HELD = Point(1.0, 2.0)

    def moves(p):
        p.x = p.y
        return HELD.x * p.y

    with pytest.raises(ActiveError, match=r"moves writes into the Point .* global variable HELD, .*deepcopy\(x\)"):
        codipy.grad(moves)(HELD)


def test_an_argument_beside_it():
    weights = [1.5, 2.0]

    def f(p, model):
        p[0] = p[1] * 3.0
        return model["weights"][0] * p[0]

    with pytest.raises(ActiveError, match=r"in argument 1\['weights'\]"):
        codipy.grad(f)(weights, {"weights": weights})
    assert codipy.grad(f)(weights, {"weights": [1.5, 2.0]}) == [0.0, 4.5]


def test_what_an_object_computes_once_is_no_write():
    global HELD
    HELD = Point(1.5, 2.0)

    def f(p):
        return p.norm + p.norm * HELD.y

    gradient = codipy.grad(f)(HELD)
    assert (gradient.x, gradient.y) == (9.0, 3.0)


def test_what_is_no_leaf_is_compared_too():
    global HELD
    HELD = Point(1.5, 2.0)

    def counts(p):
        p.made = p.made + 1 if p.made else 1
        return p.x * HELD.made

    with pytest.raises(ActiveError, match="Python would show"):
        codipy.grad(counts)(HELD)


BUFFER = np.zeros(2)


@dataclass
class Filling:
    x: float
    work: np.ndarray = field(default_factory=lambda: BUFFER, metadata={"static": True})


def test_arrays_that_are_filled_meanwhile_are_no_writes():
    global HELD
    HELD = Filling(2.0)

    def f(p):
        HELD.work[0] = p.x * p.x
        return HELD.work[0] * p.x

    for _ in range(2):
        assert codipy.grad(f)(HELD).x == 12.0
        assert HELD.work.tolist() == [4.0, 0.0] and HELD.work is BUFFER


def test_lists_that_die_meanwhile_are_forgotten():
    class Held(list):
        pass

    rows = Held([1.5, 2.0])
    gone = weakref.ref(rows)

    def f(p):
        p[0] = p[1]
        return p[0] * p[1]

    assert codipy.jacobian(codipy.grad(f))(rows) == [[0.0, 0.0], [0.0, 2.0]]
    del rows
    assert gone() is None and not codipy.tools.arguments.aliases.noted


ARRAY = np.array([1.0, 2.0, 3.0])


def fills_and_reads_array(x):
    x[0] = 2.0 * x[1]
    return (ARRAY * x).sum()


def test_arrays_that_a_driver_inside_gets():
    def of_gradient(x):
        return (codipy.grad(fills_and_reads_array)(x) * x).sum()

    def of_global(t):
        return (codipy.grad(fills_and_reads_array)(ARRAY) * t).sum()

    for driver, x in ((codipy.jacobian(codipy.grad(fills_and_reads_array)), ARRAY), (codipy.grad(of_gradient), ARRAY),
                      (codipy.grad(of_global), 1.0)):
        with pytest.raises(ActiveError, match="fills_and_reads_array writes into .* as the global variable ARRAY"):
            driver(x)
        assert not codipy.tools.arguments.aliases.noted and ARRAY.tolist() == [1.0, 2.0, 3.0]
    assert codipy.grad(of_gradient)(ARRAY.copy()).tolist() == [0.0, 4.0, 3.0]
