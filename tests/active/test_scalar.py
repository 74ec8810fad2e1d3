# SPDX-License-Identifier: Apache-2.0
"""What a NumPy scalar can do, a Real can: code written for arrays calls it on what `a[i]` and `a.sum()` give."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError

# Every one is evaluated with `v` a Real and with `v` a numpy.float64.
SAME = [
    "v.T", "v.all()", "v.any()", "v.argmax()", "v.argmin()", "v.argsort()", "v.astype(float)", "v.astype(int)",
    "v.astype(bool)", "v.base", "v.clip(0, 5)", "v.clip(3.0, None)", "v.clip(max=1.0)", "v.compress([True])",
    "v.conj()", "v.conjugate()", "v.copy()", "v.cumprod()", "v.cumsum()", "v.device", "v.dtype", "v.flatten()",
    "v.imag", "v.item()", "v.item(0)", "v.itemsize", "v.max()", "v.max(initial=7.0)", "v.mean()", "v.mean(axis=None)",
    "v.min(None)", "v.nbytes", "v.ndim", "v.prod()", "v.ravel()", "v.real", "v.repeat(3)", "v.reshape(())",
    "v.reshape(1)", "v.reshape(1, -1)", "v.reshape((1, 1))", "v.round()", "v.round(1)", "v.shape", "v.size",
    "v.squeeze()", "v.std()", "v.strides", "v.sum()", "v.sum(axis=None, keepdims=True)", "v.take(0)", "v.take([0, 0])",
    "v.to_device('cpu')", "v.tolist()", "v.transpose()", "v.var()", "v.view()", "list(v.flat)",
    "v[()]", "v[...]", "v[None]", "v[v > -9.0]", "v[np.bool_(False)]", "v[..., None, None]",
    "np.finfo(v.dtype).eps", "np.zeros(2, dtype=v.dtype)",
    "v.reshape(1)[0].sum()",
]  # fmt: skip
SILENT = {"v.all()", "v.any()", "v.argmax()", "v.argmin()", "v.argsort()", "v.astype(int)", "v.astype(bool)", "v.imag",
          "v.round()", "v.round(1)", "v.clip(max=1.0)", "v.clip(3.0, None)"}  # fmt: skip


def plain(x):
    return [plain(item) for item in x] if isinstance(x, list) else getattr(x, "value", x)


@pytest.mark.parametrize("text", SAME)
def test_as_numpy(text):
    expected = eval(text, {"np": np, "v": np.float64(2.6)})
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([1.3, 2.0]))
        v = x[0] * x[1]
        found = eval(text, {"np": np, "v": v})
        assert np.array_equal(plain(found), expected) and np.shape(plain(found)) == np.shape(expected)
        if isinstance(expected, np.ndarray):
            assert isinstance(found, (np.ndarray, codipy.Array)) and found.dtype == expected.dtype
        elif type(expected) is np.float64:
            assert type(found) in (codipy.Real, np.float64, float)
        number = type(expected) in (float, np.float64) or getattr(expected, "dtype", None) == np.float64
        if not number or text in SILENT or "zeros" in text or "eps" in text or "max(init" in text:
            return
        total = tape.register_output(np.sum(found) if isinstance(found, codipy.Array) else found * 1.0)
    total.gradient = 1.0
    tape.evaluate()
    slope = 0.0 if text in ("v.std()", "v.var()") else np.size(expected)
    assert x.gradient.tolist() == pytest.approx([2.0 * slope, 1.3 * slope])


@pytest.mark.parametrize("text", SAME)
def test_passive_ones_too(text):
    expected = eval(text, {"np": np, "v": np.float64(2.6)})
    assert np.array_equal(plain(eval(text, {"np": np, "v": codipy.Real(np.float64(2.6))})), expected)
    tape = codipy.Tape()
    with tape:
        v = tape.register_input(np.float64(2.6)) * 1.0
        with codipy.passive():
            assert np.array_equal(plain(eval(text, {"np": np, "v": v})), expected)


def test_the_dot_product_is_there_although_numpy_scalars_have_none():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([1.5, 2.0]))
        y = tape.register_output(x[0].dot(3.0) + x[0].dot(x[1]))
        z = x[1].dot(x)
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient.tolist() == [5.0, 1.5]
    assert z.value.tolist() == [3.0, 4.0]


@pytest.mark.parametrize("name", ["data", "tobytes", "dumps", "dump", "tofile"])
def test_what_would_lose_the_derivative(name):
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.float64(2.0))
        with pytest.raises(ActiveError, match=rf"{name} of an active Real .*codipy.value\(x\).{name}"):
            member = getattr(x, name)
            member("file") if name in ("dump", "tofile") else member()
        with pytest.raises(ActiveError):
            x.astype(np.float16)
        with pytest.raises(TypeError, match="view"):
            x.view(np.int64)
        with pytest.raises(ValueError, match="gpu"):
            x.to_device("gpu")
        with codipy.passive():
            assert x.tobytes() == np.float64(2.0).tobytes()
    real = codipy.Real(np.float64(2.0))
    assert real.tobytes() == np.float64(2.0).tobytes() and real.astype(np.float32).itemsize == 4


@pytest.mark.parametrize(
    "name", ["mean", "var", "std", "sum", "max", "median", "average", "nanmean", "nanvar", "nanstd", "nansum", "ptp"]
)
def test_arrays_of_objects_are_still_averaged(name):
    """NumPy makes the mean of an array of objects a `dtype.type` where it has one, which would lose the derivative."""
    values = np.array([1.0, 4.0, 2.5])
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(values)
        objects = np.empty(3, object)
        objects[:] = x.tolist()
        y = tape.register_output(getattr(np, name)(objects) * 1.0)
    assert y.value == pytest.approx(getattr(np, name)(values))
    y.gradient = 1.0
    tape.evaluate()
    h = 1e-6
    slopes = [(getattr(np, name)(values + h * e) - getattr(np, name)(values - h * e)) / (2 * h) for e in np.eye(3)]
    assert x.gradient == pytest.approx(np.array(slopes), abs=1e-8)


def test_nothing_can_be_set_and_nothing_else_appeared():
    x = codipy.Real(np.float64(1.0))
    with pytest.raises(AttributeError):
        x.shape = (1,)
    for name in ("resize", "__array_interface__", "__len__", "__getitem__"):
        assert not hasattr(x, name)


def test_a_real_is_no_sequence():
    x = codipy.Real(np.float64(1.5))
    assert x[()] is x and f"{x} {x:.1f}" == "1.5 1.5"
    for wrong in (0, "a", slice(None)):
        with pytest.raises((IndexError, TypeError)):
            x[wrong]
    for function in (len, list, iter, tuple, lambda x: x.__setitem__((), 1.0)):
        with pytest.raises((TypeError, AttributeError)):
            function(x)
    with pytest.raises(TypeError):
        x[()] = 2.0
    assert np.array([x, x]).shape == (2,) and np.array(x).shape == ()


def test_a_float_has_nothing_of_it():
    """``hasattr(v, "shape")`` is how programs tell one from the other."""
    with codipy.Tape() as tape:
        x = tape.register_input(1.5)
        for real in (x, x * 2.0, codipy.Real(1.5)):
            for name in ("shape", "dtype", "ndim", "size", "item", "T", "astype", "sum", "tobytes"):
                assert not hasattr(real, name)
            with pytest.raises(TypeError, match="not subscriptable"):
                real[()]
        assert hasattr(np.sqrt(x), "shape") and not hasattr(np.sqrt(x).item(), "shape")


def test_a_real_is_no_index():
    x = codipy.Array([1.0, 2.0])
    with pytest.raises((IndexError, TypeError)):
        x[codipy.Real(1.0)]


def test_rounded_to_float32_it_stays_active():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.float64(0.1))
        y = tape.register_output(x.astype(np.float32) * 3.0)
    assert y.value == np.float32(0.1) * 3.0 and y.dtype == np.float32
    y.gradient = 1.0
    tape.evaluate()
    assert x.gradient == 3.0
