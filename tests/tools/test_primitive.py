# SPDX-License-Identifier: Apache-2.0
"""`codipy.primitive`: the user's rules in both modes, of numbers and arrays, several results, saved values, twice."""

import ctypes
import pickle
import struct

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError, UndifferentiableError
from tests.strategies import LINEAR, each_as_values, each_strategy

X = np.array([0.3, 0.7, 1.1])


@codipy.primitive
def wave(x, k):
    return np.sin(k * x)


@wave.vjp
def _wave_back(g, out, x, k):
    slope = np.cos(k * x)
    return g * k * slope, np.sum(g * x * slope)


@wave.jvp
def _wave_on(tangents, out, x, k):
    return np.cos(k * x) * (k * tangents[0] + x * tangents[1])


@codipy.primitive(saves=True)
def solved(a, b):
    inverse = np.linalg.inv(a)
    return inverse @ b, inverse


@solved.vjp
def _solved_back(g, out, a, b, saved):
    back = saved.T @ g
    return -back[:, None] * out, back


@codipy.primitive
def polar(x, y):
    return np.hypot(x, y), np.arctan2(y, x)


@polar.vjp
def _polar_back(g, out, x, y):
    r, _ = out
    return g[0] * x / r - g[1] * y / r**2, g[0] * y / r + g[1] * x / r**2


def plain_wave(x, k):
    return np.sum(np.sin(k * x) * x)


def own_wave(x, k):
    return np.sum(wave(x, k) * x)


@each_strategy
def test_both_modes_and_second_derivatives(strategy):
    for found, expected in zip(codipy.grad(own_wave, (0, 1), strategy=strategy)(X, 2.0),
                               codipy.grad(plain_wave, (0, 1))(X, 2.0)):
        np.testing.assert_allclose(found, expected, rtol=1e-14)
    own = codipy.jvp(own_wave, (X, 2.0), (X * X, 0.5), strategy=strategy)
    expected = codipy.jvp(plain_wave, (X, 2.0), (X * X, 0.5))
    assert own[0] == expected[0] and own[1] == pytest.approx(expected[1], rel=1e-14)
    np.testing.assert_allclose(codipy.hessian(own_wave, strategy=strategy)(X, 2.0), codipy.hessian(plain_wave)(X, 2.0),
                               rtol=1e-12, atol=1e-14)
    own = codipy.hessian(lambda k: own_wave(X, k))(2.0)
    assert own == pytest.approx(codipy.hessian(lambda k: plain_wave(X, k))(2.0))


def test_plain_arguments_run_the_function():
    assert type(wave(X, 2.0)) is np.ndarray and wave(X, 2.0).tolist() == np.sin(2.0 * X).tolist()
    assert polar(3.0, 4.0)[0] == 5.0
    assert solved(np.eye(3), X).tolist() == X.tolist()


def test_numbers():
    assert codipy.grad(lambda x: wave(x, 2.0))(0.5) == 2.0 * np.cos(1.0)
    assert codipy.grad(codipy.grad(lambda x: wave(x, 2.0)))(0.5) == pytest.approx(-4.0 * np.sin(1.0), rel=1e-15)


def test_several_results_of_which_one_is_used():
    found = codipy.grad(lambda p: polar(p[0], p[1])[1] * 2.0)([3.0, 4.0])
    assert found == pytest.approx([-8.0 / 25.0, 6.0 / 25.0])
    own = codipy.hessian(lambda p: np.sin(polar(p[0], p[1])[1]) * polar(p[0], p[1])[0])(np.array([3.0, 4.0]))
    np.testing.assert_allclose(own, codipy.hessian(lambda p: p[1] * 1.0)(np.array([3.0, 4.0])), atol=1e-15)


def test_saved_values_are_no_constants_of_second_derivatives():
    """The inverse that is saved moves with the matrix."""
    @codipy.primitive(saves=(0,))
    def both(a, b):
        inverse = np.linalg.inv(a)
        return inverse @ b, inverse

    both.vjp(lambda g, out, a, b, saved: (-(saved.T @ g)[:, None] * out, saved.T @ g))
    both.jvp(lambda t, out, a, b, saved: saved @ (t[1] - t[0] @ out))
    a, b = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([1.0, 0.5])

    def f(s):
        return np.sum(both(a * s, b) ** 2)

    assert codipy.grad(f)(1.3) == pytest.approx(codipy.grad(lambda s: np.sum(np.linalg.solve(a * s, b) ** 2))(1.3))
    for further in (codipy.hessian(f), codipy.grad(codipy.grad(f)), lambda s: codipy.taylor(f, s, 1.0, 2)):
        with pytest.raises(UndifferentiableError, match="what both saved depends on its arguments"):
            further(1.3)
    # By b alone the matrix does not move, and neither does what was saved: saves=(0,) says so.
    second = codipy.hessian(lambda b: np.sum(both(a, b) ** 2))(b)
    np.testing.assert_allclose(second, 2.0 * np.linalg.inv(a).T @ np.linalg.inv(a), rtol=1e-12)
    third = codipy.taylor(lambda b: np.sum(both(a, b) ** 2), b, b, 2)
    assert third[2] == pytest.approx(third[0], rel=1e-13)
    for wrong in (1, "a", (0.5,), [0]):
        with pytest.raises(TypeError, match="saves must be"):
            codipy.primitive(both, saves=wrong)


def test_saved_values():
    a, b = np.array([[3.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 1.0]]), X
    found = codipy.grad(lambda a, b: np.sum(solved(a, b) ** 2), (0, 1))(a, b)
    expected = codipy.grad(lambda a, b: np.sum(np.linalg.solve(a, b) ** 2), (0, 1))(a, b)
    for one, two in zip(found, expected):
        np.testing.assert_allclose(one, two, rtol=1e-12)


@each_strategy
def test_a_rule_that_is_missing_is_the_transpose_of_the_other(strategy):
    @codipy.primitive
    def forward_only(x, y):
        return x * x * y, x - y

    @forward_only.jvp
    def _(tangents, out, x, y):
        return 2.0 * x * y * tangents[0] + x * x * tangents[1], tangents[0] - tangents[1]

    def f(x, y):
        a, b = forward_only(x, y)
        return np.sum(np.sin(a) * b)

    def plain(x, y):
        return np.sum(np.sin(x * x * y) * (x - y))

    for one, two in zip(codipy.grad(f, (0, 1), strategy=strategy)(X, 2.0), codipy.grad(plain, (0, 1))(X, 2.0)):
        np.testing.assert_allclose(one, two, rtol=1e-13)
    np.testing.assert_allclose(codipy.hessian(f, strategy=strategy)(X, 2.0), codipy.hessian(plain)(X, 2.0), rtol=1e-12)
    angle = codipy.jvp(lambda x, y: polar(x, y)[1], (3.0, 4.0), (1.0, 2.0), strategy=strategy)[1]
    assert angle == pytest.approx((3.0 * 2.0 - 4.0) / 25.0, rel=1e-14)


def test_without_a_rule():
    @codipy.primitive
    def bare(x):
        return x * x

    with pytest.raises(UndifferentiableError, match=r"bare has no rule: write one, `@bare.vjp`"):
        codipy.grad(bare)(3.0)
    with pytest.raises(UndifferentiableError, match="bare has no rule"):
        codipy.jvp(bare, (3.0,), (1.0,))


def test_what_rules_must_return():
    @codipy.primitive
    def product(x, y):
        return x * y

    @product.vjp
    def _(g, out, x, y):
        return g * y

    with pytest.raises(TypeError, match="one cotangent for each of the 2 arguments, got 1"):
        codipy.grad(lambda x: product(x, 2.0))(3.0)

    @product.vjp
    def _(g, out, x, y):
        return np.zeros(2), None

    with pytest.raises(TapeError, match=r"shape \(2,\)"):
        codipy.grad(lambda x: np.sum(product(x, 2.0)))(X)

    @product.vjp
    def _(g, out, x, y):
        return None, g * x

    assert codipy.grad(product, (0, 1))(3.0, 2.0) == (0.0, 3.0)


def test_variables_where_no_rule_can_see_them():
    with pytest.raises(ActiveError, match="wave got a variable inside of"):
        codipy.grad(lambda x: np.sum(wave([x, x], 2.0)))(1.0)
    with pytest.raises(ActiveError, match="wave got a variable inside of"):
        codipy.grad(lambda k: np.sum(wave(X, k=k)))(1.0)
    hidden = []

    @codipy.primitive
    def closing(x):
        return x * hidden[0]

    @closing.vjp
    def _(g, out, x):
        return g

    def f(x):
        hidden[:] = [x]
        return closing(x)

    with pytest.raises((ActiveError, TapeError)):
        codipy.grad(f)(2.0)


def test_a_rule_of_plain_numbers_is_not_differentiated():
    @codipy.primitive
    def square(x):
        return x * x

    @square.vjp
    def _(g, out, x):
        return g * 2.0 * struct.unpack("d", struct.pack("d", x))[0]

    assert codipy.grad(square)(3.0) == 6.0
    with pytest.raises(UndifferentiableError, match="derivative of square"):
        codipy.grad(codipy.grad(square))(3.0)


def test_a_rule_that_cannot_be_transposed():
    @codipy.primitive
    def square(x):
        return x * x

    @square.vjp
    def _(g, out, x):
        return struct.unpack("d", struct.pack("d", g))[0] * 2.0 * x

    assert codipy.grad(square)(3.0) == 6.0
    with pytest.raises(UndifferentiableError, match="square has no jvp rule, and its vjp rule cannot be run on var"):
        codipy.jvp(square, (3.0,), (1.0,))


def test_decorators_names_and_pickles():
    assert wave.__name__ == "wave" and "vjp and jvp" in repr(wave)
    assert pickle.loads(pickle.dumps(wave)) is wave
    with pytest.raises(TypeError, match="takes a function"):
        codipy.primitive(3.0)
    with pytest.raises(TypeError, match="must be a function"):
        wave.vjp(3.0)


# ---- Results in memory that others have ----

BUFFER, TWO_ROWS, PIVOTS = np.zeros(3), np.zeros((2, 3)), np.zeros(3, int)


@codipy.primitive
def in_buffer(x):
    return np.exp(x, out=BUFFER)


@codipy.primitive
def in_view(x):
    return np.exp(x, out=TWO_ROWS[0])[:]


@codipy.primitive
def in_pair(x):
    return np.exp(x, out=BUFFER), np.exp(x)


for _one in (in_buffer, in_view):
    _one.vjp(lambda g, out, x: g * out)
in_pair.vjp(lambda g, out, x: g[0] * out[0] + g[1] * out[1])


@each_strategy
@pytest.mark.parametrize("f", [in_buffer, in_view, lambda x: in_pair(x)[0]])
def test_own_buffer_of_a_primitive_is_written_again(strategy, f):
    def twice(x):
        return np.sum(f(x) * 2.0) + np.sum(f(2.0 * x))

    def thrice(x):      # the expressions wait
        return np.sum(2.0 * f(x) + 3.0 * f(2.0 * x) + np.dot(f(3.0 * x), X) * f(x))

    exact = 2.0 * np.exp(X) + 2.0 * np.exp(2.0 * X)
    np.testing.assert_allclose(codipy.grad(twice, strategy=strategy)(X), exact, rtol=1e-14)
    e = [np.exp(k * X) for k in range(4)]
    if f is not in_pair:
        exact = 2.0 * e[1] + 6.0 * e[2] + 3.0 * X * e[3] * np.sum(e[1]) + np.dot(e[3], X) * e[1]
        np.testing.assert_allclose(codipy.grad(thrice, strategy=strategy)(X), exact, rtol=1e-13)


@each_strategy
def test_result_that_a_primitive_overwrites_while_it_is_used_is_refused(strategy):
    def f(x):
        y = in_buffer(x)
        return np.sum(y * in_buffer(2.0 * x))      # the plain run multiplies an array by itself

    with pytest.raises(ActiveError, match="in_buffer overwrote the array that it returned before"):
        codipy.grad(f, strategy=strategy)(X)

    def same(x):
        y = in_buffer(x)
        return np.sum(y * in_buffer(x))

    np.testing.assert_allclose(codipy.grad(same, strategy=strategy)(X), 2.0 * np.exp(2.0 * X), rtol=1e-14)


# What is done with a result, the array that the primitive fills, and the next result.
IN_ARRAYS = {
    "another call": lambda y, w, again: np.sum(y) * np.sum(again(2.0)),
    "written to": lambda y, w, again: _written(y, w),
    "read": lambda y, w, again: np.sum(y * w),
    "result written to": lambda y, w, again: _written(w, y),
}


def _written(y, w):
    w[0] = y[1] * 3.0
    return np.sum(y)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("name", IN_ARRAYS)
def test_result_in_an_array_of_the_function_is_that_array(name, several):
    def f(x, kind):
        w = np.zeros(3)

        def filling(x):
            w[:] = np.exp(x)
            return (w, x[0] * 1.0) if several else w

        if kind is not None:
            filling = codipy.primitive(filling)
            filling.vjp(lambda g, out, x: g[0] * out[0] + [g[1], 0.0, 0.0] if several else g * out)

        def filled(k):
            found = filling(k * x)
            return found[0] if several else found

        return IN_ARRAYS[name](filled(1.0), w, filled)

    value, gradient = codipy.value_and_grad(f)(X, "own")
    expected = codipy.value_and_grad(f)(X, None)
    assert value == f(X, None) == expected[0]
    np.testing.assert_allclose(gradient, expected[1], rtol=1e-13)


@codipy.primitive
def in_bytes(x):
    return np.frombuffer(bytearray(np.exp(x).tobytes()))


in_bytes.vjp(lambda g, out, x: g * out)


@each_strategy
def test_memory_that_a_primitive_gave_back_is_used_again(strategy):
    def f(x):
        parts = [in_bytes((k + 1.0) * x) for k in range(30)]      # of memory that is freed with the array returned
        return np.sum(parts[0] * parts[1]) + sum(np.sum(y) * 0.5**k for k, y in enumerate(parts))

    exact = 3.0 * np.exp(3.0 * X) + sum((k + 1.0) * 0.5**k * np.exp((k + 1.0) * X) for k in range(30))
    np.testing.assert_allclose(codipy.grad(f, strategy=strategy)(X), exact, rtol=1e-13)


@each_strategy
def test_what_a_primitive_saved_is_overwritten(strategy):
    factor, parts = np.zeros(3), {"rows": [np.zeros(3)]}

    @codipy.primitive(saves=True)
    def scaled(x):
        np.cos(x, out=factor)
        np.cos(x, out=parts["rows"][0])
        PIVOTS[:] = [2, 0, 1] if x[0] < 0.5 else [1, 2, 0]
        return (np.sin(x)[PIVOTS], PIVOTS), (factor, parts)

    @scaled.vjp
    def _back(g, out, x, saved):
        assert saved[1]["rows"][0].tolist() == saved[0].tolist()
        back = np.zeros(3)
        back[out[1]] = g[0]
        return back * saved[0]

    def f(x):
        y, at = scaled(x)
        z = scaled(2.0 * x)[0]
        at[:] = 0      # what was an integer is the caller's
        return y[0] * 2.0 + z[0] * 3.0

    exact = np.zeros(3)
    exact[2] += 2.0 * np.cos(X[2])
    exact[1] += 6.0 * np.cos(2.0 * X[1])
    np.testing.assert_allclose(codipy.grad(f, strategy=strategy)(X), exact, rtol=1e-13)


def test_new_result_of_a_primitive_is_not_copied():
    given = []

    @codipy.primitive
    def double(x):
        new = 2.0 * np.ravel(x)
        given.append(new.ctypes.data)
        return new.reshape(-1, 1)

    double.vjp(lambda g, out, x: 2.0 * g[:, 0])

    def f(x):
        y = double(x)
        given.append(codipy.value(y).ctypes.data)
        return np.sum(y)

    codipy.grad(f)(np.ones(3))
    assert given[0] == given[1]


# ---- Functions and rules that write to what they get, or read what is no argument ------------------------------------
def writes_in_place(x):
    x *= 2.0
    return np.sin(x)


def writes_by_address(x):
    ctypes.memset(x.ctypes.data, 0, 8)
    return np.sin(x)


def writes_beside(x, work):
    np.sin(x, out=work)
    return work


def writes_by_name(x, *, work):
    np.sin(x, out=work)
    return work


def writes_to_a_list(x, work):
    work[0] = float(x[0])
    return np.sin(x)


WORK = np.zeros(3)
WRITING = {
    "variable": lambda: (writes_in_place, lambda f, x: f(x)),
    "variable by its address": lambda: (writes_by_address, lambda f, x: f(1.0 * x)),
    "array": lambda: (writes_beside, lambda f, x: f(x, WORK) + WORK),
    "array of the function": lambda: (writes_beside, lambda f, x: f(x, np.zeros(3))),
    "keyword": lambda: (writes_by_name, lambda f, x: f(x, work=WORK) + WORK),
    "keyword of the function": lambda: (writes_by_name, lambda f, x: f(x, work=np.zeros(3))),
    "list": lambda: (writes_to_a_list, lambda f, x: f(x, [0.0])),
}


@pytest.mark.parametrize("case", WRITING)
def test_a_function_that_writes_to_what_it_gets_is_refused(case):
    f, called = WRITING[case]()
    own = codipy.primitive(f)
    own.vjp(lambda g, out, x, *_, **__: (g * np.cos(x), *[None] * len(_)))
    assert np.all(np.isfinite(called(own, X.copy())))      # as it may where nothing is differentiated
    for _ in range(2):      # the second time the same is written as stands there
        with pytest.raises(ActiveError, match=rf"{f.__name__} (wrote to|writes to).*copy"):
            codipy.grad(lambda x: np.sum(called(own, x)))(X)


@pytest.mark.parametrize("strategy", LINEAR)
def test_a_rule_may_work_in_its_cotangents(strategy):
    @codipy.primitive
    def sine(x, y):
        return np.sin(x) + y

    @sine.vjp
    def back(g, out, x, y):
        given = g.copy()
        g *= np.cos(x)
        return g, given

    tape = codipy.Tape(strategy, "operation" if strategy == "simple" else "statement")
    with tape:
        x = tape.register_input(X.copy())
        y = tape.register_output(sine(x, 2.0 * x))
        z = tape.register_output(np.sum(y * y))
    z.gradient = 1.0
    tape.evaluate(keep=True)
    np.testing.assert_array_equal(y.gradient, 2.0 * y.value)
    np.testing.assert_allclose(x.gradient, 2.0 * (np.sin(X) + 2.0 * X) * (np.cos(X) + 2.0), rtol=1e-14)


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("strategy", ["forward", "auto", "primal"])
def test_a_rule_may_work_in_its_tangents(strategy, batched):
    @codipy.primitive
    def sine(x):
        return np.sin(x)

    @sine.jvp(batched=batched)
    def on(tangents, out, x):
        tangent = tangents[0]
        tangent *= np.cos(x)
        return tangent

    found = codipy.jacobian(lambda x: sine(x) + x, mode="forward", strategy=strategy)(X)
    np.testing.assert_array_equal(found, np.diag(np.cos(X) + 1.0))
    assert codipy.jvp(lambda x: sine(x) * x, (0.5,), (1.0,), strategy=strategy)[1] == np.cos(0.5) * 0.5 + np.sin(0.5)


def scaled(g, out, x):
    g *= 2.0 * x
    return g


def assigned(g, out, x):
    g[...] = 2.0 * g * x
    return g


def by_elements(g, out, x):
    for i in range(len(g)):
        g[i] = 2.0 * g[i] * x[i]
    return g


def by_out(g, out, x):
    return np.multiply(g, 2.0 * x, out=g)


@pytest.mark.parametrize("rule", [scaled, assigned, by_elements, by_out])
def test_a_rule_that_works_in_place_is_differentiated_again(rule):
    square = codipy.primitive(lambda x: x * x)
    square.vjp(rule)

    def f(x):
        return np.sum(square(x) * np.sin(x))

    curved = np.diag(2.0 * np.sin(X) + 4.0 * X * np.cos(X) - X * X * np.sin(X))
    np.testing.assert_allclose(codipy.hessian(f)(X), curved, rtol=1e-13)
    np.testing.assert_allclose(codipy.hessian(f, sparsity=True)(X).toarray(), curved, rtol=1e-13)
    np.testing.assert_allclose(codipy.jacobian(codipy.grad(f))(X), curved, rtol=1e-13)
    np.testing.assert_allclose(codipy.hvp(f, (X,), (np.ones_like(X),))[0], np.diag(curved), rtol=1e-13)
    # Nothing flows into it but numbers, while what it multiplies them by moves.
    np.testing.assert_allclose(codipy.hessian(lambda x: np.sum(square(x)))(X), 2.0 * np.eye(len(X)), rtol=1e-13)


def test_a_rule_of_tangents_that_works_in_place_is_differentiated_again():
    product = codipy.primitive(lambda x, y: x * y)

    @product.jvp
    def on(tangents, out, x, y):
        by_x, by_y = tangents
        by_x *= y
        by_y *= x
        by_x += by_y
        return by_x

    def f(x):
        return np.sum(product(x, np.cos(x)) + product(x, 3.0))

    curved = np.diag(-2.0 * np.sin(X) - X * np.cos(X))
    np.testing.assert_allclose(codipy.hessian(f)(X), curved, rtol=1e-13)
    np.testing.assert_allclose(codipy.jacobian(codipy.grad(f), mode="forward")(X), curved, rtol=1e-13)


def test_compiled_code_gets_plain_cotangents_where_what_it_does_not_read_moves():
    @codipy.primitive
    def total(x):
        return np.cumsum(x)

    @total.vjp
    def back(g, out, x):
        assert type(g) is np.ndarray
        return np.cumsum(g[::-1])[::-1]

    @total.jvp
    def on(tangents, out, x):
        return np.cumsum(tangents[0])

    found = codipy.hessian(lambda x: np.sum(total(x) ** 2))(X)
    lower = np.tril(np.ones((len(X), len(X))))
    np.testing.assert_allclose(found, 2.0 * lower.T @ lower, rtol=1e-14)


def test_a_rule_of_cotangents_that_two_share_may_work_in_them():
    @codipy.primitive
    def total(x, y):
        return x + y

    total.vjp(lambda g, out, x, y: (g, g))

    @codipy.primitive
    def double(x):
        return 2.0 * x

    @double.vjp
    def back(g, out, x):
        g *= 2.0
        return g

    def slopes(total, double):
        return lambda x: np.sum(codipy.grad(lambda z: np.sum(total(double(z), z * z) * z))(x) ** 2)

    expected = codipy.grad(slopes(np.add, lambda x: 2.0 * x))(X)
    np.testing.assert_allclose(codipy.grad(slopes(total, double))(X), expected, rtol=1e-14)


@pytest.mark.parametrize("kind", ["vjp", "jvp"])
def test_a_rule_that_uses_a_variable_that_is_no_argument(kind):
    def f(a, x=None):
        @codipy.primitive
        def scaled(x):
            return codipy.value(a) * x

        if kind == "vjp":
            scaled.vjp(lambda g, out, x: g * a)
        else:
            scaled.jvp(lambda tangents, out, x: tangents[0] * a)
        return scaled(a if x is None else x)

    said = f"the {kind} rule of scaled uses a variable .* hand it over as an argument of scaled"
    for derivative in (
        lambda: codipy.grad(f)(2.0),
        lambda: codipy.hessian(f)(2.0),
        lambda: codipy.jvp(f, (2.0,), (1.0,), strategy="primal"),
        lambda: codipy.grad(lambda a: codipy.grad(lambda x: f(a, x))(3.0))(2.0),
    ):
        with pytest.raises(UndifferentiableError, match=said):
            derivative()


def test_complex_variables_are_refused():
    @codipy.primitive
    def square(z):
        return z * z

    square.vjp(lambda g, out, z: 2.0 * g * z)
    with pytest.raises(ActiveError, match=r"square got a complex variable.*z\.real and z\.imag"):
        codipy.grad(lambda z: np.sum(square(z).real))(X + 1j)
    with pytest.raises(ActiveError, match="complex variable"):
        codipy.grad(lambda x: abs(square(x * 1j)))(2.0)


RETURNING = {
    "argument": lambda x: x,
    "view": lambda x: x[::-1],
    "shape": lambda x: x.reshape(-1, 1),
    "conversion": lambda x: np.asarray(x, float),
    "one of two": lambda x: (2.0 * x, x[1:]),
}


@pytest.mark.parametrize("saves", [False, True])
@pytest.mark.parametrize("case", RETURNING)
def test_a_function_that_returns_its_argument_is_refused(case, saves):
    """Its rule would not be asked: the result is the variable that was handed over."""
    f = RETURNING[case]
    own = codipy.primitive((lambda x: (f(x), 1)) if saves else f, saves=saves)
    own.vjp(lambda g, out, x, **saved: -np.ones(3))
    for called in (lambda x: own(x), lambda x: own(1.0 * x), lambda x: own(x[:3])):
        with pytest.raises(ActiveError, match=r"returned its argument 0, or a view of it.*x\.copy\(\)"):
            codipy.vjp(called, X)
    np.testing.assert_array_equal(codipy.value(own(X)[0]), f(X)[0])


@each_strategy
def test_a_rule_of_the_identity_is_asked(strategy):
    """Gradients that are turned or cut on their way."""
    reversal, clipped = codipy.primitive(np.copy), codipy.primitive(lambda x: x.copy())
    reversal.vjp(lambda g, out, x: -g)
    clipped.vjp(lambda g, out, x: np.clip(g, -0.5, 0.5))
    np.testing.assert_array_equal(codipy.grad(lambda x: np.sum(reversal(x) * x), strategy=strategy)(X), 0.0 * X)
    found = codipy.grad(lambda x: np.sum(clipped(2.0 * x) * np.arange(3.0)), strategy=strategy)(X)
    np.testing.assert_array_equal(found, [0.0, 1.0, 1.0])


class Held:
    def __init__(self, value):
        self.value = value


def test_variables_that_are_no_arguments_are_refused():
    """The function would be recorded as any other, and its rule not asked."""
    own = codipy.primitive(lambda x: np.sum(x.value if isinstance(x, Held) else 1.0 * x))
    own.vjp(lambda g, out, x: -g * np.ones(3))
    with pytest.raises(ActiveError, match="gave a variable, and got none as an argument"):
        codipy.grad(lambda x: own(Held(x)))(X)
    with pytest.raises(ActiveError, match="gave a variable, and got none as an argument"):
        codipy.grad(lambda x: codipy.primitive(lambda y: x * y)(2.0))(1.0)
    with pytest.raises(ActiveError, match="variables in an array of objects"):
        codipy.grad(lambda x: own(np.array([x[0], x[1], 1.0], dtype=object)))(X)
    np.testing.assert_array_equal(codipy.grad(own)(X), -np.ones(3))


WRONG_TANGENTS = {
    "number": (lambda t, out, x: 1.0, r"of the shape \(3,\).*got \(\)"),
    "one element": (lambda t, out, x: np.ones(1), r"of the shape \(3,\).*got \(1,\)"),
    "tuple": (lambda t, out, x: (t[0],), r"of the shape \(3,\).*got \(1, 3\)"),
    "complex": (lambda t, out, x: 1j * t[0], "complex numbers"),
    "too few": (lambda t, out, x: (t[0],), "one tangent for each of the 2 results, got 1"),
    "too many": (lambda t, out, x: (t[0], np.sum(t[0]), t[0]), "one tangent for each of the 2 results, got 3"),
    "one array": (lambda t, out, x: t[0], "one tangent for each of the 2 results, got"),
}


@pytest.mark.parametrize("case", WRONG_TANGENTS)
def test_tangents_of_another_form_are_refused(case):
    """NumPy would broadcast them, or a result would keep what stood there."""
    rule, said = WRONG_TANGENTS[case]
    several = "results" in said
    own = codipy.primitive(lambda x: (np.sin(x), np.sum(x)) if several else np.sin(x))
    own.jvp(rule)

    def f(x):
        return own(x)[0] * own(x)[1] if several else own(x)

    for strategy in ("forward", "primal", "auto"):
        with pytest.raises(TypeError, match=said):
            codipy.jvp(f, (X,), (np.ones(3),), strategy=strategy)
        with pytest.raises(TypeError, match=said):
            codipy.jacobian(f, mode="forward", strategy=strategy)(X)
    with pytest.raises(UndifferentiableError):
        codipy.grad(lambda x: np.sum(f(x)))(X)
    with pytest.raises(UndifferentiableError):
        codipy.grad(lambda x: np.sum(codipy.jvp(f, (x,), (x,))[1]))(X)


def test_cotangents_of_another_shape_are_refused_in_every_sweep():
    own = codipy.primitive(np.sin)
    for rule, said in ((lambda g, out, x: 1.0, r"shape \(\) for argument 0 of shape \(3,\)"),
                       (lambda g, out, x: 1j * g, "complex numbers")):  # fmt: skip
        own.vjp(rule)
        for derivative in (codipy.grad(lambda x: np.sum(own(x))),
                           codipy.grad(lambda x: np.sum(codipy.grad(lambda z: np.sum(own(z) ** 2))(x)))):  # fmt: skip
            with pytest.raises((TapeError, TypeError), match=said):
                derivative(X)


def test_no_tangent_is_zero():
    own = codipy.primitive(lambda x: (np.sin(x), np.floor(x)))
    own.jvp(lambda t, out, x: (np.cos(x) * t[0], None))
    assert codipy.jvp(lambda x: own(x)[0] + own(x)[1], (X,), (np.ones(3),))[1].tolist() == np.cos(X).tolist()
    np.testing.assert_array_equal(codipy.grad(lambda x: np.sum(own(x)[0] + own(x)[1]))(X), np.cos(X))


def _skipping(g, slope):
    return g * slope if np.any(g) else None


def _skipping_elements(g, slope):
    found = np.zeros(np.shape(slope))
    for k in range(len(slope)):
        if g[k] != 0.0:
            found[k] = g[k] * slope[k]
    return found


@pytest.mark.parametrize("skip", [_skipping, _skipping_elements, lambda g, slope: np.where(g == 0.0, 0.0, g * slope)])
@pytest.mark.parametrize("kind", ["vjp", "jvp"])
def test_a_rule_that_skips_zeros_has_a_transpose(kind, skip):
    own = codipy.primitive(lambda x: np.sin(x))
    if kind == "vjp":
        own.vjp(lambda g, out, x: skip(g, np.cos(x)))
    else:
        own.jvp(lambda t, out, x: skip(t[0], np.cos(x)))
    by_hand = np.diag(np.cos(X))
    for mode in ("forward", "reverse"):
        np.testing.assert_array_equal(codipy.jacobian(own, mode=mode)(X), by_hand)
    # A least squares at its solution: all cotangents are zero, and their tangents are not.
    def misfit(x):
        return np.sum((own(x) - np.sin(X)) ** 2)

    expected = 2.0 * by_hand ** 2
    np.testing.assert_allclose(codipy.hessian(misfit)(X), expected, rtol=1e-14)
    np.testing.assert_allclose(codipy.hessian(misfit, sparsity=True)(X).toarray(), expected, rtol=1e-14)
    for mode in ("forward", "reverse"):
        np.testing.assert_allclose(codipy.jacobian(codipy.grad(misfit), mode=mode)(X), expected, rtol=1e-14)
    curve = codipy.taylor(misfit, X, np.ones(3), 2)[2]
    assert 2.0 * curve == pytest.approx(np.sum(expected), rel=1e-14)


def test_only_the_tangents_that_are_not_zero_are_added_up():
    own = codipy.primitive(lambda x, y: (x * y, np.sum(x)))

    @own.jvp
    def _(t, out, x, y):
        found = np.zeros(3)
        if t[0].any():
            found += t[0] * y
        if t[1].any():
            found += t[1] * x
        return found, np.sum(t[0])

    def f(x):
        product, total = own(x, x * x)
        return np.sum(product) * total

    def plain(x):
        return np.sum(x**3) * np.sum(x)

    np.testing.assert_allclose(codipy.grad(f)(X), codipy.grad(plain)(X), rtol=1e-14)
    np.testing.assert_allclose(codipy.hessian(f)(X), codipy.hessian(plain)(X), rtol=1e-13)


@pytest.mark.parametrize("rule", [lambda g: g**2, lambda g: g + 1.0, lambda g: codipy.value(g), lambda g: np.sign(g)])
@pytest.mark.parametrize("kind", ["vjp", "jvp"])
def test_a_rule_that_is_not_linear_has_no_transpose(kind, rule):
    own = codipy.primitive(lambda x: x.copy())
    if kind == "vjp":
        own.vjp(lambda g, out, x: rule(g))
    else:
        own.jvp(lambda t, out, x: rule(t[0]))
    flows, missing, mode = ("cotangents", "jvp", "forward") if kind == "vjp" else ("tangents", "vjp", "reverse")
    with pytest.raises(UndifferentiableError, match=f"its {kind} rule is not linear in the {flows}.*@.*{missing}"):
        codipy.jacobian(own, mode=mode)(X)


def test_the_transpose_of_a_badly_conditioned_solution_is_no_error():
    matrix = 1.0 / (np.arange(9)[:, None] + np.arange(9) + 1.0)      # Hilbert's
    own = codipy.primitive(lambda b: np.linalg.solve(matrix, b))
    own.jvp(lambda t, out, b: np.linalg.solve(matrix, t[0]))
    found = codipy.jacobian(own, mode="reverse")(np.ones(9))
    np.testing.assert_allclose(found, np.linalg.inv(matrix), rtol=1e-3)


def test_an_infinite_slope_is_no_error():
    own = codipy.primitive(lambda x: np.sqrt(x))
    with np.errstate(divide="ignore"):
        own.vjp(lambda g, out, x: g * 0.5 / out)
        assert codipy.jvp(own, (np.array([0.0, 4.0]),), (np.ones(2),))[1].tolist() == [np.inf, 0.25]


@pytest.mark.parametrize("made", [lambda y: np.frombuffer(y.tobytes()), lambda y: np.asarray(memoryview(y))])
def test_new_results_behind_memory_views_overwrite_nothing(made):
    """Their memory is given back, and the next result may stand in the same place."""
    square = codipy.primitive(lambda x: made(x * x))
    square.vjp(lambda g, out, x: 2.0 * g * x)

    def of_many(x):
        return sum(np.sum(square(k * x) * square(x)) for k in range(1, 30))

    expected = sum(4.0 * k * k for k in range(1, 30)) * X**3
    np.testing.assert_allclose(codipy.grad(of_many)(X), expected, rtol=1e-13)


def test_a_buffer_behind_a_memory_view_that_is_overwritten_is_refused():
    buffer = np.zeros(3)

    @codipy.primitive
    def viewed(x):
        np.multiply(x, x, out=buffer)
        return np.asarray(memoryview(buffer))

    viewed.vjp(lambda g, out, x: 2.0 * g * x)
    with pytest.raises(ActiveError, match="viewed overwrote the array that it returned before"):
        codipy.grad(lambda x: np.sum(viewed(x) * viewed(2.0 * x)))(X)


@pytest.mark.parametrize("saves", [True, (), (0,)])
@each_as_values
def test_what_is_saved_is_that_of_the_new_inputs_when_a_tape_runs_again(strategy, saves):
    @codipy.primitive(saves=saves)
    def own(x):
        slope = np.cos(x)
        return np.sin(x), {"slope": slope}

    own.vjp(lambda g, out, x, saved: g * saved["slope"])
    tape = codipy.Tape(strategy=strategy)
    with tape:
        x = tape.register_input(X)
        y = tape.register_output(np.sum(own(x) * x))
    for point in (1.5 * X, X - 1.0):
        tape.set_primal(x, point)
        tape.evaluate_primal()
        assert tape.get_primal(y) == pytest.approx(np.sum(np.sin(point) * point), rel=1e-14)
        tape.clear_adjoints()
        y.gradient = 1.0
        tape.evaluate()
        np.testing.assert_allclose(x.gradient, np.sin(point) + point * np.cos(point), rtol=1e-14)
