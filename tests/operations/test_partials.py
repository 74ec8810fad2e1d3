# SPDX-License-Identifier: Apache-2.0
"""First partials against differences of the value, second against differences of the first, C against the twin."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codipy._testing import kernels as c
from codipy.operations import BY_NAME, TABLE, helpers

from .sampling import anywhere, bits, inside, names, slope

PAIRS = [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)]


def value(row, point):
    return c.value(row.name, *point)


def partials(row, point):
    return c.partials(row.name, value(row, point), *point)


def along(function, point, k):
    """The function of one argument that is left when the others are held."""
    return lambda x: function((*point[:k], x, *point[k + 1 :]))


def step(row, x, k):
    """Short of the nearest zero and of the ends of the domain, beyond which the function may have a singularity."""
    low, high = row.domain[k]
    return 0.05 * min(1.0, max(abs(x), 0.01), max(x - low, abs(low) / 5, 0.01), max(high - x, 0.01))


def agrees(derivative, reference):
    """Whether a derivative is as near to the differences as these are to the truth."""
    best, error = reference
    size = max(1.0, abs(derivative))
    assert error <= 1e-5 * size, "the differences did not converge: the point says nothing"
    return abs(derivative - best) <= 20 * error + 2e-9 * size


SMOOTH = [row for row in TABLE if row.name != "single"]  # whose value has steps


@pytest.mark.parametrize("row", SMOOTH, ids=names(SMOOTH))
def test_first_partials(row):
    for point in inside(row, 40):
        p = partials(row, point)
        for k in set(range(row.arity)) - set(row.constant):
            reference = slope(along(lambda q: value(row, q), point, k), point[k], step(row, point[k], k))
            assert agrees(p[k], reference), (point, k, p[k], reference)


@pytest.mark.parametrize("row", TABLE, ids=names())
def test_second_partials(row):
    for point in inside(row, 40, seed=2):
        h = c.second(row.name, value(row, point), *point)
        for (i, j), second in zip(PAIRS, h, strict=False):
            if j not in row.constant:
                reference = slope(along(lambda q, i=i: partials(row, q)[i], point, j), point[j], step(row, point[j], j))
                assert agrees(second, reference), (point, i, j, second, reference)


@pytest.mark.parametrize("row", TABLE, ids=names())
def test_the_twin_computes_the_same_derivatives(row):
    for point in inside(row, 150) + [q for q in anywhere(row, 150) if all(map(math.isfinite, q))]:
        w = value(row, point)
        found = [*c.partials(row.name, w, *point), *c.second(row.name, w, *point)]
        for text, derivative in zip(row.partials + row.second, found, strict=True):
            twin = helpers.evaluate(text, *point, *[0.0] * (3 - row.arity), w)
            same = bits(twin) == bits(derivative) or math.isclose(twin, derivative, rel_tol=1e-14, abs_tol=1e-300)
            assert same, (point, text, derivative, twin)


@pytest.mark.parametrize("row", TABLE, ids=names())
def test_one_partial_alone_is_the_same(row):
    for point in inside(row, 20) + anywhere(row, 20):
        w = value(row, point)
        alone = [c.partial(row.name, k, w, *point) for k in range(row.arity)]
        assert list(map(bits, alone)) == list(map(bits, c.partials(row.name, w, *point)))


@given(base=st.floats(0.01, 100), exponent=st.sampled_from([2, 3, 4, 5, 7, -1, -2, -3, 0, 1, 0.5, 1.5, -0.5, 2.5]))
def test_power_short_cuts_are_exact(base, exponent):
    """Against the textbook formula, which calls pow a second time."""
    p = c.partial("power", 0, base**exponent, base, exponent)
    assert math.isclose(p, exponent * base ** (exponent - 1), rel_tol=1e-15)


@pytest.mark.parametrize(("exponent", "slope_at_2"), [(2.0, 4.0), (3.0, 12.0), (4.0, 32.0), (-1.0, -0.25), (1.0, 1.0)])
def test_power_of_whole_numbers_is_exact(exponent, slope_at_2):
    assert c.partial("power", 0, 2.0**exponent, 2.0, exponent) == slope_at_2


def test_power_of_negative_bases():
    """In x the derivative of a whole power exists, in y it does not."""
    assert c.partial("power", 0, -8.0, -2.0, 3.0) == 12.0
    assert c.partial("power", 0, 16.0, -2.0, 4.0) == -32.0
    assert math.isnan(c.partial("power", 1, -8.0, -2.0, 3.0))


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("tanh", (15.0,), 4 * math.exp(-30) / (1 + math.exp(-30)) ** 2),
        ("tanh", (-15.0,), 4 * math.exp(-30) / (1 + math.exp(-30)) ** 2),
        ("expit", (30.0,), math.exp(-30) / (1 + math.exp(-30)) ** 2),
        ("expit", (-30.0,), math.exp(-30) / (1 + math.exp(-30)) ** 2),
        ("expm1", (-40.0,), 4.248354255291589e-18),
        ("asin", (1 - 2**-40,), 1 / math.sqrt(2**-40 * (2 - 2**-40))),
        ("acosh", (1 + 2**-40,), 1 / math.sqrt(2**-40 * (2 + 2**-40))),
        ("lgamma", (1.4616321449683622,), -9.549995429965697e-17 * 0.9676722454476212),
    ],
)
def test_nothing_cancels(name, arguments, expected):
    assert math.isclose(c.partials(name, c.value(name, *arguments), *arguments)[0], expected, rel_tol=1e-14)


@pytest.mark.parametrize("name", ["mod", "fmod", "remainder"])
def test_quotients_are_whole(name):
    row = BY_NAME[name]
    for point in inside(row, 500):
        assert partials(row, point)[1] == round(partials(row, point)[1])
