# SPDX-License-Identifier: Apache-2.0
"""Calls that random calls of NumPy's functions have found: values, types, dtypes and shapes are the plain run's."""

import re
import warnings

import numpy as np
import pytest
from scipy import special

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
    "np.fromiter(s[:3], None)", "np.fromiter(z[:3], complex)", "np.fromiter(z[:3], float)", "np.fromiter(s[:3], float)",
    "np.fromiter((v * 1j for v in x[:3]), complex, 2)", "np.linalg.tensorsolve(z[0], z[1])",
    "np.polyder(x.reshape(2, 3, 4).transpose(1, 2, 0))", "np.polyder(x.reshape(2, 3, 4).transpose(1, 2, 0), 0)",
    "np.bincount([x[8], x[12], 2])", "np.lib.stride_tricks.as_strided(s[0], (3,), (0,))",
    *(f"np.polynomial.polynomial.{name}([0.5, {v}], [1.5, 2], [[{v}, x[1]], [1, 2]])"
      for name in ("polyval2d", "polygrid2d") for v in ("x[0]", "s[0]")),
    "np.vectorize(lambda a, b: a * b / 3)(s[:3], [[s[0], 2, s[1]], [1.1, x[1], s[2].item()]])",
    "z[:4].put([0.5, 1.5], [0.5, 1.5]) or z[:4]", "np.apply_over_axes(np.max, x[5], 0)",
    "np.apply_over_axes(np.sum, x[:4].reshape(2, 2), [0, -1])", "np.full_like([s[0], s[1]], s[3], shape=(2, 3))",
    "np.zeros_like([s[0], s[1]])", "np.ones_like([z[0], 1])", "np.empty_like([x[0]]).shape[0] * x[0]",
    "np.linspace(np.arange(3), x[9] + 4, retstep=True)", "np.linspace(x[0], x[:3], 4, axis=1)",
    "np.can_cast(x[:0], (x[1], x[2])) * x[0]", "np.log(np.broadcast_to(x[:3], (2, 3)), out=None, dtype=np.float64)",
    *(f"np.{name}.outer({given})" for given in ("x[0], x[1]", "0.5, x[1]", "x[0].item(), 0.5", "s[0], x[1]")
      for name in ("heaviside", "power", "copysign", "divmod", "logaddexp", "arctan2", "fmod", "add", "nextafter")),
    *(f"np.piecewise({a}[:9].reshape(3, 3).T, [[True, False, True]], [lambda t: t * t.shape[-1], 0.5])" for a in "xz"),
    *(f"np.matmul({a}.reshape(2, 3, 4), {a}[:12].reshape(4, 3)[:, ::-1], order='F')" for a in "xz"),
    "np.square(z[:12].reshape(3, 4)[::2, 1::2], out=(z * 0.0)[:4].reshape(2, 2).T)",
    "np.matmul(x.reshape(2, 3, 4), x[:12].reshape(4, 3)[:, ::-1], out=(x * 0.0)[:18].reshape(3, 3, 2).T)",
    "(np.fft.fftn(np.array(1.5), out=x[:1].reshape(())), x[0])",
    "np.random.default_rng(7).permutation(z.reshape(2, 3, 4).T).ravel('K')",
    "np.random.default_rng(7).permutation(x.reshape(2, 3, 4).T, axis=1).ravel('K')",
    "(lambda u: np.random.default_rng(7).shuffle(u) or u)(z.reshape(6, 4).T)", "np.polymul(s[:0], s[:4])",
    "(lambda u: np.random.default_rng(7).shuffle(u, axis=1) or u)(z.reshape(6, 4)[::-1])",
    "special.eval_gegenbauer(np.array([True, False]), 0.5, x[:2], dtype=float)",
    *(f"np.power(x + {c}, s[::-1])" for c in (0.25, 0.375, 0.5, 2.0)),
    "np.linspace(1, x[9] + 4, retstep=True, dtype=complex)[1]", "np.geomspace([s[0], 1.5, 2], x[9] + 4, 4, False)",
    "np.polynomial.polynomial.polygrid2d(s[:3], 2, s[:12].reshape(4, 3))",
    "np.expm1.at(x[:1].reshape(()), ...) or x[0]",
    *(f"np.gradient({a}[:3], np.array([7, 4, 1], np.uint8))" for a in "xzs"),
    "z.reshape(2, 3, 4).item((3,)) * np.ones(1)", "z[:4].clip(0.2)", "x[5].fill(3) or x[5]",
    "np.polymul((z[1], z[2]), ())",
    "np.polynomial.polynomial.polygrid2d(x[4], x[:4], s[2])", "np.put(x[:1], [0, 7], x[:0]) or x[0]",
    "np.log.at(z[:1].reshape(()), ()) or z[0]", "special.eval_gegenbauer(range(3), [0.5, 1.5, 2.5], x[5], dtype=float)",
    "special.jv(x[5], z[:3], dtype=complex)", "np.zeros_like(x, dtype=np.float16)",
]  # fmt: skip
if "ndmax" in (np.array.__doc__ or ""):
    CALLS += ["np.array(x[:3], ndmax=1)", "np.array([z[0], 2], ndmax=1)", "np.array([[x[0], 2]], ndmax=2)"]
SLOPES = [
    "np.amin(s[:4], axis=()).sum()", "np.amax(s[5], out=None)", "np.amin(x[:4], axis=(0,))",
    "np.polydiv(x[0], x[1])[0][0]", "np.polydiv(x[:1].reshape(()), x[1])[0][0]",
    "np.polyder(x.reshape(2, 3, 4).transpose(1, 2, 0)).sum()",
    "np.linspace(np.arange(3), x[9] + 4, 5, retstep=True)[1] @ np.ones(3)", "np.linspace(x[0], x[:3], 4).sum()",
    "np.corrcoef(x[:0].reshape(0, 3), y=x[:3].reshape(3, 1)).sum() + x[0]", "np.power.outer(x[0], x[1])",
    "np.histogram_bin_edges(x, range=(0, x[2])) @ np.arange(11.0)", "np.histogram_bin_edges(x, 2, x[:2])[1]",
    "np.histogram2d(x, x, 2, range=[[0, x[2]], [0, 1]])[1].sum()",
    "np.arange(x[4:5].reshape(()), stop=x[9] + 4.0)[:4].sum()", "np.arange(x[4] + 2.0, None)[2] * x[4]",
    "np.interp(x[0] + 0.7, np.arange(3, dtype=np.uint8), np.array([3, 2, 1], np.uint8))",
    "np.gradient(x[:3], np.array([7, 4, 1], np.uint8))[0]", "np.power(z[:3], np.arange(3, dtype=np.uint8)).real.sum()",
    *(f"special.{text}.sum()" for text in ("jv(np.arange(3, dtype=np.uint8), x[:3])", "gdtrc(np.True_, x[:3], x[3:6])",
      "iv(np.arange(3, dtype=np.uint8), z[:3]).imag", "kn(np.arange(3, dtype=np.uint8), x[3:6])",
      "agm(np.arange(3.0), x[:3])")),
    "np.piecewise(z[:9].reshape(3, 3).T, [[True, False, True]], [lambda t: t * t[0], 0.5]).imag.sum()",
    "np.piecewise(x[:9].reshape(3, 3).T, [[True, False, True]], [lambda t: t * t[0], 0.5]).sum()",
    "np.fromiter(z[:3], complex).imag.sum()", "np.fromiter(z[:3], float).sum()", "np.copysign.outer(x[0], 0.5)",
]  # fmt: skip
REFUSED = [
    "np.polydiv(x[:4].reshape(2, 2), np.ones((3, 1)))", "np.polyder(z.reshape(3, 4, 2))", "np.sin(x[0], where=False)",
    "x * np.longdouble(1.5)", "z[0] * np.longdouble(1.5)", "np.where(x > 1, x, np.longdouble(2))",
    "z[:3] + np.arange(3, dtype=np.longdouble)", "np.average(x[:3], weights=np.arange(3, dtype=np.longdouble))",
    "np.append(x, np.longdouble(2))", "np.sum(np.arange(3, dtype=np.longdouble), initial=x[0])",
    "np.sum(z, dtype=np.clongdouble)", "np.prod(z[:2], None, np.float64)", "np.sum(x, initial=z[0])",
    "np.nanmin([0.5, 1.5], axis=(), initial=z[7])", "np.cumsum(z[:3], out=np.zeros(3))",
    "np.cumprod(x[:3], out=z[:3])", "np.add.accumulate(z[:3], out=np.zeros(3))",
    "np.float64(z[0])", "np.float32(z[:3])", "np.max(z, out=np.zeros(()))",
    "np.add.reduce(z, out=np.zeros(()))", "np.array([x[0]], np.float16)",
    "np.full(3, x[0], np.float16)", "np.arange(x[0], 3, dtype=np.float32)",
    "s[:6].mean(dtype=float, out=s[6:7].reshape(()))",
    "z[:4].sum(dtype=np.float32)", "np.heaviside.reduce(s[5])", "np.intersect1d(x[:4], np.eye(3), assume_unique=True)",
]  # fmt: skip

RAISED = [
    "np.bitwise_and.at(x, [], 1)", "np.lcm.at(x, np.zeros(0, int), 1)", "np.tan.at(x[0], ())",
    "np.add.at(x[0], ..., 1.0)", "np.histogramdd(x.reshape(2, 3, 4))", "np.histogramdd([x[:4].reshape(2, 2)])",
    "np.polyder(z[0])", "np.polyint(z[0])",
    "np.polyint(z[:2], 3, [1, 2j])", "x.__setitem__(0, [x[1]])", "x.__setitem__(0, np.ones(1))",
    "x.__setitem__(np.int64(0), np.ones((1, 1)))", "np.polynomial.hermite_e.hermeint(x[:3], 1, np.ones((1, 1, 1)))",
]  # fmt: skip


WRONG = [
    "np.clip(z, 0.1, None, min=0.2)", "np.ldexp(x[:3], x[:3])", "np.ldexp(x[:3], [0.5])",
    "np.ldexp(x[:3], np.uint64(3))",
    "np.ldexp(x[0], np.array([3], np.uint64))",
    "x[:3].std(correction=0)",
    "x[:3].choose([1.0, 2.0])", "np.putmask(x[:4], np.array([True, False, True]), np.zeros(0))",
    "np.linalg.outer(z.reshape(2, 12), z)", "np.polynomial.polynomial.polyval2d(x[0], x[:2], x[:4].reshape(2, 2))",
    "np.piecewise(x[:6].reshape(2, 3), [[True, False, True]], [1, 2])", "np.absolute(z, dtype=complex)",
    "np.piecewise(z[:6].reshape(2, 3), [[True, False, True]], [1, 2])", "np.polyint(z[0])",
    "np.histogram_bin_edges(x[:4] * np.inf)", "np.histogram_bin_edges(x[:4], 3, weights=np.ones(3))",
    "np.median([[z[0], z[1]], [z[2], z[3]]], axis=2)",
]  # fmt: skip


def function(text):
    module = {"np": np, "special": special, "__name__": "calls"}
    exec(f"def f(x):\n    z = x * (1.0 + 2.0j)\n    s = (x * 1.0).astype(np.float32)\n    return {text}", module)
    return module["f"]


def parts(y):
    return [q for part in y for q in parts(part)] if isinstance(y, (tuple, list)) else [y]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", CALLS)
def test_a_call_is_the_plain_run_s(text):
    f = function(text)
    try:
        expected = parts(f(X.copy()))
    except TypeError as error:  # NumPy 2.5 counts no floats
        with codipy.Tape() as tape, pytest.raises(TypeError, match=re.escape(str(error))):
            codipy.rebind(f)(tape.register_input(codipy.Array(X.copy())))
        return
    with codipy.Tape() as tape:
        found = parts(codipy.rebind(f)(tape.register_input(codipy.Array(X.copy()))))
        for y, plain in zip(found, expected, strict=True):
            value = codipy.value(y)
            assert isinstance(value, np.ndarray) == isinstance(plain, np.ndarray) and value.dtype == plain.dtype
            assert np.shape(value) == np.shape(plain) and np.array_equal(value, plain)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", SLOPES)
def test_a_call_has_its_slopes(text):
    f = function(text)
    value, gradient = codipy.value_and_grad(f)(X.copy())
    assert value == f(X.copy())
    if "s[" in text:  # of single precision, in which differences have few digits
        f = function(text.replace("s[", "x["))
    slopes = [(f(X + step) - f(X - step)) / 2e-6 for step in 1e-6 * np.eye(X.size)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)
    slope = codipy.jvp(f, (X.copy(),), (np.cos(X),))[1]
    np.testing.assert_allclose(slope, gradient @ np.cos(X), rtol=1e-6, atol=1e-8)


def test_a_diagonal_that_is_filled_with_elements_of_the_array():
    """NumPy reads some that it has written."""

    def f(x):
        v = x * x
        np.fill_diagonal(v[:12].reshape(4, 3)[:, ::-1], v[:3])
        return v[:12] @ np.cos(x[:12])

    value, gradient = codipy.value_and_grad(f)(X.copy())
    assert value == f(X.copy())
    slopes = [(f(X + step) - f(X - step)) / 2e-6 for step in 1e-6 * np.eye(X.size)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)


def test_a_transform_of_a_plain_number_leaves_out_alone():
    def f(x):
        out = np.zeros((), complex)
        found = np.fft.ifftn(np.array(1.5), norm="ortho", out=out)
        return (found.real + out.real) * x[0]

    assert codipy.value_and_grad(f)(X.copy())[0] == f(X.copy())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", REFUSED)
def test_a_call_is_refused(text):
    f = function(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        f(X.copy())
    with codipy.Tape() as tape, pytest.raises(ActiveError):
        codipy.rebind(f)(tape.register_input(codipy.Array(X.copy())))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", WRONG)
def test_a_call_raises_what_numpy_raises(text):
    f = function(text)
    with pytest.raises(Exception) as plain:
        f(X.copy())
    with codipy.Tape() as tape, pytest.raises(plain.type):
        codipy.rebind(f)(tape.register_input(codipy.Array(X.copy())))


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_a_scalar_s_class_shows_an_array_of_its_own(kind):
    def f(x):
        v = (x * 1.0).astype(kind)
        kind(v[::-1])[0] = 5.0
        return v

    with codipy.Tape() as tape:
        found = codipy.rebind(f)(tape.register_input(codipy.Array(X.copy())))
        assert np.array_equal(found.value, f(X.copy()))


def test_complex_extremes_say_nothing_of_nan():
    f = function("np.fmin.outer(z[:3], np.array([np.nan, 1.0])).real.sum()")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert codipy.value_and_grad(f)(X.copy())[0] == f(X.copy())


@pytest.mark.parametrize("text", RAISED)
def test_a_call_raises_with_numpy_s_words(text):
    f = function(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # where NumPy only warns as yet
        with pytest.raises((TypeError, ValueError, DeprecationWarning)) as plain:
            f(X.copy())
        with codipy.Tape() as tape, pytest.raises(plain.type, match=re.escape(str(plain.value))):
            codipy.rebind(f)(tape.register_input(codipy.Array(X.copy())))
