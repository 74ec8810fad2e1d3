# SPDX-License-Identifier: Apache-2.0
"""Functions of NumPy and SciPy that are called with Reals only: arrays of Reals are Arrays."""

import itertools

import numpy as np
import pytest

import codipy
from codipy.active.array import Array
from codipy.errors import ActiveError

TEXTS = [
    "np.stack([r, s])", "np.stack([r, 2.0, s * s])", "np.where(True, r, s)", "np.where([True, False], r, s)",
    "np.linspace(r, s, 5)", "np.geomspace(r, 4.0, 3)", "np.hstack([r, 1.0, s])",
    "np.atleast_1d(r)", "np.reshape(r, (1, 1))",
    "np.full((2, 2), r) * 1.0", "np.broadcast_to(r, (2,))", "np.clip(r, 0.0, s)", "np.max(np.stack([r, s]))",
    "np.append(r, s)", "np.interp(r, [0.0, 1.0, 2.0], [1.0, 4.0, 9.0])", "np.interp(r, [0, 1, 2], [1, 4, 9])",
    "np.polyval([1.0, 2.0, 3.0], r)", "np.i0(r)",
    "np.heaviside(0.0, r)", "np.logaddexp2(r, s)", "np.add(r, [1.0, 2.0])", "np.outer(r, [1.0, 2.0])", "np.dot(r, s)",
    "np.cross(np.stack([r, s, r]), [1.0, 2.0, 3.0])", "np.emath.sqrt(r)",
    "np.trapezoid(np.stack([r, s]))",
    "np.nan_to_num(r)", "np.sinc(r)",
]  # fmt: skip
VALUES = {"r": 0.6, "s": 1.7}


def total(tree):
    """A smooth function of every element."""
    parts = [y * y for y in tree.ravel()] if isinstance(tree, (Array, np.ndarray)) else [tree * tree]
    return sum(parts)


@pytest.mark.parametrize("text", TEXTS)
def test_gradient(text):
    tape = codipy.Tape()
    with tape:
        active = {name: tape.register_input(value) for name, value in VALUES.items()}
        y = tape.register_output(total(eval(text, {"np": np, **active})))
    y.gradient = 1.0
    tape.evaluate()
    for name, x in active.items():
        high, low = (
            total(eval(text, {"np": np, **VALUES, name: VALUES[name] + step})) for step in (1e-6, -1e-6)
        )
        assert x.gradient == pytest.approx((high - low) / 2e-6, rel=1e-6, abs=1e-8)
    assert y.value == pytest.approx(total(eval(text, {"np": np, **VALUES})), rel=1e-15)


@pytest.mark.parametrize(
    "text", ["special.ndtr(r)", "special.jv(1.5, r)", "special.xlogy(r, s)", "special.gammainc(2.0, s)"]
)
def test_scipy(text):
    special = pytest.importorskip("scipy.special")
    tape = codipy.Tape()
    with tape:
        active = {name: tape.register_input(value) for name, value in VALUES.items()}
        y = tape.register_output(eval(text, {"special": special, **active}))
    assert isinstance(y, codipy.Real)
    assert y.value == eval(text, {"special": special, **VALUES})
    y.gradient = 1.0
    tape.evaluate()
    high, low = (eval(text, {"special": special, **{k: v + e for k, v in VALUES.items()}}) for e in (1e-6, -1e-6))
    assert sum(x.gradient for x in active.values()) == pytest.approx((high - low) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("name", ["multiply", "add", "logaddexp", "arctan2", "maximum"])
def test_outer_with_a_plain_array_is_an_array(name):
    c, outer = np.linspace(0.3, 1.1, 4), getattr(np, name).outer
    for f in (lambda v: outer(c, v), lambda v: outer(v, c), lambda v: outer(c.reshape(2, 2), v)):
        tape = codipy.Tape()
        with tape:
            r = tape.register_input(0.6)
            y = f(r)
            assert type(y) is Array
            tape.register_output(y)
            passive = f(codipy.Real(0.6))
        assert type(passive) is Array and not passive.is_active
        assert y.value.tobytes() == f(0.6).tobytes() == passive.value.tobytes()
        y.gradient = 1.0
        tape.evaluate()
        assert r.gradient == pytest.approx(np.sum(f(0.6 + 1e-6) - f(0.6 - 1e-6)) / 2e-6, rel=1e-6)


def test_a_real_and_an_array_in_any_order():
    tape = codipy.Tape()
    with tape:
        r, x = tape.register_input(2.0), tape.register_input(np.array([1.0, 3.0]))
        y = tape.register_output(np.multiply(r, x) + np.multiply(x, r) + np.float64(2.0) * x)
    assert isinstance(y, Array)
    y.gradient = 1.0
    tape.evaluate()
    assert r.gradient == 8.0
    assert x.gradient.tolist() == [6.0, 6.0]


def test_comparisons_and_places_are_plain():
    tape = codipy.Tape()
    with tape:
        r = tape.register_input(2.0)
        assert np.isclose(r, 2.0) is np.True_
        assert np.searchsorted([1.0, 3.0], r) == 1
        assert np.round(r) == 2.0
        assert np.shape(r) == ()
        assert np.ndim(r) == 0


POINTS = [(0.4, 1.7, 0.9, 2.3), (2, 0.4, 0.3, 0.2), (1, 2, 0.4, 0.3), (3, 1, 0.5, 0.5)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", ["a number", "a list"])
def test_functions_of_scipy_special_are_right_or_refuse(form):
    """Those written in Python end in compiled loops, whose own TypeError names neither the Real nor a way out."""
    special, functions = pytest.importorskip("scipy.special"), pytest.importorskip("codipy.scipy").special
    ours = [name for name in special.__all__ if not isinstance(getattr(special, name), (np.ufunc, type))]
    refused = 0
    for name, point, n in itertools.product(ours, POINTS, range(1, 5)):
        for k in [k for k in range(n) if isinstance(point[k], float)]:
            try:
                plain = getattr(special, name)(*put(point[:n], k, point[k], form))
            except Exception:
                continue  # takes other arguments
            with codipy.Tape() as tape:
                x = tape.register_input(point[k])
                try:
                    found = getattr(functions, name)(*put(point[:n], k, x, form))
                except ActiveError:
                    refused += 1
                    continue
            np.testing.assert_equal(codipy.value(found), plain, name)
    assert refused > 50


def put(point, k, x, form):
    return [*point[:k], x if form == "a number" else [x, x], *point[k + 1 :]]
