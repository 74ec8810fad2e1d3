# SPDX-License-Identifier: Apache-2.0
"""vjp and jvp: forms in and out, against the Jacobian that they are products with, and errors that name the place."""
import collections
from dataclasses import dataclass

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from tests.strategies import VARIANTS

Point = collections.namedtuple("Point", "x y")
X, A = np.array([[1.0, 2.0], [3.0, -4.0]]), np.array([0.5, -1.0])


@dataclass
class State:
    u: np.ndarray
    t: float


def step(x, p):
    """Results of every form; the Jacobian is written down in `expected`."""
    x[0] = x[0] * p["a"]
    return {"x": x, "p": Point(p["a"] * p["t"], [p["t"] * p["t"]]), "state": State(x[:, 1], 2.0)}


def expected(cotangent):
    """What the pullback of `step` at (X, {a: A, t: 3}) must give."""
    bar = cotangent["x"].copy()
    bar[:, 1] += cotangent["state"].u
    by_x, by_a = bar.copy(), bar[0] * X[0] + 3.0 * cotangent["p"].x
    by_x[0] *= A
    return by_x, by_a, A @ cotangent["p"].x + 6.0 * cotangent["p"].y[0]


POINT = (X, {"a": A, "t": 3.0})
COTANGENT = {"x": np.array([[1.0, 10.0], [100.0, 1000.0]]), "p": Point(np.array([2.0, 7.0]), [5.0]),
             "state": State(np.array([3.0, 4.0]), 8.0)}


@pytest.mark.parametrize(("strategy", "granularity"), VARIANTS)
def test_vjp_and_jvp_of_every_form(strategy, granularity):
    options = {"strategy": strategy, "granularity": granularity}
    out, pullback = codipy.vjp(step, *POINT, **options)
    assert out["x"].tolist() == [[0.5, -2.0], [3.0, -4.0]] and out["p"] == Point(out["p"].x, [9.0])
    assert type(out["x"]) is np.ndarray and out["x"].flags.writeable and type(out["p"].y[0]) is float
    assert type(out["state"]) is State and out["state"].u.tolist() == [-2.0, -4.0] and out["state"].t == 2.0
    by_x, by_a, by_t = expected(COTANGENT)
    for _ in range(2):
        back, tree = pullback(COTANGENT)
        assert back == pytest.approx(by_x) and tree["a"] == pytest.approx(by_a) and tree["t"] == pytest.approx(by_t)
        assert type(tree["t"]) is float
    tangents = (np.array([[0.3, -0.2], [0.1, 0.7]]), {"a": np.array([1.1, 0.4]), "t": -0.6})
    value, tangent = codipy.jvp(step, POINT, tangents, **options)
    assert value["x"].tolist() == out["x"].tolist()
    assert type(tangent["state"]) is State and tangent["state"].t == 0.0
    forward = (np.sum(tangent["x"] * COTANGENT["x"]) + tangent["p"].x @ COTANGENT["p"].x
               + tangent["p"].y[0] * COTANGENT["p"].y[0] + tangent["state"].u @ COTANGENT["state"].u)
    assert forward == pytest.approx(np.sum(by_x * tangents[0]) + by_a @ tangents[1]["a"] + by_t * -0.6)
    assert X.tolist() == [[1.0, 2.0], [3.0, -4.0]]


def test_results_that_share_variables():
    def f(x, t):
        y = x * t
        return [y, y, x, x[:1], t, t, t * t, t * t]

    out, pullback = codipy.vjp(f, A, 3.0)
    assert [np.asarray(part).tolist() for part in out] == [[1.5, -3.0]] * 2 + [[0.5, -1.0], [0.5], 3.0, 3.0, 9.0, 9.0]
    ones = np.ones(2)
    by_x, by_t = pullback([ones, 2.0 * ones, 10.0 * ones, np.array([100.0]), 1.0, 2.0, 10.0, 20.0])
    assert by_x.tolist() == [9.0 + 10.0 + 100.0, 9.0 + 10.0]
    assert by_t == 3.0 * A.sum() + 3.0 + 30.0 * 6.0
    _, tangent = codipy.jvp(f, (A, 3.0), (ones, 1.0))
    assert tangent[0].tolist() == tangent[1].tolist() == [3.5, 2.0]
    assert tangent[2].tolist() == [1.0, 1.0] and tangent[3].tolist() == [1.0] and tangent[4:] == [1.0, 1.0, 6.0, 6.0]


def test_one_element_in_many_places():
    def f(x):
        return x[[0, 0, 1]], np.array([x[0] * x[0], 2.0, x[1]], object)

    out, pullback = codipy.vjp(f, A)
    assert out[1].tolist() == [0.25, 2.0, -1.0] and out[1].dtype == float
    assert pullback((np.array([1.0, 10.0, 100.0]), np.array([1000.0, 5.0, 1e4])))[0].tolist() == [1011.0, 10100.0]
    tangent = codipy.jvp(f, (A,), (np.array([1.0, 2.0]),))[1]
    assert tangent[0].tolist() == [1.0, 1.0, 2.0] and tangent[1].tolist() == [1.0, 0.0, 2.0]


def test_constants_and_nothing():
    out, pullback = codipy.vjp(lambda x: (np.arange(3), True, 7, np.float64(2.0)), A)
    assert out[0].dtype == np.arange(3).dtype and out[1] is True and out[2:] == (7, 2.0)
    assert pullback((np.ones(3), 1.0, 1.0, 1.0))[0].tolist() == [0.0, 0.0]
    tangent = codipy.jvp(lambda x: (np.arange(3), True), (A,), (A,))[1]
    assert tangent[0].tolist() == [0.0, 0.0, 0.0] and tangent[1] == 0.0
    with pytest.raises(TypeError, match="got none"):
        codipy.vjp(lambda: 3.0)
    assert codipy.vjp(lambda x: x, np.zeros((0, 2)))[1](np.zeros((0, 2)))[0].shape == (0, 2)
    assert codipy.vjp(lambda x: [], 1.0)[1]([]) == (0.0,)


def test_overlapping_results_in_place():
    def f(x):
        y = x * 1.0
        first = y[:2]
        y[0] = y[2] * y[2]
        return y, first

    x = np.array([1.0, 2.0, 3.0])
    out, pullback = codipy.vjp(f, x)
    assert out[0].tolist() == [9.0, 2.0, 3.0] and out[1].tolist() == [9.0, 2.0]
    assert pullback((np.array([1.0, 10.0, 100.0]), np.array([1000.0, 1e4])))[0].tolist() == [0.0, 10010.0, 6106.0]


def test_views_of_an_argument_that_was_overwritten():
    def f(x):
        before = x.copy()
        x[0] = x[1] * x[1]
        return x, x.reshape(2, 1), x[:1], before

    _, pullback = codipy.vjp(f, A)
    ones = np.ones(2)
    back = pullback((ones, np.array([[10.0], [10.0]]), np.array([100.0]), np.array([1000.0, 0.0])))[0]
    assert back.tolist() == [1000.0, 11.0 + 111.0 * 2.0 * A[1]]
    tangent = codipy.jvp(f, (A,), (np.array([5.0, 1.0]),))[1]
    assert [part.ravel().tolist() for part in tangent] == [[-2.0, 1.0], [-2.0, 1.0], [-2.0], [5.0, 1.0]]


def test_a_pullback_outlives_other_drivers():
    _, first = codipy.vjp(lambda x: x * x, A)
    _, second = codipy.vjp(lambda x: x * x * x, A)
    codipy.grad(lambda x: x * 2.0)(1.0)
    codipy.clear_tapes()
    assert first(np.ones(2))[0].tolist() == [1.0, -2.0] and second(np.ones(2))[0].tolist() == [0.75, 3.0]


def test_aux():
    def f(x):
        return x * x, {"x": x}

    out, pullback, aux = codipy.vjp(f, A, has_aux=True)
    assert aux["x"].tolist() == A.tolist() and pullback(np.ones(2))[0].tolist() == [1.0, -2.0]
    assert codipy.jvp(f, (A,), (A,), has_aux=True)[2]["x"].tolist() == A.tolist()


@pytest.mark.parametrize(
    ("cotangent", "error", "said"),
    [
        (1.0, TypeError, r"cotangent must have the form of what it belongs to, a dict with the keys \['a', 'b'\]"),
        ({"a": A}, TypeError, "cotangent must have the form .* got dict"),
        ({"a": A, "b": [1.0]}, TypeError, r"cotangent\['b'\] must have the form .* a Point of 2, got list"),
        ({"a": A[:1], "b": (A, 1.0)}, ValueError, r"cotangent\['a'\] must have the shape \(2,\) .* got \(1,\)"),
        ({"a": A, "b": (A, A)}, ValueError, r"cotangent\['b'\]\[1\] must have the shape \(\)"),
        ({"a": 1.0, "b": (A, 1.0)}, ValueError, r"cotangent\['a'\] must have the shape \(2,\)"),
        ({"a": A, "b": (A, None)}, TypeError, r"cotangent\['b'\]\[1\] must be numbers of shape \(\), got None"),
        ({"a": A * 1j, "b": (A, 1.0)}, TypeError, r"cotangent\['a'\] must be numbers of shape \(2,\), got ndarray"),
    ],
)
def test_a_cotangent_of_another_form(cotangent, error, said):
    _, pullback = codipy.vjp(lambda x: {"a": x, "b": Point(x * 2.0, x[0])}, A)
    with pytest.raises(error, match=said):
        pullback(cotangent)
    assert pullback({"a": [1, 2], "b": (np.arange(2), 1)})[0].tolist() == [2.0, 4.0]


def test_tangents_of_another_form():
    for tangents, error, said in [
        (A, TypeError, "tangents must be a tuple with one for each argument"),
        ((A, A), ValueError, "one for each of the 1 arguments, got 2"),
        (([A],), ValueError, r"tangents\[0\] must have the shape \(2,\)"),
        (("text",), TypeError, r"tangents\[0\] must be numbers"),
    ]:
        with pytest.raises(error, match=said):
            codipy.jvp(lambda x: x, (A,), tangents)
    with pytest.raises(TypeError, match="args must be a tuple"):
        codipy.jvp(lambda x: x, A, (A,))


def test_what_cannot_be_returned_is_named():
    def answer(x):
        return {"a": x, "b": [x, leaves[-1]]}

    leaves = []
    for leaf in ("text", None, np.array(["a"]), np.array([1.0, "a"], object), object()):
        leaves.append(leaf)
        with pytest.raises(TypeError, match=r"answer must return real numbers and arrays.* as result\['b'\]\[1\]"):
            codipy.vjp(answer, A)
    assert codipy.active_tape() is None


def test_an_active_argument_where_nothing_records_is_refused():
    with codipy.Tape() as tape:
        x = tape.register_input(A)
    for call in (lambda: codipy.vjp(lambda t: t, x), lambda: codipy.jvp(lambda t: t, (A,), (x,))):
        with pytest.raises(ActiveError, match="on a tape that does not record"):
            call()
    with pytest.raises(TypeError, match="f must be a function"):
        codipy.vjp(3.0, A)
    with pytest.raises(ValueError, match="strategy"):
        codipy.jvp(np.sin, (A,), (A,), strategy="fast")


def norm_and_direction(x):
    """Some results are expressions of others, and wait when those become outputs."""
    n = np.sqrt(np.sum(x * x))
    e = x / n
    return {"n": n, "e": e, "square": n * n, "part": x[0] * n, "back": (e * n)[::-1], "again": n}


@pytest.mark.parametrize(("strategy", "granularity"), VARIANTS)
def test_a_result_that_other_results_are_made_of(strategy, granularity):
    options = {"strategy": strategy, "granularity": granularity}
    n, e = np.linalg.norm(A), A / np.linalg.norm(A)
    turned = (np.eye(2) - np.outer(e, e)) / n
    slopes = {"n": e, "e": turned, "square": 2.0 * A, "part": n * np.eye(2)[0] + A[0] * e, "back": np.eye(2)[::-1]}
    slopes["again"] = e
    found = codipy.jacobian(norm_and_direction, **options)(A)
    out, pullback = codipy.vjp(norm_and_direction, A, **options)
    value, tangent = codipy.jvp(norm_and_direction, (A,), (np.array([1.0, -2.0]),), **options)
    assert out.keys() == value.keys() == norm_and_direction(A).keys()
    zeros = {name: np.zeros(np.shape(x)) for name, x in out.items()}
    for name, x in norm_and_direction(A).items():
        assert np.array_equal(out[name], x) and np.array_equal(value[name], x)
        assert found[name] == pytest.approx(slopes[name])
        assert tangent[name] == pytest.approx(slopes[name] @ [1.0, -2.0])
        assert pullback(zeros | {name: np.ones(np.shape(x))})[0] == pytest.approx(
            np.ones(np.shape(x)) @ slopes[name] if np.ndim(x) else slopes[name])


@pytest.mark.parametrize("strategy", ["auto", "primal", "forward"])
@pytest.mark.parametrize(("f", "zero"), [
    (lambda x: 3.0, 0.0), (lambda x: np.float64(3.0), 0.0), (lambda x: 3, 0.0), (lambda x: 3.0j, 0.0j),
    (lambda x: np.array(3.0), np.array(0.0)), (lambda x: np.ones(2), np.zeros(2)),
])
def test_tangents_of_constants_are_of_the_class_of_others(strategy, f, zero):
    tangent = codipy.jvp(lambda x: (f(x), x), (2.0,), (1.0,), strategy=strategy)[1][0]
    assert type(tangent) is type(zero) and np.array_equal(tangent, zero)
    if strategy != "forward":
        tangent = codipy.linearize(f, 2.0, strategy=strategy)[1](1.0)
        assert type(tangent) is type(zero) and np.array_equal(tangent, zero)
