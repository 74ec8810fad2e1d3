# SPDX-License-Identifier: Apache-2.0
"""What functions put into classes, modules and objects is the user's function, and not the rebuilt one."""

import sys

import numpy as np
import pytest

import codipy
from tests.strategies import STRATEGIES

AT = 0.7


def wave(v):
    return np.sin(v) if isinstance(v, float) else 0.0 * v


class Seen:
    def __init__(self):
        self.held = wave

    def ask(self, v):
        return np.cos(v) if isinstance(v, float) else 0.0 * v

    @staticmethod
    def of_none(v):
        return 2.0 * wave(v)


class Slotted:
    __slots__ = ()

    def ask(self, v):
        return np.cos(v) if isinstance(v, float) else 0.0 * v


HELD, LIST, DICT = wave, [wave], {"a": wave}
seen, slotted = Seen(), Slotted()


def patched(o):
    def run(v):
        cls = type(o)
        original = cls.ask
        cls.ask = lambda self, v: 3.0 * original(self, v)
        between = o.ask(v)
        cls.ask = original
        return between * o.ask(v)

    return run


def exchanged(v):
    original = Seen.of_none
    Seen.of_none = staticmethod(wave)
    between = Seen.of_none(v) + seen.of_none(v)
    Seen.of_none = staticmethod(original)
    return between + seen.of_none(v)


def by_global(v):
    global HELD
    HELD = wave
    return HELD(v)


def by_module(v):
    sys.modules[__name__].HELD = wave
    return HELD(v)


def by_attribute(v):
    seen.held = wave
    return seen.held(v)


def by_items(v):
    LIST[0] = wave
    DICT["a"] = wave
    return LIST[0](v) + DICT["a"](v)


def held():
    return [Seen.ask, Slotted.ask, vars(Seen)["of_none"].__func__, HELD, seen.held, *LIST, *DICT.values()]


BEFORE = held()
USES = {"a method": patched(seen), "one of a class with slots": patched(slotted), "a static method": exchanged,
        "a global variable": by_global, "one of a module": by_module, "an attribute": by_attribute,
        "items": by_items}  # fmt: skip


@pytest.mark.parametrize("use", USES)
def test_the_function_itself_is_put_there(use):
    f, h = USES[use], 1e-6
    expected, slope = f(AT), (f(AT + h) - f(AT - h)) / (2 * h)
    for strategy in STRATEGIES:
        for _ in range(2):
            value, derivative = codipy.value_and_grad(f, strategy=strategy)(AT)
            assert value == expected
            assert derivative == pytest.approx(slope, rel=1e-7)
            assert [a is b for a, b in zip(held(), BEFORE)] == [True] * len(BEFORE)
