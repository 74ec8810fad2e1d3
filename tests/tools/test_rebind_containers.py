# SPDX-License-Identifier: Apache-2.0
"""rebind on functions and objects in lists, dicts, registries, overloads, caches, and on what a compiler made."""

import collections
import copy
import functools
import math
import operator
import pickle
import random
import subprocess
import sys
import textwrap
import typing

import numpy as np
import pytest

import codipy
from codipy.active.array import Array
from codipy.tools.rebind import rebind
from codipy.tools.rebinding.containers import VIEWS


def square(x):
    z = np.zeros(2)
    z[0] = x * x
    return z[0]


def cube(x):
    z = np.zeros(2)
    z[0] = x * x * x
    return z[0]


class Layer:
    def __init__(self, by=1.0):
        self.by = by

    def go(self, x):
        return square(x) * self.by


class Second(Layer):
    def go(self, x):
        return cube(x) * self.by


class Net:
    def __init__(self):
        self.layers, self.by_name, self.steps = [Layer(), Second(0.5)], {"last": Layer(2.0)}, 0

    def __call__(self, x):
        for layer in self.layers:
            x = layer.go(x)
            self.steps += 1
        return x + self.by_name["last"].go(x)


class Kinds:
    @functools.singledispatchmethod
    def go(self, x):
        return square(x)

    @go.register
    def _(self, x: list):
        return cube(x[0])

    @go.register(np.ndarray)
    @staticmethod
    def _(x):
        return cube(x[0]) * 3.0


@functools.singledispatch
def kinds(x):
    raise AssertionError("no number")


@kinds.register(float)
def _(x):
    return cube(x)


@kinds.register(np.ndarray)
def _(x):
    return np.sum(x) * square(x[0])


class Row(typing.NamedTuple):
    f: object
    weight: float


class Meter(float):
    """A user's float."""

    def __new__(cls, value):
        return super().__new__(cls, value)

    def twice(self):
        return self + self


class Grid(np.ndarray):
    """A user's ndarray."""

    def total(self):
        return float(np.sum(self))


class Holder:
    def __init__(self):
        self.length, self.grid = Meter(2.0), np.arange(3.0).view(Grid)


def register(f):
    REGISTRY[f.__name__] = f
    return f


REGISTRY, HOOKS, PAIR = {}, [square], Row(cube, 2.0)
NESTED, ROWS = {"a": [square, ("n", cube)]}, [Row(square, 2.0), Row(cube, 3.0)]
ORDERED, DEFAULT = collections.OrderedDict(a=square), collections.defaultdict(lambda: cube)
NAMES, CLASSES, MAKERS = {square: "w", float: "f"}, {Layer: "a", Second: "bb"}, {"a": Layer, "b": Second}
NET, NETS, HOLDER = Net(), [Net()], Holder()
MODULE, calls = sys.modules[__name__], []


@register
def registered(x):
    z = np.zeros(1)
    z[0] = np.exp(x)
    return z[0]


@functools.lru_cache(maxsize=99)
def power(x, n):
    return x if n == 0 else power(x, n - 1) * square(x)


def mutates(x):
    HOOKS.append(cube)
    try:
        return sum(h(x) for h in HOOKS) + (type(HOOKS) is list) + isinstance(HOOKS, list) + len(HOOKS)
    finally:
        HOOKS.pop()


def list_operators(x):
    joined, twice = [square, *HOOKS] + HOOKS + [cube], HOOKS * 2
    same = (HOOKS == [square]) + (HOOKS != [square]) + (square in HOOKS) + HOOKS.index(square) + HOOKS.count(cube)
    return sum(f(x) for f in joined) + sum(f(x) for f in twice) + same + sum(f(x) for f in [cube] + HOOKS)


def mappings(x):
    (name, f), *_ = ORDERED.items()
    more = ORDERED | {"b": cube}
    return f(x) + len(name) + isinstance(ORDERED, collections.OrderedDict) + DEFAULT["q"](x) + more["b"](x)


def keys(x):
    by_class = len(CLASSES[Second]) + len(CLASSES[type(Layer())]) + sum(c().go(x) for c in CLASSES)
    return square(x) + len(NAMES[square]) + (square in NAMES) + len({**NAMES}) + len(dict(NAMES)) + by_class


def library_functions(x):
    key = functools.partial(lambda f: f(x))
    return random.Random(1).choice(HOOKS)(x) + max(HOOKS, key=key)(x) + sorted([*HOOKS, cube], key=key)[0](x)


def star(x):
    def g(*fs, **named):
        return sum(f(x) for f in fs) + sum(f(x) for f in named.values())

    return g(*HOOKS, **ORDERED)


def by_dict(x):
    mine = vars(MODULE)["square"](x) + MODULE.__dict__["cube"](x) + dict(MODULE.__dict__)["square"](x)
    found_in_c = operator.attrgetter("__dict__")(MODULE)["square"](x) + (vars(MODULE) is globals())
    return mine + globals()["cube"](x) + found_in_c


def evaluated(x):
    own = {}
    exec("def q(x):\n    z = np.zeros(1)\n    z[0] = x * x\n    return z[0]", globals(), own)
    return own["q"](x) + eval("square(x)") + eval(" square(x)", globals(), {"x": x})


def identities(x):
    return square(x) + (HOOKS[0] is square) + (ORDERED["a"] is HOOKS[0]) + (MAKERS["a"] is Layer) + (HOOKS is HOOKS)


def objects_twice(x):
    first = NET.layers[0]
    return first.go(x) + (first is NET.layers[0]) + NET.layers.index(first)


def caches(x):
    @functools.cache
    def g(y):
        return square(y[0])

    @functools.lru_cache(maxsize=99)
    def h(y, *, n):
        calls.append(n)
        return y if n == 0 else h(y, n=n - 1) * cube(y)

    return g((x, 1)) + g((x, 1)) + g.cache_info().hits + h(x, n=3) + h(x, n=3) + h.cache_info().hits + power(x, 4)


def copies(x):
    copied = copy.deepcopy(HOOKS)[0](x) + copy.copy(HOOKS)[0](x) + ORDERED.copy()["a"](x)
    return copied + len(pickle.loads(pickle.dumps(HOOKS)))


def unpacked(x):
    (f,) = HOOKS
    first, *others = HOOKS
    return f(x) + first(x) + len(others) + list(reversed(HOOKS))[0](x) + {**ORDERED}["a"](x)


FUNCTIONS = [
    mutates, list_operators, mappings, keys, library_functions, star, by_dict, evaluated, identities, objects_twice,
    caches, copies, unpacked, NET,
    lambda x: NESTED["a"][0](x) + NESTED["a"][1][1](x),
    lambda x: REGISTRY["registered"](x),
    lambda x: NETS[0](x) + NETS[-1].layers[0].go(x),
    lambda x: PAIR.f(x) * PAIR.weight + sum(row.f(x) * row.weight for row in ROWS) + isinstance(PAIR, Row),
    lambda x: Kinds().go(x) + Kinds().go([x]) + Kinds().go(np.array([x])),
    lambda x: kinds(x) + kinds(np.array([x, x])),
    lambda x: Meter(3.0).twice() * HOLDER.length.twice() * square(x) + HOLDER.grid.total(),
]  # fmt: skip


@pytest.mark.parametrize("strategy", ["auto", "primal-reuse"])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: getattr(f, "__name__", "net"))
def test_functions_in_containers(f, strategy):
    h, x = 1e-6, 0.7
    for _ in range(2):
        value, gradient = codipy.value_and_grad(f, strategy=strategy)(x)
        assert value == f(x)
        assert gradient == pytest.approx((f(x + h) - f(x - h)) / (2 * h), rel=1e-6)
    assert HOOKS == [square] and type(HOOKS[0]) is type(square) and NET.layers[0].__class__ is Layer
    assert {"a": square} == ORDERED and not set(map(type, (HOOKS, ORDERED, REGISTRY))) & set(VIEWS.values())


def test_what_is_added_later_is_seen():
    hooks = [square]

    def f(x):
        return sum(hook(x) for hook in hooks)

    gradient = codipy.grad(f)
    assert gradient(2.0) == 4.0
    hooks.append(cube)
    assert gradient(2.0) == 4.0 + 12.0


def test_arguments_that_hold_functions():
    def f(x, fs, options):
        return sum(g(x) for g in fs) + options["deep"][0][0](x)

    assert codipy.grad(f)(2.0, [square], {"deep": [(cube,)]}) == 4.0 + 12.0


def test_originals_go_into_the_users_list():
    seen = []

    def f(x):
        HOOKS.append(cube)
        MAKERS["new"] = Layer
        seen.append(HOOKS.pop(0))
        HOOKS.insert(0, seen[-1])
        return HOOKS[1](x)

    assert codipy.grad(f)(2.0) == 12.0
    assert HOOKS == [square, cube] and MAKERS.pop("new") is Layer
    HOOKS.pop()


def test_caches_start_anew_in_each_run():
    """A cache that outlived its recording would hand out variables of another."""
    gradient = codipy.grad(lambda x: power(x, 2))
    assert gradient(2.0) == gradient(2.0) == pytest.approx(5 * 2.0**4)
    before = power.cache_info()
    gradient(2.0)
    assert power.cache_info() == before


def test_equal_keys_do_not_share_a_derivative():
    @functools.cache
    def g(x):
        return square(x)

    assert codipy.grad(lambda x, y: g(x) + 10.0 * g(y), (0, 1))(3.0, 3.0) == (6.0, 60.0)


class Compiled:
    """What numba makes, as far as rebind knows: takes plain numbers and ndarrays only."""

    def __init__(self, f):
        self.py_func, self.calls = f, 0
        functools.update_wrapper(self, f)

    def __call__(self, *args):
        assert all(type(x) in (float, int, np.ndarray) for x in args), [type(x) for x in args]
        self.calls += 1
        return self.py_func(*args)


Compiled.__module__ = "numpy.compiled"  # a library's


@Compiled
def fills(a, x):
    for k in range(len(a)):
        a[k] = x * k
    return a


@Compiled
def total(a):
    out = np.zeros(2)
    for number in a:
        out[0] += number * number
    return out


def test_what_numba_compiled():
    def f(x):
        plain = np.ones(3)
        same = fills(plain, 2.0)
        assert same is plain or type(plain) is np.ndarray
        sums = total(plain)
        active = fills(np.zeros(3), x)
        sums[1] = total(active)[0]
        return sums[0] * sums[1] + plain[2]

    fills.calls = total.calls = 0
    value, gradient = codipy.value_and_grad(f)(3.0)
    assert (fills.calls, total.calls) == (1, 1)
    assert value == f(3.0) == 20.0 * 45.0 + 4.0
    assert gradient == pytest.approx(20.0 * 5.0 * 2.0 * 3.0)


def test_a_library_that_was_put_beside_the_program_is_none_of_the_users(tmp_path):
    """As by `pip install --target` and PYTHONPATH: its list of files tells."""
    source = "import numpy as np\ndef stored(u):\n    z = np.zeros(1)\n    z[0] = u\n    return z[0]\n"
    for name in ("theirs", "mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"from {name}.inner import stored\n")
        (tmp_path / name / "inner.py").write_text(source)
    info = tmp_path / "theirs-1.0.dist-info"
    info.mkdir()
    (info / "RECORD").write_text("theirs/__init__.py,sha256=x,1\ntheirs/inner.py,,\n")
    program = textwrap.dedent("""
        import codipy, mine, theirs
        print(codipy.grad(lambda x: mine.stored(x) * x)(3.0))
        try:
            codipy.grad(lambda x: theirs.stored(x))(3.0)
        except TypeError as error:
            print(type(error).__name__)
        print(codipy.grad(codipy.rebind(lambda x: theirs.stored(x) * x, modules=["theirs"]))(3.0))
    """)
    path = [str(tmp_path), *filter(None, sys.path)]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {path!r}\n{program}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.split() == ["6.0", "ActiveError", "6.0"], done.stderr


def test_views_are_the_lists_for_who_asks():
    found = {}

    def f(x):
        found.update(hooks=HOOKS, registry=REGISTRY)
        return HOOKS[0](x)

    rebind(f)(1.0)
    view = found["hooks"]
    assert type(view) in VIEWS.values() and isinstance(view, list) and len(view) == 1 and repr(view) == repr(HOOKS)
    with pytest.raises(TypeError, match="C code that reads its memory"):
        __import__("heapq").heappush(view, square)
    assert HOOKS == [square]


def test_data_are_themselves():
    data, table = [1.0, 2.0], {"a": np.ones(2), "b": [1, "x"]}
    found = []

    def f(x):
        found.append((data, table))
        z = np.zeros(1)
        z[0] = x
        return z[0]

    rebind(f)(1.0)
    assert found[0][0] is data and found[0][1] is table
    assert type(found[0][1]["a"]) in (np.ndarray, Array)


def is_float(x):
    return isinstance(x, float)


@pytest.mark.parametrize("registry", [
    dict.fromkeys([f"step {k}" for k in range(200)], is_float),
    {**{f"rate {k}": float(k) for k in range(300)}, "step 7": is_float},
    {**{f"norm {k}": np.linalg.norm for k in range(50)}, **{str(k): math.gcd for k in range(100)}, "step 7": is_float},
    {"step 7": [*range(300), is_float], **{f"rows {k}": [1.0] * 3 for k in range(60)}},
])  # fmt: skip
def test_functions_are_found_behind_many_keys_and_data(registry):
    def f(x):
        step = registry["step 7"]
        step = step[-1] if isinstance(step, list) else step
        return 3.0 * x if step(x) else x

    assert codipy.value_and_grad(f)(2.0) == (6.0, 3.0)


def test_functions_in_long_lists_and_tuples_are_found():
    steps, arguments = (*(math.sin,) * 150, is_float), [*range(300), is_float]

    def f(x, others):
        return (3.0 if steps[-1](x) else 1.0) * (5.0 if others[-1](x) else 1.0) * x

    assert codipy.value_and_grad(f)(2.0, arguments) == (30.0, 15.0)


Step = collections.namedtuple("Step", "factor takes")


@pytest.mark.parametrize("steps", [
    [Step(3.0, is_float)],
    [*[Step(1.0, 2.0)] * 300, Step(3.0, is_float)],
    [[[[[Step(3.0, is_float)]]]]],
    Step([Step(1.0, 2.0), Step(3.0, is_float)], 1.0),
])  # fmt: skip
def test_functions_in_named_tuples_are_found(steps):
    def f(x):
        step = steps.factor if type(steps) is Step else steps
        while type(step) is not Step:
            step = step[-1]
        return step.factor * x if step.takes(x) else x

    assert codipy.value_and_grad(f)(2.0) == (6.0, 3.0)
