# SPDX-License-Identifier: Apache-2.0
"""ndenumerate, ndindex, nditer, vectorize, frompyfunc, fromiter, r_ and c_ with active values."""

import numpy
import pytest

import codipy
import codipy.numpy as np
from codipy.active.array import Array, plain
from codipy.errors import ActiveError
from tests.numpy.active_text import check
from tests.strategies import each_strategy


def double(x):
    return 2.0 * x


def split(x, y):
    return x * y, x - y


TEXTS = [
    "np.r_[a, 1.0]", "np.r_[r, s]", "np.r_[a, b, [r, 2.0], 3]", "np.r_[0:r:3j, a]", "np.r_[r:2.5:0.5]", "np.r_[:3, a]",
    "np.r_['0,2', a, b]", "np.r_['-1', m, m]", "np.r_['1,2,0', a, b]", "np.c_[a, b]",
    "np.c_[a, [1.0, r, 3.0]]", "np.c_[m, m]", "np.r_[m, m]", "np.c_[0:3, a]",
    "np.vectorize(double)(a)", "np.vectorize(double)(r)", "np.vectorize(double)([r, s])", "np.vectorize(split)(a, r)",
    "np.vectorize(split)(a, [[1.0], [2.0]])", "np.vectorize(split, otypes='dd')(m, m[0])",
    "np.vectorize(lambda x, k: x * k, excluded=[1])(a, 3.0)", "np.vectorize(lambda x, k: x * k)(a, k=r)",
    "np.vectorize(lambda k: k * r)([1, 2, 3])", "np.vectorize(lambda x: x if x > 0 else 0, otypes=[float])(a)",
    "[x * k[0] for k, x in np.ndenumerate(a)]", "[x * (i + j) for (i, j), x in np.ndenumerate(m)]",
    "[m[k] * 2 for k in np.ndindex(m.shape)]",
    "[x * y for x, y in np.broadcast(a, m)]",
    "[x * y + z for x, y, z in np.broadcast(r, m, 2.0)]", "[next(np.broadcast(s, r))[0]]",
    "[np.ones(np.broadcast(a, m).shape) * r, np.broadcast(a, m).ndim * s, np.broadcast(a[:, None], a).size * r]",
    "[x for _, x in np.ndenumerate([r, s])]",
    "np.fromiter((x * x for x in a), float)", "np.array([x * r for x in a])", "np.array([[x, 1.0] for x in a])",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_value_and_gradient(text):
    check(text, double=double, split=split)


@pytest.fixture
def active():
    tape = codipy.Tape()
    with tape:
        yield tape.register_input(numpy.array([0.3, 1.2, -0.8]))


def test_the_first_result_says_the_type(active):
    """As NumPy's: a whole number first makes whole numbers of all."""
    first = numpy.array([-1.0, 2.7])
    found = np.vectorize(lambda x: 0 if x < 0 else x)(active[::-1])
    assert type(found) is numpy.ndarray and found.dtype == int and found.tolist() == [0, 1, 0]
    assert numpy.vectorize(lambda x: 0 if x < 0 else x)(first).tolist() == [0, 2]
    assert np.vectorize(lambda x: x > 0)(active).tolist() == [True, True, False]
    assert np.vectorize(lambda x: None)(active).tolist() == [None] * 3
    assert np.vectorize(lambda x: x, otypes=[float])(active[:0]).shape == (0,)
    with pytest.raises(ValueError, match="otypes"):
        np.vectorize(double)(active[:0])
    with pytest.raises(ValueError):
        np.vectorize(lambda x: (x, x) if x > 0 else (x, x, x))(active)


def test_what_vectorize_refuses(active):
    with pytest.raises(ActiveError, match=r"signature=.*np\.stack"):
        np.vectorize(lambda x: x.sum(), signature="(n)->()")(active)
    with pytest.raises(ActiveError, match="otypes"):
        np.vectorize(double, otypes=["f2"])(active)
    assert np.vectorize(double, otypes=[complex])(active).is_active
    assert np.vectorize(lambda x: x.sum(), signature="(n)->()")(numpy.ones((2, 3))).tolist() == [3.0, 3.0]


@pytest.mark.parametrize("otypes", [None, "f"])
def test_vectorize_rounds_to_float32(otypes):
    def f(x):
        y = np.vectorize(lambda v: v * v, otypes=otypes)(x)
        return y, np.sum(y[:1]) + 0.1

    x = numpy.array([0.3, 0.7], numpy.float32 if otypes is None else float)
    found, pullback = codipy.vjp(f, x)
    expected = f(x)
    assert found[0].dtype == numpy.float32 and found[0].tobytes() == expected[0].tobytes() and found[1] == expected[1]
    assert numpy.allclose(pullback((numpy.ones(2, numpy.float32), 0.0))[0], 2.0 * x, rtol=1e-6)


def test_nditer_says_what_to_write(active):
    for operands in (active, [active, None], np.zeros(3)):
        with pytest.raises(ActiveError, match=r"np\.ndindex\(a\.shape\)"):
            np.nditer(operands)
    assert [float(x) for x in np.nditer(numpy.arange(3))] == [0.0, 1.0, 2.0]


def test_elements_are_read_when_they_are_reached(active):
    written = active.copy()
    seen = []
    for (k,), x in np.ndenumerate(written):
        seen.append(x.value)
        written[-1] = 5.0 + k
    assert seen == [0.3, 1.2, 6.0]
    assert list(np.ndenumerate(numpy.array([1.0]))) == [((0,), 1.0)]
    assert isinstance(np.ndenumerate(active), numpy.ndenumerate)


def test_what_joins_only_plain_things_is_numpys():
    assert type(np.r_[1.0, 2]) is numpy.ndarray and len(np.r_) == 0
    assert np.c_[[1, 2], [3, 4]].tolist() == [[1, 3], [2, 4]]
    with codipy.Tape() as tape:
        x = tape.register_input(numpy.ones(2))
        assert type(np.r_[1.0, 2]) is Array and np.r_[1, 2].dtype == int
        with pytest.raises(ActiveError, match="matrix"):
            np.r_["r", x]
        with codipy.passive():
            assert plain(np.r_[x, 1.0]).tolist() == [1.0, 1.0, 1.0]
    assert np.r_.__doc__ == numpy.r_.__doc__


@pytest.mark.parametrize(
    "text",
    ["np.r_[x, 1.0]", "np.c_[x, x]", "np.vectorize(double)(x)", "list(np.ndenumerate(x))", "np.fromiter(x, float)",
             "np.broadcast(x, x)"]
)  # fmt: skip
def test_numpys_own_lose_nothing(text, active):
    with pytest.raises(ActiveError):
        eval(text, {"np": numpy, "x": active, "double": double})


def test_numpys_own_that_see_reals(active):
    squares = numpy.frompyfunc(lambda x: x * x, 1, 1)(active)
    assert squares.dtype == object and all(type(x) is codipy.Real and x.is_active for x in squares)
    assert numpy.array([x * x for x in active]).dtype == object


@numpy.vectorize
def decorated(x):
    return x * x if x > 0 else 0.0 * float(x)


@numpy.vectorize(otypes=[float])
def decorated_with_types(x):
    table = numpy.zeros(1)
    table[0] = x
    return table[0]


def test_rebound_code():
    def f(x):
        total = 0.0
        for (k,), y in numpy.ndenumerate(decorated(x)):
            total += k * y
        return total + numpy.r_[x, 1.0].sum() + numpy.sum(numpy.c_[x, x]) + decorated_with_types(x).max()

    x = numpy.array([0.3, 1.2, -0.8])
    value, slope = codipy.value_and_grad(f)(x)
    assert value == f(x)
    assert slope == pytest.approx(numpy.array([3.0, 4.0 + 2.4, 3.0]))


def test_a_broadcast_is_reset_and_reads_what_is_written_meanwhile():
    def f(x, numpy=numpy):
        a = x * 1.0
        both, total = numpy.broadcast(a, numpy.ones((2, 1))), 0.0
        for u, v in both:
            total = total + u * v * both.index
            a[:] = a * 2.0
        both.reset()
        return total + next(both)[0] + both.numiter * both.nd * both.iters[0][1]

    x = numpy.array([0.3, 0.7, 1.1])
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == f(x)
    assert gradient == pytest.approx([f(e) for e in numpy.eye(3)])  # it is linear


def filled_ahead(x):
    """Each element is read when it is reached, whatever the layout, and the iterator goes on where it was."""
    total, weight = 0.0, np.zeros((3, 2)).T
    weight.flat[0] = x[0]
    for k, element in enumerate(weight.flat):
        if k < 5:
            weight.flat[k + 1] = element * 0.5 + x[k]
    turned = x.reshape(2, 3)[:, ::-1] * 1.0
    elements = turned.flat
    total = total + next(elements) * 3.0 + next(elements) * elements.index + elements.coords[1]
    for element in elements:
        total = total * 1.1 + element
    total = total + sum(elements) + elements[2] * x[1] + next(elements) * elements.index
    weight.flat[-2], weight.T.flat[1] = x[5], x[0] * x[1]
    return total + np.sum(weight**2 * np.arange(6.0).reshape(2, 3))


@each_strategy
def test_flat_is_an_iterator_over_what_is_there_now(strategy):
    x = np.array([0.7, -0.3, 1.9, 0.4, -1.2, 2.5])
    value, gradient = codipy.value_and_grad(filled_ahead, strategy=strategy)(x)
    assert value == filled_ahead(x)
    slopes = [(filled_ahead(x + h) - filled_ahead(x - h)) / 2e-6 for h in 1e-6 * np.eye(6)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-7, atol=1e-7)
