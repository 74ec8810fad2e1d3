# SPDX-License-Identifier: Apache-2.0
"""Calls that random calls of NumPy's functions have found: values, types, dtypes and shapes are the plain run's."""

import warnings

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

X = np.arange(1.0, 25.0) / 10.0
CALLS = [
    "np.polyadd(x[:9].reshape(3, 3), x[9:18].reshape(3, 3))", "np.polysub(np.eye(3), x[:2])", "np.fft.fftn(x[3])",
    "np.linalg.tensordot(np.eye(3), z[:9].reshape(3, 3))", "np.tensordot(z[0], z[1], axes=0)", "z[:4].flat[1:3]",
    "np.amax([0.5, 1.5, 2.5], out=z[5:6].reshape(()))", "np.histogramdd([s[1], s[2], s[3]])",
    "np.histogramdd(s[:0], weights=s[:0])", "np.arctan(x[5], dtype=None)", "np.arctan(x[5], dtype=np.float32)",
    "np.add(x[5], x[4], dtype=np.float32)", "np.sin(x[5], where=True)", "x.reshape(2, 3, 4).T.item(-1) * np.ones(2)",
    "x[5].argmax(out=np.zeros((), np.int64))",
    *(f"np.{name}.reduce(x[3], {given})" for name in ("add", "minimum", "logaddexp", "hypot")
      for given in ("initial=-5", "axis=()", "axis=0", "keepdims=True", "dtype=np.float32")),
]  # fmt: skip
REFUSED = [
    "np.polydiv(x[:4].reshape(2, 2), np.ones((3, 1)))", "np.polyder(z.reshape(3, 4, 2))", "np.sin(x[0], where=False)",
    "np.heaviside.reduce(s[5])", "np.intersect1d(x[:4], np.eye(3), assume_unique=True)",
]  # fmt: skip


def function(text):
    module = {"np": np, "__name__": "calls"}
    exec(f"def f(x):\n    z = x * (1.0 + 2.0j)\n    s = (x * 1.0).astype(np.float32)\n    return {text}", module)
    return module["f"]


def parts(y):
    return [q for part in y for q in parts(part)] if isinstance(y, (tuple, list)) else [y]


@pytest.mark.parametrize("text", CALLS)
def test_a_call_is_the_plain_run_s(text):
    f = function(text)
    with codipy.Tape() as tape:
        found = parts(codipy.rebind(f)(tape.register_input(codipy.Array(X.copy()))))
        for y, plain in zip(found, parts(f(X.copy())), strict=True):
            value = codipy.value(y)
            assert isinstance(value, np.ndarray) == isinstance(plain, np.ndarray) and value.dtype == plain.dtype
            assert np.shape(value) == np.shape(plain) and np.array_equal(value, plain)


@pytest.mark.parametrize("text", REFUSED)
def test_a_call_is_refused(text):
    f = function(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f(X.copy())
    with codipy.Tape() as tape, pytest.raises(ActiveError):
        codipy.rebind(f)(tape.register_input(codipy.Array(X.copy())))
