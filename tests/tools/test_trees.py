# SPDX-License-Identifier: Apache-2.0
"""Nested containers: taken apart, put together, and codipy.value."""
import collections

import numpy as np
import pytest

import codipy
from codipy.tools.trees import flatten, map_leaves, rebuild

Pair = collections.namedtuple("Pair", "a b")

TREES = [
    1.0,
    [],
    [1.0, [2.0, (3.0,)], {"a": 4.0, 1: [5.0]}],
    Pair(1.0, [2.0]),
    collections.OrderedDict(b=1.0, a=(2.0, 3.0)),
]


@pytest.mark.parametrize("tree", TREES)
def test_there_and_back(tree):
    leaves = []
    flatten(tree, "tree", leaves)
    assert leaves == [float(k + 1) for k in range(len(leaves))]
    again = rebuild(tree, leaves)
    assert again == tree and type(again) is type(tree)


def test_containers_are_new_and_the_order_is_that_of_the_leaves():
    tree = {"b": [1.0], "a": (2.0,)}
    seen = []
    new = map_leaves(seen.append, tree)
    assert seen == [1.0, 2.0]
    assert new == {"b": [None], "a": (None,)}
    assert tree == {"b": [1.0], "a": (2.0,)}


def test_value_of_anything():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(2.0)
        y = x * x
        result = codipy.value({"x": x, "list": [y, 1, "text", None], "pair": Pair(y, (x,)), "set": {codipy.Real(5.0)}})
    assert result == {"x": 2.0, "list": [4.0, 1, "text", None], "pair": Pair(4.0, (2.0,)), "set": {5.0}}
    assert type(result["x"]) is float and type(result["list"][1]) is int and type(result["pair"]) is Pair
    assert type(next(iter(result["set"]))) is float


def test_value_of_arrays():
    reals = np.array([[codipy.Real(1.0), 2.0]], object)
    plain = codipy.value(reals)
    assert plain.dtype == np.float64 and plain.tolist() == [[1.0, 2.0]]
    assert reals.dtype == object and type(reals[0, 0]) is codipy.Real
    mixed = codipy.value(np.array([codipy.Real(1.0), "a", [codipy.Real(2.0)]], object))
    assert mixed.dtype == object and mixed.tolist() == [1.0, "a", [2.0]]
    floats = np.ones(3)
    assert codipy.value(floats) is floats
    assert codipy.value(np.array(codipy.Real(3.0), object)) == 3.0
