# SPDX-License-Identifier: Apache-2.0
"""NumPy's scalar types called as functions of active values: floats stay active, whole numbers are steps."""

import numpy as np
import pytest

import codipy
from codipy.active.array import Array
from codipy.errors import ActiveError

POINT = np.array([0.5, -1.5, 2.75])
WHOLE = [np.int64, np.int32, np.int8, np.intp, np.bool_]


@pytest.mark.parametrize("rebind", [True, False])
@pytest.mark.parametrize("kind", WHOLE)
def test_whole_numbers_are_passive_values(kind, rebind):
    """As of ``astype``, which has slope 0 wherever it has one."""
    seen = []

    def f(x):
        seen.append([kind(x), kind(x[0]), np.asarray(x, kind), x.astype(kind), np.array(x, dtype=kind)])
        return x[0] * 1.0

    f(POINT)
    codipy.grad(f, rebind=rebind)(POINT)
    for plain, found in zip(*seen):
        assert type(found) is type(plain) and found.dtype == plain.dtype and np.array_equal(found, plain)


@pytest.mark.parametrize("argument", ["x", "x[:2]", "x[1]", "[x[0], 1.0]", "(x[1], [2.0])[0]", "[x, x]"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_floats_stay_active(kind, argument):
    def f(x):
        y = kind(eval(argument))
        return np.sum(y * y), y

    seen = []

    def total(x):
        value, y = f(x)
        seen.append(y)
        return value

    value, gradient = codipy.value_and_grad(total)(POINT)
    y = seen[0]
    plain = f(POINT)[1]
    assert codipy.value(y).dtype == plain.dtype == kind and np.array_equal(codipy.value(y), plain)
    assert np.ndim(plain) == 0 or type(y) is Array
    assert value == np.sum(plain * plain)
    counts = {"x": [1, 1, 1], "x[:2]": [1, 1, 0], "x[1]": [0, 1, 0], "[x[0], 1.0]": [1, 0, 0], "[x, x]": [2, 2, 2]}
    np.testing.assert_allclose(gradient, 2.0 * POINT * counts.get(argument, [0, 1, 0]))


@pytest.mark.parametrize("kind", [np.float16])
def test_what_cannot_be_active_says_so(kind):
    for rebind in (True, False):
        with pytest.raises(ActiveError):
            codipy.grad(lambda x: np.sum(np.real(kind(x))), rebind=rebind)(POINT)
        with pytest.raises(ActiveError):
            codipy.grad(lambda x: np.real(kind(x[0])), rebind=rebind)(POINT)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_without_being_rebuilt_floats_are_refused(kind):
    with pytest.raises(ActiveError, match=r"write x\.astype\(float"):
        codipy.grad(lambda x: kind(x).sum(), rebind=False)(POINT)


LAYOUTS = {"rows": lambda x: x.reshape(2, 3, 4), "turned": lambda x: x.reshape(2, 3, 4).transpose(1, 2, 0),
           "columns": lambda x: x.reshape(4, 6).T, "part": lambda x: x.reshape(4, 6)[::2, ::-1].T,
           "backwards": lambda x: x[::-1], "repeated": lambda x: np.broadcast_to(x[:3], (2, 3)),
           "repeated inside": lambda x: np.broadcast_to(x[:4].reshape(2, 1, 2), (2, 3, 2))}  # fmt: skip
CASTS = [(float, np.float32), (np.float32, float), (float, float), (np.float32, np.float32), (float, complex),
         (complex, complex), (complex, np.complex64), (np.complex64, np.complex64)]  # fmt: skip


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("before", "after"), CASTS)
def test_astype_has_numpys_layout_and_memory(layout, before, after):
    def f(x):
        for order in "KCFA":
            for copy in (True, False):
                y = LAYOUTS[layout](x.astype(before))
                z = y.astype(after, order=order, copy=copy)
                strides = [step for n, step in zip(z.shape, z.strides) if n > 1]
                seen.append((order, copy, z.dtype, strides, z.flags.writeable, np.shares_memory(y, z)))
        return np.sum(x)

    seen: list = []
    x = np.arange(24.0)
    f(x)
    codipy.grad(f)(x)
    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]


@pytest.mark.parametrize("text", [
    "np.full(3, x[0], dtype=t)", "np.full_like(x, x[0], dtype=t)", "np.array([x[0], 1.0], t)", "np.array(x[0], t)",
    "np.fromiter((v for v in x), t)", "np.arange(x[0], x[2], dtype=t)", "np.stack([x, x], dtype=t, casting='unsafe')",
    "np.insert(np.ones(2, t), 0, x[0])", "np.pad(np.ones(2, t), 1, constant_values=x[0])",
])  # fmt: skip
@pytest.mark.parametrize("kind", [np.float16, np.longdouble])
def test_arrays_of_other_precision_are_refused(kind, text):
    def f(x):
        return np.sum(eval(text, {"np": np, "x": x, "t": kind})) * 2.0

    f(POINT)
    with pytest.raises(ActiveError, match="would lose the derivative"):
        codipy.grad(f)(POINT)


@pytest.mark.skipif(np.longdouble(1.0).itemsize == 8, reason="long doubles are doubles")
@pytest.mark.parametrize("text", [
    "t(2) * x", "x ** t(2)", "np.maximum(x, t(0))", "np.clip(x, t(0), t(1))", "np.dot(np.ones(3, t), x)", "x[0] * t(2)",
    "np.average(x, weights=np.ones(3, t))", "np.append(np.zeros(1, t), x)", "np.where(x > 0, x, np.zeros(3, t))",
])  # fmt: skip
def test_long_doubles_beside_active_values_are_refused(text):
    def f(x):
        return np.sum(eval(text, {"np": np, "x": x, "t": np.longdouble}))

    if text == "x ** t(2)" and np.lib.NumpyVersion(np.__version__) < "2.3.0":
        pytest.skip("this NumPy squares doubles")
    assert np.asarray(f(POINT)).dtype == np.longdouble
    with pytest.raises((ActiveError, TypeError), match="long ?double|float128"):
        codipy.grad(f)(POINT)
