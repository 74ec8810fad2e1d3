# SPDX-License-Identifier: Apache-2.0
"""Methods of ufuncs compute in the wider of the precisions of argument and ``out``, as NumPy does, or they refuse."""

import warnings

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

SAMPLES = np.random.default_rng(4).uniform(0.1, 0.9, (3, 4))
METHODS = [
    (f"np.{name}.{method}", method)
    for name in ("add", "multiply", "subtract", "divide", "logaddexp", "logaddexp2", "hypot", "maximum")
    for method in ("reduce", "accumulate")
]
METHODS += [(f"np.{name}.reduceat", "reduceat") for name in ("add", "multiply")]


def _program(name, method):
    """The function of a first argument that writes what a method gives into an array of another dtype."""
    ufunc = getattr(np, name.split(".")[1])

    def f(a, kind):
        out = np.zeros((2, 4) if method == "reduceat" else a.shape[1:] if method == "reduce" else a.shape, kind)
        given = ([0, 2],) if method == "reduceat" else ()
        getattr(ufunc, method)(a, *given, out=out)
        return out

    return f


@pytest.mark.parametrize(("name", "method"), METHODS, ids=[name for name, _ in METHODS])
@pytest.mark.parametrize(("of", "into"), [("f4", "f8"), ("f8", "f4"), ("F", "D"), ("D", "F")])
def test_values_are_numpys(name, method, of, into):
    f, a = _program(name, method), (SAMPLES * (0.6 + 0.3j) if of in "FD" else SAMPLES).astype(of)
    ufunc = name.split(".")[1]
    if of in "FD" and ufunc not in ("add", "multiply"):
        pytest.skip("NumPy has no such loop, or codipy no such rule")
    if (of, into) in (("f8", "f4"), ("D", "F")) and method != "accumulate" and ufunc != "maximum":
        with pytest.raises(ActiveError, match="leave out= away"):
            codipy.vjp(f, a, into, argnums=0)
        return
    found = codipy.vjp(f, a, into, argnums=0)[0]
    assert found.dtype == into
    assert found.tobytes() == f(a, into).tobytes()


@pytest.mark.parametrize("name", ["fmax", "fmin", "maximum", "minimum"])
def test_extremes_of_another_dtype_have_derivatives(name):
    def f(a):
        return np.sum(getattr(np, name).reduce(a, 0, dtype=np.float32) * np.arange(1.0, 5.0))

    values = (np.argmax if "max" in name else np.argmin)(SAMPLES, 0)
    expected = np.zeros_like(SAMPLES)
    expected[values, np.arange(4)] = np.arange(1.0, 5.0)
    assert np.array_equal(codipy.grad(f)(SAMPLES), expected)


@pytest.mark.parametrize("name", ["mean", "nansum", "prod", "sum"])
def test_sums_that_are_rounded_on_the_way_are_refused(name):
    def f(a):
        out = np.zeros(4, np.float32)
        getattr(np, name)(a, 0, out=out)
        return np.sum(out)

    with pytest.raises(ActiveError, match="leave out= away"):
        codipy.grad(f)(SAMPLES)


OF_ONE = [
    "cumprod", "cumsum", "exp", "fft.fft", "fft.fft2", "fft.fftn", "fft.ifft", "fft.ifftn", "fft.ihfft", "fft.irfft",
    "fft.irfftn", "fft.rfft", "fft.rfft2", "fft.rfftn", "max", "mean", "median", "min", "nancumsum", "nanmax",
    "nanmean", "nanprod", "nanstd", "nansum", "nanvar", "prod", "ptp", "round", "sin", "square", "std", "sum", "trace",
    "var",
]  # fmt: skip


@pytest.mark.parametrize("name", OF_ONE)
@pytest.mark.parametrize("into", ["f", "d", "F", "D"])
@pytest.mark.parametrize("of", ["f", "d", "F", "D"])
def test_functions_have_numpys_bits_in_any_out_or_refuse(name, of, into):
    function = np
    for part in name.split("."):
        function = getattr(function, part)
    axes = {} if "fft" in name or name == "trace" or isinstance(function, np.ufunc) else {"axis": 0}
    axes = {"decimals": 2} if name == "round" else axes
    a = (SAMPLES * (0.6 + 0.3j) if of in "FD" else SAMPLES).astype(of)

    def f(a):
        out = np.zeros(shape, into)
        function(a, **axes, out=out)
        return out

    try:
        natural = np.asarray(function(a, **axes))
        shape = natural.shape
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = f(a)
    except (TypeError, ValueError):
        return
    if natural.dtype != into:  # of which many are refused
        try:
            found = codipy.vjp(f, a)[0]
        except (ActiveError, TypeError):
            return
    else:
        found = codipy.vjp(f, a)[0]
    assert found.dtype == into
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("method", ["reduce", "accumulate"])
def test_a_real_dtype_for_complex_elements_is_refused(method):
    with pytest.raises(ActiveError, match="would drop imaginary parts"):
        codipy.vjp(lambda z: getattr(np.add, method)(z, dtype=float), SAMPLES * 1j)


def test_an_outer_product_with_a_number_is_double_as_numpys():
    z = (SAMPLES * (1 + 2j)).astype(np.complex64)
    found = codipy.vjp(lambda z: np.multiply.outer(z, 2.0), z)[0]
    expected = np.multiply.outer(z, 2.0)
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()
