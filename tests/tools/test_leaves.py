# SPDX-License-Identifier: Apache-2.0
"""Leaves as one vector and as blocks of rows, and the names of their numbers."""
import numpy as np
import pytest

from codipy.tools.arguments.leaves import Names, cut, join, split, stack

LEAVES = [1.0, np.arange(2.0, 8.0).reshape(2, 3), np.zeros((0, 2)), 8.0]


def test_one_vector_and_back():
    vector = join(LEAVES)
    assert vector.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    again = split(vector * 2.0, LEAVES)
    assert type(again[0]) is float and again[0] == 2.0 and again[3] == 16.0
    assert (again[1] == 2.0 * LEAVES[1]).all() and again[2].shape == (0, 2)
    again[1][0, 0] = 99.0
    assert vector[1] == 2.0
    assert join([]).shape == (0,) and join([1, np.float32(2.0), np.array([True])]).tolist() == [1.0, 2.0, 1.0]
    assert split(np.array([1.0, 2.0]), [0.0, 0.0]) == [1.0, 2.0]


@pytest.mark.parametrize("columns", [1, 3])
def test_rows_are_cut_and_stacked(columns):
    matrix = np.arange(8.0 * columns).reshape(8, columns)
    blocks = cut(matrix, [np.shape(leaf) for leaf in LEAVES])
    assert [np.shape(block) for block in blocks] == [
        np.shape(leaf) + ((columns,) if columns > 1 else ()) for leaf in LEAVES]
    assert (stack(blocks, columns) == matrix).all()
    assert stack([], columns).shape == (0, columns)


def test_names_are_made_when_asked_for():
    names = Names([("a", 1.0), ("b", LEAVES[1]), ("c", LEAVES[2]), ("d", 8.0)])
    assert list(names) == ["a", "b[0, 0]", "b[0, 1]", "b[0, 2]", "b[1, 0]", "b[1, 1]", "b[1, 2]", "d"]
    assert names[-1] == "d" and names[np.int64(6)] == "b[1, 2]"
    with pytest.raises(IndexError):
        names[8]
    assert len(Names([])) == 0
    large = Names([("x", np.broadcast_to(0.0, (10**6, 10**6)))])
    assert large[10**12 - 1] == "x[999999, 999999]"
