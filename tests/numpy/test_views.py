# SPDX-License-Identifier: Apache-2.0
"""Views in whatever reads and writes them: derivatives where elements are shown twice, flags, layout, memory."""

import functools
import inspect

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError
from tests.numpy.test_aliasing import base_of
from tests.strategies import STRATEGIES

windows = np.lib.stride_tricks.sliding_window_view
X = np.linspace(0.3, 1.7, 16)


def written_through_a_diagonal(x):
    square = x.reshape(4, 4).copy()
    diagonal = np.einsum("ii->i", square)
    diagonal *= 3.0
    diagonal[2] = x[0]
    return np.sum(square**2 * np.arange(16.0).reshape(4, 4))


def assigned_from_a_broadcast(x):
    y = np.zeros((3, 16))
    y[...] = np.broadcast_to(x * 2.0, (3, 16))
    y[1:] *= np.broadcast_to(x[:1], (2, 16))
    return np.sum(y**2)


def copied_by_the_layout(x):
    square = x.reshape(4, 4).copy()
    square[0, 0] = np.sin(x[5])
    w = square[:, 1:3].T * 1.0
    flat = w.ravel()
    flat *= 2.0
    return np.sum(w * w)


# Readers of views that show elements more than once, and writers through views.
READERS = {
    "sum": lambda x: np.sum(windows(x, 3)),
    "sum over an axis": lambda x: np.sum(windows(x, 3).sum(axis=0) ** 2),
    "mean": lambda x: np.sum(np.broadcast_to(x[:, None], (16, 4)).mean(axis=1) ** 2),
    "elementwise": lambda x: np.sum(np.exp(windows(x, 3)) * np.arange(3.0)),
    "two broadcasts": lambda x: np.sum(np.broadcast_to(x, (4, 16)) * np.broadcast_to(x[0], (4, 16))),
    "a product": lambda x: np.sum((windows(x, 3) @ np.arange(3.0)) ** 2),
    "a product with itself": lambda x: np.sum((windows(x, 3).T @ windows(x, 3)) ** 2),
    "a primitive": lambda x: np.sum(np.cumsum(np.broadcast_to(x[:3], (2, 3))) ** 2),
    "sort": lambda x: np.sum(np.sort(np.broadcast_to(x[:5, None], (5, 3)), axis=0) ** 2),
    "extremes": lambda x: windows(x, 3).max(axis=1).sum(),
    "a movement": lambda x: np.sum(np.concatenate([windows(x, 3), np.broadcast_to(x[:3], (2, 3))]) ** 2),
    "fancy indices": lambda x: np.sum(windows(x, 3)[[0, 1, 1]] ** 2),
    "an element": lambda x: windows(x, 3)[1, 1] * x[2],
    "a grid": lambda x: np.sum(np.multiply(*np.meshgrid(x[:4], x[4:7], copy=False)) ** 2),
    "a diagonal": lambda x: np.sum(np.einsum("ii->i", x.reshape(4, 4)) ** 2),
    "written through a diagonal": written_through_a_diagonal,
    "assigned from a broadcast": assigned_from_a_broadcast,
    "copied by the layout": copied_by_the_layout,
}


@functools.cache
def slopes(name):
    """By differences, once for all strategies."""
    f = READERS[name]
    return [(f(X + step) - f(X - step)) / 2e-6 for step in 1e-6 * np.eye(X.size)]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", READERS)
def test_derivatives_of_views(name, strategy):
    f = READERS[name]
    value, gradient = codipy.value_and_grad(f, strategy=strategy)(X)
    assert value == f(X)
    np.testing.assert_allclose(gradient, slopes(name), 1e-6, 1e-6)


def test_a_result_that_shows_elements_twice_has_seeds_of_its_own():
    out, back = codipy.vjp(lambda x: windows(x, 3), X[:4])
    assert np.array_equal(out, windows(X[:4], 3))
    assert back(np.arange(6.0).reshape(2, 3))[0].tolist() == [0.0, 4.0, 6.0, 5.0]
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(X[:4])
        y = windows(x, 3)
        with pytest.raises(TapeError, match="more than once"):
            y.gradient = 1.0


@pytest.mark.parametrize("empty", [lambda x: x[:0], lambda x: x.reshape(4, 4)[:0].T, lambda x: np.sin(x[3:3])])
def test_empty_results_have_gradients(empty):
    out, back = codipy.vjp(empty, X)
    assert out.shape == empty(X).shape
    assert back(np.zeros(out.shape))[0].tolist() == [0.0] * 16
    assert codipy.jacobian(empty)(X).shape == (*out.shape, 16)
    assert codipy.jvp(empty, (X,), (X,))[1].shape == out.shape


WRITES = {
    "an element": lambda a: a.__setitem__((0, 0), 1.0),
    "a part": lambda a: a.__setitem__(slice(1), 1.0),
    "a mask": lambda a: a.__setitem__(codipy.value(a) > 0, 1.0),
    "indices": lambda a: a.__setitem__([0], 1.0),
    "flat": lambda a: a.flat.__setitem__(0, 1.0),
    "fill": lambda a: a.fill(1.0),
    "in place": lambda a: a.__iadd__(1.0),
    "power in place": lambda a: a.__ipow__(2.0),
    "sort": lambda a: a.sort(),
    "put": lambda a: np.put(a, 0, 1.0),
    "copyto": lambda a: np.copyto(a, 1.0),
    "place": lambda a: np.place(a, [[True] * 3] * 3, [1.0]),
    "putmask": lambda a: np.putmask(a, [[True] * 3] * 3, 1.0),
    "fill_diagonal": lambda a: np.fill_diagonal(a, 1.0),
    "put_along_axis": lambda a: np.put_along_axis(a, np.zeros((3, 1), int), 1.0, 1),
    "out=": lambda a: np.exp(a.copy(), out=a),
    "at": lambda a: np.add.at(a, [0], 1.0),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("frozen", ["flags", "setflags", "a view", "broadcast_to"])
def test_what_is_read_only_is_not_written_to(name, frozen):
    plain = np.arange(9.0).reshape(3, 3) + 1.0
    tape = codipy.Tape()
    with tape:
        a = tape.register_input(plain)
        if frozen == "flags":
            a.flags.writeable = False
        elif frozen == "setflags":
            a.setflags(write=False)
        elif frozen == "a view":
            a.flags.writeable = False
            a = a.T[...]
        else:
            a = np.broadcast_to(a, (3, 3))
        with pytest.raises(ValueError, match="read-only"):
            WRITES[name](a)
    assert np.array_equal(codipy.value(a), plain.T if frozen == "a view" else plain)


def test_flags_as_numpys():
    a, plain = codipy.Array(np.ones((2, 3))), np.ones((2, 3))
    assert repr(a.flags) == repr(plain.flags)
    assert repr(a.T.flags) == repr(plain.T.flags)
    assert a.flags == a.copy().flags
    for key in ("C", "F", "W", "O", "A", "FNC", "FORC", "B", "CA", "FA", "WRITEABLE", "OWNDATA", "C_CONTIGUOUS"):
        assert a.flags[key] == plain.flags[key], key
    with pytest.raises(KeyError):
        a.flags["nothing"]
    with pytest.raises(AttributeError):
        a.flags.owndata = False
    a.flags["WRITEABLE"] = False
    view = a[0]
    with pytest.raises(ValueError, match="cannot set WRITEABLE"):
        view.flags.writeable = True
    a.flags.writeable = True
    view.flags.writeable = True
    view[0] = 5.0
    assert a.value[0, 0] == 5.0 and view.base is a and base_of(view[:1]) is a and a.base is None


def test_writing_where_two_values_would_meet_is_refused():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(X)
        y = x * 1.0
        overlapping = codipy.numpy.lib.stride_tricks.as_strided(y, (3, 3), (8, 8))
        with pytest.raises(ActiveError, match="more than once"):
            overlapping[...] = 1.0
        overlapping[0, 1] = 7.0                                    # one element has one place
        apart = codipy.numpy.lib.stride_tricks.as_strided(y, (2, 2), (16, 24))
        apart[...] = 2.0
        assert y.value[:7].tolist() == [2.0, 7.0, 2.0, 2.0, X[4], 2.0, X[6]]
        for shape, strides in [((17,), (8,)), ((2,), (-8,)), ((2,), (4,))]:
            with pytest.raises(ValueError, match="memory|whole elements"):
                codipy.numpy.lib.stride_tricks.as_strided(y, shape, strides)


@codipy.rebind
def strided(x):
    from numpy.lib.stride_tricks import as_strided

    y = x * 1.0
    as_strided(y, (4,), (32,))[...] = 0.0
    return np.sum(np.lib.stride_tricks.as_strided(y, (14, 3), (8, 8)) ** 2)


def test_as_strided_in_rebound_code():
    value, gradient = codipy.value_and_grad(strided)(X)
    y = X.copy()
    y[::4] = 0.0
    assert value == np.sum(windows(y, 3) ** 2)
    counts = np.convolve(np.ones(14), np.ones(3))
    np.testing.assert_allclose(gradient, 2.0 * counts * y, 1e-14)


def test_as_strided_has_numpys_options():
    kinds = inspect.signature(np.lib.stride_tricks.as_strided).parameters
    options = {name: True for name in kinds if name in ("subok", "writeable", "check_bounds")}  # that from NumPy 2.5 on
    assert len(options) == len(kinds) - 3

    def f(x):
        return np.sum(np.lib.stride_tricks.as_strided(x, (2, 8), (64, 8), **options)[1] ** 2)

    np.testing.assert_array_equal(codipy.grad(f)(X), np.where(np.arange(16) < 8, 0.0, 2.0 * X))
    with pytest.raises(ValueError, match="memory|bounds"):
        codipy.numpy.lib.stride_tricks.as_strided(codipy.Array(X), (17,), (8,), **options)


def test_memory_of_passive_arrays():
    a = codipy.Array([[1.0, 2.0], [3.0, 4.0]])
    shown = memoryview(a.T)
    assert shown.tolist() == [[1.0, 3.0], [2.0, 4.0]] and shown.readonly
    assert np.frombuffer(a).tolist() == [1.0, 2.0, 3.0, 4.0]
    assert a.__array_interface__["shape"] == (2, 2) and a.__array_interface__["data"][1]
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(a)[0] = 5.0                                     # in NumPy it would be written
    a[0] = 5.0                                                     # what was handed out stays as it was
    assert shown.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(X)
        with pytest.raises(BufferError, match="derivative"):
            memoryview(x)
        with pytest.raises(ActiveError, match="derivative"):
            np.asarray(x)


def test_copies_that_share_values_share_no_memory():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(X)
        copy = x.copy()
        assert not np.shares_memory(x, copy) and np.shares_memory(x[2:], x[:3])
        assert not np.may_share_memory(x[1], x) and not np.shares_memory(x[:2], x[2:])
        first, second = np.broadcast_arrays(x, copy)
        assert first is x and second is copy


@pytest.mark.parametrize(
    "text",
    ["x.reshape((3,) + (1,) * 8)", "x[(None,) * 8]", "windows(x)", "x * np.ones((1,) * 9)", "np.ones((1,) * 9) * x"],
)
def test_what_numpy_takes_is_refused_by_an_error_of_codipy(text):
    """An `except ValueError` of the user's would go on with another branch than the plain run's."""

    def windows(x):
        y = np.lib.stride_tricks.as_strided(x, (2, 2), (8, 8))
        y[...] = 1.0
        return y

    def f(x):
        try:
            return np.sum(eval(text, {"np": np, "x": x, "windows": windows}))
        except (ValueError, IndexError):
            return 5.0 * x[0]

    f(np.ones(3))
    with pytest.raises(ActiveError, match="more than once|at most 8 dimensions"):
        codipy.grad(f)(np.ones(3))


@pytest.mark.parametrize("first", [True, False])
def test_a_view_by_einsum_is_writable_where_its_argument_is(first):
    """NumPy looks at the flag of the argument, not at that of the array below, which may have been set since."""

    def f(x):
        below = np.ones(3)
        a = np.expand_dims(below, 0) if first else below
        below.flags.writeable = False
        b = np.einsum("...->...", a)
        try:
            b += x
        except ValueError:
            return np.sum(3.0 * b + x)
        return np.sum(a * a)

    x = np.array([1.0, 2.0, 3.0])
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == f(x) == (29.0 if first else 15.0)
    np.testing.assert_array_equal(gradient, 2.0 + 2.0 * x if first else np.ones(3))


def reshaped(x):
    """With ``copy=`` of NumPy 2.1."""
    y = x.reshape(4, 4) * 1.0
    apart, shown = y.reshape(16, copy=True), y.reshape(2, 8, copy=False)
    apart[0], shown[0, 1] = 5.0, x[2] ** 2
    try:
        turned = y.T.reshape(16, copy=False)
    except ValueError:
        turned = x * 3.0
    return np.sum(y**2) + np.sum(apart * x) + np.sum(turned * X)


@pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.1.0", reason="from NumPy 2.1 on")
def test_a_reshape_is_a_copy_where_that_is_asked_for():
    value, gradient = codipy.value_and_grad(reshaped)(X)
    assert value == reshaped(X)
    steps = 1e-6 * np.eye(16)
    slopes = [(reshaped(X + h) - reshaped(X - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-7, atol=1e-8)
