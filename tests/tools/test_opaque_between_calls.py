# SPDX-License-Identifier: Apache-2.0
"""What comes to be held between two calls, where no twin and no view shows it, takes the branches of the plain run."""

import collections
import dataclasses
import functools
import math
import sys
import types

import numpy as np
import pytest

import codipy
from codipy.tools.rebinding.opaque import Opaque
from codipy.tools.rebinding.unit import Opening
from tests.tools.opaque import AT, KINDS, PLAIN, Members, Plain, Slots, check, demand_codes, sums, weigh


@pytest.fixture(autouse=True)
def _codes_stay():
    yield
    demand_codes()


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


REGISTRY: set = set()


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


class Listening:
    def __init__(self, weight):
        self.weight, self.heard, self.work = weight, 0, np.zeros(2)

    def hear(self, v):
        self.heard += 1
        self.work[0] = self.scaled(v)
        return self.work[0] * (1.0 if isinstance(v, float) else 7.0)

    def scaled(self, v):
        return math.sin(v) * self.weight


class Hearing(Listening):
    def hear(self, v):
        return super().hear(v) + self.scaled(v)


class Bus:
    def __init__(self, *methods):
        self.methods = set(methods)

    def fire(self, v):
        return sum(method(v) for method in self.methods)


EAR, OTHER, DEAF = Hearing(2.0), Listening(3.0), Listening(5.0)
BOUND, WAITING, WEIGHTS, BUS = {EAR.hear}, collections.deque([OTHER.hear]), {EAR.hear: 3.0}, Bus(OTHER.hear)


def forgets(v):
    BUS.methods.discard(OTHER.hear)
    count = len(BUS.methods)
    BUS.methods.add(OTHER.hear)
    return BUS.fire(v) + count * v


METHODS = {
    "in a set": lambda v: v if EAR.hear in BOUND and DEAF.hear not in BOUND and EAR.scaled not in BOUND else 10 * v,
    "called": lambda v: sum(method(v) for method in BOUND) + EAR.scaled(v) * (EAR.hear in BOUND),
    "equal sets": lambda v: v if {EAR.hear} == BOUND and BOUND & {OTHER.hear, DEAF.hear} == set() else 10 * v,
    "deque": lambda v: OTHER.hear(v) if OTHER.hear in WAITING and WAITING[0] == OTHER.hear else 10 * v,
    "key": lambda v: v * WEIGHTS.get(EAR.hear, 10.0),
    "attribute": lambda v: BUS.fire(v) if OTHER.hear in BUS.methods else 10 * v,
    "taken out": forgets,
}


@pytest.mark.parametrize("use", METHODS)
def test_bound_methods_are_equal_to_those_found_as_they_are(use):
    check(METHODS[use])
    assert BUS.methods == {OTHER.hear} and type(EAR.work) is np.ndarray


def test_a_method_that_turns_out_to_be_in_a_set():
    """Its object was seen through a twin before."""
    ear, held = Hearing(2.0), Bus()
    gradient = codipy.value_and_grad(lambda v, o: o.hear(v) if o.hear in held.methods else 10 * o.hear(v))
    assert gradient(AT, ear)[0] == 10 * Hearing(2.0).hear(AT)
    held.methods.add(ear.hear)
    assert gradient(AT, ear)[0] == Hearing(2.0).hear(AT)
    assert gradient(AT, DEAF)[0] == 10 * Listening(5.0).hear(AT)


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


def test_an_argument_is_compared_once_and_not_looked_at_anew(monkeypatch):
    held, looked, compared = Holding(), [], []
    held.table = {k: (k, {"a": [1.0]}) for k in range(100)}
    gradient = codipy.value_and_grad(lambda v, o: o.call(v) * o.table[3][1]["a"][0])
    filled, is_same = Opaque._filled, Opening.is_same
    monkeypatch.setattr(Opaque, "_filled", lambda self, opening: looked.append(opening) or filled(self, opening))
    monkeypatch.setattr(Opening, "is_same", lambda self: compared.append(self.new) or is_same(self))
    for _ in range(3):
        looked.clear(), compared.clear()
        assert gradient(AT, held)[0] == held.call(AT)
    assert looked == []
    assert sum(one is vars(held) for one in compared) == 1
    held.table[200] = sums
    held.call = lambda v: held.table[200](v)
    assert gradient(AT, held)[0] == sums(AT)
    held.table[200] = weigh
    assert gradient(AT, held)[0] == weigh(AT)


class Holding:
    def call(self, v):
        return math.sin(v)


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


# ---- Attributes of functions -----------------------------------------------------------------------------------------
def handed(f):
    """A function like another one, to which attributes can be given."""

    def own(v):
        return f(v)

    return own


HAVE = {
    "function": lambda: handed(sums),
    "wrapper": lambda: functools.wraps(weigh)(handed(sums)),
    "partial": lambda: functools.partial(max, 0.0),
    "overloaded": lambda: functools.singledispatch(handed(sums)),
}


@pytest.mark.parametrize("late", [False, True], ids=["before", "later"])
@pytest.mark.parametrize("make", HAVE.values(), ids=HAVE)
def test_what_attributes_of_functions_hold(make, late):
    g = make()

    def f(v):
        return g.way(v) * g.ways[0].ask(v) if hasattr(g, "way") else v * bool(g)

    if late:
        check(f)
    g.way, g.ways = sums, [Slots()]
    check(f)


def test_what_is_wrapped():
    @functools.wraps(sums)
    def g(v):
        return v

    check(lambda v: g.__wrapped__(v))
