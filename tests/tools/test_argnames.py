# SPDX-License-Identifier: Apache-2.0
"""`argnames` in every driver, drivers that are pickled, bound and named, and what they refuse with the fix."""

import copy
import pickle

import numpy as np
import pytest

import codipy
from tests.strategies import each_strategy

X, K = np.array([0.3, 0.7]), 1.5


def model(x, y=2.0, *, k, flag="no number"):
    return np.sum(np.sin(x) * k) + y * k**2


def by_k(x, y, k, h=1e-6):
    return (model(x, y, k=k + h) - model(x, y, k=k - h)) / (2 * h)


def outputs(x, *, k):
    return x * k


@codipy.grad
def decorated(x):
    return x * x


class Holder:
    slope = codipy.grad(lambda self, x: x**3, argnums=1)


def test_by_the_name_of_a_keyword_argument():
    gradient = codipy.grad(model, argnames="k")(X, 3.0, k=K)
    assert gradient == pytest.approx(by_k(X, 3.0, K), rel=1e-8) and type(gradient) is float
    value, (gradient,) = codipy.value_and_grad(model, argnames=("k",))(X, 3.0, k=K)
    assert value == model(X, 3.0, k=K)
    assert gradient == pytest.approx(by_k(X, 3.0, K), rel=1e-8)


@each_strategy
def test_a_name_is_that_of_a_parameter_however_it_is_passed(strategy):
    driver = codipy.grad(model, argnames=("y", "x"), strategy=strategy)
    for gradient in (driver(X, 3.0, k=K), driver(X, y=3.0, k=K), driver(x=X, y=3.0, k=K)):
        assert gradient[0] == K**2
        np.testing.assert_allclose(gradient[1], np.cos(X) * K, rtol=1e-14)


def test_positions_and_names_together_give_a_pair():
    by_x, by_name = codipy.grad(model, 0, argnames="k")(X, 3.0, k=K)
    np.testing.assert_allclose(by_x, np.cos(X) * K, rtol=1e-14)
    assert by_name == pytest.approx(by_k(X, 3.0, K), rel=1e-8)
    (by_x, by_y), (again,) = codipy.grad(model, (0, 1), argnames=("k",))(X, 3.0, k=K)
    assert by_y == K**2 and again == by_name and by_x.shape == (2,)


def test_trees_by_name_keep_their_form_and_the_callers_dict_stays():
    def f(*, p):
        p["a"] = p["a"] * p["b"][0]
        return p["a"]

    point = {"a": 2.0, "b": [3.0, 1.0]}
    assert codipy.grad(f, argnames="p")(p=point) == {"a": 3.0, "b": [2.0, 0.0]}
    assert point == {"a": 2.0, "b": [3.0, 1.0]}


def test_in_jacobian_vjp_and_jvp():
    np.testing.assert_array_equal(codipy.jacobian(outputs, argnames="k")(X, k=K), X)
    matrix, column = codipy.jacobian(outputs, 0, argnames="k")(X, k=K)
    np.testing.assert_array_equal(matrix, K * np.eye(2))
    np.testing.assert_array_equal(column, X)
    out, pullback = codipy.vjp(outputs, X, kwargs={"k": K}, argnames="k")
    np.testing.assert_array_equal(out, X * K)
    by_x, by_name = pullback(np.array([1.0, 10.0]))
    np.testing.assert_array_equal(by_x, [K, 10 * K])
    assert by_name == pytest.approx(X[0] + 10 * X[1])
    (by_x,) = codipy.vjp(outputs, X, kwargs={"k": K})[1](np.ones(2))
    np.testing.assert_array_equal(by_x, [K, K])
    _, tangent = codipy.jvp(outputs, (X,), (np.ones(2), 2.0), kwargs={"k": K}, argnames="k")
    np.testing.assert_allclose(tangent, K + 2.0 * X)
    _, tangent = codipy.jvp(outputs, (X,), (np.ones(2),), kwargs={"k": K})
    np.testing.assert_allclose(tangent, [K, K])


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: codipy.grad(model, argnames="k")(X), TypeError, "called without 'k', which argnames names"),
        (lambda: codipy.grad(model, 0, argnames="x")(X, k=K), ValueError, "argnums and argnames both name 'x'"),
        (lambda: codipy.grad(model, argnames=3), TypeError, "argnames must be a str or a tuple of strs"),
        (lambda: codipy.grad(model, argnames=()), ValueError, "argnames must name each argument once"),
        (lambda: codipy.grad(model, argnames=("k", "k")), ValueError, "argnames must name each argument once"),
        (lambda: codipy.grad(model)(x=X, k=K), TypeError, "or name it, argnames="),
        (lambda: codipy.grad(model, argnames="flag")(X, k=K, flag="a"), TypeError, "argument 'flag' is not a real"),
        (lambda: codipy.jvp(outputs, (X,), (X,), kwargs={"k": K}, argnames="k"), ValueError, "each of the 2"),
    ],
)
def test_what_is_wrong_is_named(make, error, text):
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize("dtype", [int, np.int32, np.uint8, bool])
def test_arrays_of_integers_are_refused_with_the_fix(dtype):
    for driver in (codipy.grad, codipy.value_and_grad, codipy.jacobian):
        with pytest.raises(TypeError, match=r"argument 0 is an ndarray of dtype .*: pass x\.astype\(float\)"):
            driver(lambda x: np.sum(x * x))(np.array([1, 0], dtype))
    with pytest.raises(TypeError, match=r"argument 0 .* pass x\.astype\(float\)"):
        codipy.vjp(lambda x: x * x, np.array([1, 0], dtype))


@pytest.mark.parametrize(
    ("f", "fix"),
    [(lambda x: x[:1] * x[1:], r"shape \(1,\): return its number, y\[0\]"),
     (lambda x: (x[:1] * x[1:])[None], r"shape \(1, 1\): return its number, y\[0, 0\]"),
     (lambda x: [x[0]], "got list: return one number"),
     (lambda x: x * x, r"shape \(2,\): reduce it to one")],
)  # fmt: skip
def test_one_number_in_an_array_is_refused_with_the_fix(f, fix):
    with pytest.raises(TypeError, match=fix):
        codipy.grad(f)(X)


@pytest.mark.parametrize("made", [codipy.grad(model, argnames="k"), codipy.value_and_grad(model, 1), decorated])
def test_drivers_can_be_pickled_and_copied(made):
    again = pickle.loads(pickle.dumps(made))
    args, kwargs = ((2.0,), {}) if made is decorated else ((X, 3.0), {"k": K})
    assert again(*args, **kwargs) == made(*args, **kwargs) == copy.deepcopy(made)(*args, **kwargs)
    assert again.__name__ == made.__name__


def test_a_jacobian_can_be_pickled():
    again = pickle.loads(pickle.dumps(codipy.jacobian(outputs, argnames="k", strategy="primal")))
    np.testing.assert_array_equal(again(X, k=K), X)
    assert again.options["strategy"] == "primal"


def test_drivers_pass_for_functions():
    assert decorated.__name__ == "decorated" and "Gradient of decorated by argument 0" in decorated.__doc__
    assert repr(codipy.grad(model)) == "<codipy.grad of model>"
    assert Holder().slope(2.0) == pytest.approx(12.0)
    assert Holder.slope(None, 2.0) == pytest.approx(12.0)


def test_a_tape_made_by_auto_says_so():
    tape = codipy.Tape()
    assert tape.strategy == "auto" and "strategy='auto'" in repr(tape)
    assert codipy.Tape(**tape.parameters).strategy == "auto"
    with tape:
        x = tape.register_input(np.ones(3))
        y = tape.register_output(np.sum(x * x))
    tape._check()
    assert "(auto, statement)" in str(tape.statistics())
    y.gradient = 1.0
    tape.evaluate()
    np.testing.assert_array_equal(x.gradient, 2 * np.ones(3))


def test_no_argnums_beside_names_is_the_names_alone():
    def f(a, *, c):
        return a * a * c**3

    assert codipy.grad(f, (), argnames="c")(2.0, c=3.0) == 108.0
    assert codipy.hessian(f, (), argnames="c")(2.0, c=3.0) == 72.0
    assert codipy.hvp(f, (2.0,), (1.0,), kwargs={"c": 3.0}, argnums=(), argnames="c") == (72.0,)
    assert codipy.jvp(f, (2.0,), (1.0,), kwargs={"c": 3.0}, argnums=(), argnames="c")[1] == 108.0
    for driver in (codipy.hvp, codipy.gradient_and_hvp, codipy.jvp):
        with pytest.raises(ValueError, match="argnums must name each argument once, and at least one"):
            driver(f, (2.0,), (1.0,), kwargs={"c": 3.0}, argnums=())
