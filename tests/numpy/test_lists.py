# SPDX-License-Identifier: Apache-2.0
"""Functions of codipy.numpy called with lists of Reals and of Arrays, into which NumPy's protocols do not look."""

import numpy
import pytest

import codipy
import codipy.numpy as np
from codipy.active.array import Array
from codipy.errors import ActiveError
from codipy.numpy.lists import FUNCTIONS
from tests.numpy.active_text import check

LONG = "[r * 0.1, s, 3.3, r * 0.07, s * s, 0.7, r, s, 1e-3, r * s, 2.0, s, r]"  # NumPy adds floats pairwise
TEXTS = [
    "np.sum([a, b])", "np.sum([a, b], axis=0)", "np.sum((r, s))", "np.sum([[r, 1.0], [2.0, s]], 1)",
    "np.sum([[a, b], [b, [1.0, r, s]]], axis=(0, 2))", "np.mean([a, b], axis=1)", "np.mean([r, s, 4.0])",
    "np.max([r, s, 0.1])", "np.min([a, b], axis=0)", "np.prod([r, s])", "np.std([r, s, 3.0])",
    "np.var([a, b], axis=0, ddof=1)", "np.median([a, b])", "np.median([s, r, 3.0])", "np.dot([r, s], [1.0, 2.0])",
    "np.dot([a, b], a)", "np.inner([r, s, 1.0], a)", "np.outer([r, s], [1.0, 2.0])", "np.vdot([a, b], [b, a])",
    "np.cumsum([r, s, 2.0])", "np.cumprod([r, s])", "np.diff([r, s, 3.0])", "np.trapezoid([r, s], [0.0, 1.0])",
    "np.trapezoid([1.0, 2.0, 4.0], x=[0.0, r, s])", "np.interp([r, s], [0.0, 1.0, 2.0], [2.0, 3.0, 5.0])",
    "np.polyval([r, 1.0, s], 0.3)", "np.cross([r, s, r], [1.0, 2.0, 3.0])", "np.einsum('i,ij', [r, s], [a, b])",
    "np.sort([s, r])", "np.percentile([s, r, 3.0], 40)", "np.reshape([r, s, 1.0, 2.0], (2, 2))", "np.transpose([a, b])",
    "np.ravel([a, b])", "np.flip([r, s])", "np.roll([r, s, 1.0], 1)", "np.tile([r, s], 2)", "np.repeat([r, s], 2)",
    "np.diag([r, s])", "np.atleast_2d([r, s])", "np.squeeze([[r, s]])", "np.take([r, s], [1, 1])",
    "np.where([True, False], [r, 1.0], [2.0, s])", "np.clip([r, s], 0.0, 1.0)", "np.append([r], [s])",
    "np.concatenate([[r], [s, 1.0]])", "np.concatenate(([r, s], a))", "np.stack([[r, s], [1.0, 2.0]], axis=1)",
    "np.hstack([[r, s], a])", "np.vstack([a, [r, s, 1.0]])", "np.column_stack([a, [1.0, r, s]])", "np.block([[r, s]])",
    "np.cov([a, b])", "np.tensordot([a, b], [a, b], axes=([1], [1]))", "np.average([r, s], weights=[s, 2.0])",
    "np.gradient([r, s, 4.0, s * r])", "np.ptp([r, s, 1.0])", "np.nanmean([r, numpy.nan, s])",
    "np.kron([r, s], [1.0, s])",
    "np.linalg.solve([[r, 1.0], [0.5, s]], [1.0, r])", "np.linalg.inv([[r, 1.0], [0.5, s]])",
    "np.linalg.det([[r, s], [s, r]])",
    "np.linalg.norm([r, s])", "np.linalg.norm([a, b], axis=1)", "np.linalg.eigvalsh([[r, 0.1], [0.1, s]])",
    "np.linalg.multi_dot([m, m.T, [r, s]])", "np.linalg.lstsq([[r, 1.0], [0.5, s], [1.0, 1.0]], [1.0, r, s])[0]",
    f"np.sum({LONG})", f"np.mean({LONG})", f"np.var({LONG})", f"np.std({LONG})",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_value_and_gradient(text):
    check(text, numpy=numpy)


def test_places_and_truth():
    tape = codipy.Tape()
    with tape:
        a, r = tape.register_input(numpy.array([0.3, 1.2])), tape.register_input(0.6)
        assert np.argmax([r, 0.3, 1.0]) == 2 and np.argsort([r, 0.3]).tolist() == [1, 0]
        assert np.shape([a, a]) == (2, 2) and np.ndim([a, a]) == 2 and np.size([a, [r, r]]) == 4
        assert np.any([a > 1.0]) and np.isclose([r], [0.6]).tolist() == [True]
        assert np.digitize([r], [0.5]).tolist() == [1]


def test_lists_that_are_trees_are_left_alone():
    tape = codipy.Tape()
    with tape:
        a, r = tape.register_input(numpy.array([0.3, 1.2, 2.0])), tape.register_input(0.6)
        chosen = np.select([a < 0.5, a < 1.5], [r, a], default=0.0)
        pieces = np.piecewise(a, [a < 1.0, a >= 1.0], [lambda x: x * r, 3.0])
        joined = np.block([a, r])
    assert chosen.value.tolist() == [0.6, 1.2, 0.0] and chosen.is_active
    assert pieces.value.tolist() == [0.3 * 0.6, 3.0, 3.0]
    assert joined.value.tolist() == [0.3, 1.2, 2.0, 0.6]


def test_outside_of_a_recording_and_inside_of_passive_they_are_numpy():
    assert type(np.sum([1.0, 2.0])) is numpy.float64 and type(np.sort([2.0, 1.0])) is numpy.ndarray
    tape = codipy.Tape()
    with tape:
        a = tape.register_input(numpy.array([0.3, 1.2]))
        with codipy.passive():
            assert np.sum([a, a]) == 3.0 and np.sum([a, a], axis=0).tolist() == [0.6, 2.4]
    assert np.sum([codipy.Array([1.0]), codipy.Array([2.0])]) == 3.0


def test_functions_look_like_numpys():
    assert np.sum.__name__ == "sum" and np.sum.__doc__ == numpy.sum.__doc__ and np.sum.__wrapped__ is numpy.sum
    assert {"sum", "concatenate", "median", "argmax", "reshape"} <= FUNCTIONS.keys()
    with pytest.raises(ValueError, match="inhomogeneous"):
        np.sum([codipy.Array([1.0]), codipy.Array([2.0, 3.0])])


def test_without_codipys_namespace_a_list_of_arrays_is_an_error_with_the_fix():
    tape = codipy.Tape()
    with tape:
        a = tape.register_input(numpy.array([0.3, 1.2]))
        for function in (numpy.sum, numpy.mean, numpy.exp):
            with pytest.raises(ActiveError, match=r"np\.stack"):
                function([a, a])
        assert type(numpy.sum(numpy.stack([a, a]), axis=0)) is Array


def test_rebound_linalg():
    from numpy import linalg
    from numpy.linalg import solve

    def f(x):
        import numpy.linalg as la

        matrix = [[x[0], 1.0], [0.5, x[1]]]
        determinant, first = linalg.det(matrix), numpy.linalg.inv(matrix)[0, 0]
        return solve(matrix, [1.0, x[2]])[0] + determinant + la.norm([x[0], x[1]]) + first

    x = numpy.array([3.0, 0.7, 1.0])
    value, slope = codipy.value_and_grad(f)(x)
    assert value == f(x)
    step = 1e-6 * numpy.eye(3)
    assert slope == pytest.approx(numpy.array([(f(x + h) - f(x - h)) / 2e-6 for h in step]), rel=1e-7)
    with pytest.raises(numpy.linalg.LinAlgError):
        codipy.grad(lambda x: numpy.linalg.inv([[x[0], x[0]], [x[0], x[0]]])[0, 0])(x)


def test_rebound_code():
    def f(x):
        pair = [x[0] * x[1], x[2]]
        return numpy.sum([x, 2.0 * x]) + numpy.max(pair) + numpy.linalg.norm(numpy.mean([x, x], axis=0))

    value, slope = codipy.value_and_grad(f)(numpy.array([3.0, 0.5, 1.0]))
    assert value == f(numpy.array([3.0, 0.5, 1.0]))
    size = numpy.sqrt(10.25)
    assert slope == pytest.approx(numpy.array([3.5 + 3 / size, 6.0 + 0.5 / size, 3.0 + 1 / size]))
