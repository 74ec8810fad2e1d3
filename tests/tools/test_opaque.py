# SPDX-License-Identifier: Apache-2.0
"""Functions that rebuilt code finds in what no twin and no view shows: they take the branches of the plain run.

Each would be another function of a variable than of a plain number: it asks `isinstance` and `type`, writes into an
array of NumPy's, calls `math` and `float`. After each call all functions have the code that they had.
"""

import collections
import contextlib
import contextvars
import dataclasses
import enum
import functools
import gc
import inspect
import itertools
import math
import operator
import os
import sys
import threading
import types
import weakref

import numpy as np
import pytest

import codipy
from codipy.tape.strategies.table import STRATEGIES
from codipy.tools.rebind import Rebinding, rebind
from codipy.tools.rebinding.contained import openings_in_reach
from codipy.tools.rebinding.opaque import Opaque

AT = 0.7


def weigh(v):
    return v * (1.0 if isinstance(v, float) else 10.0) + v * (100.0 if type(v) is float else 1000.0)


def sums(v):
    a = np.zeros(2)
    a[0] = v
    return a[0] * weigh(v) + math.sin(v) + float(v)


class Members:
    """What the classes below have."""

    __slots__ = ()

    def ask(self, v):
        return weigh(v) + v * (1.0 if isinstance(v, float) else 7.0)

    def fill(self, v, *more, factor=2.0, **others):
        a = np.zeros(2)
        a[0] = v * factor
        return a[0] + sum(more) + sum(others.values())

    def by_default(self, v, /, function=sums, *, other=math.sin):
        return function(v) * other(v) + (v if inspect.signature(function).parameters else 3 * v)

    def numbers(self, v):
        yield v * v if isinstance(v, float) else v
        yield math.sin(v)

    def recursive(self, v, n=3):
        return v if not n else weigh(v) * type(self).recursive(self, v, n - 1)

    @classmethod
    def of_class(cls, v):
        return weigh(v) + (v if isinstance(v, float) else 3 * v)

    @staticmethod
    def of_none(v):
        return weigh(v) + (v if isinstance(v, float) else 3 * v)

    @property
    def way(self):
        return lambda v: v * v if isinstance(v, float) else v

    @contextlib.contextmanager
    def context(self, v):
        yield v * v if isinstance(v, float) else v

    def __call__(self, v):
        return v * v if isinstance(v, float) else v

    def __enter__(self):
        return lambda v: v * v if isinstance(v, float) else v

    def __exit__(self, *_):
        pass

    def __matmul__(self, v):
        return v * v if isinstance(v, float) else v

    def __rmatmul__(self, v):
        return v * v if isinstance(v, float) else v

    def __rtruediv__(self, v):
        return v * v if isinstance(v, float) else v

    partial = functools.partialmethod(fill, factor=3.0)


class Inherited(Members):
    __slots__ = ()

    def ask(self, v):
        return super().ask(v) * (1.0 if isinstance(v, float) else 5.0)


def given(*skipped):
    def give(cls):
        for name, member in vars(Members).items():
            if name not in {"__slots__", "__doc__", "__module__", *skipped}:
                type.__setattr__(cls, name, member)
        return cls

    return give


class Plain:
    def __init__(self):
        self.held = sums

    def ask(self, v):
        return weigh(v) + v * (1.0 if isinstance(v, float) else 7.0)


@given()
@dataclasses.dataclass(slots=True)
class Slots:
    held: object = sums
    inner: object = dataclasses.field(default_factory=Plain)


class Heir(Inherited):
    __slots__ = ("held", "inner")

    def __init__(self):
        self.held, self.inner = sums, Plain()


@given()
class Finalised:
    def __init__(self):
        self.held, self.inner = sums, Plain()

    def __del__(self):
        pass


class Meta(type):
    def made(cls, v):
        return v * v if isinstance(v, float) else v


@given()
class OfMeta(metaclass=Meta):
    def __init__(self):
        self.held, self.inner = sums, Plain()


@given()
class Mode(enum.Enum):
    FIRST = 1

    @property
    def held(self):
        return sums

    @property
    def inner(self):
        return PLAIN


PLAIN = Plain()


@given("__getitem__")
class Named(collections.namedtuple("Named", "held inner")):
    __slots__ = ()


@given()
class Listed(list):
    def __init__(self):
        self.held, self.inner = sums, Plain()


@given()
class Mapped(dict):
    def __init__(self):
        self.held, self.inner = sums, Plain()


@given("__rtruediv__")
class Number(float):
    held, inner = staticmethod(sums), Plain()


@given()
class Text(str):
    held, inner = staticmethod(sums), Plain()


@given()
class Failure(Exception):
    def __init__(self):
        self.held, self.inner = sums, Plain()


KINDS = {"slots": Slots(), "heir": Heir(), "finaliser": Finalised(), "metaclass": OfMeta(), "enumeration": Mode.FIRST,
         "named tuple": Named(sums, Plain()), "list": Listed(), "dict": Mapped(), "float": Number(1.5),
         "text": Text("a"), "exception": Failure()}  # fmt: skip


def entered(o, v):
    with o as f, contextlib.ExitStack() as stack, o.context(v) as w:
        return f(v) * stack.enter_context(o)(v) * w


USES = {
    "method": lambda o, v: o.ask(v),
    "arguments": lambda o, v: o.fill(v, v, factor=v, other=v) * o.fill(v),
    "defaults": lambda o, v: o.by_default(v) + o.by_default(v, sums, other=math.sin),
    "generator": lambda o, v: sum(o.numbers(v)) * sum(w for w in o.numbers(v)),
    "recursion": lambda o, v: o.recursive(v),
    "class method": lambda o, v: o.of_class(v) + type(o).of_class(v),
    "static method": lambda o, v: o.of_none(v) + type(o).of_none(v),
    "property": lambda o, v: o.way(v),
    "partial method": lambda o, v: o.partial(v),
    "call": lambda o, v: o(v) + sum(map(o, [v, v])),
    "operator": lambda o, v: o @ v,
    "reflected": lambda o, v: v @ o,
    "division": lambda o, v: v / o,
    "held": lambda o, v: o.held(v),
    "inner": lambda o, v: o.inner.ask(v) + o.inner.held(v),
    "getattr": lambda o, v: getattr(o, "ask")(v) + operator.attrgetter("ask")(o)(v),  # noqa: B009
    "method caller": lambda o, v: operator.methodcaller("ask", v)(o),
    "unbound": lambda o, v: type(o).ask(o, v) + vars(type(o))["__call__"](o, v) if "ask" in vars(type(o)) else o(v),
    "map": lambda o, v: sum(map(o.ask, [v, v])),
    "reduce": lambda o, v: functools.reduce(lambda s, w: s + w.ask(v), [o, o], 0.0),
    "partial": lambda o, v: functools.partial(o.fill, factor=3.0)(v),
    "sort": lambda o, v: sorted([v, 2 * v], key=o.ask)[-1] * o.ask(v),
    "with": entered,
    "signature": lambda o, v: v * len(inspect.signature(o.fill).parameters) + v * o.fill.__code__.co_argcount,
}
BOUND = {kind: [o.ask, functools.partial(o.fill, factor=3.0)] for kind, o in KINDS.items()}
FUNCTIONS = [member for cls in (Members, Inherited, Plain) for member in vars(cls).values()
             if type(member) is types.FunctionType] + [sums, weigh]  # fmt: skip
CODES = [f.__code__ for f in FUNCTIONS]


@pytest.fixture(autouse=True)
def _codes_stay():
    yield
    assert [f.__code__ is code for f, code in zip(FUNCTIONS, CODES)] == [True] * len(CODES)


def check(f, x=AT, strategies=STRATEGIES):
    """Value and derivative of all strategies against the plain run and differences of it."""
    expected, h = f(x), 1e-6
    slope = (f(x + h) - f(x - h)) / (2 * h)
    for strategy in strategies:
        value, derivative = codipy.value_and_grad(f, strategy=strategy)(x)
        assert value == expected
        assert derivative == pytest.approx(slope, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", KINDS)
def test_methods(kind, use):
    o, how = KINDS[kind], USES[use]
    if use == "division" and kind == "float":
        pytest.skip("a float is divided by")
    check(lambda v: how(KINDS[kind], v))
    check(lambda v: how(o, v))
    for one in STRATEGIES:
        assert codipy.value_and_grad(lambda v, o: how(o, v), strategy=one)(AT, o)[0] == how(o, AT)


@pytest.mark.parametrize("kind", KINDS)
def test_bound_methods_of_before(kind):
    bound = BOUND[kind]
    check(lambda v: sum(f(v) for f in BOUND[kind]))
    check(lambda v: sum(f(v) for f in bound))
    for f in bound:
        check(f)


VARIABLE = contextvars.ContextVar("VARIABLE")
VARIABLE.set(sums)


def nested_in(slots):
    return types.SimpleNamespace(deep=collections.deque([{"a": (slots, [slots])}]))


HOLDERS = {
    "set": ({sums}, lambda h, v: sum(f(v) for f in h)),
    "frozen set": (frozenset([sums]), lambda h, v: sum(f(v) for f in h)),
    "set of objects": ({Plain()}, lambda h, v: sum(o.ask(v) + o.held(v) for o in h)),
    "deque": (collections.deque([sums, Plain()]), lambda h, v: h[0](v) * h[1].ask(v)),
    "namespace": (types.SimpleNamespace(f=sums, o=Plain()), lambda h, v: h.f(v) + h.o.ask(v)),
    "proxy": (types.MappingProxyType({"a": sums}), lambda h, v: h["a"](v)),
    "user dict": (collections.UserDict(a=sums), lambda h, v: h["a"](v)),
    "user list": (collections.UserList([sums]), lambda h, v: h[0](v)),
    "chain": (collections.ChainMap({"a": sums}), lambda h, v: h["a"](v)),
    "iterator": (itertools.cycle([sums]), lambda h, v: next(h)(v)),
    "reference": (weakref.ref(PLAIN), lambda h, v: h().ask(v)),
    "table of references": (weakref.WeakValueDictionary(a=PLAIN), lambda h, v: h["a"].ask(v)),
    "method caller": (operator.methodcaller("ask", 3.0), lambda h, v: h(PLAIN) * v),
    "generator": ((f for f in itertools.repeat(sums)), lambda h, v: next(h)(v)),
    "variable of a context": (VARIABLE, lambda h, v: h.get()(v)),
    "array of objects": (np.array([sums, weigh]), lambda h, v: h[0](v) + h[1](v)),
    "nested": (nested_in(Slots()), lambda h, v: h.deep[0]["a"][0].ask(v) + h.deep[0]["a"][1][0].inner.ask(v)),
    "class of a metaclass": (OfMeta, lambda h, v: h.made(v) + h().ask(v) + h.of_class(v)),
    "list of slots": ([Slots(), Slots()], lambda h, v: sum(o.ask(v) + o.inner.ask(v) for o in h)),
    "dict of sets": ({"a": {sums}}, lambda h, v: sum(f(v) for f in h["a"])),
    "tuple": ((Mode.FIRST, {sums}), lambda h, v: h[0].ask(v) + sum(f(v) for f in h[1])),
}


class Model:
    """One that is seen through its twin, and that has what is not."""

    def __init__(self, held):
        self.held = held


@pytest.mark.parametrize("kind", HOLDERS)
def test_holders(kind):
    held, use = HOLDERS[kind]
    model = Model(held)
    check(lambda v: use(HOLDERS[kind][0], v))
    check(lambda v: use(held, v))
    check(lambda v: use(model.held, v))
    check(lambda v, held=held: use(held, v))
    for strategy in STRATEGIES:
        assert codipy.value_and_grad(lambda v, h: use(h, v), strategy=strategy)(AT, held)[0] == use(held, AT)
        assert codipy.value_and_grad(lambda v, m: use(m.held, v), strategy=strategy)(AT, model)[0] == use(held, AT)


REGISTRY: set = set()
LATER: list = []


def test_what_is_put_there_between_two_calls():
    slots, namespace = Slots(inner=None), types.SimpleNamespace()

    def f(v):
        found = sum(g(v) for g in REGISTRY) + sum(g(v) for g in LATER)
        found = found + (slots.inner.ask(v) if slots.inner else v)
        return found + (namespace.f(v) if hasattr(namespace, "f") else v)

    gradient = codipy.value_and_grad(f)
    assert gradient(AT)[0] == f(AT)
    REGISTRY.add(sums)
    assert gradient(AT)[0] == f(AT)
    LATER.append({sums})
    LATER[:] = [weigh]
    assert gradient(AT)[0] == f(AT)
    slots.inner = Plain()
    assert gradient(AT)[0] == f(AT)
    namespace.f = sums
    assert gradient(AT)[0] == f(AT)
    REGISTRY.clear()
    REGISTRY.add(lambda v: 3 * v if isinstance(v, float) else v)
    assert gradient(AT)[0] == f(AT)
    REGISTRY.clear()
    LATER.clear()


def test_a_method_that_is_replaced_between_two_calls():
    o = Finalised()
    gradient = codipy.value_and_grad(lambda v: o.ask(v))
    assert gradient(AT)[0] == o.ask(AT)
    own = Finalised.ask
    try:
        Finalised.ask = lambda self, v: v * v * v if isinstance(v, float) else v
        assert gradient(AT)[0] == o.ask(AT)
    finally:
        Finalised.ask = own
    assert gradient(AT)[0] == o.ask(AT)


@dataclasses.dataclass(slots=True)
class Solver:
    work: np.ndarray
    steps: list

    def step(self, v):
        self.work[0] = v * v
        self.steps.append(isinstance(v, float))
        return self.work[0] * self.work[1]

    def fill(self, v, out):
        out[:] = v
        return out.sum()


def test_arrays_that_methods_fill():
    solver, work = Solver(np.ones(3), []), np.zeros(2)
    check(lambda v: solver.step(v) * solver.step(2 * v))
    assert type(solver.work) is np.ndarray and solver.work[0] == (2 * AT) ** 2
    check(lambda v: solver.fill(v, work))
    check(lambda v: solver.fill(v, solver.work))
    assert type(work) is np.ndarray and work.tolist() == [AT, AT]
    assert set(solver.steps) == {True}


def test_an_error_leaves_the_codes():
    o = KINDS["slots"]

    def f(v, error):
        o.ask(v)
        assert Members.ask.__code__ is not CODES[0]
        raise error

    for error in (ValueError(), KeyboardInterrupt(), SystemExit(), GeneratorExit()):
        with pytest.raises(type(error)):
            codipy.grad(f)(AT, error)
        assert Members.ask.__code__ is CODES[0]


def test_an_error_in_a_method_names_its_line():
    class Own:
        __slots__ = ()

        def ask(self, v):
            if isinstance(v, float):
                raise ValueError(v)

        def lose(self, v):
            return np.frombuffer(memoryview(bytes(8)) if isinstance(v, float) else b"")[0] * float.hex(v)

    own = Own()
    with pytest.raises(ValueError, match="0.7") as caught:
        codipy.grad(lambda v: own.ask(v))(AT)
    first = Own.ask.__code__.co_firstlineno
    lines = [entry.lineno + 1 for entry in caught.traceback if str(entry.path) == __file__]
    assert lines[-2:] == [first, first + 2]  # that of the trampoline, and that of the function
    with pytest.raises(TypeError, match=rf"test_opaque.py:{Own.lose.__code__.co_firstlineno + 1}: `return np.from"):
        codipy.grad(lambda v: own.lose(v))(AT)


def test_drivers_in_a_method_and_around_it():
    o = KINDS["slots"]

    def inner(v):
        return codipy.grad(o.ask)(v) * o.ask(v) + codipy.grad(lambda w: o.held(w) * v)(v)

    expected = codipy.grad(weigh)(AT) + 1.0
    assert codipy.grad(o.ask)(AT) == pytest.approx(expected)
    value = codipy.value_and_grad(inner)(AT)[0]
    assert value == inner(AT)
    assert codipy.hessian(lambda v: o.held(v[0]))(np.array([AT])) == pytest.approx(
        codipy.hessian(lambda v: sums(v[0]))(np.array([AT])))


def test_a_tape_of_one_s_own():
    o = KINDS["slots"]
    run = rebind(lambda v: o.ask(v))
    assert run(AT) == o.ask(AT)
    with codipy.Tape() as tape:
        x = tape.register_input(codipy.Real(AT))
        y = run(x)
        assert Members.ask.__code__ is not CODES[0]
    assert Members.ask.__code__ is CODES[0]
    assert y.value == o.ask(AT)

    def records(v):
        found = o.ask(v)
        with codipy.Tape() as tape:
            x = tape.register_input(codipy.Real(v))
            y = tape.register_output(o.ask(x))
        assert found == y.value
        y.gradient = 1.0
        tape.evaluate()
        return x.gradient

    assert rebind(records)(AT) == codipy.grad(o.ask)(AT)

    def walks(v):
        for _ in range(2):
            yield o.ask(v)

    with codipy.Tape() as tape:
        x = tape.register_input(codipy.Real(AT))
        assert [y.value for y in rebind(walks)(x)] == list(walks(AT))


def test_two_threads_record_and_a_third_does_not():
    o, found, errors = KINDS["slots"], {}, []
    barrier = threading.Barrier(3)

    def run(name, f):
        try:
            found[name] = f()
        except BaseException as error:
            errors.append(error)
            barrier.abort()

    def recorded(v):
        before = o.ask(v)
        barrier.wait(30)
        barrier.wait(30)
        return before + o.ask(v)

    def plain():
        barrier.wait(30)
        assert Members.ask.__code__ is not CODES[0]
        value = o.ask(AT), o.ask(codipy.Real(AT)), sum(o.numbers(AT)), o.by_default(AT)
        barrier.wait(30)
        return value

    threads = [threading.Thread(target=run, args=(k, lambda: codipy.value_and_grad(recorded)(AT))) for k in range(2)]
    threads.append(threading.Thread(target=run, args=("plain", plain)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert found[0] == found[1] and found[0][0] == 2 * o.ask(AT)
    assert found["plain"] == (o.ask(AT), o.ask(codipy.Real(AT)), sum(o.numbers(AT)), o.by_default(AT))
    assert found["plain"][0] != found["plain"][1]  # who is not rebuilt asks what a Real is


def test_what_one_thread_has_met_another_comes_upon():
    class Own:
        __slots__ = ()

        def ask(self, v):
            return v * v if isinstance(v, float) else v

    late, barrier, found, errors = [KINDS["slots"]], threading.Barrier(3), {}, []

    def run(v, is_first):
        y = late[0].ask(v)
        barrier.wait(30)
        barrier.wait(30)
        if is_first:
            y = y + late[1].ask(v)
        barrier.wait(30)
        return y if is_first else y + late[1].ask(v)

    def record(is_first):
        try:
            found[is_first] = codipy.value_and_grad(run)(AT, is_first)[0]
        except BaseException as error:
            errors.append(error)
            barrier.abort()

    threads = [threading.Thread(target=record, args=(is_first,)) for is_first in (True, False)]
    for thread in threads:
        thread.start()
    barrier.wait(30)
    late.append(Own())  # both have begun
    barrier.wait(30)
    barrier.wait(30)
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert found[True] == found[False] == late[0].ask(AT) + AT * AT


def test_one_thread_ends_before_the_other():
    o, at, gone = KINDS["slots"], threading.Event(), threading.Event()

    def first(v):
        y = o.ask(v)
        at.set()
        assert gone.wait(30)
        return y + o.ask(v)

    found = []
    thread = threading.Thread(target=lambda: found.append(codipy.value_and_grad(first)(AT)))
    thread.start()
    assert at.wait(30)
    assert codipy.value_and_grad(o.ask)(AT)[0] == o.ask(AT)
    assert Members.ask.__code__ is not CODES[0]
    gone.set()
    thread.join(60)
    assert found[0][0] == 2 * o.ask(AT)


def test_a_thread_that_ends_in_the_middle_of_a_recording():
    o = KINDS["slots"]

    def forgets():
        tape = codipy.Tape()
        tape.set_active()
        rebind(lambda v: o.ask(v))(tape.register_input(codipy.Real(AT)))

    thread = threading.Thread(target=forgets)
    thread.start()
    thread.join(60)
    assert Members.ask.__code__ is CODES[0]
    assert codipy.value_and_grad(o.ask)(AT)[0] == o.ask(AT)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_child_process_has_the_threads_that_it_has():
    o, at, gone = KINDS["slots"], threading.Event(), threading.Event()

    def first(v):
        y = o.ask(v)
        at.set()
        assert gone.wait(30)
        return y

    thread = threading.Thread(target=lambda: codipy.grad(first)(AT))
    thread.start()
    assert at.wait(30)
    child = os.fork()
    if not child:
        os._exit(0 if Members.ask.__code__ is CODES[0] and codipy.value_and_grad(o.ask)(AT)[0] == o.ask(AT) else 1)
    gone.set()
    thread.join(60)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_code_that_somebody_sets_meanwhile_stays():
    class Own:
        __slots__ = ()

        def ask(self, v):
            return v * v if isinstance(v, float) else v

    def sets():
        yield
        Own.ask.__code__ = code
        yield

    own, code = Own(), (lambda self, v: v * v * v if isinstance(v, float) else v).__code__
    setting = sets()  # which is not rebuilt
    next(setting)

    def f(v):
        before = own.ask(v)
        next(setting)
        return before + codipy.grad(own.ask)(v)

    assert codipy.value_and_grad(f)(AT)[0] == AT * AT + 3 * AT * AT
    assert Own.ask.__code__ is code
    assert codipy.value_and_grad(own.ask)(AT)[0] == own.ask(AT) == AT**3


def test_code_that_is_replaced_in_place():
    """As IPython's autoreload does."""
    def inner(v, factor=2.0):
        return factor * v if isinstance(v, float) else v

    def outer(v):
        return inner(v) + Local().ask(v)

    class Local:
        def ask(self, v):
            return v * v if isinstance(v, float) else v

    gradient = codipy.value_and_grad(outer)
    assert gradient(AT)[0] == outer(AT)
    inner.__code__ = (lambda v, factor: factor * v * v if isinstance(v, float) else v).__code__
    Local.ask.__code__ = (lambda self, v: v * v * v if isinstance(v, float) else v).__code__
    assert gradient(AT)[0] == codipy.value_and_grad(lambda v: outer(v))(AT)[0] == outer(AT)
    inner.__defaults__ = (3.0,)
    assert gradient(AT)[0] == outer(AT)


@dataclasses.dataclass(slots=True)
class Particle:
    mass: float = 2.0

    def ask(self, v):
        return self.mass * v if isinstance(v, float) else v


@pytest.mark.parametrize("count", [3, 300])
def test_objects_of_one_class_are_looked_at_by_their_class(count, monkeypatch):
    """A second gradient walks through nothing where nothing changed, however many there are."""
    particles, walks = [Particle() for _ in range(count)], []
    gradient = codipy.value_and_grad(lambda v: sum(o.ask(v) for o in particles))
    expected = gradient(AT)
    fill = Opaque._fill
    monkeypatch.setattr(Opaque, "_fill", lambda self, opening: walks.append(opening.new) or fill(self, opening))
    assert gradient(AT) == expected
    assert expected[0] == sum(o.ask(AT) for o in particles)
    assert walks == []


def test_functions_live_no_longer_than_those_who_have_them():
    def once():
        held = {lambda v: v * v if isinstance(v, float) else v}
        codipy.grad(lambda v: sum(f(v) for f in held))(AT)
        return weakref.ref(next(iter(held)))

    references = [once() for _ in range(150)]
    gc.collect()
    assert sum(reference() is not None for reference in references) <= 1


LISTED = [KINDS["slots"], KINDS["slots"]]
STEP = 0.5


def square(v):
    return v * v * STEP if isinstance(v, float) else v


def of_listed(v):
    return sum(o.ask(v) for o in LISTED)


def through_a_cell(o):
    return lambda v: square(v) + o.ask(v)


def by_default(v, o=KINDS["slots"]):
    return square(v) + o.ask(v)


def by_name(v):
    return getattr(LISTED[0], "ask")(v)  # noqa: B009 (what code looks up by text)


def by_module(v):
    return sys.modules[__name__].LISTED[0].ask(v)


def made_of_one(v):
    return ASK(v)


ASK = np.frompyfunc(KINDS["slots"].ask, 1, 1)


def found_by(f):
    """What can be come upon that is opaque and leads to functions; None if that is not known."""
    rebinding = Rebinding(f)
    rebinding.current()
    openings = openings_in_reach(f, rebinding.rebinder)
    return openings and [opening.new for opening in openings if opening.found]


def importing(v):
    from math import sin

    import codipy.math as ours
    return ours.exp(v) * sin(v)


def importing_own(v):
    from tests.tools import test_opaque
    return test_opaque.square(v)


def importing_opaque(v):
    from tests.tools.test_opaque import LISTED
    return LISTED[0].ask(v)


@pytest.mark.parametrize(
    "f", [square, importing, importing_own, lambda v: np.sin(v) + math.cos(square(v)) + max(v, 0.0)]
)
def test_functions_of_numbers_and_libraries_are_contained(f):
    assert found_by(f) == []


@pytest.mark.parametrize(
    "f",
    [importing_opaque, of_listed, through_a_cell(KINDS["slots"]), by_default, by_name, by_module, made_of_one,
     KINDS["slots"].ask],
)  # fmt: skip
def test_what_may_lead_to_something_opaque_is_not_contained(f):
    assert found_by(f) != []


def test_a_contained_function_looks_at_nothing_that_others_have_met(monkeypatch):
    assert codipy.grad(of_listed)(AT) == codipy.grad(lambda v: 2 * LISTED[0].ask(v))(AT)
    codipy.grad(square)(AT)
    begun = []
    monkeypatch.setattr(Opaque, "divert_all", lambda self: begun.append(self))
    assert codipy.value_and_grad(square)(AT) == (square(AT), 2 * AT * STEP)
    assert not begun
    codipy.grad(of_listed)(AT)
    assert begun


def test_what_a_contained_function_names_may_become_opaque():
    before = STEP
    try:
        globals()["STEP"] = KINDS["slots"]
        assert found_by(square) != []
    finally:
        globals()["STEP"] = before


def test_other_threads_may_begin_and_end_meanwhile():
    """What is begun goes through no weak collection step by step, which fails where another thread changes it."""
    o, stepped = KINDS["slots"], []

    def look_on(frame, event, argument):
        if os.path.basename(frame.f_code.co_filename) in ("_weakrefset.py", "weakref.py"):
            stepped.extend({frame.f_code.co_name} & {"__iter__", "values", "items", "keys"})

    expected = codipy.grad(lambda v: o.ask(v))(AT)
    before = sys.gettrace()
    sys.settrace(look_on)
    try:
        derivative = codipy.grad(lambda v: o.ask(v))(AT)
    finally:
        sys.settrace(before)
    assert derivative == expected and stepped == []


# ---- What comes to be held between two calls ----


class Rebuilt:
    """One with a twin: its method is rebuilt."""

    limit = 2.0

    def __init__(self):
        self.numbers, self.table = [1.0] * 2000, {}

    def ask(self, v):
        return v * (1.0 if isinstance(v, float) else 7.0)


class Left(Rebuilt):
    """One that needs none."""

    ask = None


COMES = {
    "function": (sums, lambda h, v: h(v)),
    "method": (Plain().ask, lambda h, v: h(v)),
    "partial": (functools.partial(sums), lambda h, v: h(v)),
    "instance": (Rebuilt(), lambda h, v: h.ask(v)),
    "slots": (Slots(), lambda h, v: h.ask(v)),
    "class": (Slots, lambda h, v: h().ask(v)),
    "tuple": ((sums, 1.0), lambda h, v: h[0](v)),
    "list": ([sums], lambda h, v: h[0](v)),
    "dict": ({"a": {"b": sums}}, lambda h, v: h["a"]["b"](v)),
    "set": ({sums}, lambda h, v: sum(f(v) for f in h)),
    "method in C": ({sums}.copy, lambda h, v: sum(f(v) for f in h())),
    "module": (types.SimpleNamespace(module=sys.modules[__name__]), lambda h, v: h.module.sums(v)),
}


class Own:
    __slots__ = ("held", "table")


def set_attribute(holder, value):
    holder.held = value


def set_item(holder, value):
    holder.table["late"] = value


def append(holder, value):
    holder.table.append(value)


def made(kind, table):
    one = kind()
    one.held, one.table = None, table
    return one


# A holder, what puts something there, and what finds it.
LATE = {
    "twin": (lambda: made(Rebuilt, {}), set_attribute, lambda o: o.held),
    "twin of a twin": (lambda: made(Rebuilt, made(Rebuilt, {})), lambda o, value: set_attribute(o.table, value),
                       lambda o: getattr(o.table, "held")),  # noqa: B009 (what code looks up by text)
    "twin in a tuple": (lambda: made(Rebuilt, (made(Rebuilt, {}), Rebuilt())),
                        lambda o, value: set_attribute(o.table[0], value), lambda o: getattr(o.table[0], "held")),  # noqa: B009
    "no twin": (lambda: made(Left, {}), set_attribute, lambda o: o.held),
    "slots": (lambda: made(Own, {}), set_attribute, lambda o: o.held),
    "namespace": (lambda: made(types.SimpleNamespace, {}), set_attribute, lambda o: o.held),
    "dict of a twin": (lambda: made(Rebuilt, {}), set_item, lambda o: o.table.get("late")),
    "large dict": (lambda: made(Own, dict.fromkeys(range(20_000), 1.0)), set_item, lambda o: o.table.get("late")),
    "large dict of objects": (
        lambda: made(Own, dict.fromkeys(range(3000), Own)), set_item, lambda o: o.table.get("late")),
    "long list": (lambda: made(Own, [1.0] * 40_000), append, lambda o: o.table[-1] if o.table[-1] != 1.0 else None),
    "deque": (lambda: made(Rebuilt, collections.deque([1.0] * 3000)), append,
              lambda o: o.table[-1] if o.table[-1] != 1.0 else None),
}  # fmt: skip


@pytest.mark.parametrize("come", COMES)
@pytest.mark.parametrize("late", LATE)
def test_what_an_object_comes_to_hold_between_two_calls(late, come):
    make, put, find = LATE[late]
    value, use = COMES[come]
    holder = make()

    def f(v):
        found = find(holder)
        return v if found is None else use(found, v)

    gradients = [codipy.value_and_grad(f), codipy.value_and_grad(lambda v, o: use(find(o), v) if find(o) else v)]
    assert [gradients[0](AT)[0], gradients[1](AT, holder)[0]] == [AT, AT]
    put(holder, value)
    assert [gradients[0](AT)[0], gradients[1](AT, holder)[0]] == [f(AT), f(AT)]
    put(holder, weigh)
    use = COMES["function"][1]
    assert gradients[0](AT)[0] == f(AT)


@pytest.mark.parametrize("before", [None, 2.0, [], weigh, Slots()])
@pytest.mark.parametrize("come", COMES)
def test_what_comes_into_a_cell_between_two_calls(come, before):
    value, use = COMES[come]

    def f(v):
        return v if held is before else use(held, v)

    def g(v):
        nonlocal counted
        counted = counted if counted is before else counted
        return v if counted is before else use(counted, v)

    held = counted = before
    gradients = codipy.value_and_grad(f), codipy.value_and_grad(g)
    assert [gradient(AT)[0] for gradient in gradients] == [AT, AT]
    held = counted = value
    assert [gradient(AT)[0] for gradient in gradients] == [f(AT), g(AT)]
    held = counted = before
    assert [gradient(AT)[0] for gradient in gradients] == [AT, AT]


def test_a_cell_that_is_filled_later():
    def f(v):
        try:
            return later(v)
        except NameError:
            return v

    gradient = codipy.value_and_grad(f)
    assert gradient(AT)[0] == AT
    later = sums
    assert gradient(AT)[0] == f(AT)


def test_class_attributes_that_are_set_later():
    class Local(Rebuilt):
        registry, choices = {}, frozenset()

        def ask(self, v):
            found = sum(f(v) for f in self.choices) + sum(f(v) for f in self.registry.values())
            return found + (self.limit(v) if callable(self.limit) else self.limit * v)

    o = Local()
    gradient = codipy.value_and_grad(lambda v: o.ask(v))
    assert gradient(AT)[0] == o.ask(AT)
    Local.registry["a"] = sums
    assert gradient(AT)[0] == o.ask(AT)
    Local.choices = frozenset([sums])
    assert gradient(AT)[0] == o.ask(AT)
    Local.limit = staticmethod(weigh)
    assert gradient(AT)[0] == o.ask(AT)


def test_numbers_that_come_and_go_are_not_looked_through_again(monkeypatch):
    o, held, walks = made(Rebuilt, {}), made(Own, []), []
    o.held = held.held = {sums}

    def f(v):
        o.table["count"] = len(o.numbers)
        held.table.append((1.0, "text"))
        o.numbers.append(2.0)
        return sum(g(v) for g in held.held) + o.ask(v) + sum(g(v) for g in o.held)

    gradient = codipy.value_and_grad(f)
    assert gradient(AT)[0] == gradient(AT)[0] == f(AT)
    fill = Opaque._fill
    monkeypatch.setattr(Opaque, "_fill", lambda self, opening: walks.append(opening.new) or fill(self, opening))
    assert gradient(AT)[0] == f(AT)
    assert walks == []
    o.held = {weigh}
    assert gradient(AT)[0] == f(AT)
    assert walks


def test_arguments_of_classes_that_change():
    @dataclasses.dataclass
    class Pair:
        a: float
        b: object = dataclasses.field(default=None, metadata={"static": True})

        def ask(self):
            return self.a * (self.b(self.a) if self.b else 1.0)

    gradient = codipy.value_and_grad(lambda v, p: p.ask() * v)
    for _ in range(2):
        assert gradient(AT, Pair(AT))[0] == AT * AT
    assert gradient(AT, Pair(AT, sums))[0] == Pair(AT, sums).ask() * AT
    Pair.ask = lambda self: weigh(self.a) * math.sin(self.a)
    assert gradient(AT, Pair(AT))[0] == Pair(AT).ask() * AT
    gradient = codipy.value_and_grad(lambda p: p.ask())
    for _ in range(2):
        assert gradient(Pair(AT))[0] == Pair(AT).ask()
    Pair.ask = lambda self: sums(self.a)
    assert gradient(Pair(AT))[0] == Pair(AT).ask()


BY_OBJECT = {PLAIN: 3.0}


@pytest.mark.parametrize(
    "f",
    [lambda v: sum(v if g is sums else 10 * v for g in REGISTRY),
     lambda v: v if KINDS["slots"].held is sums else 10 * v,
     lambda v: v if KINDS["slots"].held is not weigh else 10 * v, lambda v: v if {PLAIN}.pop() is PLAIN else 10 * v,
     lambda v: v if KINDS["slots"].inner is PLAIN else 10 * v,
     lambda v: v if PLAIN in BY_OBJECT and PLAIN in {*BY_OBJECT} else 10 * v,
     lambda v: BY_OBJECT.get(PLAIN, 10.0) * v * {PLAIN: 2.0}[next(iter(BY_OBJECT))],
     lambda v: len(BY_OBJECT.keys() | {PLAIN}) * v],
)  # fmt: skip
def test_functions_and_objects_are_those_that_have_another_name(f):
    """One is found as it is, the other by its name."""
    before = KINDS["slots"].inner
    REGISTRY.add(sums)
    KINDS["slots"].inner = PLAIN
    try:
        check(f)
    finally:
        KINDS["slots"].inner = before
        REGISTRY.clear()


@functools.lru_cache
def remembered(n):
    return float(n)


PARTIAL = functools.partial(weigh)
BY_FUNCTION, PAIR = {sums: 3.0}, collections.namedtuple("Pair", "f k")(sums, 2.0)
AS_THEY_ARE = {sums, PARTIAL, remembered}
QUEUE = collections.deque([weigh, sums])
LOOKED_FOR = {
    "in a set": lambda v: v if sums in AS_THEY_ARE and weigh not in AS_THEY_ARE else 10 * v,
    "sets": lambda v: v * len(AS_THEY_ARE & {sums, weigh}) + 7 * v * len(AS_THEY_ARE - {sums, PARTIAL}),
    "equal sets": lambda v: v if {sums, PARTIAL, remembered} == AS_THEY_ARE else 10 * v,
    "partial": lambda v: PARTIAL(v) if PARTIAL in AS_THEY_ARE else 10 * v,
    "cache": lambda v: remembered(2) * v if remembered in AS_THEY_ARE else 10 * v,
    "key": lambda v: v * BY_FUNCTION.get(sums, 10.0) * {sums: 2.0}[next(iter(BY_FUNCTION))],
    "slot": lambda v: v if KINDS["slots"].held == sums and KINDS["slots"].held in [weigh, sums] else 10 * v,
    "named tuple": lambda v: v if PAIR == (sums, 2.0) and PAIR.f == sums else 10 * v,
    "deque": lambda v: QUEUE[QUEUE.index(sums)](v),
    "called by its name": lambda v: sums(v) + next(g for g in AS_THEY_ARE if g == sums)(v),
}


@pytest.mark.parametrize("use", LOOKED_FOR)
def test_functions_are_equal_to_those_found_as_they_are(use):
    check(LOOKED_FOR[use])


def late(v):
    return v * (2.0 if isinstance(v, float) else 3.0)


def asks_late(v):
    return late(v)


def test_a_function_that_turns_out_to_be_in_a_set():
    """It was rebuilt before; who does not name the set calls it by its name as before."""
    held = types.SimpleNamespace(found=None)
    gradient = codipy.value_and_grad(lambda v: late(v) if held.found and late in held.found else 10 * late(v))
    assert gradient(AT) == (20 * AT, 20.0)
    held.found = frozenset([late])
    assert gradient(AT) == (2 * AT, 2.0)
    assert codipy.value_and_grad(asks_late)(AT) == codipy.value_and_grad(late)(AT) == (2 * AT, 2.0)
    made = []

    def f(v):
        made.append({vars(sys.modules[__name__])["weigh"]})
        return weigh(v) if weigh in made[-1] else 10 * v

    check(f)


def test_many_objects_lie_before_a_function():
    """More than 50,000 references."""
    first = node = Slots(held=None, inner=None)
    for _ in range(30_000):
        node.inner = Slots(held=None, inner=None)
        node = node.inner
    node.held = weigh

    def f(v, o):
        while o.inner is not None:
            o = o.inner
        return o.held(v)

    try:
        assert codipy.value_and_grad(lambda v: f(v, first))(AT)[0] == f(AT, first)
    finally:
        while first is not None:  # one by one: else it is freed by recursion
            first.inner, first = None, first.inner


class Reader:
    def __init__(self):
        self.held, self.table = sums, {"a": {sums}}

    def ask(self, v):
        found = [*self.__dict__.values()][0](v) * getattr(self, "__dict__")["held"](v)  # noqa: B009
        return vars(self)["held"](v) * found * [*self.table["a"]][0](v)


def test_what_is_read_from_the_attributes_of_an_object():
    o = Reader()
    check(lambda v: o.ask(v))
    check(lambda v: (lambda held, table: held(v))(**vars(o)))
    assert codipy.value_and_grad(lambda v, o: o.ask(v))(AT, o)[0] == o.ask(AT)


@dataclasses.dataclass
class Settings:
    held: object = sums
    table: dict = dataclasses.field(default_factory=lambda: {"a": {sums}})


def test_one_function_that_an_object_has_in_two_places():
    """By its attribute it is translated, in the set it is found as it is."""
    settings = Settings()
    check(lambda v: [*dataclasses.asdict(settings)["table"]["a"]][0](v))
    check(lambda v: settings.held(v) * [*settings.table["a"]][0](v))


class Elsewhere:
    """One that does not say of which module it is."""

    __module__ = property(lambda self: "elsewhere")

    def ask(self, v):
        return weigh(v) + v * (1.0 if isinstance(v, float) else 7.0)


class Derived(Elsewhere):
    __slots__ = ("k",)

    def ask(self, v):
        return super().ask(v) * (1.0 if isinstance(v, float) else 5.0)


class Slotted(Members):
    __slots__ = ()
    __module__ = property(lambda self: "elsewhere")

    def ask(self, v):
        return super().ask(v) * (1.0 if isinstance(v, float) else 5.0)


@pytest.mark.parametrize("kind", [Elsewhere, Derived, Slotted])
def test_classes_that_do_not_say_of_which_module_they_are(kind):
    o = kind()
    check(lambda v: o.ask(v))
    check(lambda v: kind().ask(v))
    assert codipy.value_and_grad(lambda v, o: o.ask(v))(AT, o)[0] == o.ask(AT)
    if kind is not Slotted:
        o.k = AT
        assert codipy.value_and_grad(lambda v: o.ask(v) * o.k)(AT)[0] == o.ask(AT) * AT


def test_an_object_that_is_given_another_class():
    class Other(Rebuilt):
        def ask(self, v):
            return super().ask(v) * weigh(v)

    def asks(v):
        return getattr(o, "ask")(v) + o.held.ask(v)  # noqa: B009

    o, functions = made(Rebuilt, {}), [lambda v: o.ask(v), asks, lambda v: [o][0].ask(v) + o.held.ask(v)]
    o.held = made(Rebuilt, {})
    gradients = [codipy.value_and_grad(f) for f in functions]
    for kind in (Rebuilt, Other, Left, Rebuilt):
        o.held.__class__ = kind if kind is not Left else Other
        o.__class__ = kind if kind is not Left else Rebuilt
        assert [gradient(AT)[0] for gradient in gradients] == [f(AT) for f in functions]
