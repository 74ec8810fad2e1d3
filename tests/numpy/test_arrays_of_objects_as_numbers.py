# SPDX-License-Identifier: Apache-2.0
"""Arrays of objects that are all numbers, as functions of `np.frompyfunc` give them, in all that NumPy does with them.

They are objects still, which others have and which compute as Python's floats do; numbers they become where NumPy makes
numbers of them: by `astype`, by a dtype, and in an array of numbers that they are written into. The oracle is the same
source on NumPy: bits of the value, and central differences.
"""

import math
import warnings

import numpy as np
import pytest

import codipy
from tests.strategies import VARIANTS, each_pair

X = np.array([0.3, 0.7, 1.1])
square = np.frompyfunc(lambda a: a * a, 1, 1)
times = np.frompyfunc(lambda a, b: a * b, 2, 1)


def filled(x, fill, shape=3):
    u = np.zeros(shape)
    fill(u, square(x))
    return np.sum(u * np.arange(1.0, u.size + 1).reshape(u.shape))


def fill_parts(u, o):
    u[1:4], u[::2][:2] = o, o[1:]


def fill_all(u, o):
    u[:] = o


def fill_chosen(u, o):
    u[u < 1] = o


def fill_by_places(u, o):
    u[[2, 0, 1]] = o


def fill_flat(u, o):
    u.flat[:] = o


def fill_without_axes(u, o):
    one = np.empty((), object)
    one[()] = o[1]
    u[:] = one
    u[2] = one
    u[:1].fill(one)


def of_one_more_name(x):
    o = square(x)
    q = np.asarray(o)
    q[0] = x[1]
    return o[0] * o[1]


def of_copies(x):
    o = square(x)
    q, same, other = np.array(o), o.astype(object, copy=False), o.astype(object)
    q[0], same[1], other[2] = None, 2.0 * x[2], x[0]
    return o[0] * o[1] * o[2] + q[1] + other[2]


def of_python_powers(x):
    return abs(np.array(square(x) - 1)[0] ** 0.5) + np.sum(np.abs(((square(x) - 1) * x)[:2] ** 0.5))


def of_python_division(x):
    try:
        return (square(x) / (0.0 * x)).sum()
    except ZeroDivisionError:
        return x[0] * 3.0


def of_an_error(x):
    try:
        return np.sum(square(x).astype(float, casting="safe"))
    except TypeError:
        return x[0]


def of_complex_parts(x):
    z = np.zeros((3, 3), complex)
    z[1], z[:, 2] = square(x * (1 + 2j)), square(x)
    z[[0, 1], [1, 0]] = square(x * 1j)[:2]
    return np.sum(np.abs(z) ** 2)


def of_complex_aliases(x):
    z = square(x * (1 + 2j))
    q = np.asarray(z)
    q[0] = x[1] * 1j
    return np.sum(np.abs(z.astype(complex))) + abs(np.concatenate([z, x])[4])


def of_filled_objects(x):
    o, rows, two = np.empty(2, object), np.empty((2, 3), object), np.empty(2, object)
    o[:] = [x[:1], x[1:]]
    rows[0], rows[1] = x * 2.0, 1.0
    two[:] = [x[:2], x[1:]]
    numbers = np.empty(3, object)
    numbers[:] = x
    numbers[::-2][:] = x[:2] * 3.0
    numbers[1:2] = [x[2]]
    numbers[x > 1.0] = x[x > 1.0] * 2.0
    return np.sum(o[0]) * np.prod(o[1]) + np.sum(rows * rows) + np.sum(two[0] * two[1]) + np.prod(numbers)


def of_errors_of_objects(x):
    """Floats have no methods, and an array of numbers takes no objects in place."""
    o, u, found = square(x), x * 1.0, 0.0
    for k, act in enumerate((lambda: np.exp(o), lambda: np.sqrt(o - 3.0), lambda: np.hypot(o, x), lambda: u.__iadd__(o),
                             lambda: np.add(u, o, out=u), lambda: u[:2].__imul__(o[:2]))):  # fmt: skip
        try:
            found = found + np.sum(act())
        except (TypeError, AttributeError):
            found = found + x[0] * (k + 1.0)
    return found + np.sum(u)


def of_tuples(x):
    pairs = np.vectorize(lambda a: (a, a * a), otypes=[object])(x)
    rows = np.vectorize(lambda a: np.array([a, a * a]), otypes=[object])(x)
    return pairs[0][1] + pairs[2][0] * np.vstack(rows)[:, 1].sum() + np.sum(np.clip(square(x), x - 0.1, x + 0.1))


def objects_without_axes(x):
    o = np.empty((), object)
    o[()] = x[0] * x[1]
    return np.array(o, float) + np.sum(np.full(3, o, dtype=float))


def of_lists(x):
    """A list of numbers is an array of them first, whose elements are floats of Python as objects."""
    inverse = np.frompyfunc(divided, 1, 1)
    alone = np.frompyfunc(lambda a: a * 2.0, 1, 1)(np.array([x[0], None], object)[:1])
    of_module = INVERSE([0.0 * x[0], x[1]])[0] + INVERSE(np.array([0.0, 2.0]) * x[:2])[1]
    of_numpy = inverse([0.0 * x[0], x[1]])[0] + square([x[1], x[2]])[0] + times.reduce([x[0], x[1], 2.0])
    return of_numpy + of_module + alone[0]


def of_single_lists(x):
    v = x.astype(np.float32)
    return np.sum(np.frompyfunc(lambda a: a * a, 1, 1)([v[1], v[2]]).astype(float))


def divided(a):
    try:
        return 1.0 / a
    except ZeroDivisionError:
        return 3.0 + a


INVERSE = np.frompyfunc(divided, 1, 1)


def of_different_lengths(x):
    o = np.array([x[:1], x[1:], x[0], None], dtype=object)
    return np.sum(o[0] / np.sqrt(o[1])) + np.sum(np.array((x[:1], x[1:]), dtype=object)[1] * o[2])


PROGRAMS = {
    "astype": lambda x: np.sum(square(x).astype(float) * x),
    "astype of a call": lambda x: np.sum(np.where(x > 0.5, square(x), x[0].item()).astype(float)),
    "astype float32": lambda x: np.sum(square(x).astype(np.float32).astype(float)),
    "astype int": lambda x: x[0] * np.sum(square(5.0 * x).astype(int)),
    "astype bool": lambda x: x[0] * np.sum(square(x).astype(bool)),
    "astype object": of_copies,
    "astype safe": of_an_error,
    "astype complex": lambda x: np.sum(square(x).astype(complex) * 1j).imag,
    "vectorize": lambda x: np.sum(np.vectorize(lambda a, b: a * b, otypes=[object])(x, 2.0).astype(float) * x),
    "order": lambda x: times(x[:, None], x[:2]).T.astype(float).ravel("K") @ np.arange(6.0),
    "order of array": lambda x: np.array(times(x[:, None], x[:2]).T, float).ravel("A") @ np.arange(6.0),
    "assigned": lambda x: filled(x, fill_all),
    "assigned to rows": lambda x: filled(x, fill_all, (2, 3)),
    "assigned to parts": lambda x: filled(x, fill_parts, 5),
    "assigned by a mask": lambda x: filled(x, fill_chosen),
    "assigned by places": lambda x: filled(x, fill_by_places),
    "assigned to flat": lambda x: filled(x, fill_flat),
    "assigned without axes": lambda x: filled(x, fill_without_axes),
    "copyto": lambda x: filled(x, lambda u, o: np.copyto(u, o, casting="unsafe")),
    "put": lambda x: filled(x, lambda u, o: np.put(u, [0, 2], o[:2])),
    "without axes": objects_without_axes,
    "one more name": of_one_more_name,
    "powers of Python": of_python_powers,
    "division of Python": of_python_division,
    "concatenate": lambda x: np.concatenate([square(np.tile(x, 30)), np.tile(x, 30)]).sum(),
    "product": lambda x: np.sum(square(np.tile(x, 30)) * np.tile(x, 30)) + square(x) @ x,
    "outer": lambda x: np.outer(square(np.tile(x, 10)), np.tile(x, 10)).sum() + times.outer(x, x[0].item()).sum(),
    "einsum": lambda x: np.einsum("i,i->", square(np.tile(x, 30)), np.tile(x, 30)),
    "float of Python": lambda x: np.sum(times(float(x[0]) * 2, x)) + np.full(3, x[0].item(), object)[1],
    "lists": of_lists,
    "lists of float32": of_single_lists,
    "different lengths": of_different_lengths,
    "filled": of_filled_objects,
    "errors": of_errors_of_objects,
    "tuples": of_tuples,
    "complex": of_complex_parts,
    "complex aliases": of_complex_aliases,
}


def differences(f):
    return [(f(X + h) - f(X - h)) / 2e-6 for h in 1e-6 * np.eye(3)]


@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_what_numpy_does_with_objects_has_its_derivative(f, request):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, gradient = codipy.value_and_grad(f)(X.copy())
        assert float(value).hex() == float(f(X.copy())).hex()
        if "float32" not in request.node.callspec.id:  # whose rounding central differences of 1e-6 would see
            np.testing.assert_allclose(gradient, differences(f), rtol=1e-6, atol=1e-8)
        else:
            assert np.all(np.isclose(gradient, 2 * X, rtol=1e-6) | (gradient == 0.0)) and np.any(gradient)
        for unit, slope in zip(np.eye(3), gradient):
            assert codipy.jvp(f, (X.copy(),), (unit,))[1] == pytest.approx(slope, rel=1e-12, abs=1e-12)


@each_pair(pairs=VARIANTS)
def test_each_strategy(variant):
    def f(x):
        u = np.zeros(6)
        u[::2] = square(x)
        u[1:3] = square(u[:2] * 3.0)
        return np.sum(square(u).astype(float) * u) + of_one_more_name(x)

    gradient = codipy.grad(f, strategy=variant[0], granularity=variant[1])(X.copy())
    np.testing.assert_allclose(gradient, differences(f), rtol=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, o: np.array(o),
        lambda x, o: np.asarray(o),
        lambda x, o: np.asfortranarray(o),
        lambda x, o: np.copy(o),
        lambda x, o: o * x,
        lambda x, o: x - o,
        lambda x, o: np.maximum(x, o),
        lambda x, o: np.concatenate([o, x]),
        lambda x, o: np.append(x, o),
        lambda x, o: np.where(x > 0.5, o, x),
        lambda x, o: np.stack([x, o]),
        lambda x, o: np.outer(o, x),
        lambda x, o: times(o, x),
        lambda x, o: o.astype(object),
        lambda x, o: o.astype(float),
        lambda x, o: np.array([x[:2], x], dtype=object),
        lambda x, o: np.array([x[:2], (1, 2, 3)], dtype=object),
        lambda x, o: np.array([[x[:2], x], [x[:1], x[0]]], dtype=object),
        lambda x, o: np.array([x[:2] * 1j, x, x[1] * 1j], dtype=object),
        lambda x, o: np.array([x[:2] * 1j, x[1:]], dtype=object),
    ],
)
def test_results_are_of_objects_where_numpys_are(f):
    made = []

    def g(x):
        made.append(f(x, square(x)))
        return x[0]

    g(X.copy())
    codipy.grad(g)(X.copy())
    assert made[0].dtype == made[1].dtype and made[0].shape == made[1].shape
    for here, plain in zip(made[1].ravel().tolist(), made[0].ravel().tolist()):
        assert type(codipy.value(here)) is type(plain)
        np.testing.assert_array_equal(codipy.value(here), plain, strict=True)


def test_arrays_among_the_objects_are_no_numbers():
    def f(x):
        o = np.empty(2, object)
        o[0], o[1] = x, x[:2]
        u = np.zeros(2)
        u[:] = o
        return u @ u

    for function in (f, codipy.grad(f)):
        with pytest.raises(ValueError, match="setting an array element with a sequence"):
            function(X.copy())
    with pytest.raises(ValueError, match="setting an array element with a sequence"):
        codipy.grad(lambda x: np.array([x, x[:2], None], object)[:2].astype(float)[0])(X.copy())


def test_arrays_of_reals_in_code_that_is_not_rebuilt_are_numbers():
    """`np.array([x[0], x[1]])` is an array of numbers in the plain run, and one of objects there."""
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([0.3, 0.7]))
        o = np.array([x[0], x[1]])
        assert o.dtype == object
        assert all(type(made) is codipy.Array for made in (
            o * x, x - o, np.hypot(o, x), np.concatenate([o, x]), np.where(x > 0.5, o, x), codipy.numpy.array(o)))
        y = tape.register_output(np.sum(np.hypot(o, x) + np.arctan2(x, o)) + 0.0 * np.linalg.norm(o * x))
    y.gradient = 1.0
    tape.evaluate()
    np.testing.assert_allclose(x.gradient, np.sqrt(2.0) * np.ones(2))


EXCEPTIONAL = {
    "1 / a": lambda a: 1.0 / a,
    "0 ** (a - 1)": lambda a: 0.0 ** (a - 1.0),
    "2 % a": lambda a: 2.0 % a,
    "2 // a": lambda a: 2.0 // a,
    "log": lambda a: math.log(a),
    "sqrt": lambda a: math.sqrt(a - 1.0),
    "exp": lambda a: math.exp(a + 1000.0),
    "(a + 10) ** 400": lambda a: (a + 10.0) ** 400.0,
    "(a + 1e308) * 10": lambda a: (a + 1e308) * 10.0,
    "inf - inf": lambda a: (a + math.inf) - math.inf,
}


@pytest.mark.parametrize("operation", EXCEPTIONAL.values(), ids=EXCEPTIONAL)
def test_errors_of_pythons_floats_leave_no_flag_that_numpy_warns_of(operation):
    def caught(a):
        try:
            return operation(a)
        except (ArithmeticError, ValueError):
            return 3.0 + a

    def f(x):
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            np.frompyfunc(caught, 1, 1)(x)
        messages.append([str(one.message) for one in given])
        return np.sum(x)

    messages = []
    f(np.array([0.0, 0.7]))
    codipy.grad(f)(np.array([0.0, 0.7]))
    assert messages[0] == messages[1]
