# SPDX-License-Identifier: Apache-2.0
"""The shapes of ``out=``: written or refused as NumPy does, for every function that takes one."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from codipy.numpy.arguments import kept_by, parameters
from codipy.numpy.outputs import outs

SAMPLES = np.random.default_rng(7).uniform(0.1, 0.9, (3, 3))
# What functions take beside the array.
MORE = {
    "choose": None, "clip": (0.3, 0.6), "compress": None, "concatenate": None, "dot": None,
    "nanpercentile": (30.0, 0), "nanquantile": (0.3, 0), "outer": None,
    "percentile": (30.0, 0), "quantile": (0.3, 0), "stack": None, "take": ([0, 1],),
}  # fmt: skip
PROGRAMS = {
    "choose": lambda x, out: np.choose([0, 1, 0], [x[0], x[1]], out=out),
    "compress": lambda x, out: np.compress([True, False, True], x, 0, out=out),
    "concatenate": lambda x, out: np.concatenate([x, x], out=out),
    "dot": lambda x, out: np.dot(x, x[0], out=out),
    "outer": lambda x, out: np.outer(x[0], x[1], out=out),
    "stack": lambda x, out: np.stack([x, x], out=out),
    "linalg.multi_dot": lambda x, out: np.linalg.multi_dot([x, x, x], out=out),
    "einsum": lambda x, out: np.einsum("ij,j->i", x, x[0], out=out),
    "add": lambda x, out: np.add(x, x[0], out=out),
    "add of where": lambda x, out: np.add(x, x[0], out=out, where=x > 0.0),
    "sin": lambda x, out: np.sin(x, out=out),
    "add.reduce": lambda x, out: np.add.reduce(x, out=out),
    "add.accumulate": lambda x, out: np.add.accumulate(x, out=out),
    "multiply.outer": lambda x, out: np.multiply.outer(x[0], x[1], out=out),
    "matmul": lambda x, out: np.matmul(x, x, out=out),
    "matmul of a vector": lambda x, out: np.matmul(x, x[0], out=out),
    "vecdot": lambda x, out: np.vecdot(x, x[0], out=out),
    "float_power": lambda x, out: np.float_power(x, 2.5, out=out),
    "@=": lambda x, out: out.__imatmul__(x),
    "**=": lambda x, out: out.__ipow__(x),
    "+=": lambda x, out: out.__iadd__(x),
}
_DATES, _UNWRITTEN = ("busday_count", "busday_offset", "is_busday"), ("hfft", "ifft2", "irfft2")


def _called(function):
    def program(x, out):
        if function.__name__ in ("ifft", "irfft", "irfftn", "ifftn", "hfft"):
            x = x + 0.0j
        axis = {"axis": 0} if "axis" in parameters(function).positional[1:2] else {}
        return function(x, *MORE.get(function.__name__, ()), **axis, out=out)

    return program


for _function in outs():
    if _function.__name__ not in (*_DATES, *_UNWRITTEN) and MORE.get(_function.__name__, ()) is not None:
        PROGRAMS[f"{_function.__module__}.{_function.__name__}"] = _called(_function)


def _result(program, x, shape, dtype, passive):
    def f(x):
        out = np.full(shape, 0.25).astype(dtype)
        with np.errstate(all="ignore"):
            program(codipy.value(x) if passive else x, out)
        return out

    return f(x) if passive else codipy.vjp(f, x)[0]


@pytest.mark.parametrize("name", PROGRAMS)
def test_shapes_are_taken_as_numpy_takes_them(name):
    program = PROGRAMS[name]
    plain = program(SAMPLES, np.full((3, 3), 0.25)) if name.endswith("=") else program(SAMPLES, None)
    shape, dtype = np.shape(plain), np.asarray(plain).dtype
    others = {shape, (2, *shape), (1, *shape), (*shape[:-1], 1), tuple(4 if n == 1 else n for n in shape), shape[1:]}
    if "cum" in name or "accumulate" in name:
        others -= {shape[1:], ()}  # where NumPy 2.4 may write beyond the end
    for other in others:
        try:
            expected = _result(program, SAMPLES, other, dtype, True)
        except (TypeError, ValueError):
            with pytest.raises((ActiveError, TypeError, ValueError)):
                _result(program, SAMPLES, other, dtype, False)
            continue
        if "round" in name or "around" in name and other != shape:
            continue  # NumPy takes one more axis of length 1 there, which is refused here
        found = _result(program, SAMPLES, other, dtype, False)
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes(), other


def test_spreading_functions_are_those_of_numpy():
    def spreads(function):
        program = _called(function)
        if MORE.get(function.__name__, ()) is None:
            program = PROGRAMS[function.__name__]
        shape = np.shape(program(SAMPLES, None))
        dtype = np.asarray(program(SAMPLES, None)).dtype
        try:
            program(SAMPLES, np.zeros((2, *shape), dtype))
        except (TypeError, ValueError):
            return False
        return True

    for function in outs():
        if function.__name__ not in (*_DATES, *_UNWRITTEN):
            assert spreads(function) == (kept_by(function.__name__) == 0), function.__name__


@pytest.mark.parametrize("factor", [1.0, 1j])
def test_products_over_an_operand_that_is_larger_than_the_result_are_refused(factor):
    """NumPy reads there what it has written: another value than that of the product."""

    def f(x):
        a = np.ones((3, 3)) * x * factor
        np.vecdot(a, x, out=a)
        return np.sum(np.abs(a))

    with pytest.raises(ActiveError, match="vecdot: out= is an operand and larger than the result"):
        codipy.grad(f)(SAMPLES[0])


def test_products_over_a_row_of_an_operand_are_those_of_the_operand_before():
    def f(x):
        a = np.ones((3, 3)) * x
        np.vecdot(a, x, out=a[0])
        return np.sum(a * a)

    value, gradient = codipy.value_and_grad(f)(SAMPLES[0])
    assert value == f(SAMPLES[0])
    step = 1e-6 * np.eye(3)
    np.testing.assert_allclose(gradient, [(f(SAMPLES[0] + s) - f(SAMPLES[0] - s)) / 2e-6 for s in step], 1e-7)


@pytest.mark.parametrize("ufunc", [np.modf, np.frexp, lambda x, **out: np.divmod(x, 0.7, **out)])
@pytest.mark.parametrize("outs", [
    lambda x: (x, x), lambda x: (x[::-1], x), lambda x: (np.zeros((2, 3))[0],) * 2, lambda x: (x[0, ...],) * 2,
])  # fmt: skip
@pytest.mark.parametrize("argnums", [0, 1])
def test_two_results_do_not_share_memory(ufunc, outs, argnums):
    def f(x, p):
        x = np.array([x[0], x[1] * p, x[2]])
        given = outs(x)
        ufunc(x[1] if given[0].ndim == 0 else x, out=given)
        return np.sum(x) * p

    x = np.array([1.75, 2.3, -0.6])
    f(x, 1.9)
    with pytest.raises(ActiveError, match="two arrays of out= share memory"):
        codipy.grad(f, argnums)(x, 1.9)
