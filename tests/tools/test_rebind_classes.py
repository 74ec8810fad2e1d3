# SPDX-License-Identifier: Apache-2.0
"""rebind on methods, classes and instances: super, isinstance, properties, slots, dataclasses, shared state."""

import abc
import collections
import copy
import dataclasses
import enum
import functools
import math
from typing import Generic, TypeVar

import numpy as np
import pytest

import codipy
from codipy.tools.rebind import Rebinding, rebind
from codipy.tools.rebinding import classes
from tests.tools.rebound import check

pytestmark = pytest.mark.usefixtures("older_objects_stay")


def stored(x):
    z = np.zeros(2)
    z[1] = x
    return z[1]


class Base(abc.ABC):
    made = 0

    def __init__(self, k):
        self.k = k
        type(self).made += 1

    @abc.abstractmethod
    def rate(self, x): ...

    def scale(self, x):
        return stored(x) * self.k

    def both(self, x):
        return self.scale(x) + self.rate(x)


class Model(Base):
    def __init__(self, k):
        super().__init__(k)
        self.calls = 0
        self.history = []

    def rate(self, x):
        return stored(x * x) * math.sin(x)

    def scale(self, x):
        self.calls += 1
        self.history.append(float(x))
        return super().scale(x) + super(Model, self).scale(x)  # noqa: UP008

    @property
    def constant(self):
        return float(stored(self.k))

    @functools.cached_property
    def cached(self):
        return np.ones(2)

    @staticmethod
    def plain(x):
        return stored(x) * 2.0

    @classmethod
    def at(cls, x):
        return cls(x).constant

    def __call__(self, x):
        return self.both(x) + self.constant + self.plain(x) + self.cached[0]

    def __add__(self, other):
        return Model(self.k + stored(other))


class Further(Model):
    def scale(self, x):
        return super().scale(x) * stored(x)


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k

    def rate(self, x):
        return stored(x) * self.k


class PartlySlotted(Slotted):
    """Has a slot and a dict."""

    def note(self, x):
        self.k, self.seen = self.k + 1.0, stored(x)
        return self.k * self.seen

    def drop(self):
        del self.k


@dataclasses.dataclass
class State:
    u: float
    v: float = 1.0

    def energy(self):
        z = np.zeros(2)
        z[0], z[1] = self.u, self.v
        return z[0] * z[0] + z[1]


@dataclasses.dataclass(frozen=True)
class Frozen:
    u: float

    def energy(self):
        return stored(self.u) * self.u


class Point(collections.namedtuple("Point", "x y")):
    def norm(self):
        return stored(self.x) + self.y


class Failure(Exception):
    def text(self):
        return "failure"


class Colour(enum.Enum):
    RED = 2.0

    def times(self, x):
        return self.value * x


class Holder:
    def __init__(self, model, xp):
        self.model, self.xp, self.f, self.missing = model, xp, stored, None

    def __call__(self, x):
        z = self.xp.ones(1)
        z[0] = self.f(x) + self.model.rate(x)
        assert self.model == self.model and {self.model: 1}[self.model] == 1
        return z[0]


model = Model(3.0)


def constructs(x):
    return Model(x)(x) + Model.at(x) + Further(2.0)(x) + (Model(x) + x).k


def uses_global_instance(x):
    assert isinstance(model, Model) and isinstance(model, Base) and type(model) is Model
    assert isinstance(Further(1.0), Model) and issubclass(Further, Model) and not isinstance(x, Model)
    return model(x)


def uses_slots(x):
    return Slotted(2.0).rate(x) * Slotted(x).k


def uses_dataclasses(x):
    assert State(1.0) == State(1.0) and dataclasses.asdict(State(1.0)) == {"u": 1.0, "v": 1.0}
    return State(x, x * x).energy() + Frozen(x).energy() + dataclasses.replace(State(x), v=2.0).energy()


def uses_tuples(x):
    a, b = Point(x, 2.0 * x)
    return Point(x, 2.0 * x).norm() + a * b


def catches(x):
    try:
        raise Failure("no")
    except Failure as error:
        assert error.text() == "failure"
        return stored(x) * Colour.RED.times(x)


def matches(x):
    shapes = [State(x, 2.0), model, Slotted(x)]
    return stored(sum(shape.u for shape in shapes if isinstance(shape, State)))


@pytest.mark.parametrize(
    "f",
    [constructs, uses_global_instance, uses_slots, uses_dataclasses, uses_tuples, catches, matches, model,
     model.both, model.scale, Further(2.0), Further(2.0).scale, Model.plain, Model.at, Frozen, Slotted(2.0).rate,
     Holder(model, np), functools.partial(Model.rate, model)],
    ids=lambda f: getattr(f, "__qualname__", type(f).__name__),
)  # fmt: skip
def test_classes(f):
    if f is Frozen:
        assert rebind(Frozen)(2.0) == Frozen(2.0)
    else:
        check(f)


def test_state_is_shared_with_the_instance():
    own = Model(2.0)
    before = Base.made, Model.made
    f = rebind(own.scale)
    f(1.0)
    f(2.0)
    assert own.calls == 2 and own.history == [1.0, 2.0]
    own.k = 5.0
    assert f(1.0) == 10.0
    rebind(lambda x: Model(x).k)(1.0)
    assert (Base.made, Model.made) == (before[0], before[1] + 1)
    rebind(lambda x: setattr(own, "new", x))(3.0)
    assert own.new == 3.0
    rebind(lambda x: delattr(own, "new"))(3.0)
    assert not hasattr(own, "new")


def test_others_see_the_class_that_they_know():
    made = rebind(lambda x: (stored(x), Model(x))[1])(2.0)
    assert isinstance(made, Model) and isinstance(made, Base) and made.both(1.0) == Model(2.0).both(1.0)
    assert type(made).__name__ == "Model" and type(made).__qualname__ == "Model" and type(made).__module__ == __name__
    assert type(model) is Model and "scale" in vars(Model) and Model(1.0).scale.__func__ is vars(Model)["scale"]
    assert copy.deepcopy(made).k == 2.0
    assert rebind(lambda x: State(x))(2.0) == State(2.0) == rebind(lambda x: State(x))(2.0) != State(3.0)


def test_a_method_that_is_replaced_is_seen(monkeypatch):
    f = rebind(uses_global_instance)
    before = f(2.0)
    monkeypatch.setattr(Model, "rate", lambda self, x: 0.0)
    changed = f(2.0)
    assert changed == uses_global_instance(2.0) != before
    monkeypatch.undo()
    assert f(2.0) == before
    monkeypatch.setattr(Base, "scale", lambda self, x: 1.0)
    assert f(2.0) == uses_global_instance(2.0) != before


def test_a_method_set_by_rebound_code_is_set_for_all():
    class Own:
        def rate(self):
            return np.ones(1)[0]

    def replaces(x):
        Own.rate = lambda self: 7.0
        Own.extra = 3.0
        return Own().rate() + Own.extra

    assert rebind(replaces)(1.0) == 10.0 and Own().rate() == 7.0 and Own.extra == 3.0
    rebind(lambda x: delattr(Own, "extra"))(1.0)
    assert not hasattr(Own, "extra")


def test_arguments_that_are_instances():
    def f(x, model, *, other=None):
        return model.rate(x) if other is None else other.rate(x)

    with codipy.Tape() as tape:
        x = tape.register_input(codipy.Real(3.0))
        assert rebind(f)(x, Model(2.0)).is_active
        assert rebind(f)(x, None, other=Further(2.0)).is_active
        assert rebind(f)(x, Slotted(2.0)).is_active


def test_slots_beside_a_dict_are_those_of_the_instance():
    model = PartlySlotted(2.0)

    def f(x):
        found = model.rate(x) + model.note(x)
        model.k = model.k + 1.0
        return found + PartlySlotted(5.0).rate(x)

    assert codipy.value_and_grad(f)(3.0) == (30.0, 10.0)
    assert (model.k, model.seen) == (4.0, 3.0)
    model.k = 2.0
    assert codipy.value_and_grad(f)(3.0) == (30.0, 10.0)
    rebind(lambda x: x * (model.drop() is None))(1.0)
    assert not hasattr(model, "k")


def test_rebind_as_a_decorator_of_a_method():
    class Own:
        def __init__(self, k):
            self.k = k

        @rebind
        def rate(self, x):
            return stored(x) * self.helper(x)

        def helper(self, x):
            return stored(x) * self.k

    tape = codipy.Tape()
    with tape:
        x = tape.register_input(codipy.Real(3.0))
        y = tape.register_output(Own(2.0).rate(x))
    y.gradient = 1.0
    tape.evaluate()
    assert (y.value, x.gradient) == (18.0, 12.0)


def test_diamonds_keep_the_order_of_methods():
    log = []

    class A:
        def m(self, x):
            log.append("A")
            return stored(x)

    class B(A):
        def m(self, x):
            log.append("B")
            return super().m(x) * 2.0

    class C(A):
        def m(self, x):
            log.append("C")
            return super().m(x) * 3.0

    class D(B, C):
        def m(self, x):
            log.append("D")
            return super().m(x) + float(x)

    check(D().m)
    check(lambda x: D().m(x))
    assert "".join(log) == "DBCA" * (len(log) // 4)


def test_classes_that_would_notice_are_left_alone():
    entered = []

    class Registered:
        def __init_subclass__(cls):
            entered.append(cls)

        def m(self):
            return np.zeros(1)

    class Plugin(Registered):
        pass

    class Meta(type):
        pass

    class WithMeta(metaclass=Meta):
        def m(self):
            return np.zeros(1)

    assert rebind(lambda: (Plugin, WithMeta, Colour, Failure))() == (Plugin, WithMeta, Colour, Failure)
    assert entered == [Plugin]


def test_data_classes_without_numpy_are_themselves():
    @dataclasses.dataclass
    class Data:
        u: float

        def twice(self):
            return 2 * self.u

    data = Data(1.0)
    assert rebind(lambda: (Data, data, stored))()[:2] == (Data, data)
    assert rebind(lambda: (data, stored))()[0] is data


def test_a_finalizer_runs_once():
    closed = []

    class File:
        def read(self, x):
            return np.ones(1)[0] * x

        def __del__(self):
            closed.append(self)

    file = File()
    assert rebind(lambda x: file.read(x))(2.0) == 2.0 == rebind(file.read)(2.0)
    assert closed == []


def test_many_instances_are_not_kept():
    import gc
    import weakref

    class Node:
        def __init__(self, k, rest):
            self.k, self.rest = k, rest

        def total(self):
            return stored(self.k) + (self.rest.total() if self.rest is not None else 0.0)

    class Big(Node):
        pass

    chain = None
    for k in range(200):
        chain = Big(float(k), chain)
    assert rebind(lambda x: chain.total() + x)(1.0) == sum(range(200)) + 1.0
    last = weakref.ref(chain)
    assert Rebinding(len).current() is len
    chain = None
    for _ in range(3):
        gc.collect()
    assert last() is None


class Scheme:
    registry: dict = {}
    heard: list = []

    def __init_subclass__(cls, key=None, **options):
        super().__init_subclass__(**options)
        Scheme.heard.append(cls)
        Scheme.registry[key or cls.__name__] = cls

    def run(self, x):
        work = np.zeros(2)
        work[0] = self.step(x)
        return work[0]


class Square(Scheme, key="square"):
    def step(self, x):
        work = np.zeros(1)
        work[0] = x * x
        return work[0]


class Cube(Square, key="cube"):
    def __init__(self, by=1.0):
        self.by = by

    def step(self, x):
        work = np.zeros(1)
        work[0] = super().step(x) * x * self.by
        return work[0]


class Rule(abc.ABC):
    rules: list = []

    def __init_subclass__(cls):
        Rule.rules.append(cls)

    @abc.abstractmethod
    def weigh(self, x): ...


class Midpoint(Rule):
    def weigh(self, x):
        work = np.zeros(1)
        work[0] = x * 3.0
        return work[0]


class Numbers(list):
    def __init_subclass__(cls):
        Scheme.heard.append(cls)


class Weights(Numbers):
    def total(self, x):
        work = np.zeros(1)
        work[0] = x * sum(self)
        return work[0]


Item = TypeVar("Item")


class Typed(Generic[Item]):
    kinds: list = []

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        Typed.kinds.append(cls)


class Scaled(Typed[float]):
    def by(self, x):
        work = np.zeros(1)
        work[0] = x * 2.0
        return work[0]


@dataclasses.dataclass
class Settings(Scheme, key="settings"):
    scale: float = 2.0

    def step(self, x):
        work = np.zeros(1)
        work[0] = x * self.scale
        return work[0]


def nested(scheme):
    found = []
    for each in scheme.__subclasses__():
        found += [each, *nested(each)]
    return found


def of_names(x):
    known = Scheme.registry
    return known["square"]().run(x) + known["cube"](2.0).run(x) + known["settings"]().run(x)


REGISTERED = [of_names, lambda x: Rule.rules[0]().weigh(x), lambda x: Typed.kinds[0]().by(x),
              lambda x: Weights([1.0, 2.0]).total(x), Cube(3.0).run, lambda x: Square().run(x)]  # fmt: skip


@pytest.mark.parametrize("f", REGISTERED)
def test_classes_that_register_themselves_are_rebuilt_and_nobody_hears_of_it(f):
    heard, registry, rules = list(Scheme.heard), dict(Scheme.registry), list(Rule.rules)
    x, h = 1.5, 1e-6
    value, slope = (f(x + h) + f(x - h)) / 2, (f(x + h) - f(x - h)) / (2 * h)
    for _ in range(2):
        found = codipy.value_and_grad(f)(x)
        assert found == pytest.approx((value, slope), rel=1e-8)
    assert [id(cls) for cls in Scheme.heard] == [id(cls) for cls in heard]
    assert {key: id(cls) for key, cls in Scheme.registry.items()} == {key: id(cls) for key, cls in registry.items()}
    assert [id(cls) for cls in Rule.rules] == [id(cls) for cls in rules] and len(Typed.kinds) == 1


def test_what_rebound_code_derives_registers_itself():
    def f(x):
        class Local(Scheme, key="local"):
            def step(self, x):
                work = np.zeros(1)
                work[0] = x
                return work[0] * x

        assert Scheme.registry.pop("local") is Local is Scheme.heard.pop()
        o = Scheme.registry["cube"](1.0)
        assert isinstance(o, (Cube, Square)) and isinstance(o, Scheme) and issubclass(Cube, Scheme)
        return Local().run(x)

    assert f(3.0) == 9.0 and codipy.grad(f)(3.0) == 6.0
    with pytest.raises(TypeError, match="abstract"):
        rebind(lambda: Rule())()


class Term:
    def of(self, x):
        work = np.zeros(1)
        work[0] = x * self.factor(x)
        return work[0]


class Linear(Term):
    def factor(self, x):
        return 2.0


class Quadratic(Linear):
    def factor(self, x):
        work = np.zeros(1)
        work[0] = x
        return work[0]


def test_subclasses_are_listed_as_in_the_plain_run():
    def f(x):
        assert nested(Term) == [Linear, Quadratic]
        total = 0.0
        for each in nested(Term):
            total = total + each().of(x)
        return total

    assert f(3.0) == 15.0
    for _ in range(2):
        assert codipy.value_and_grad(f)(3.0) == (15.0, 8.0)


class Checked:
    rate: float
    size: int = 2
    kinds = (1.0, 2.0)

    def __init__(self, rate):
        for name, kind in type(self).__annotations__.items():
            if kind is float and isinstance(rate, kind):
                setattr(self, name, rate)

    def step_square(self):
        w = np.zeros(1)
        w[0] = self.rate**2
        return w[0]

    def step_twice(self):
        return 2.0 * self.rate

    def all_steps(self):
        found = vars(type(self)) if self.rate > 2.0 else type(self).__dict__
        names = [name for name in found if name[0] != "_"]
        return sum(f(self) for name, f in found.items() if name.startswith("step_")) * len(names) * found["kinds"][1]


class OfMore(Checked):
    more: float = 1.0

    def __init__(self, rate):
        super().__init__(rate)
        self.rate = rate * len(type(self).__annotations__)


@pytest.mark.parametrize("kind", [Checked, OfMore])
def test_what_a_class_has_of_its_own_is_found_by_its_methods(kind):
    check(lambda x: kind(x).rate * Checked(x).all_steps() + len(kind.__annotations__))


class Doubling:
    def scaled(self):
        return self.x * 2.0


@dataclasses.dataclass
class Ordinary(Doubling):
    x: float


def test_a_class_that_needs_no_rebuilding_is_looked_through_once_and_again_when_it_was_changed(monkeypatch):
    looked, of_class = [], classes.Twins.of_class
    monkeypatch.setattr(classes.Twins, "of_class", lambda self, cls: looked.append(cls) or of_class(self, cls))
    gradient = codipy.grad(lambda o: o.scaled())
    for _ in range(2):
        assert gradient(Ordinary(3.0)) == Ordinary(2.0)
    count = looked.count(Ordinary)
    for _ in range(3):
        assert gradient(Ordinary(3.0)) == Ordinary(2.0)
    assert looked.count(Ordinary) == count
    monkeypatch.setattr(Doubling, "scaled", lambda self: np.sqrt(self.x) * stored(4.0))
    assert gradient(Ordinary(4.0)) == Ordinary(1.0)
    monkeypatch.setattr(Ordinary, "scaled", lambda self: stored(self.x), raising=False)
    assert gradient(Ordinary(4.0)) == Ordinary(1.0) and looked.count(Ordinary) > count
