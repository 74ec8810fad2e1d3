# SPDX-License-Identifier: Apache-2.0
"""Messages of what would lose a derivative: the line, the variable, who asked, and why it was not rebuilt."""

import array
import asyncio
import enum
import textwrap
import weakref

import numpy as np
import pytest

import codipy
from codipy.active.messages import callers
from codipy.errors import ActiveError


def filled(x):
    work = np.zeros(2)
    work[0] = x * x
    return work[0]


class Holder:
    def __init__(self):
        self.work = np.zeros(2)


def fills_attribute(x):
    holder = Holder()
    holder.work[1] += x
    return holder.work[1]


def fills_slice(x):
    work = np.zeros((2, 2))
    work[:, 1] = x
    return work[0, 1]


def fills_buffer(x):
    buffer = array.array("d", [0.0])
    buffer[0] = x
    return buffer[0]


def converts(x):
    return complex(x, 1.0).real


class Scheme(enum.Enum):
    FIRST = 1

    def step(self, x):
        return filled_in_enum(x)

    def fill(self, x):
        work = np.zeros(2)
        work[0] = x
        return work[0]


def filled_in_enum(x):
    return x * x


async def coroutine(x):
    work = np.zeros(1)
    work[0] = x
    return work[0]


class Slotted:
    __slots__ = ("by",)

    def fill(self, x):
        work = [np.zeros(1)]
        work[0][0] = x
        return work[0][0]


def filling():
    while True:
        work = np.zeros(1)
        work[0] = yield


RUNNING = filling()
next(RUNNING)


def said(f, x=0.7, **options):
    with pytest.raises(ActiveError) as caught:
        codipy.grad(f, **options)(x)
    return str(caught.value)


@pytest.mark.parametrize(
    ("f", "name"), [(filled, "work"), (fills_attribute, "holder.work"), (fills_slice, "work")]
)  # fmt: skip
def test_the_variable_and_the_line_are_named(f, name):
    text = said(f, rebind=False)
    assert f"`{name}` is a plain array of NumPy" in text
    assert "test_callers.py:" in text and f"`{name}[" in text
    copy = "own" if "." in name else name  # an attribute would keep the Array when the call is over
    assert f"`{copy} = codipy.numpy.array({name})`" in text


def test_the_advice_works():
    def mended(x):
        work = np.zeros(2)
        work = codipy.numpy.array(work)
        work[0] = x * x
        return work[0]

    assert mended(3.0) == 9.0
    assert codipy.grad(mended, rebind=False)(3.0) == 6.0


def test_what_is_no_array_is_called_by_its_class():
    assert "`buffer` is of array.array, which holds plain numbers only" in said(fills_buffer)


def test_complex():
    assert codipy.grad(converts)(0.7) == 1.0


@pytest.mark.parametrize(
    ("f", "why"),
    [
        (lambda x: asyncio.run(coroutine(x)), "left `coroutine` as it is, since it is a coroutine"),
        (lambda x: RUNNING.send(x), "did not reach `filling`, which was running before"),
    ],
)
def test_why_it_was_not_rebuilt(f, why):
    assert why in said(f)


OUTSIDE = np.zeros(3)
REFERENCE = weakref.ref(OUTSIDE)


def test_what_the_driver_was_given_was_reached():
    def f(x):
        REFERENCE()[0] = x
        return OUTSIDE[0]

    assert "is a plain array of NumPy" in said(f) and "did not reach" not in said(f)


def fills_argument(x, z):
    z[0] = x
    return z[0] * x


DEFAULT = np.zeros(3)
SEEN = weakref.ref(DEFAULT)  # so that no other array can stand for it


def fills_default(x, z=DEFAULT):
    z[len([x]) :] = x
    return z[1] * x


def fills_global(x):
    OUTSIDE[0] = x
    return x * x


@pytest.mark.parametrize(
    ("f", "given"), [(fills_argument, "`z` is a plain array of NumPy, which `fills_argument` was given,"),
                     (fills_default, "`z` is a plain array of NumPy, which `fills_default` was given,"),
                     (fills_global, "`OUTSIDE` is a plain array of NumPy and")]
)  # fmt: skip
def test_a_function_that_names_nothing_to_rebuild_is_not_blamed(f, given):
    with pytest.raises(ActiveError) as caught:
        codipy.grad(f)(0.7, *([DEFAULT] if f is fills_argument else []))
    text = str(caught.value)
    assert given in text and "did not reach" not in text and "that can hold active values" in text


def test_a_function_of_a_library_is_named_as_users_call_it():
    tables = pytest.importorskip("scipy.stats.contingency")
    text = said(lambda x: tables.expected_freq(np.arange(1.0, 5.0).reshape(2, 2) * x))
    assert "scipy.stats.contingency.expected_freq" in text
    assert 'codipy.rebind(f, modules=["scipy"])' in text and "codipy.value(x)" in text


def test_the_function_inside_of_a_library_that_asked(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "library_for_messages"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from .friction import factor\n")
    (package / "friction.py").write_text(textwrap.dedent("""
        import math
        def colebrook(re):
            return math.sqrt(re)
        def factor(re):
            return colebrook(re) * 2.0
    """))
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    import library_for_messages as library

    def f(x):
        return library.factor(x)

    text = said(f)
    assert "called in library_for_messages.friction.colebrook for library_for_messages.factor" in text
    assert 'codipy.rebind(f, modules=["library_for_messages"])' in text
    rebound = codipy.rebind(f, modules=["library_for_messages"])
    assert codipy.grad(rebound)(4.0) == pytest.approx(0.5)


def test_no_message_advises_the_attribute():
    """`x.value` does not exist in the plain run; codipy.value(x) works in both."""
    package = callers._HERE
    wrong = []
    for path in [*package.rglob("*.py"), *package.rglob("*.pyx")]:
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            for advice in ("take x.value", "take `x.value", "pickle x.value", "copy x.value", "or x.value"):
                if advice in line:
                    wrong.append(f"{path.name}:{number}")
    assert not wrong


def test_a_message_never_hides_the_error(monkeypatch):
    monkeypatch.setattr(callers, "_explained", lambda *args: 1 / 0)
    assert said(filled, rebind=False).startswith("float() of an active Real would lose its derivative: ")
