# SPDX-License-Identifier: Apache-2.0
"""``match`` statements in rebound code take the branches of the plain run."""

import builtins
import collections.abc
import functools
import numbers
import operator
import typing
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.strategies import each_strategy

POINT = np.array([0.7, 1.3, 0.4])
NAMES = sorted({*dir(codipy.Real), *dir(codipy.Array), *dir(np.float64), *dir(np.ndarray), "__class__"})


def of_kinds(x):
    return {
        "element": x[0], "float": float(x[0]), "array": x, "view": x[1:], "result": x * x, "made": np.zeros(3),
        "single": np.float32(x[1]), "complex": complex(0.0, x[0]), "complex array": 1j * x, "matrix": np.outer(x, x),
        "complex element": (1j * x)[0], "list": [x[0], x[1]], "dict": {"a": x[0], "b": x}, "pair": (x[0], x),
        "integer": 3, "text": "a", "nothing": None,
    }  # fmt: skip


@typing.runtime_checkable
class HasArray(typing.Protocol):
    def __array__(self): ...


@typing.runtime_checkable
class HasIdentifier(typing.Protocol):
    identifier: int


class Numeric(numbers.Number):
    pass


def of_numpy(cls):
    yield cls
    for each in cls.__subclasses__():
        if each.__module__ == "numpy":
            yield from of_numpy(each)


CLASSES = {
    *(value for value in vars(builtins).values() if isinstance(value, type)),
    *(value for value in vars(collections.abc).values() if isinstance(value, type)),
    *(value for value in vars(numbers).values() if isinstance(value, type)),
    *(value for name, value in vars(typing).items() if name.startswith("Supports")),
    *of_numpy(np.generic), np.ndarray, HasArray, HasIdentifier, Numeric,
}  # fmt: skip
CLASSES = sorted(CLASSES, key=lambda cls: (cls.__module__, cls.__qualname__))


def is_matched(value, cls):
    match value:
        case cls():
            return True
    return False


def is_bound(value, cls):
    try:
        match value:
            case cls(part):
                return type(part) is type(value)
    except TypeError as error:
        return str(error)
    return False


def has_real(value, cls):
    match value:
        case cls(real=part):
            return type(part)
    return False


def both(f, point=POINT):
    """What rebound code finds, and what the plain run does."""
    found = []

    def run(x):
        found.append(f(x))
        return np.sum(x * x)

    codipy.grad(run)(point)
    run(point)
    return found


@pytest.mark.parametrize("ask", [is_matched, is_bound, has_real])
def test_each_class_matches_what_it_matches_in_the_plain_run(ask):
    def answers(x):
        kinds = of_kinds(x)
        return [(kind, cls, ask(v, cls)) for kind, v in kinds.items() for cls in CLASSES]

    rebound, plain = both(answers)
    assert [(one, other) for one, other in zip(rebound, plain, strict=True) if one != other] == []
    assert {answer is not False for *_, answer in plain} == {True, False}


def attribute_of(value, name):
    namespace = {}
    source = f"def ask(v):\n match v:\n  case object({name}=part):\n   return True\n return False\n"
    exec(source, namespace)
    return namespace["ask"](value)


def test_attributes_in_patterns_are_those_of_plain_values():
    def answers(x):
        kinds = [(kind, v) for kind, v in of_kinds(x).items() if kind not in ("list", "dict", "pair")]
        return [(kind, name, asked(v, name)) for kind, v in kinds for name in NAMES if name != "mT"]

    def asked(v, name):
        try:
            return attribute_of(v, name)
        except ActiveError:  # a plain one has it
            return True

    rebound, plain = both(answers)
    assert [(one, other) for one, other in zip(rebound, plain, strict=True) if one != other] == []


@dataclass
class Point:
    x: float
    y: float


class Circle:
    __match_args__ = ("center", "radius")

    def __init__(self, center, radius):
        self.center, self.radius = center, radius

    @property
    def area(self):
        out = np.zeros(1)
        out[0] = np.pi * self.radius**2
        return out[0]


class Ring(Circle):
    pass


class Odd:
    __match_args__ = ["x"]
    x = 1.0


class Twice:
    __match_args__ = ("x", "x")
    x = 1.0


class Numbered:
    __match_args__ = (1,)


FLOATS = SimpleNamespace(kind=float, of_numpy=np.floating)
LIMIT = SimpleNamespace(low=0.5, high=2.0)


def by_class(v, x):
    match v:
        case np.floating():
            return x[0] * v
        case float() | int():
            return x[1] * v
    return x[2]


def by_position(v, x):
    match v:
        case float(q) if q > LIMIT.low:
            return q * q
        case float(q):
            return q * x[1]
        case np.ndarray(shape=(3,), size=n) as a:
            return a @ a * n
        case np.ndarray(ndim=1 | 2 as n):
            return np.sum(v) * n
    return x[2]


def by_sequences(v, x):
    match v:
        case [np.floating() as p, np.ndarray() as q]:
            return p * np.sum(q)
        case [np.floating() as p, *rest]:
            return p * len(rest)
        case [*_, np.ndarray(size=3)]:
            return x[1]
        case [_, float(p)] | float(p):
            return x[1] * p
        case [p, np.floating(), *_, float()]:
            return x[0]
    return x[2]


def by_mappings(v, x):
    match v:
        case {"c": np.floating()}:
            return x[0]
        case {"a": np.floating() as p, **rest} if "b" in rest and len(rest) == 1:
            return p * rest["b"] @ x
        case {}:
            return x[0] * len(v)
        case object(real=np.floating(real=p)):
            return p
        case object(real=r):
            return np.sum(r)
    return x[2]


def by_users_classes(v, x):
    shapes = [Point(x[0], x[1]), Circle(Point(x[0], 0.0), x[1]), Ring(v, x[2]), Ring(Circle(v, x[1]), 2.0), v]
    total = 0.0
    for shape in shapes:
        match shape:
            case Point(p, 0.0) | Point(p, y=np.ndarray()):
                total = total + p * 2.0
            case Point(np.floating() as p, y=q) if p * q > LIMIT.low:
                total = total + p * q
            case Ring(center=Circle(center=np.floating() as p, radius=r), radius=2.0):
                total = total + p * r * 3.0
            case Ring(float(p) | np.ndarray(size=1 as p), r):
                total = total + r * r * p
            case Circle(Point(x=p, y=0.0), area=a):
                total = total + a * p
            case FLOATS.of_numpy():
                total = total + shape * shape
            case FLOATS.kind():
                total = total + shape * 5.0
            case [] | {} | None | "a":
                total = total + x[1] ** 2
            case other:
                total = total + x[0] ** 3 + (other is None)
    return total


def by_nothing(v, x):
    out = np.zeros(3)
    for k in range(3):
        match v, k:
            case (np.floating() | np.complexfloating(), 0 | 1):
                out[k] = x[k]
                continue
            case (_, 2):
                break
            case (numbers.Real() | typing.SupportsIndex(), _):
                out[k] = x[0] * x[1]
            case _:
                out[k] = x[2]
    return out.sum() + out[0] * (len(locals()) == 4)


PROGRAMS = [by_class, by_position, by_sequences, by_mappings, by_users_classes, by_nothing]


@pytest.mark.parametrize("kind", of_kinds(POINT))
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_have_the_value_and_derivative_of_the_plain_run(program, kind):
    def f(x):
        return np.real(np.sum(program(of_kinds(x)[kind], x)))

    try:
        expected = f(POINT)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            codipy.grad(f)(POINT)
        return
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == expected
    h, error = (1e-2, 1e-3) if kind == "single" else (1e-6, 1e-6)
    differences = [(f(POINT + e) - f(POINT - e)) / (2 * h) for e in np.eye(3) * h]
    assert gradient == pytest.approx(differences, rel=error, abs=error)


@each_strategy
def test_every_strategy_takes_the_branch(strategy):
    def f(x):
        return sum(by_position(v, x) for v in (x[0], x, x[1:]))

    value, gradient = codipy.value_and_grad(f, strategy=strategy)(POINT)
    assert value == f(POINT)
    assert gradient == pytest.approx(codipy.grad(f)(POINT))


def wrongly(v, k):
    match v if k < 5 else Odd() if k == 5 else Twice() if k == 6 else Numbered():
        case Odd(p):
            return p
        case Twice(p, q):
            return p, q
        case Numbered(p):
            return p
        case float(p, q) if k == 0:
            return p
        case LIMIT.low() if k == 1:
            return p
        case {"a": 1, LIMIT.low: p}:
            return p
        case np.ndarray(p):
            return p
        case SimpleNamespace.nothing():
            return p


def told_of(v, k):
    try:
        return wrongly(v, k)
    except (TypeError, AttributeError, ValueError) as error:
        return type(error), str(error)


def test_errors_are_those_of_python():
    rebound, plain = both(lambda x: [told_of(v, k) for v in (x[0], x, float(x[1]), "a") for k in (0, 1, 2, 5, 6, 7)])
    assert rebound == plain
    assert len({told for told in plain if told is not None}) >= 4


class Short:
    def __init__(self, says, gives):
        self.says, self.gives = says, gives

    def __len__(self):
        return self.says

    def __getitem__(self, k):
        if k >= self.gives:
            raise IndexError(k)
        return k


collections.abc.Sequence.register(Short)


def taken_from(v):
    try:
        match v:
            case [int() as p, q]:
                return p, q
            case [p, int(), *_]:
                return p, "first"
            case [*_, int() as p, q]:
                return p, q, "last"
            case [p, *q, int()]:
                return p, q
    except (IndexError, ValueError) as error:
        return type(error), str(error)


def test_sequences_are_taken_apart_as_python_does():
    def f(x):
        return [taken_from(Short(says, gives)) for says in range(6) for gives in range(6)]

    rebound, plain = both(f)
    assert rebound == plain and len(set(map(str, plain))) == 8


@pytest.mark.skipif(not np.ndarray.__flags__ & 1 << 5, reason="arrays are no sequences for patterns before NumPy 2.5")
def test_arrays_are_sequences():
    def f(x):
        match x:
            case [p, q, r]:
                return p * q * r
        return np.sum(x)

    for rebind in (True, False):
        assert codipy.grad(f, rebind=rebind)(POINT) == pytest.approx(np.prod(POINT) / POINT)


def test_array_is_a_sequence_where_ndarray_is_one():
    flag = 1 << 5
    kinds = (codipy.Array, codipy.ComplexArray)
    assert {cls.__flags__ & flag for cls in kinds} == {np.ndarray.__flags__ & flag}


def test_names_are_bound_when_the_whole_pattern_fits():
    def f(x):
        p = q = x[2]
        match x[0], x[1]:
            case float(p), int(q):
                pass
            case (np.floating() as p, q) if False:
                pass
            case [str(p), *q] | {"a": p, **q}:
                pass
        return p * q

    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    assert gradient == pytest.approx([POINT[1], POINT[0], 0.0])


def test_scopes_of_names():
    def f(x):
        kept = x[0]

        def inner(v):
            nonlocal kept
            match v:
                case np.floating(real=kept):
                    return [kept * w for w in x]

        class Inner:
            __kind = float
            match x[1]:
                case np.floating() as found:
                    pass

            def hidden(self, v):
                match v:
                    case self.__kind() as __found:
                        return __found

        def walk(v):
            match (yield v):
                case np.floating() as sent:
                    yield sent * sent

        walked = walk(x[2])
        next(walked)
        names = sorted(name for name in vars(Inner) if not name.startswith("_"))
        return sum(inner(x[1])) * kept * Inner.found * Inner().hidden(x[0]) * walked.send(x[2]) * len(names)

    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    steps = np.eye(3) * 1e-6
    assert gradient == pytest.approx([(f(POINT + e) - f(POINT - e)) / 2e-6 for e in steps], rel=1e-7)


SOURCE = """
import typing, numpy as np
class Point:
    __match_args__ = ("x",)
    def __init__(self, x):
        self.x = x
def f(x):
    match {subject}:
        case {pattern}:
            return x[0] * x[0]
    return x[1]
"""
ANSWERED = ["Point()", "Point(q)", "Point(x=q)", "float()", "float(q)", "np.float64()", "int()", "[float(), _]"]
REFUSED = ["np.floating()", "typing.SupportsIndex()", "object(value=q)", "float(value=q)", "np.number() | None"]


@pytest.mark.parametrize("pattern", ANSWERED + REFUSED)
@pytest.mark.parametrize("subject", ["x[0]", "Point(x[0])", "(x[0], x)"])
def test_without_source_what_cannot_be_answered_is_refused(pattern, subject):
    variables = {"__name__": "without_source"}
    exec(SOURCE.format(pattern=pattern, subject=subject), variables)
    f = variables["f"]
    if pattern in REFUSED:
        name = pattern.partition("(")[0]
        with pytest.raises(ActiveError, match=rf"f \(<string>, line 9\) asks `case {name}\(...\)`.*isinstance\(value"):
            codipy.grad(f)(POINT)
    else:
        value, gradient = codipy.value_and_grad(f)(POINT)
        assert value == f(POINT)
        assert gradient == pytest.approx([2.0 * POINT[0], 0.0, 0.0] if value == POINT[0] ** 2 else [0.0, 1.0, 0.0])


def test_what_is_executed_takes_the_branch():
    def f(x):
        names = {"x": x, "np": np}
        exec("match x[0]:\n    case np.floating() as v:\n        y = v * v\n    case _:\n        y = x[1]\n", names)
        return names["y"]

    assert codipy.grad(f)(POINT) == pytest.approx([2.0 * POINT[0], 0.0, 0.0])


@pytest.mark.parametrize("ask", [
    lambda v: v.__class__, lambda v: getattr(v, "__class__"), type, lambda v: getattr(v, "__class__", None),  # noqa: B009
])  # fmt: skip
def test_classes_of_values(ask):
    rebound, plain = both(lambda x: [(kind, ask(v)) for kind, v in of_kinds(x).items()])
    assert rebound == plain


def test_reductions_of_patterns():
    """What a recursive function over a tree of tuples does, as interpreters of expressions are written."""
    def evaluated(tree):
        match tree:
            case ("+", a, b):
                return evaluated(a) + evaluated(b)
            case ("*", *factors):
                return functools.reduce(operator.mul, map(evaluated, factors))
            case np.ndarray() as leaf:
                return leaf.sum()
            case float() | np.floating():
                return tree
        raise ValueError(tree)

    def f(x):
        return evaluated(("+", ("*", x[0], x, 2.0), ("*", float(x[1]), 3.0)))

    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    steps = np.eye(3) * 1e-6
    assert gradient == pytest.approx([(f(POINT + e) - f(POINT - e)) / 2e-6 for e in steps], rel=1e-7)
