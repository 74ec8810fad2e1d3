# SPDX-License-Identifier: Apache-2.0
"""Expressions wait, but never past somebody who listens: who catches, records or is called hears what NumPy says where
it would be said, and the program takes the branch of the plain run."""

import io
import warnings

import numpy as np
import pytest

import codipy
from tests.strategies import STRATEGIES

X = np.array([4.0, 0.0, -1.0, 2.0])


def caught_error(x):
    with np.errstate(all="raise"):
        try:
            y = np.log(x)
        except FloatingPointError:
            y = np.log(np.abs(x) + 2.0)
    return y


def caught_warning(x):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            y = 1.0 / x
        except RuntimeWarning:
            y = x * 3.0
    return y


def filter_without_context(x):
    """A list of filters that is changed in place, and put back."""
    warnings.filterwarnings("error", category=RuntimeWarning)
    try:
        y = np.sqrt(x)
    except RuntimeWarning:
        y = x * 5.0
    finally:
        warnings.filters.pop(0)
        warnings._filters_mutated()
    return y


def counted(x):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        y = np.log(x) + 1.0 / x
    return np.where(np.isfinite(y), y, 0.0) * len(found)


def shown(x):
    heard, old = [], warnings.showwarning
    warnings.showwarning = lambda *said: heard.append(said)
    try:
        y = np.sqrt(x)
    finally:
        warnings.showwarning = old
    return x * len(heard) + np.where(x > 0.0, y, 0.0)


def called(x):
    heard = []
    with np.errstate(all="call", call=lambda kind, flag: heard.append(kind)):
        y = 1.0 / x
        count = len(heard)
    return np.where(x != 0.0, y, 0.0) * count


def logged(x):
    log = io.StringIO()
    with np.errstate(all="log", call=log):
        y = np.sqrt(x)
        count = len(log.getvalue())
    return np.where(x > 0.0, y, 0.0) * count


def set_by_function(x):
    old = np.seterr(invalid="raise")
    try:
        y = np.log(x) * 2.0
    except FloatingPointError:
        y = x + 1.0
    finally:
        np.seterr(**old)
    return y


def written_before(x):
    """What waits when a context begins does not warn or raise inside of it."""
    y = 1.0 / x
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            z = y * 2.0
            z.sum()
        except RuntimeWarning:
            z = x
    with np.errstate(all="raise"):
        try:
            w = np.maximum(np.sqrt(x), 0.0) if len(z) == 3 else z
        except FloatingPointError:
            w = x
    return np.where(np.isfinite(w), w, 1.0)


def in_an_assignment(x):
    """NumPy raises before it writes."""
    y = x * 2.0
    with np.errstate(all="raise"):
        try:
            y[1:] = np.log(x[1:])
        except FloatingPointError:
            y[:1] = y[:1] * 7.0
    return y


def in_a_single(x):
    """The overflow is that of the cast."""
    y = x * 1e38
    with np.errstate(all="raise"):
        try:
            z = (y * 1e3).astype(np.float32).astype(np.float64)
        except FloatingPointError:
            z = x * 11.0
    return z


PROGRAMS = [caught_error, caught_warning, filter_without_context, counted, shown, called, logged, set_by_function,
            written_before, in_an_assignment, in_a_single]  # fmt: skip


def plain(program, x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return program(x.copy())


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_branch_of_the_plain_run(program):
    """The gradient is compared with differences of the plain program."""
    h = 1e-6
    expected = plain(program, X)
    slopes = np.stack([(plain(program, X + h * e) - plain(program, X - h * e)) / (2.0 * h) for e in np.eye(4)], axis=1)
    smooth = [0, 2, 3]
    weights = np.array([1.0, 0.5, 0.25, 2.0])
    for rebind in (True, False):
        for strategy in STRATEGIES:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found, gradient = codipy.value_and_grad(
                    lambda x: (program(x) * weights).sum(), strategy=strategy, rebind=rebind
                )(X)
            assert found == (expected * weights).sum(), strategy
            assert np.allclose(gradient[smooth], (weights @ slopes)[smooth], rtol=1e-5), strategy
