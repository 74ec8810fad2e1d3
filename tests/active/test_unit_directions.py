# SPDX-License-Identifier: Apache-2.0
"""Unit directions: the seeds of Jacobians, and the products that they come to before anything else."""
import numpy as np
import pytest

import codipy
from codipy.active.adjoints import planes_of, seed_colours, seed_units
from codipy.tape.adjoints import _long_from


@pytest.fixture(params=["rows", "planes"])
def layout(request):
    before = _long_from(1 << 30 if request.param == "rows" else 0)
    yield request.param
    _long_from(before)


VIEWS = {"whole": lambda x: x, "turned": lambda x: x.T, "part": lambda x: x[1:, ::2]}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", [3, 5])
def test_unit_seeds_are_those_of_arrays(layout, view, width):
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.arange(1.0, 13.0).reshape(3, 4))
        y = tape.register_output(VIEWS[view](np.exp(x)))
    units, arrays = tape.new_adjoints(width), tape.new_adjoints(width)
    seed = np.zeros((y.size, width))
    seed[[1, 2], [width - 2, width - 1]] = 1.0
    arrays[y] = seed.reshape(*y.shape, width)
    seed_units(units, y, 1, width - 2, 2)
    assert np.array_equal(units[y], arrays[y])
    tape.evaluate(adjoints=units)
    tape.evaluate(adjoints=arrays)
    assert np.array_equal(units[x], arrays[x])
    assert np.count_nonzero(units[x]) == 2


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("width", [1, 3, 8])
@pytest.mark.parametrize("is_checked", [False, True])
def test_seeds_by_colour_are_those_of_arrays(layout, view, width, is_checked):
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.arange(1.0, 13.0).reshape(3, 4))
        y = tape.register_output(VIEWS[view](np.exp(x)))
    draw, count = np.random.default_rng(9), width - is_checked
    colours, last = draw.integers(0, count + 4, y.size).astype(np.int32), draw.uniform(1.0, 2.0, y.size)
    seed = np.zeros((y.size, width))
    seed[:, :count] = colours[:, None] == 2 + np.arange(count)
    if is_checked:
        seed[:, -1] = last
    coloured, arrays = tape.new_adjoints(width), tape.new_adjoints(width)
    arrays[y] = 2.0 * seed.reshape(*y.shape, width) if width > 1 else 2.0 * seed.reshape(y.shape)
    for _ in range(2):      # added
        seed_colours(coloured, y, colours, 2, count, last if is_checked else None)
    assert np.array_equal(coloured[y], arrays[y]) and np.any(coloured[y])
    rows = planes_of(coloured, y)
    if rows is not None:
        assert np.array_equal(rows, np.reshape(arrays[y], (y.size, width)).T)
    if layout == "rows" and width > 1:
        assert rows is None
    elif view == "whole" and width < 8:      # of which there are no vectors
        assert rows is not None
    tape.evaluate(adjoints=coloured)
    tape.evaluate(adjoints=arrays)
    assert np.array_equal(coloured[x], arrays[x])


def test_seeds_by_colour_need_a_colour_for_each_number():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.ones(3))
    adjoints = tape.new_adjoints(2)
    colours, last = np.zeros(3, np.int32), np.ones(3)
    for wrong in [(colours[:2], 0, 2, None), (colours.astype(np.int64), 0, 2, None), (colours, 0, 1, last[:2]),
                  (np.zeros(6, np.int32)[::2], 0, 2, None), (colours, 0, 2, last), (colours, 0, 3, None)]:
        with pytest.raises(ValueError):
            seed_colours(adjoints, x, *wrong)
    assert not np.any(adjoints[x])


def test_unit_seeds_are_added_also_to_numbers():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(3.0)
        y = tape.register_output(x * x)
    adjoints = tape.new_adjoints(2)
    seed_units(adjoints, y, 0, 1, 1)
    seed_colours(adjoints, y, np.array([4], np.int32), 3, 2, None)
    tape.evaluate(adjoints=adjoints)
    assert adjoints[x].tolist() == [0.0, 12.0]
    assert planes_of(adjoints, x) is None


def test_what_is_returned_twice_has_the_sum_of_both_rows():
    def f(x):
        y = x * x
        return y, y, 3.0 * y

    rows = codipy.jacobian(f, mode="reverse")(np.array([1.0, 2.0, 3.0]))
    for row, factor in zip(rows, (2.0, 2.0, 6.0)):
        assert np.array_equal(row, np.diag([factor, 2.0 * factor, 3.0 * factor]))


def product(left, right, swap):
    return right.T @ left.T if swap else left @ right


def sweeps(matrix, x, swap, forward, seeds):
    """What a sweep in all directions gives, and sweeps in one after the other."""
    tape = codipy.Tape()
    with tape:
        a = tape.register_input(x)
        y = tape.register_output(product(matrix, 0.5 * a, swap))
    into, out = (a, y) if forward else (y, a)
    found = []
    for columns in ([slice(None)], [slice(k, k + 1) for k in range(seeds.shape[-1])]):
        for column in columns:
            seed = seeds[..., column]
            adjoints = tape.new_adjoints(seed.shape[-1])
            adjoints[into] = (seed if seed.shape[-1] > 1 else seed[..., 0]).reshape(
                into.shape + (() if seed.shape[-1] == 1 else seed.shape[-1:]))
            (tape.evaluate_forward if forward else tape.evaluate)(adjoints=adjoints)
            found.append(adjoints[out])
    return found[0], np.stack(found[1:], axis=-1)


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("shape", [(24,), (24, 3)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_products_with_unit_directions_have_the_bits_of_single_sweeps(shape, order, swap, forward):
    draw = np.random.default_rng(7)
    matrix, x = np.asarray(draw.standard_normal((30, 24)), order=order), draw.standard_normal(shape)
    size = x.size if forward else 30 * x.size // 24
    seeds = np.eye(size)[:, draw.permutation(size)] * draw.standard_normal(size)
    together, single = sweeps(matrix, x, swap, forward, seeds)
    assert np.array_equal(together, single)
    assert np.count_nonzero(together) == size * (30 if forward else 24)


@pytest.mark.parametrize("forward", [True, False])
def test_directions_with_two_numbers_are_multiplied_as_matrices(forward):
    draw = np.random.default_rng(8)
    matrix, size = draw.standard_normal((40, 24)), 24 if forward else 40
    for row in (1, size - 1):        # found at once, and at the end
        seeds = np.eye(size)
        seeds[row, 0] = 2.0
        together, single = sweeps(matrix, draw.standard_normal(24), False, forward, seeds)
        np.testing.assert_allclose(together, single, rtol=1e-14)


@pytest.mark.parametrize("number", [np.inf, np.nan])
def test_what_is_not_finite_is_not_left_out_of_a_product(number):
    matrix = np.ones((24, 24))
    matrix[2, 3] = number
    together, single = sweeps(matrix, np.ones(24), False, True, np.eye(24))
    assert np.array_equal(together, single, equal_nan=True)
    assert np.isnan(together[2]).sum() >= 23
