# SPDX-License-Identifier: Apache-2.0
"""Nested containers: taken apart, put together, and codipy.value."""
import collections
import gc
import weakref
from dataclasses import dataclass, field

import numpy as np
import pytest

import codipy
from codipy.tools.arguments.forms import flatten, map_leaves, rebuild
from codipy.tools.arguments.trees import labelled, match

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


def test_leaves_do_not_outlive_the_tree_that_is_made_of_them():
    """Without the help of Python's collector."""
    leaf = np.ones(3)
    known = weakref.ref(leaf)
    gc.disable()
    try:
        made = rebuild([{"a": leaf}, 1.0], [leaf, 2.0])
        del leaf
        assert made[0]["a"] is known()
        del made
        assert known() is None
    finally:
        gc.enable()


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


@dataclass
class Record:
    a: object
    name: str = field(default="name", metadata={"static": True})
    computed: object = field(init=False, default=0.0)


def test_dataclasses_there_and_back():
    leaves = []
    array = np.ones((2, 2))
    tree = [Record(1.0), {"x": Record((array, 3.0))}]
    flatten(tree, "tree", leaves)
    assert len(leaves) == 3 and leaves[1] is array
    assert [path for path, _ in labelled(tree, "tree")] == ["tree[0].a", "tree[1]['x'].a[0]", "tree[1]['x'].a[1]"]
    again = rebuild(tree, [4.0, 5.0, 6.0])
    assert again[0].computed is None and again[0].a == 4.0
    assert again[1]["x"].a == (5.0, 6.0) and again[1]["x"].name == "name"
    assert tree[0].a == 1.0 and tree[0].computed == 0.0


def test_value_of_arrays_that_a_tape_follows():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([1.0, 2.0]))
        record = Record(x * 2.0)
        record.computed = [x[0], codipy.Array(3.0)]
        result = codipy.value({"x": x, "record": record})
    assert type(result["x"]) is np.ndarray and result["x"].tolist() == [1.0, 2.0]
    assert not result["x"].flags.writeable
    assert result["record"].a.tolist() == [2.0, 4.0] and result["record"].computed == [1.0, 3.0]
    assert type(record.a) is codipy.Array


def test_match_follows_the_form():
    leaves = []
    like = {"a": [np.ones(2), 1.0], "b": Record((3.0,))}
    match({"b": Record([4]), "a": ([1, 2], np.float64(5.0))}, like, "tree", leaves)
    assert leaves[0].tolist() == [1.0, 2.0] and leaves[0].dtype == float and leaves[1:] == [5.0, 4.0]
    with pytest.raises(TypeError, match=r"tree\['b'\] must have the form of what it belongs to, a Record"):
        match({"a": like["a"], "b": [4.0]}, like, "tree", [])


def test_trees_that_hold_themselves_or_are_very_deep_are_errors():
    own, deep = [1.0], [1.0]
    own.append(own)
    for _ in range(100_000):
        deep = [deep]
    for tree in (own, {"a": own}, deep):
        with pytest.raises(RecursionError):
            codipy.grad(lambda p: 1.0)(tree)
        with pytest.raises(RecursionError):
            rebuild(tree, [1.0] * 100_000)
    while type(deep) is list:      # from outside: else each would be the end of the one around it
        deep = deep[0]
