# SPDX-License-Identifier: Apache-2.0
"""Every function of Python's `builtins`, `math`, `operator` and `statistics` in rebound code: as in the plain run.

What the running Python has is what is tried, with numbers of all kinds that can be active: the same type and bits, the
same exception, or a refusal of codipy's.
"""

import builtins
import cmath
import contextlib
import itertools
import math
import operator
import statistics
import struct

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

POINT = np.array([0.7, 1.3, 0.4])
UNTRIED = {  # what waits for somebody, ends the process, writes, or tells objects apart
    "breakpoint", "copyright", "credits", "exit", "help", "input", "license", "open", "print", "quit", "id", "hash",
    "eval", "exec", "compile", "globals", "locals", "vars", "dir", "repr", "ascii", "memoryview", "object",
}  # fmt: skip
MODULES = [builtins, math, cmath, operator, statistics]


def functions_of(module):
    for name in dir(module):
        value = getattr(module, name)
        is_error = isinstance(value, type) and issubclass(value, BaseException)
        if not name.startswith("_") and callable(value) and name not in UNTRIED and not is_error:
            yield name, value


def single(x):
    return [("element", x[0]), ("float", float(x[1])), ("single", np.float32(x[2])), ("negative", -float(x[1])),
            ("complex", complex(x[0], 0.5)), ("list", [float(x[0]), float(x[1]), float(x[2])]),
            ("elements", [x[0], x[1], x[2]]), ("tuple", (float(x[0]), 2.0)), ("array", x[:2] * 1.0),
            ("zero", x[0] - x[0]), ("large", x[0] * 1e300), ("whole", float(x[1] * 10 - 3.0))]  # fmt: skip


FURTHER = [("int", 2), ("half", 0.5), ("none", None), ("text", "a"), ("numbers", [3.0, 1, 0.25]), ("true", True)]
PLAIN = single(POINT)


def calls(module):
    """The names of functions, and which values each is called with: up to three."""
    kinds = [*range(len(PLAIN)), *range(-len(FURTHER), 0)]
    for name, _ in functions_of(module):
        yield from ((name, (k,)) for k in range(len(PLAIN)))
        yield from ((name, pair) for pair in itertools.product(kinds, kinds) if max(pair) >= 0)
        yield from ((name, (k, k, j)) for k in range(len(PLAIN)) for j in (0, 1, 5, -6, -3))


def bits(value, deep=3):
    value = codipy.value(value) if isinstance(value, (codipy.Real, codipy.Array, codipy.Complex, codipy.ComplexArray)) \
        else value  # fmt: skip
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, (float, np.floating)):
        return type(value), struct.pack("d", value)
    if isinstance(value, (complex, np.complexfloating)):
        return type(value), struct.pack("dd", value.real, value.imag)
    if isinstance(value, (list, tuple)) and deep:
        return type(value), [bits(item, deep - 1) for item in value]
    if isinstance(value, dict):
        return type(value), [(bits(k), bits(v)) for k, v in value.items()]
    if isinstance(value, (map, filter, zip, enumerate, reversed, itertools.count)):
        return type(value).__name__, [outcome(next, value) for _ in range(3)] if deep else None
    if isinstance(value, (int, str, bytes, bytearray, range, slice, set, frozenset, type(None), type)):
        return type(value), repr(value)
    return type(value).__name__


def outcome(f, *args):
    try:
        return bits(f(*args))
    except ActiveError:
        return "refused"
    except RecursionError:
        raise
    except Exception as error:
        return "raised", type(error)


# Of floats NumPy says that there is no loop, or once somebody gave one an out= of objects that shapes do not agree.
OF_BITS = {"and_", "iand", "ior", "ixor", "lshift", "ilshift", "irshift", "or_", "rshift", "xor"}
REFUSED_BY_PYTHON = {"bytes", "bytearray", "Decimal", "Fraction"}  # they read memory, or ask a float's own methods
# What differs and is a refusal of another kind, or an answer to what nobody means to ask.
OTHER = {
    ("type",): "the stand-in of a class, which equals it",
    ("concat",): "of arrays and numbers, which add up", ("iconcat",): "the same",
    ("mod", "text"): "text without a place for the number", ("imod", "text"): "the same",
    ("getitem", "array"): "a float as an index", ("ifloordiv", "array", "tuple"): "whole numbers into an Array",
    ("iter", "array"): "an iterator of another class", ("log", "zero"): "a slope that is infinite",
    ("str",): "an encoding of a number",
}  # fmt: skip


def is_allowed(call, rebound, plain):
    """Whether what rebound code finds is what the plain run does, or a refusal."""
    if rebound in (plain, "refused") or any(call[: len(known)] == known for known in OTHER):
        return True
    if rebound[0] != "raised":
        return False
    if plain[0] == "raised":  # a subclass is NumPy's own
        return issubclass(plain[1], rebound[1]) or call[0] in OF_BITS and plain[1] is ValueError
    return call[0] in REFUSED_BY_PYTHON and issubclass(rebound[1], (TypeError, BufferError))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_every_function_is_as_in_the_plain_run(module):
    listed, found = list(calls(module)), []

    def f(x):
        for name, places in listed:
            values = single(x)  # anew: some functions write into what they are given
            args = [values[k][1] if k >= 0 else FURTHER[k][1] for k in places]
            args = [list(arg) if type(arg) is list else arg for arg in args]
            found.append(outcome(eval(name) if module is builtins else getattr(module, name), *args))
        return np.sum(x * x)

    with contextlib.suppress(ActiveError):  # that one was caught
        codipy.grad(f)(POINT)
    rebound, found[:] = list(found), []
    f(POINT)
    assert len(rebound) == len(found) == len(listed)
    names = [(name, *((PLAIN[k] if k >= 0 else FURTHER[k])[0] for k in places)) for name, places in listed]
    wrong = [(call, *both) for call, *both in zip(names, rebound, found) if not is_allowed(call, *both)]
    assert wrong == []
    assert sum(one == other for one, other in zip(rebound, found)) > 0.8 * len(rebound)
