# SPDX-License-Identifier: Apache-2.0
"""Python code of libraries, which is not rebuilt, is told of a variable the class that the plain run has there."""

import importlib
import sys
import textwrap

import numpy as np
import pytest

import codipy
from codipy.active.scalar.asking import asks, asks_in_vain
from codipy.errors import ActiveError
from codipy.tape.strategies.table import STRATEGIES

LIBRARY = """
    import builtins, functools, itertools, math

    def plain(v): return v * 3 if isinstance(v, float) else v * 2
    def pair(v): return v * 3 if isinstance(v, (int, float)) else v * 2
    def union(v): return v * 3 if isinstance(v, int | float) else v * 2
    def negated(v): return v * 2 if not isinstance(v, float) and v else v * 3
    def called(v): return v * 3 if isinstance((lambda w: w)(v), float) else v * 2
    def computed(v): return v * 3 if isinstance(v * 2 + [1, v][0], float) else v * 2
    def of_call(v): return v * 3 if isinstance(max([v]), float) and isinstance(pow(v, 1), float) else v * 2
    def chosen(v, w=None): return v * 3 if isinstance(v if w is None else w, float) else v * 2
    def default(v, kind=None): return v * 3 if isinstance(v or 1.0, kind or float) else v * 2
    def attribute(v): return v * 3 if builtins.isinstance(v, float) else v * 2
    def read(v): return v * 3 if v.__class__ is float else v * 2
    def named(v): return v * 3 if getattr(v, "__class__") is float else v * 2
    def by_default(v): return v * 3 if issubclass(getattr(v, "__class__", None), float) else v * 2
    def named_if(v): return v * 3 if getattr(v if v else 1, "__class__" if v else "real", v) is float else v * 2
    def named_of_call(v): return v * 3 if getattr(max([v]), "__class__") is float else v * 2
    def derived(v): return v * 3 if issubclass(v.__class__, float) else v * 2
    def comprehension(v): return v * sum(1 for w in [v] if isinstance(w, float))
    def several(v): return v * 3 if all(isinstance(w, float) for w in (v, v)) else v * 2
    def matched(v):
        match v:
            case float(): return v * 3
            case _: return v * 2
    @functools.singledispatch
    def dispatched(v): return v * 2
    @dispatched.register(float)
    def _(v): return v * 3
    def dispatches(v): return dispatched(v)
    class Model:
        def __call__(self, v): return v * 3 if isinstance(v, float) else v * 2
    method = Model()
    def typed(v): return v * 3 if type(v) is float else v * 2
    def equal(v): return v * 3 if type(v) == float and not type(v) != type(1.0) else v * 2
    def one_of(v): return v * 3 if type(v) in KINDS and type(v * v) in (int, float) else v * 2
    def by_table(v): return v * TABLE.get(type(v), 2)
    def by_text(v): return v * 3 if type(v).__name__ == "float" else v * 2
    def kept(v):
        kind = type(v)
        return v * 3 if issubclass(kind, float) and type(v)(v) == v else v * 2
    def inner(v):
        def ask(w): return w * 3 if type(w) is float else w * 2
        return ask(v) + sum(w * 3 if type(w) is float else w * 2 for w in [v])
    def decorated(f): return lambda v: f(v)
    wrapped = decorated(lambda v: v * 3 if type(v) is float else v * 2)
    cached = functools.lru_cache(lambda n: 3 if type(n * DATA[0]) is float else 2)
    def asks_cached(v): return v * cached(2)
    class Typed:
        __slots__ = ("a",)
        def __init__(self, a): self.a = a
        def __call__(self, v): return v * 3 if type(v * self.a) is float else v * 2
        @staticmethod
        def of_none(v): return v * 3 if type(v) is float else v * 2
        @property
        def factor(self): return 3 if type(self.a) is float else 2
    typed_method = Typed(2.0)
    def asks_typed(v): return Typed.of_none(v) + Typed(v).factor * v + typed_method(v)
    def handed_on(v): return v * 3 if functools.partial(isinstance, v)(float) else v * 2
    def of_both(v):
        both = v, float
        return v * 3 if isinstance(*both) else v * 2
    def renamed(v):
        ask = isinstance
        return v * 3 if ask(v, float) else v * 2
    _type, _isinstance, _kind_of = type, isinstance, functools.partial(type)
    def by_alias(v): return v * 3 if _type(v) is float else v * 2
    def by_other_name(v): return v * 3 if _isinstance(v, float) else v * 2
    def by_partial(v): return v * 3 if _kind_of(v) is float else v * 2
    def mapped(v): return v * 3 if float in map(type, [v]) else v * 2
    def mapped_by_alias(v): return v * 3 if float in set(map(_type, [v])) else v * 2
    def sorted_by(v): return sorted([v, 2], key=lambda w: type(w) is float)[-1] * 3
    def grouped(v): return v * 3 if [k for k, _ in itertools.groupby([v], type)] == [float] else v * 2
    def filtered(v): return v * (2 + len(list(filter(functools.partial(_isinstance, v), [float]))))
    def partly(v): return v * 3 if functools.partial(type)(v) is float else v * 2
    def from_builtins(v): return v * 3 if builtins.type(v) is float else v * 2
    def as_default(v, kind_of=type): return v * 3 if kind_of(v) is float else v * 2
    def as_keyword(v, *, ask=isinstance): return v * 3 if ask(v, float) else v * 2
    def renamed_type(v):
        kind_of = type
        return v * 3 if kind_of(v) is float else v * 2
    def enclosing(kind_of): return lambda v: v * 3 if kind_of(v) is float else v * 2
    in_a_cell = enclosing(type)
    KINDS, TABLE, DATA = (int, float), {float: 3, int: 4}, [1.0]
    def sine(v): return math.sin(v) if isinstance(v, float) else v
    def of_array(a): return (a * 3 if isinstance(a, ARRAY) else a * 2).sum()
    NAMES = [name for name, f in list(globals().items()) if callable(f) and name not in (
        "_", "Model", "Typed", "_isinstance", "_kind_of", "_type", "cached", "decorated", "enclosing", "sine",
        "of_array")]
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("installed") / "site-packages"
    folder.mkdir()
    (folder / "asking_library.py").write_text(textwrap.dedent(LIBRARY), encoding="utf-8")
    sys.path.insert(0, str(folder))
    try:
        module = importlib.import_module("asking_library")
        module.ARRAY = np.ndarray
        yield module
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("asking_library", None)


NAMES = [
    "plain", "pair", "union", "negated", "called", "computed", "of_call", "chosen", "default", "attribute", "read",
    "named", "by_default", "named_if", "named_of_call", "derived", "comprehension", "several", "matched", "dispatches",
    "method", "typed", "equal", "one_of", "by_table", "by_text", "kept", "inner", "wrapped", "asks_cached",
    "typed_method", "asks_typed", "handed_on", "of_both", "renamed",
    "by_alias", "by_other_name", "by_partial", "mapped", "mapped_by_alias", "sorted_by", "grouped", "filtered",
    "partly", "from_builtins", "as_default", "as_keyword", "renamed_type", "in_a_cell",
]  # fmt: skip


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_library_takes_the_branch_of_the_plain_run(library, strategy):
    assert {*NAMES, "dispatched"} == set(library.NAMES)
    for name in NAMES:
        f = getattr(library, name)
        value, slope = codipy.value_and_grad(lambda v: f(v), strategy=strategy)(0.7)  # noqa: B023
        assert value == f(0.7), name
        assert slope == pytest.approx((f(0.7 + 1e-6) - f(0.7 - 1e-6)) / 2e-6), name


class Holding:
    __slots__ = ("held",)

    def __init__(self, held):
        self.held = held


def test_what_is_found_leads_there_too(library):
    """Functions that ask for the type, however rebuilt code came by them."""
    held, codes = Holding(library.typed_method), {f: f.__code__ for f in (library.typed, library.Typed.__call__)}
    table, found = [library.typed], {library.typed, library.typed_method}

    def imports(v):
        import asking_library

        return asking_library.typed(v)

    uses = [lambda v: held.held(v), lambda v: table[0](v), lambda v: sum(f(v) for f in found), imports,
            lambda v: sum(map(library.typed, [v, v])), lambda v: library.typed(v) * (library.typed in found),
            library.typed_method.__call__, lambda v, f=library.typed: f(v)]  # fmt: skip
    for f in uses:
        assert codipy.value_and_grad(f)(0.7)[0] == f(0.7)
    for f in (library.typed, library.typed_method):
        assert codipy.value_and_grad(lambda v, f: f(v))(0.7, f)[0] == f(0.7)
    assert all(f.__code__ is code for f, code in codes.items())
    library.TABLE[float] = 5
    assert codipy.value_and_grad(lambda v: library.by_table(v))(0.7)[0] == library.by_table(0.7) == 5 * 0.7
    library.TABLE = {float: 3}
    assert codipy.value_and_grad(lambda v: library.by_table(v))(0.7)[0] == library.by_table(0.7) == 3 * 0.7


def test_who_only_names_a_type_asks_nothing():
    def name(v):
        raise TypeError(type(v).__name__)

    def own(self):
        return type(self)(1.0)

    def attribute(v):
        return v.type(1.0) + isinstance(v, type)

    def text(v):
        return type(v).__name__ == "float"

    def deep(v):
        return [type(w) for w in v]

    def compares(v):
        return v is type or isinstance(v, (int, type)) or type.mro(v) or issubclass(v, type) or type("A", (), {})

    def derives():
        class Meta(type):
            pass

        return Meta

    def hands_on(v):
        return map(type, v)

    found = [asks_in_vain(f.__code__) for f in (name, own, attribute, compares, derives, text, deep, hands_on)]
    assert found == [False] * 5 + [True] * 3


def test_arrays(library):
    x = np.array([1.0, 2.0])
    value, gradient = codipy.value_and_grad(lambda x: library.of_array(x))(x)
    assert value == library.of_array(x) == 9.0
    assert gradient.tolist() == [3.0, 3.0]


def test_what_it_takes_then_refuses_what_is_active(library):
    with pytest.raises(ActiveError, match="asking_library"):
        codipy.grad(lambda v: library.sine(v))(0.7)


def test_who_is_not_called_by_rebound_code_sees_the_type(library):
    with codipy.Tape() as tape:
        x = tape.register_input(codipy.Real(0.7))
        assert not isinstance(x, float) and library.plain(x).value == 1.4
    seen = []

    def f(v):
        seen.append(codipy.grad(lambda w: library.plain(w), rebind=False)(0.7))
        return library.plain(v)

    assert codipy.grad(f, rebind=False)(0.7) == 2.0 and seen == [2.0]
    assert codipy.grad(f)(0.7) == 3.0
    with codipy.Tape() as tape:
        assert library.plain(tape.register_input(codipy.Real(0.7))).value == 1.4


def test_numpy_is_told_the_truth():
    """An array of a subclass, or a number that is none of C's, would be another thing for it."""
    def f(x):
        return np.linalg.norm(np.atleast_1d(x)) + np.sum(np.broadcast_to(x[0], (2, 2))) + np.average(x, weights=x)

    x = np.array([1.0, 2.0, 4.0])
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == f(x)
    differences = [(f(x + d) - f(x - d)) / 2e-6 for d in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(gradient, differences, rtol=1e-8)


class Asked:
    """Notes of each look at its class whether the instruction asks for it."""

    def __init__(self):
        self.found = []

    @property
    def __class__(self):
        frame = sys._getframe(1)
        self.found.append(asks(frame.f_code, frame.f_lasti))
        return float

    def __add__(self, other):
        return self


@pytest.mark.parametrize(("ask", "found"), [
    (lambda v: isinstance(v, float), [True]),
    (lambda v: isinstance(v, (int, str, list)), [True, True, True]),
    (lambda v: [isinstance(v + 1, float), len([v])], [True]),
    (lambda v: v.__class__, [True]),
    (lambda v: getattr(v, "__class__"), [True]),  # noqa: B009
    (lambda v: object.__getattribute__(v, "__class__"), [False]),
    (lambda v: filter(isinstance, [v]) and getattr(v, "__class__", None), [True]),
    (lambda v: (isinstance(1, float), getattr(v, "__class__", 1)), [True]),
    (lambda v: getattr(v, "__{}__".format("class")), [False]),
    (lambda v: (isinstance(1, float), [getattr(w, "__class__", 1) for w in [v]]), [True]),
    (lambda v, name="__class__": getattr(v, name), [False]),
    (lambda v: isinstance(v if v else 1, float), [True]),
    (lambda v: isinstance(0 or (v and v), float if v else int), [True]),
    (lambda v: isinstance(max([v], key=len, default=v) if not v else [v, 2].pop(0), (str, float)), [True, True]),
    (lambda v: isinstance([w for w in [v] if w][0], float) and isinstance(v, float), [True, True]),
])  # fmt: skip
def test_what_asks(ask, found):
    asked = Asked()
    ask(asked)
    assert asked.found == found
