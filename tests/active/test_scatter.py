# SPDX-License-Identifier: Apache-2.0
"""Writing at places that an index array selects: which elements these are, and whose derivatives they carry."""

import numpy as np
import pytest

import codipy.numpy as active_numpy
from tests.strategies import each_pair, new_tape

ROWS, COLUMNS = np.triu_indices(5, 1)
PLACES = {
    "a triangle of each": (slice(None), ROWS, COLUMNS),
    "a triangle of each from behind": (slice(None), COLUMNS - 5, ROWS - 5),
    "diagonals": (slice(None), np.arange(5), np.arange(5)),
    "pairs before whole rows": (np.array([0, 2]), np.array([1, -1])),
    "a grid": np.ix_([2, 0], [1, 3, 4], [0, 2]),
    "a middle axis": (slice(None), np.array([[3, 1], [0, 2]])),
    "a last axis": (Ellipsis, [4, 0]),
    "all but one": (slice(None), slice(None), np.arange(4)),
    "apart": (np.array([0, 2]), slice(None), np.array([1, 3])),
    "an integer beside": (1, np.array([0, 3])),
    "an integer behind": (slice(None), np.array([0, 3]), -2),
    "integers and a list": (2, [4, 1, 0], 3),
    "an integer apart": (1, slice(None), np.array([0, 3])),
    "a mask of an axis": (slice(None), np.array([True, False, True, True, False])),
    "a mask and an integer": (0, np.array([True, False, True, True, False])),
    "two masks": (slice(None), np.arange(5) % 2 == 0, np.arange(5) > 1),
    "rows by a list": ([2, 0],),
    "integers of 32 bits": (slice(None), np.array([3, -5], np.int32)),
    "one place": (np.array(2), np.array(4), [1]),
    "slices beside": (slice(1, None), np.array([0, 3]), slice(0, 4, 2)),
    "twice": (np.array([1, 1, 0]), np.array([2, 2, 2])),
    "all twice": (np.tile(np.arange(3), 2),),
    "a mask": (np.arange(75).reshape(3, 5, 5) % 3 > 0,),
    "most": (np.arange(75).reshape(3, 5, 5) % 7 > 0,),
    "none": (np.array([], int),),
}


def write(np, x, place):
    """Into zeros, into what an expression gave, into a view, and over what was written."""
    size = np.zeros((3, 5, 5))[place].shape
    values = np.resize(np.arange(1.0, 76.0), size)
    a = np.zeros((3, 5, 5)) * x[0]
    a[place] = np.sin(x[: len(x) - 1].sum() * values)
    b = a * 2.0
    b[place] = values * x[1] + a[place]
    whole = np.zeros((3, 5, 10)) * x[0]
    c = whole[:, :, ::-2]
    c[place] = x[2] * values
    c[place] = x[3]
    b[place] += 1.0
    return a, b, whole, a[place]


@each_pair()
@pytest.mark.parametrize("name", PLACES)
def test_elements_and_slopes(name, variant):
    point, place = np.array([0.3, 0.7, 1.1, 0.2, 0.9]), PLACES[name]
    step = 1e-40
    rows = [[np.imag(y) / step for y in write(np, point + 1j * step * e, place)] for e in np.eye(5)]
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(point.copy())
        found = write(active_numpy, x, place)
        outputs = [tape.register_output(y) if y.size else y for y in found]
    for k, (y, plain) in enumerate(zip(outputs, write(np, point, place), strict=True)):
        assert np.array_equal(codipy_value(y), plain)
        if not y.size:
            continue
        seed = np.cos(np.arange(y.size)).reshape(y.shape)
        tape.clear_adjoints()
        y.gradient = seed
        tape.evaluate()
        np.testing.assert_allclose(x.gradient, [np.sum(seed * row[k]) for row in rows], rtol=1e-12, atol=1e-12)


@each_pair()
def test_few_places_of_many(variant):
    """A small part of a large array: twice the same place, what shows itself, and sums at places that meet."""

    def f(np, x):
        h = np.zeros((40, 64))
        h[3, [1, 5, 1]] = x[:3] * 2.0
        h[4, [6, 7, 8]] = h[3, [1, 5, 9]]
        h[4, [6, 7, 8]] = h[4, 5:8]
        h[:, 3][[5, 21, 37]] = x[:3] * x[3]
        np.add.at(h, ([4, 3, 4, 4], [6, 1, 6, 7]), x[:4] * x[0])
        np.subtract.at(h[5], [3, 0, 3], x[1:4])
        np.add.at(h[6], [2, 2], x[4])
        np.multiply.at(h[4], [7, 7], x[:2])
        return h

    point = np.array([0.3, 0.7, 1.1, 0.2, 0.9])
    tape = new_tape(variant)
    with tape:
        x = tape.register_input(point.copy())
        y = tape.register_output(f(active_numpy, x))
    plain = f(np, point)
    assert np.array_equal(y.value, plain)
    seed = np.cos(np.arange(y.size)).reshape(y.shape)
    y.gradient = seed
    tape.evaluate()
    slopes = [np.sum(seed * (f(np, point + 1e-6 * e) - f(np, point - 1e-6 * e))) / 2e-6 for e in np.eye(5)]
    np.testing.assert_allclose(x.gradient, slopes, rtol=1e-8)


def codipy_value(y):
    return np.asarray(getattr(y, "value", y))


@pytest.mark.parametrize("place", [(slice(None), np.array([0, 5])), (np.array([0, -4]),), (slice(None),) * 3 + ([0],)])
def test_a_place_that_is_none_is_numpys_error(place):
    tape = new_tape(("auto", "statement"))
    with tape:
        a = tape.register_input(np.ones((3, 5, 5))) * 1.0
        with pytest.raises(IndexError) as ours:
            a[place] = 1.0
    with pytest.raises(IndexError) as theirs:
        np.ones((3, 5, 5))[place] = 1.0
    assert str(ours.value) == str(theirs.value)
