# SPDX-License-Identifier: Apache-2.0
"""Functions that rebuilt code finds in what no twin and no view shows: they take the branches of the plain run."""

import collections
import contextlib
import contextvars
import dataclasses
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
from codipy.tools.rebind import Rebinding, rebind
from codipy.tools.rebinding.contained import openings_in_reach
from codipy.tools.rebinding.opaque import Opaque
from tests.covering import in_turn
from tests.strategies import BUT_AUTO, STRATEGIES
from tests.tools.opaque import (
    AT,
    CODES,
    KINDS,
    PLAIN,
    Finalised,
    Members,
    Mode,
    OfMeta,
    Plain,
    Slots,
    check,
    demand_codes,
    sums,
    weigh,
)


@pytest.fixture(autouse=True)
def _codes_stay():
    yield
    demand_codes()


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


@pytest.mark.parametrize(("strategy", "kind", "use"), in_turn(BUT_AUTO, KINDS, USES))
def test_methods(strategy, kind, use):
    o, how = KINDS[kind], USES[use]
    if use == "division" and kind == "float":
        pytest.skip("a float is divided by")
    check(lambda v: how(KINDS[kind], v))
    check(lambda v: how(o, v))
    for one in ("auto", strategy):
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
    if kind == "generator" and sys.version_info < (3, 11):
        pytest.skip("Python 3.10 does not show what a generator has")
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
