# SPDX-License-Identifier: Apache-2.0
"""grad and value_and_grad of functions of arrays: forms, in-place writes, the fast path, errors."""
import gc
import sys
import types
import weakref
from dataclasses import dataclass, field

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from codipy.tools import callee
from tests.strategies import VARIANTS

X = np.array([1.0, -2.0, 3.0])


def squares(x):
    return (x * x).sum()


@pytest.mark.parametrize(("strategy", "granularity"), VARIANTS)
def test_every_setting_gives_the_gradient(strategy, granularity):
    driver = codipy.value_and_grad(squares, strategy=strategy, granularity=granularity)
    for _ in range(3):
        value, gradient = driver(X)
        assert value == 14.0 and type(value) is np.float64  # as what the function returns
        assert type(gradient) is np.ndarray and gradient.tolist() == [2.0, -4.0, 6.0]
    assert X.tolist() == [1.0, -2.0, 3.0]


@pytest.mark.parametrize(
    "x",
    [
        np.zeros(0),
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12.0)[::-2],
        np.broadcast_to(2.0, 3),
        np.arange(4.0).astype(">f8"),
        np.ones((2, 1, 3)),
    ],
    ids=["empty", "C", "Fortran", "negative stride", "read-only, stride 0", "big-endian", "three axes"],
)
def test_the_gradient_has_the_shape_of_the_array(x):
    before = x.copy()
    for gradient in (codipy.grad(squares)(x), codipy.grad(lambda t: squares(t["x"]))({"x": x})["x"]):
        assert gradient.shape == x.shape and gradient.dtype == np.dtype(float) and gradient.flags.writeable
        assert (gradient == 2.0 * x).all()
    assert (x == before).all()


@dataclass
class Model:
    weights: np.ndarray
    bias: float
    name: str = field(default="model", metadata={"static": True})
    norm: float = field(init=False)

    def __post_init__(self):
        self.norm = self.bias * self.bias


@dataclass(frozen=True)
class Frozen:
    a: float
    b: np.ndarray


def test_trees_of_arrays_and_floats():
    def f(p, scale):
        return (p["w"][0] * p["w"][1][0]).sum() * scale + p["b"] * 3.0

    tree = {"w": [np.array([1.0, 2.0]), (np.array([[3.0, 4.0]]),)], "b": 5.0}
    value, (gradient, by_scale) = codipy.value_and_grad(f, (0, 1))(tree, 2.0)
    assert value == 2.0 * 11.0 + 15.0
    assert gradient["w"][0].tolist() == [6.0, 8.0] and gradient["w"][1][0].tolist() == [[2.0, 4.0]]
    assert gradient["b"] == 3.0 and type(gradient["b"]) is float and by_scale == 11.0
    assert type(gradient["w"][1]) is tuple


def test_dataclasses():
    def f(model):
        assert model.name == "model"
        return (model.weights * model.norm).sum() + model.bias

    model = Model(np.array([1.0, 2.0]), 3.0)
    gradient = codipy.grad(f)(model)
    assert type(gradient) is Model and gradient.name == "model" and gradient.norm is None
    assert gradient.weights.tolist() == [9.0, 9.0] and gradient.bias == 2.0 * 3.0 * 3.0 + 1.0
    assert model.norm == 9.0 and model.weights.tolist() == [1.0, 2.0]
    gradient = codipy.grad(lambda t: t[0].a * t[0].b[1])([Frozen(2.0, X)])[0]
    assert type(gradient) is Frozen and gradient.a == -2.0 and gradient.b.tolist() == [0.0, 2.0, 0.0]


def test_a_field_that_is_no_number_is_named():
    @dataclass
    class Named:
        name: str
        x: float

    with pytest.raises(TypeError, match=r"argument 0\[1\]\.name is not a real number but str 'a'.*'static': True"):
        codipy.grad(lambda t: t[1].x)([1.0, Named("a", 2.0)])


def test_the_argument_may_be_overwritten_in_place():
    def f(x):
        x[0] = x[0] * x[0]
        x[1:] *= 3.0
        return x.sum()

    for strategy, granularity in VARIANTS:
        driver = codipy.grad(f, strategy=strategy, granularity=granularity)
        assert driver(X).tolist() == [2.0, 3.0, 3.0]
        assert codipy.grad(lambda t: f(t[0]))((X,))[0].tolist() == [2.0, 3.0, 3.0]
    assert X.tolist() == [1.0, -2.0, 3.0]


def test_numbers_of_every_kind():
    for number in (2.0, 2, np.float64(2.0), np.float32(2.0), np.array(2.0), codipy.Real(2.0)):
        assert codipy.grad(lambda t: (t[0] * t[1]).sum())([X, number])[1] == 2.0
    gradient = codipy.grad(squares)(codipy.Array(X))
    assert type(gradient) is np.ndarray and gradient.tolist() == [2.0, -4.0, 6.0]


def test_results_without_axes():
    assert codipy.grad(lambda x: x[1] * 2.0)(X).tolist() == [0.0, 2.0, 0.0]
    assert codipy.grad(lambda x: x[1:2].reshape(()) * 2.0)(X).tolist() == [0.0, 2.0, 0.0]
    value, gradient = codipy.value_and_grad(lambda x: np.array(3.0))(X)
    assert value == 3.0 and gradient.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("result", [lambda x: x, lambda x: x[:1], lambda x: np.ones(3), lambda x: np.ones((1, 1))])
def test_an_array_is_no_number(result):
    def cost(x):
        return result(x[0] if type(x) is list else x)

    for tree in (X, [X, 1.0]):
        with pytest.raises(TypeError, match=r"cost must return one real number, got .*rray of shape \(.*\): .*sum\(\)"
                                            r".*codipy\.jacobian"):
            codipy.grad(cost)(tree)
    assert codipy.active_tape() is None


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.arange(3), r"dtype int64.*pass x\.astype\(float\)"),
        (np.ones(3, bool), r"dtype bool.*pass x\.astype\(float\).*argnums.*functools\.partial"),
        (np.ones(3, np.float16), r"dtype float16.*pass x\.astype\(float\)"),
        (np.array([1.0, 2.0], object), r"dtype object.*pass x\.astype\(float\)"),
        (np.array(["a"]), "dtype <U1.*argnums does not name"),
        (np.ma.ones(3), r"MaskedArray.*np\.asarray\(x\)"),
    ],
)
def test_arrays_that_cannot_be_differentiated_by(array, said):
    for tree, path in ((array, "argument 0"), ([1.0, array], r"argument 0\[1\]"), ({"a": array}, r"argument 0\['a'\]")):
        with pytest.raises(TypeError, match=f"{path} is an? .*{said}"):
            codipy.grad(lambda t: 1.0)(tree)
    assert codipy.grad(lambda x, other: squares(x))(X, array).tolist() == [2.0, -4.0, 6.0]


def test_an_active_array_where_nothing_records_is_refused():
    with codipy.Tape() as tape:
        x = tape.register_input(X)
    with pytest.raises(ActiveError, match=r"argument 0 is active on a tape that does not record"):
        codipy.grad(squares)(x)
    with pytest.raises(ActiveError, match=r"argument 0\['x'\] is active on a tape that does not record"):
        codipy.grad(lambda t: squares(t["x"]))({"x": x})


def test_aux():
    def f(x, scale):
        y = x * scale
        return y.sum(), {"y": y, "name": "text", "first": y[0]}

    (value, aux), gradient = codipy.value_and_grad(f, has_aux=True)(X, 2.0)
    assert value == 4.0 and gradient.tolist() == [2.0, 2.0, 2.0]
    assert type(aux["y"]) is np.ndarray and aux["y"].tolist() == [2.0, -4.0, 6.0]
    assert aux["name"] == "text" and type(aux["first"]) is np.float64
    assert codipy.grad(f, has_aux=True)(X, 2.0)[1].keys() == aux.keys()
    assert codipy.grad(lambda x: (x[0] * x[1], x), has_aux=True)([2.0, 3.0]) == ([3.0, 2.0], [2.0, 3.0])
    with pytest.raises(TypeError, match=r"squares must return \(result, aux\) since has_aux=True, got Real"):
        codipy.grad(squares, has_aux=True)(X)


def test_an_exception_leaves_nothing_behind():
    def fails(x):
        raise KeyError(codipy.value(x[0]))

    for tree in (X, [X]):
        with pytest.raises(KeyError):
            codipy.grad(fails if tree is X else lambda t: fails(t[0]))(tree)
        assert codipy.active_tape() is None
        assert codipy.grad(squares)(X).tolist() == [2.0, -4.0, 6.0]


def test_the_function_is_rebound_once_and_only_if_asked(monkeypatch):
    calls = []

    def replaced(f):
        calls.append(f)
        return lambda x: 3.0 * f(x)

    monkeypatch.setitem(sys.modules, "codipy.tools.rebind", types.SimpleNamespace(rebind=replaced))
    driver = codipy.grad(squares)
    assert calls == []
    assert driver(X).tolist() == driver(X).tolist() == [6.0, -12.0, 18.0]
    assert calls == [squares]
    assert codipy.grad(squares, rebind=False)(X).tolist() == [2.0, -4.0, 6.0]
    assert codipy.jacobian(squares)(X).tolist() == [6.0, -12.0, 18.0]
    assert codipy.vjp(squares, X)[0] == codipy.jvp(squares, (X,), (X,))[0] == 42.0
    assert codipy.vjp(squares, X, rebind=False)[0] == 14.0

    def broken(f):
        raise RuntimeError("cannot read the source")

    monkeypatch.setitem(sys.modules, "codipy.tools.rebind", types.SimpleNamespace(rebind=broken))
    for drive in (callee.rebound, lambda f: codipy.grad(f)(X)):      # as it stands it might take another branch
        with pytest.raises(RuntimeError, match="cannot read the source"):
            drive(squares)


def test_what_was_rebuilt_of_a_modules_function_serves_the_next_driver():
    def local(x):
        return np.sum(x * x)

    def drive(f):
        codipy.hvp(f, (X,), (X,))
        return weakref.ref(callee.rebound(f))

    kept, dropped = drive(squares), drive(local)
    gc.collect()
    assert kept() is not None and kept() is callee.rebound(squares)
    assert dropped() is None


def filled(x, scale=2.0):
    """What plain NumPy cannot hold derivatives in."""
    z = np.zeros(x.shape)
    z[1:] = x[1:] * x[:-1]
    z[0] = np.full(3, x[0])[2] * scale
    return z


def test_arrays_that_the_function_makes_hold_derivatives():
    expected = np.array([[2.0, 0.0, 0.0], [-2.0, 1.0, 0.0], [0.0, 3.0, -2.0]])
    assert codipy.grad(lambda x: filled(x).sum())(X).tolist() == expected.sum(axis=0).tolist()
    assert codipy.jacobian(filled)(X).tolist() == expected.tolist()
    out, pullback = codipy.vjp(filled, X)
    assert out.tolist() == filled(X).tolist() and type(filled(X)) is np.ndarray
    assert pullback(X)[0].tolist() == (X @ expected).tolist()
    assert codipy.jvp(filled, (X,), (X,))[1].tolist() == (expected @ X).tolist()
    assert codipy.check_derivatives(filled, X).passed
    assert codipy.compare(lambda x: filled(x).sum(), X, repeat=1).agree
    for driver in (codipy.grad, codipy.jacobian):
        with pytest.raises(TypeError, match="derivative"):
            driver(lambda x: filled(x).sum(), rebind=False)(X)
    assert codipy.active_tape() is None


def test_one_array_passed_twice_is_two_variables():
    """Each has a gradient of its own, so identity cannot be kept, and writing into one is refused."""
    x = np.array([1.0, 2.0, 3.0])
    seen = []

    def f(a, b):
        seen.append(a is b)
        return (a * b * b).sum()

    value, (by_a, by_b) = codipy.value_and_grad(f, argnums=(0, 1))(x, x)
    assert value == f(x, x) and by_a.tolist() == [1.0, 4.0, 9.0] and by_b.tolist() == [2.0, 8.0, 18.0]
    assert codipy.grad(f)(x, x).tolist() == [1.0, 4.0, 9.0]
    assert codipy.grad(f, argnums=1)(x, x).tolist() == [2.0, 8.0, 18.0]
    by_both = codipy.grad(lambda pair: f(*pair))([x, x])
    assert [part.tolist() for part in by_both] == [[1.0, 4.0, 9.0], [2.0, 8.0, 18.0]]
    assert codipy.grad(lambda a: f(a, a))(x).tolist() == [3.0, 12.0, 27.0]
    assert seen.count(True) == 2  # plain f, and the last: one variable, used twice
    jacobians = codipy.jacobian(lambda a, b: a * b * b, argnums=(0, 1))(x, x)
    assert [np.diag(part).tolist() for part in jacobians] == [[1.0, 4.0, 9.0], [2.0, 8.0, 18.0]]

    def writes(a, b):
        a[0] = 5.0
        return b.sum() + a[1]

    with pytest.raises(ActiveError, match="the same memory in another argument"):
        codipy.grad(writes, argnums=(0, 1))(x, x)
    apart = codipy.grad(writes, argnums=(0, 1))(x, x.copy())
    assert [part.tolist() for part in apart] == [[0.0, 1.0, 0.0], [1.0, 1.0, 1.0]]
    assert x.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("kind", ["c16", "c8"])
def test_complex_arrays_of_the_other_byte_order(kind):
    z = np.array([1 + 2j, 3j], f"<{kind}")
    swapped = z.astype(f">{kind}")
    for derivative in (
        lambda z: codipy.grad(lambda z: (abs(z) ** 2).sum())(z),
        lambda z: codipy.jvp(np.exp, (z,), (z,))[1],
        lambda z: codipy.vjp(np.exp, z)[1](z)[0],
    ):
        found, expected = derivative(swapped), derivative(z)
        assert found.dtype == expected.dtype == z.dtype
        assert np.array_equal(found, expected)


@pytest.mark.parametrize(("kind", "name"), [(">f8", "float64"), (">f4", "float32")])
def test_what_is_said_of_a_plain_array_of_the_other_byte_order_works(kind, name):
    plain = np.zeros(2, kind)

    def refused(x):
        plain[:] = x
        return (plain * plain).sum()

    def as_said(x):
        own = np.array(plain, name)
        own[:] = x
        return (own * own).sum()

    with pytest.raises(codipy.errors.ActiveError, match=f'own = np.array\\(plain, "{name}"\\)'):
        codipy.grad(refused)(np.array([1.0, 3.0]))
    assert np.array_equal(codipy.grad(as_said)(np.array([1.0, 3.0])), [2.0, 6.0])


def test_argnums_may_be_integers_of_numpy():
    def f(a, b):
        return np.sum(a * a) * b

    x = np.array([1.0, 2.0])
    assert codipy.grad(f, np.int64(1))(x, 3.0) == 5.0
    by_both = codipy.grad(f, (np.int64(1), 0))(x, 3.0)
    assert by_both[0] == 5.0 and by_both[1].tolist() == [6.0, 12.0]


def test_an_array_is_resized_to_another_shape_of_its_size():
    def f(x, *shape):
        y = x * 2.0
        y.resize(*shape, refcheck=False)
        return np.sum(y[0] * y[-1])

    x = np.arange(1.0, 7.0)
    for shape in ((2, 3), ((3, 2),), (6, 1)):
        expected = [(f(x + h, *shape) - f(x - h, *shape)) / 2e-6 for h in 1e-6 * np.eye(6)]
        np.testing.assert_allclose(codipy.grad(f)(x, *shape), expected, rtol=1e-7, atol=1e-8)
    with pytest.raises(codipy.errors.ActiveError, match="an Array keeps its size"):
        codipy.grad(f)(x, 2, 4)
