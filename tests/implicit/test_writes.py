# SPDX-License-Identifier: Apache-2.0
"""Which functions may write into something that is not their own: of the others nobody looks what they keep."""

import numpy as np
import pytest

import codipy
from codipy.implicit.writes import may_write

SHOWN = np.zeros(2)


def pure(x, k):
    a, b = x
    return [a**2 - k, b - a * k]


def of_new_arrays(x, k):
    found = np.empty(2)
    found[0] = x[0] ** 3 - k
    found[1:] = x[1] - x[0] * k if k > 0.0 else 1.0
    table = np.zeros((2, 3), dtype=float)
    table[0, 1] = found[0]
    return found + table[0, :2]


def of_sums(x, k):
    total = 0.0
    for each in x:
        total = total + each
    scaled = x * k
    return total + scaled


def of_loops(x, k):
    found = np.zeros(3)
    for i in range(3):
        found[i] = x[i] * k
    return found


@pytest.mark.parametrize("f", [pure, of_new_arrays, of_sums, of_loops, lambda x: x**2])
def test_these_do_not(f):
    assert not may_write(f.__code__)


def test_rebuilt_code_is_told_apart_too():
    """What the solver calls is rebuilt: there is more around what makes an array."""
    assert not may_write(seen_by(of_new_arrays))
    assert may_write(seen_by(to_alias))


def seen_by(f):
    def solved(x):
        codes.append(f.__code__)
        return np.sum(f(x, 2.0)) + x[0]

    codes = []
    codipy.grad(solved)(np.array([1.0, 2.0]))
    return codes[-1]


def to_argument(x, k):
    x[0] = k
    return x


def to_alias(x, k):
    found = np.empty(2)
    found = SHOWN
    found[0] = k
    return found


def to_one_of_two(x, k):
    found = np.empty(2) if k > 0.0 else SHOWN
    found[0] = k
    return found


def to_view(x, k):
    found = SHOWN[:1]
    found[0] = k
    return found


def to_conversion(x, k):
    found = np.asarray(x)
    found[0] = k
    return found


def to_item(x, k):
    found = x[0]
    found += k
    return found


def to_global(x, k):
    SHOWN[0] = k
    return x


def to_global_in_place(x, k):
    global SHOWN
    SHOWN += k
    return x


def to_attribute(x, k):
    x.last = k
    return x


def to_item_of_attribute(x, k):
    x.all[0] = k
    return x


def to_loop_variable(x, k):
    found = np.empty(2)
    for found in x:
        found[0] = k
    return found


def to_unpacked(x, k):
    found, other = np.empty(2), x
    found, other = other, found
    found[0] = k
    return found


def to_rest(*x):
    x[0][0] = 1.0


def to_named(**x):
    x["a"] = 1.0


def by_method(x, k):
    x.append(k)


def by_walrus(x, k):
    found = np.zeros(2)
    return (found := x)[0], found.__setitem__(0, k)


def in_nested(x, k):
    def inner():
        x[0] = k

    inner()


def to_cell():
    kept = 0

    def inner(x):
        nonlocal kept
        kept = x

    return inner


@pytest.mark.parametrize("f", [
    to_argument, to_alias, to_one_of_two, to_view, to_conversion, to_item, to_global, to_global_in_place, to_attribute,
    to_item_of_attribute, to_loop_variable, to_unpacked, to_rest, to_named, by_method, by_walrus, in_nested, to_cell(),
])  # fmt: skip
def test_these_may(f):
    assert may_write(f.__code__)
