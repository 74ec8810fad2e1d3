# SPDX-License-Identifier: Apache-2.0
"""The array API standard: its namespace has every name, and those for real arrays take Arrays, with NumPy's values."""

import contextlib
import inspect
from functools import reduce

import numpy
import pytest

import codipy
import codipy.numpy
from codipy.active.array import Array, plain
from codipy.errors import ActiveError
from codipy.numpy.reference import standard_refused
from codipy.numpy.standard import NAMES, VERSIONS
from tests.numpy.newer import runs


def words(text):
    return text.split()


ALL = [name for names in NAMES.values() for name in names]
_rng = numpy.random.default_rng(11)
VALUES = {
    "x": _rng.uniform(0.2, 0.9, 5), "y": _rng.uniform(0.2, 0.9, 5), "u": _rng.uniform(1.1, 3.0, 5),
    "m": _rng.uniform(-1.0, 1.0, (3, 4)), "q": _rng.uniform(-1.0, 1.0, (3, 3)) + 3 * numpy.eye(3),
    "b": _rng.uniform(-1.0, 1.0, 3), "t": _rng.uniform(-1.0, 1.0, (2, 3, 3)), "r": numpy.array(0.6),
}  # fmt: skip

ONE = words("""abs asin atan atanh acos asinh ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log log10
    log1p
    log2
    logical_not negative positive real reciprocal round sign signbit sin sinh sqrt square tan tanh trunc sort argsort
    argmax argmin count_nonzero nonzero all any max mean min prod std sum var cumulative_prod cumulative_sum diff flip
    unique_all unique_counts unique_inverse unique_values fft.fftshift fft.ifftshift
    fft.hfft fft.irfft linalg.vector_norm squeeze""")
TWO = words("""add atan2 copysign divide equal floor_divide greater greater_equal hypot less less_equal logaddexp
    logical_and
    logical_or logical_xor maximum minimum multiply nextafter not_equal pow remainder subtract""")
SQUARE = words("""linalg.det linalg.inv linalg.pinv linalg.qr linalg.slogdet linalg.svd linalg.svdvals linalg.trace
    linalg.matrix_norm linalg.diagonal linalg.matrix_rank linalg.matrix_transpose matrix_transpose tril triu""")
CALLS = {name: [f"np.{name}(x)"] for name in ONE}
CALLS |= {name: [f"np.{name}(x, y)", f"np.{name}(x[0], 2.0 * y)"] for name in TWO}
CALLS |= {name: [f"np.{name}(q)", f"np.{name}(t)"] for name in SQUARE}
CALLS |= {
    "acosh": ["np.acosh(u)"], "clip": ["np.clip(x, 0.3, 0.7)", "np.clip(m, min=r)", "np.clip(m, max=0.0)"],
    "astype": ["np.astype(x, np.float64)", "np.astype(x, np.int64)", "np.astype(x, np.float64, copy=False)"],
    "can_cast": ["np.can_cast(x.dtype, np.float64)"], "finfo": ["np.finfo(x.dtype).eps"],
    "iinfo": ["np.iinfo(np.int8).max"],
    "isdtype": ["np.isdtype(x.dtype, 'real floating')"], "result_type": ["np.result_type(x, np.int64)"],
    "zeros_like": ["np.zeros_like(x)"], "ones_like": ["np.ones_like(m)"], "empty_like": ["np.empty_like(x[:0])"],
    "full": ["np.full((2, 3), 1.5)", "np.full(3, r)"], "full_like": ["np.full_like(x, 2.0)", "np.full_like(x, r)"],
    "eye": ["np.eye(3, 4, k=1)"], "empty": ["np.empty(0)"], "ones": ["np.ones((2, 2), dtype=np.float64, device='cpu')"],
    "zeros": ["np.zeros(3)"], "arange": ["np.arange(0.0, 1.0, 0.3)"],
    "from_dlpack": ["np.from_dlpack(np.asarray([1]))"],
    "linspace": ["np.linspace(0.0, 1.0, 5)", "np.linspace(x, y, 4)"], "meshgrid": ["np.meshgrid(x, b, indexing='ij')"],
    "asarray": ["np.asarray(x)", "np.asarray(x, copy=True)", "np.asarray([0.5, 2.0], dtype=np.float64)"],
    "broadcast_arrays": ["np.broadcast_arrays(x, m[:, :1])"], "broadcast_to": ["np.broadcast_to(x, (2, 5))"],
    "concat": ["np.concat([x, y])", "np.concat((m, m), axis=None)"], "expand_dims": ["np.expand_dims(x, axis=0)"],
    "flip": ["np.flip(m)", "np.flip(m, axis=1)"], "moveaxis": ["np.moveaxis(t, 0, -1)"],
    "permute_dims": ["np.permute_dims(t, (2, 0, 1))"], "repeat": ["np.repeat(m, 2, axis=1)"],
    "reshape": ["np.reshape(m, (4, 3))", "np.reshape(m, (-1,), copy=True)"],
    "roll": ["np.roll(m, (1, 2), axis=(0, 1))"],
    "squeeze": ["np.squeeze(m[:, :1], axis=1)"], "stack": ["np.stack([x, y], axis=1)"], "tile": ["np.tile(x, (2, 1))"],
    "unstack": ["np.unstack(m, axis=1)"], "take": ["np.take(m, np.asarray([2, 0]), axis=1)"],
    "take_along_axis": ["np.take_along_axis(m, np.asarray([[0], [1], [3]]), axis=1)"],
    "searchsorted": ["np.searchsorted(np.sort(x), y)"], "where": ["np.where(x > 0.5, x, y)", "np.where(x > y, x, 0.0)"],
    "sum": ["np.sum(m, axis=(0, 1))", "np.sum(m, axis=0, keepdims=True)"], "mean": ["np.mean(t, axis=(0, 2))"],
    "std": ["np.std(m, correction=1.0, axis=1)"], "var": ["np.var(m, axis=0, keepdims=True, correction=1)"],
    "max": ["np.max(m, axis=1)"], "min": ["np.min(m, axis=0, keepdims=True)"], "prod": ["np.prod(m, axis=1)"],
    "cumulative_sum": ["np.cumulative_sum(m, axis=1, include_initial=True)"], "diff": ["np.diff(m, axis=0, n=2)"],
    "cumulative_prod": ["np.cumulative_prod(m, axis=0)"], "sort": ["np.sort(m, axis=0, stable=True)"],
    "vecdot": ["np.vecdot(x, y)"], "linalg.vecdot": ["np.linalg.vecdot(m, m[0])"],
    "linalg.outer": ["np.linalg.outer(x, y)"], "matmul": ["np.matmul(q, m)", "np.matmul(t, b)"],
    "tensordot": ["np.tensordot(q, t, axes=([0], [1]))"],
    "linalg.matmul": ["np.linalg.matmul(q, m)"], "linalg.tensordot": ["np.linalg.tensordot(q, q, axes=1)"],
    "linalg.cholesky": ["np.linalg.cholesky(q @ q.T)", "np.linalg.cholesky(q @ q.T, upper=True)"],
    "linalg.cross": ["np.linalg.cross(b, q)"], "linalg.eigh": ["np.linalg.eigh(q + q.T)"],
    "linalg.eigvalsh": ["np.linalg.eigvalsh(q + q.T)"],
    "linalg.solve": ["np.linalg.solve(q, b)", "np.linalg.solve(q, m)"],
    "linalg.matrix_power": ["np.linalg.matrix_power(q, 3)", "np.linalg.matrix_power(q, -2)"],
    "linalg.matrix_norm": ["np.linalg.matrix_norm(t, ord=1)", "np.linalg.matrix_norm(q, ord='nuc', keepdims=True)"],
    "linalg.vector_norm": ["np.linalg.vector_norm(m, axis=1, ord=3)", "np.linalg.vector_norm(m)"],
    "linalg.diagonal": ["np.linalg.diagonal(t, offset=1)"], "linalg.qr": ["np.linalg.qr(q, mode='reduced')"],
    "linalg.svd": ["np.linalg.svd(m, full_matrices=False)"], "linalg.slogdet": ["np.linalg.slogdet(q)"],
    "fft.fftfreq": ["np.fft.fftfreq(5, d=0.1)"], "fft.rfftfreq": ["np.fft.rfftfreq(5)"],
    "fft.irfftn": ["np.fft.irfftn(m, axes=(0, 1))"], "e": ["np.e * x"], "inf": ["np.inf + x"], "nan": ["np.nan * x"],
    "newaxis": ["x[np.newaxis, :]"], "pi": ["np.pi * x"],
    **{f"fft.{name}": [f"np.fft.{name}(x).real"] for name in ("fft", "ifft", "rfft", "ihfft")},
    **{f"fft.{name}": [f"np.fft.{name}(m, axes=(0, 1)).real"] for name in ("fftn", "ifftn", "rfftn")},
}  # fmt: skip
REFUSED = {
    **{f"bitwise_{name}": f"np.bitwise_{name}(x, y)" for name in ("and", "or", "xor", "left_shift", "right_shift")},
    "bitwise_invert": "np.bitwise_invert(x)",
}
TYPES = {*NAMES["data types"]} - CALLS.keys()


def has(module, name):
    *path, last = name.split(".")
    return hasattr(reduce(getattr, path, module), last)


OLD = {name for name in ALL if not has(numpy, name)}


def leaves(tree):
    return [leaf for item in tree for leaf in leaves(item)] if isinstance(tree, (list, tuple)) else [tree]


def test_the_namespace_has_every_name():
    array = Array([1.0])
    for version in (None, *VERSIONS):
        assert array.__array_namespace__(api_version=version) is codipy.numpy
    with pytest.raises(ValueError, match="1999.12"):
        array.__array_namespace__(api_version="1999.12")
    missing = {name for name in ALL if not has(codipy.numpy, name)}
    assert missing == OLD
    if numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0":
        assert missing == set()
    assert len(ALL) == len(set(ALL)) == 189


def test_every_name_has_a_call():
    assert set(ALL) == {*CALLS, *REFUSED, *TYPES} and not CALLS.keys() & REFUSED.keys()
    assert set(standard_refused()) == REFUSED.keys()


@pytest.mark.parametrize(
    "text", [text for name in ALL if name not in OLD for text in CALLS.get(name, ()) if runs(text)])
def test_values_are_numpys(text):
    expected = leaves(eval(text, {"np": numpy, **VALUES}))
    tape = codipy.Tape()
    with tape:
        active = {name: tape.register_input(Array(value)) for name, value in VALUES.items()}
        found = leaves(eval(text, {"np": codipy.numpy, **active}))
        assert len(found) == len(expected)
        for one, two in zip(found, expected):
            if isinstance(two, numpy.dtype):
                assert one == two
                continue
            assert numpy.array_equal(plain(one), two, equal_nan=True) and numpy.shape(plain(one)) == numpy.shape(two)
            if isinstance(two, numpy.ndarray):
                assert one.dtype == two.dtype
                assert type(one) is Array or two.dtype != float or not two.size or text in SILENT
        active_ones = [y for y in found if isinstance(y, (Array, codipy.Real)) and y.is_active]
        for y in active_ones:
            tape.register_output(y)
    for y in active_ones:
        y.gradient = 1.0
    tape.evaluate()
    gradients = [x.gradient for x in active.values()]
    assert not active_ones or any(numpy.any(g != 0.0) or numpy.any(numpy.isnan(g)) for g in gradients)


# Steps: plain arrays of floats; and what is constant although it is made of something active.
SILENT = {"np.ceil(x)", "np.trunc(x)", "np.floor(x)", "np.floor_divide(x, y)", "np.floor_divide(x[0], 2.0 * y)",
          "np.fft.fftfreq(5, d=0.1)", "np.fft.rfftfreq(5)", "np.round(x)", "np.sign(x)", "np.imag(x)"}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    tape = codipy.Tape()
    with tape:
        active = {key: tape.register_input(Array(value)) for key, value in VALUES.items()}
        with pytest.raises(ActiveError, match=r"codipy.value\(x\)"):
            eval(REFUSED[name], {"np": codipy.numpy, **active})


def test_the_array_object():
    """Attributes and methods that the standard asks of an array, beside operators of whole numbers."""
    names = words("dtype device mT ndim shape size T to_device __array_namespace__ __dlpack__ __dlpack_device__")
    operators = words("""abs add bool complex eq float floordiv ge getitem gt index int le lt matmul mod mul ne neg
    pos pow
        setitem sub truediv iadd isub imul itruediv ifloordiv ipow imatmul imod radd rsub rmul rtruediv rfloordiv rpow
        rmatmul rmod""")
    array = Array([[1.0, 2.0], [3.0, 4.0]])
    assert [name for name in names + [f"__{name}__" for name in operators] if not hasattr(array, name)] == []
    assert array.device == "cpu" and array.to_device("cpu") is array and array.mT.value.tolist() == [[1, 3], [2, 4]]
    for device, stream in (("gpu", None), ("cpu", 1)):
        with pytest.raises(ValueError, match="gpu|stream"):
            array.to_device(device, stream=stream)
    if has(numpy, "__array_namespace_info__"):
        info = codipy.numpy.__array_namespace_info__()
        assert info.default_device() == "cpu" and info.default_dtypes()["real floating"] == numpy.float64
    exports_read_only = numpy.lib.NumpyVersion(numpy.__version__) >= "2.1.0"
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(array.value)
        for function in (numpy.from_dlpack, codipy.numpy.from_dlpack):
            with pytest.raises(ActiveError, match="__dlpack"):
                function(x)
    for passive in (array, array.value):  # read-only values, which NumPy 2.0 gives to nobody
        with contextlib.nullcontext() if exports_read_only else pytest.raises(BufferError, match="readonly"):
            assert numpy.from_dlpack(passive).tolist() == array.value.tolist()
    assert {"__dlpack__", "__dlpack_device__"} <= vars(Array).keys()  # where NumPy 2.0 looks for them
    assert list(inspect.signature(array.to_device).parameters) == ["device", "stream"]


def test_code_for_any_array_library():
    """A function that knows only the standard's namespace."""

    def softmax(x):
        xp = x.__array_namespace__()
        shifted = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
        return shifted / xp.sum(shifted, axis=-1, keepdims=True)

    def loss(x):
        xp = x.__array_namespace__()
        return -xp.sum(xp.log(xp.take(softmax(x), xp.asarray([1]), axis=-1)))

    value, gradient = codipy.value_and_grad(loss)(VALUES["m"])
    assert value == loss(VALUES["m"])
    weights = softmax(VALUES["m"])
    weights[:, 1] -= 1.0
    assert gradient == pytest.approx(weights, rel=1e-12)
