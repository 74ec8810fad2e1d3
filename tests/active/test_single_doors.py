# SPDX-License-Identifier: Apache-2.0
"""float32 Arrays come and go: conversions, constructors, copies, views, drivers, primitives, refusals."""

import copy
import pickle

import numpy as np
import pytest

import codipy
import codipy.numpy as cnp
from codipy.errors import ActiveError
from tests.active.recording import each_variant, new_tape
from tests.active.test_single import assert_same

X = np.array([0.1, 1.7, 2.9, 3.3], np.float32)
M = np.linspace(0.3, 2.0, 12, dtype=np.float32).reshape(3, 4)


def test_what_an_array_says_of_itself():
    a = codipy.Array(M)
    assert a.dtype == np.float32 and a.itemsize == 4 and a.nbytes == 48 and a.strides == M.strides
    assert a[::2].T.strides == M[::2].T.strides and a.value.strides == M.strides
    assert a.value.dtype == np.float32 and not a.value.flags.writeable
    assert repr(a) == repr(M).replace("array", "Array") and str(a) == str(M)
    assert (a * 2.0).dtype == np.float32 and (a * 2.0).itemsize == 4      # not computed yet
    assert a.imag.dtype == np.float32 and a.real is a and len(a) == 3
    assert a.tolist() == M.tolist() and a.item(5) == M.item(5)
    assert type(a.item(5)) is codipy.Real and float(a[1, 1]) == M[1, 1]
    assert_same(codipy.Array([1, 2]), np.array([1.0, 2.0]))
    assert np.shares_memory(a, a[1:]) and not np.shares_memory(a, a.copy()) and not np.shares_memory(a[0], a[1:])


def test_the_active_one_says_so():
    with codipy.Tape() as tape:
        a = tape.register_input(X)
        assert repr(a * 1) == repr(X)[:-1].replace("array", "Array") + ", active)"


@pytest.mark.parametrize("layout", [lambda x: x, lambda x: x.T, lambda x: x[:, ::-1], lambda x: x[1:, ::2],
                                    lambda x: x[:0], lambda x: x[2, 1, None]])  # fmt: skip
def test_values_of_views_have_numpys_strides(layout):
    found, expected = layout(codipy.Array(M)), layout(M)
    assert found.value.strides == expected.strides
    assert_same(found, expected)
    assert_same(found.sum(), expected.sum())
    for order in "CFAK":
        assert_same(found.copy(order), expected.copy(order))


def test_the_value_stays_when_the_array_is_written_to():
    a = codipy.Array(X)
    before = a.value
    a[0] = 5.0
    assert before[0] == X[0] and a.value[0] == 5.0


@each_variant
def test_astype_is_differentiable_and_rounds(variant):
    wide = np.array([0.1, 1 / 3, 2.0])
    with new_tape(variant) as tape:
        x = tape.register_input(wide)
        narrow = (x * 3.0).astype(np.float32)
        back = narrow.astype(np.float64)
        assert_same(narrow, (wide * 3.0).astype(np.float32))
        assert_same(back, (wide * 3.0).astype(np.float32).astype(np.float64))
        assert narrow.astype(np.float32, copy=False) is narrow and back.astype(float, copy=False) is back
        assert_same(narrow.astype("f4"), narrow.value)
        narrow[0] = 0.0                     # the copies have storages of their own
        s = x[1:2].reshape(()).astype(np.float32)
        assert_same(s, wide[1].astype(np.float32))
        y = tape.register_output(back * back + narrow + s)
        assert y.dtype == np.float64
    y.gradient = 1.0
    tape.evaluate()
    rounded = (wide * 3.0).astype(np.float32).astype(float)
    assert x.gradient.tolist() == [6.0 * rounded[0], 6.0 * rounded[1] + 3.0 + 3.0, 6.0 * rounded[2] + 3.0]
    tape._check()


def test_astype_obeys_casting():
    a = codipy.Array(np.ones(2))
    with pytest.raises(TypeError, match="according to the rule 'safe'"):
        a.astype(np.float32, casting="safe")
    assert a.astype(np.float32).astype(np.float64, casting="safe").dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float16, np.longdouble])
def test_other_precisions_are_refused(dtype):
    with codipy.Tape() as tape:
        with pytest.raises(TypeError, match="float64 or float32|real"):
            tape.register_input(np.ones(3, dtype))
        with pytest.raises(TypeError, match="lose its derivative"):
            tape.register_input(X).astype(dtype)


def test_copies_and_pickles():
    a = codipy.Array(X)
    for other in (a.copy(), copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a)), codipy.Array(a), np.copy(a)):
        assert type(other) is codipy.Array and other is not a
        assert_same(other, X)
        other[0] = 9.0
        assert a.value[0] == X[0]


def test_constructors():
    a = codipy.Array(X)
    with codipy.Tape():
        for xp, x in ((np, a), (cnp, a), (cnp, X)):
            for name, args in [("zeros_like", ()), ("ones_like", ()), ("full_like", (0.1,))]:
                made = getattr(xp, name)(x, *args)
                assert type(made) is codipy.Array
                assert_same(made, getattr(np, name)(X, *args))
            assert xp.empty_like(x).dtype == np.float32
            assert_same(xp.zeros_like(x, dtype=float), np.zeros_like(X, dtype=float))
        for made, expected in [(cnp.zeros(3, np.float32), np.zeros(3, np.float32)),
                               (cnp.ones((2, 2), "f"), np.ones((2, 2), "f")),
                               (cnp.full(3, 0.1, np.float32), np.full(3, 0.1, np.float32)),
                               (cnp.array([0.1, 2], np.float32), np.array([0.1, 2], np.float32)),
                               (cnp.linspace(0, 1, 7, dtype=np.float32), np.linspace(0, 1, 7, dtype=np.float32)),
                               (cnp.arange(4, dtype=np.float32), np.arange(4, dtype=np.float32)),
                               (cnp.eye(3, dtype=np.float32), np.eye(3, dtype=np.float32)),
                               (cnp.array(a), X), (cnp.array(a, float), X.astype(float)),
                               (cnp.array([a, a]), np.array([X, X]))]:  # fmt: skip
            assert type(made) is codipy.Array
            assert_same(made, expected)
        assert cnp.asarray(a) is a and cnp.asarray(a, np.float32) is a
        assert_same(cnp.asarray(a, dtype=np.float64), X.astype(float))
        assert_same(cnp.ascontiguousarray(codipy.Array(M).T), np.ascontiguousarray(M.T))


def test_active_elements_in_a_float32_array():
    with codipy.Tape() as tape:
        r, a = tape.register_input(0.1), tape.register_input(X)
        b = cnp.array([r, a[1], 2.0], dtype=np.float32)
        assert b.dtype == np.float32 and b.value[0] == np.float32(0.1)
        c = cnp.zeros(3, np.float32)
        c[0], c[1] = r, r * a[2]
        assert_same(c, np.array([0.1, 0.1 * float(X[2]), 0], np.float32))
        d = cnp.full(2, r, np.float32)
        s = tape.register_output((b * c).sum() + d[0])
    s.gradient = 1.0
    tape.evaluate()
    assert np.isclose(r.gradient, 0.2 + X[1] * X[2] + 1.0) and np.isclose(a.gradient[2], X[1] * 0.1)


def test_questions_of_dtype():
    a, b = codipy.Array(X), codipy.Array(X.astype(float))
    with codipy.Tape() as tape:
        for x, y in ((a, b), (tape.register_input(X), tape.register_input(X.astype(float)))):
            for xp in (np, cnp):
                assert xp.result_type(x, 1.0) == np.float32 and xp.result_type(x, y) == np.float64
                assert xp.promote_types(x.dtype, y.dtype) == np.float64
                assert xp.can_cast(x.dtype, np.float64) and not xp.can_cast(y.dtype, x.dtype)
                assert xp.finfo(x.dtype).eps == np.finfo(np.float32).eps
                assert xp.issubdtype(x.dtype, np.floating)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
@pytest.mark.parametrize("shape", [(40, 70), (3, 3000), (3000, 3)])
def test_sums_and_means(shape, axis):
    x = np.random.default_rng(2).uniform(0.1, 1.0, shape).astype(np.float32)
    with codipy.Tape() as tape:
        a = tape.register_input(x)
        for f in (np.sum, np.mean, lambda x, axis: x.sum(axis), lambda x, axis: x.mean(axis)):
            for view in (lambda x: x, lambda x: x.T, lambda x: x[::-1, ::2], lambda x: x * 1.1):
                assert_same(f(view(a), axis=axis), f(view(x), axis=axis))
        assert_same(np.sum(a, axis, dtype=np.float64), np.sum(x, axis, dtype=np.float64))
        assert_same(np.mean(a, axis, dtype=np.float64), np.mean(x, axis, dtype=np.float64))
        assert_same(np.sum(a.astype(float), axis, dtype=np.float32), np.sum(x.astype(float), axis, dtype=np.float32))
        y = tape.register_output(np.mean(a, axis=axis))
    y.gradient = 1.0
    tape.evaluate()
    assert a.gradient.dtype == np.float64
    assert np.all(a.gradient == 1.0 / (x.size // np.size(y.value)))


def test_a_primitive_keeps_doubles_for_its_rules():
    q = (np.eye(3) * 3 + np.arange(9).reshape(3, 3) / 9).astype(np.float32)
    with codipy.Tape() as tape:
        a = tape.register_input(q)
        s, d, e = np.linalg.solve(a, a @ a), np.linalg.det(a), a @ np.ones(3)
        assert_same(s, np.linalg.solve(q, q @ q))
        assert_same(d, np.linalg.det(q))
        assert e.dtype == np.float64
        tape.register_output(d)
    d.gradient = 1.0
    tape.evaluate()
    wide = np.linalg.det(q.astype(float)) * np.linalg.inv(q.astype(float)).T
    np.testing.assert_allclose(a.gradient, wide, 1e-6)


def test_out_of_another_precision():
    a, wide, narrow = codipy.Array(X), codipy.Array(np.zeros(4)), codipy.Array(np.zeros(4, np.float32))
    assert_same(np.cumsum(a, out=wide), np.cumsum(X, out=np.zeros(4)))
    assert_same(np.cumsum(a.astype(float), out=narrow), np.cumsum(X.astype(float), out=np.zeros(4, np.float32)))
    with codipy.Tape() as tape:
        x = tape.register_input(X)
        with pytest.raises(ActiveError, match="make the argument float64, or leave out= away"):
            np.cumsum(x, out=wide)
        assert_same(np.cumsum(x, dtype=np.float64, out=wide), np.cumsum(X, dtype=np.float64))


@pytest.mark.parametrize("text", [
    "np.exp(x, dtype=np.float64)", "np.exp(x, dtype='f4')", "np.exp(w, dtype=np.float32)",
    "np.add(x, w, dtype=np.float32)",
    "np.multiply(w, 0.1, dtype=np.float32)", "np.add(x, 1, signature='dd->d')", "np.add.reduce(w, dtype=np.float32)",
    "np.cumsum(x, dtype=np.float64)", "np.cumsum(w, dtype='f')", "np.var(x, dtype=np.float64)",
    "np.ldexp(x, 3, dtype=np.float64)", "np.concatenate((x, w))", "np.concatenate((x, w), dtype=np.float32)",
    "np.where(x > 1, x, w)", "np.where(x > 1, x, 0.1)", "np.clip(x, 0.5, 2)", "np.clip(x, 0.5, w)", "np.stack([x, w])",
    "np.dot(x, w)", "np.interp(x, w, w)", "np.ldexp(x, [1, 2, 3, 4])",
    "np.full_like(x, 0.1)",
    "np.matmul(w, x)", "np.outer(x, x)", "x.dot(x)", "np.einsum('i,i', x, w)", "np.std(x)", "x.round(1)",
])  # fmt: skip
def test_dtypes_that_are_asked_for(text):
    w = X.astype(float) + 1e-9
    expected = eval(text, {"np": np, "x": X, "w": w})
    for active in (True, False):
        with codipy.Tape() as tape:
            x, y = (tape.register_input(v) if active else codipy.Array(v) for v in (X, w))
            assert_same(eval(text, {"np": np, "x": x, "w": y}), expected, text)


# ---- Drivers ----

def test_gradients_have_the_dtype_of_the_argument():
    def f(x):
        return (np.sin(x) * x).sum()

    wide = codipy.grad(f)(X.astype(float))
    value, gradient = codipy.value_and_grad(f)(X)
    assert gradient.dtype == np.float32 and value == float(f(X))
    np.testing.assert_allclose(gradient, wide, 1e-6)
    tree = codipy.grad(lambda t: (t["a"] * t["b"]).sum())({"a": X, "b": X.astype(float)})
    assert tree["a"].dtype == np.float32 and tree["b"].dtype == np.float64
    assert codipy.jacobian(lambda x: x * x)(X).dtype == np.float32
    out, pullback = codipy.vjp(lambda x: x * x, X)
    assert out.dtype == np.float32 and pullback(np.ones(4))[0].dtype == np.float32
    out, tangent = codipy.jvp(lambda x: x * np.ones(4), (X,), (np.ones(4),))
    assert out.dtype == tangent.dtype == np.float64
    out, tangent = codipy.jvp(lambda x: x * x, (X,), (np.ones(4),))
    assert tangent.dtype == np.float32
    assert codipy.grad(lambda x: x.sum())(X.astype(X.dtype.newbyteorder())).dtype == np.float32


def test_rebound_code_allocates_float32():
    def f(x):
        y = np.zeros(4, dtype=np.float32)
        y[1:] = x[:-1] * x[1:]
        return y.sum()

    gradient = codipy.grad(f)(X)
    np.testing.assert_allclose(gradient, [X[1], X[0] + X[2], X[1] + X[3], X[2]], 1e-6)


def test_derivatives_are_checked_in_double():
    report = codipy.testing.check_derivatives(lambda x: np.sin(x) * x[0], X)
    assert report.passed
