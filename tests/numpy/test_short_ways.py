# SPDX-License-Identifier: Apache-2.0
"""The short ways of calls give what the long ones give: values to the bit, derivatives by central differences."""
import numpy as np
import pytest

import codipy
import codipy.numpy as active_numpy
from codipy.errors import ActiveError
from tests.strategies import STRATEGIES

DRAW = np.random.default_rng(11)
A = DRAW.standard_normal((4, 5))
OTHER = DRAW.standard_normal((5, 3))
CUBE = DRAW.standard_normal((2, 3, 4))
WEIGHTS = DRAW.standard_normal(400)
MASK = A > 0.2


def weighted(x):
    """A number that depends on every element of a result."""
    flat = np.reshape(x, -1)
    return np.sum(WEIGHTS[: flat.shape[0]] * flat)


CASES = {
    "sort of columns": lambda a: np.sort(a, axis=0),
    "sort of a transpose": lambda a: np.sort(a.T),
    "sort of all": lambda a: np.sort(a, axis=None),
    "sort of every second": lambda a: np.sort(a[:, ::2]),
    "sort of a backward view": lambda a: np.sort(a[::-1, ::-1]),
    "largest": lambda a: np.max(a[::-1, 1:]) * a,
    "largest of rows": lambda a: a.max(axis=1),
    "largest of rows of a transpose": lambda a: a.T.max(axis=1, keepdims=True),
    "largest of columns": lambda a: np.min(a[:, ::-1], axis=0),
    "median": lambda a: np.median(a[1:, 1:]) * a,
    "median of an odd number": lambda a: np.median(a[1:, 0]) * a,
    "product": lambda a: np.prod(a) * a[0],
    "running sum": lambda a: np.cumsum(a, axis=0),
    "running sum of all": lambda a: np.cumsum(a),
    "log of sums": lambda a: np.logaddexp.reduce(a, axis=0),
    "log of all sums": lambda a: np.logaddexp.reduce(a, axis=None) * a,
    "log of sums that stay": lambda a: np.logaddexp.reduce(a, axis=-1, keepdims=True) * a,
    "interpolated": lambda a: np.interp(a, np.linspace(-1.5, 1.0, 9), np.linspace(-1.5, 1.0, 9) ** 3),
    "norm": lambda a: np.linalg.norm(a) * a,
    "norms of rows": lambda a: np.linalg.norm(a, axis=1),
    "trace": lambda a: np.trace(a[:, 1:], offset=1) * a,
    "determinant": lambda a: np.linalg.det(a[:, :4] + 3 * np.eye(4)) * a,
    "factor": lambda a: np.linalg.cholesky(a @ a.T + np.eye(4)),
    "upper factor": lambda a: np.linalg.cholesky(a @ a.T + np.eye(4), upper=True),
    "rows times rows": lambda a: (a[0] @ a[1]) * a,
    "row times matrix": lambda a: a[0, :4] @ a,
    "outer": lambda a: np.outer(a[0], a[:, 1]),
    "concatenated": lambda a: np.concatenate((a, np.ones((2, 5)), a[::-1] * 2.0), axis=0),
    "stacked": lambda a: np.stack((a[0], a[1], 3.0 * a[2]), axis=1),
    "concatenated along rows": lambda a: np.concatenate([a, a[:, :2], 2.0 * a], axis=-1),
    "concatenated flat": lambda a: np.concatenate((a, a[1]), axis=None),
    "concatenated views": lambda a: np.concatenate((a.T, a[:2].T), axis=1),
    "concatenated column": lambda a: np.concatenate((a[:1].T, a.T), axis=1),
    "stacked in front": lambda a: np.stack([a, a * a]),
    "stacked behind": lambda a: np.stack((a, np.ones((4, 5)), a), axis=-1),
    "stacked between": lambda a: np.stack((a, a[::-1]), axis=1),
    "appended": lambda a: np.append(a[0], a[:, 1]),
    "appended number": lambda a: np.append(np.diff(a[0]), a[0, 0]),
    "appended numbers": lambda a: np.append(np.append(a, 0.5), 1),
    "differences of columns": lambda a: np.diff(a.T[::-1]),
    "appended rows": lambda a: np.append(a, a[1:3], axis=0),
    "rolled": lambda a: np.roll(a, 3),
    "rolled back": lambda a: np.roll(a, -7),
    "rolled rows": lambda a: np.roll(a, 1, axis=0),
    "rolled columns": lambda a: np.roll(a, -2, axis=-1),
    "rolled not at all": lambda a: np.roll(a, 5, axis=1),
    "rolled transpose": lambda a: np.roll(a.T, 1),
    "padded": lambda a: np.pad(a, 1),
    "padded row": lambda a: np.pad(a[0], (2, 0)),
    "padded in ways": lambda a: np.pad(a, ((0, 2), (1, 0))),
    "padded with its edge": lambda a: np.pad(a, 2, mode="edge"),
    "differences": lambda a: np.diff(a),
    "chosen by row": lambda a: np.where(MASK[0], a, a[1]),
    "chosen numbers": lambda a: np.where(MASK, a[0, 0], a),
    "chosen plain": lambda a: np.where(MASK, A, a),
    "clipped below": lambda a: np.clip(a, 0.1, None),
    "clipped above": lambda a: np.clip(a, None, a[0, 1] + a[:, :1]),
    "clipped by crossing bounds": lambda a: np.clip(a, 0.3, -0.3) + a,
    "clipped by columns": lambda a: np.clip(a.T, -0.4, np.abs(a[:, 2])),
    "chosen": lambda a: np.where(MASK, a, np.sin(a)),
    "chosen or a number": lambda a: np.where(MASK, a, 0.0),
    "chosen columns": lambda a: np.where(a[:, :1] > 0, a[0], a.T[:1].T),
    "clipped": lambda a: np.clip(a, -0.5, a[0] + 1.0),
    "taken": lambda a: np.take(a, [2, 0, 2], axis=0),
    "product of a pair": lambda a: np.einsum("ij,jk->ki", a, OTHER),
    "outer product of a pair": lambda a: np.einsum("i,jk->kij", a[0], a),
    "stack of products": lambda a: np.einsum("bi,bj->bij", a, a[::-1]),
    "sums inside": lambda a: np.einsum("ij,ik->j", a, a),
    "diagonal": lambda a: np.einsum("ii,ij->j", a[:, :4], a),
    "three operands": lambda a: np.einsum("ij,kj,kl->il", a, a, A),
    "three operands along a path": lambda a: np.einsum("ij,kj,kl->li", a, a, a, optimize=True),
    "four operands": lambda a: np.einsum("ij,kj,kl,ml->im", a, a, a[::-1], a, optimize="optimal"),
    "broadcast inside": lambda a: np.einsum("ij,ij->i", a, a[:1]),
    "dots": lambda a: np.einsum("...j,jk->...k", a, OTHER),
    "numbered": lambda a: np.einsum(a, [0, 1], OTHER, [1, 2], [0, 2]),
}


@pytest.mark.parametrize("name", CASES)
def test_values_and_derivatives(name):
    def f(a):
        return weighted(CASES[name](a))

    h = 1e-6
    expected = np.empty(A.shape)
    for place in np.ndindex(A.shape):
        step = np.zeros(A.shape)
        step[place] = h
        expected[place] = (f(A + step) - f(A - step)) / (2 * h)
    for strategy in STRATEGIES:
        value, gradient = codipy.value_and_grad(f, strategy=strategy)(A)
        assert value == f(A), strategy
        np.testing.assert_allclose(gradient, expected, rtol=2e-6, atol=2e-7, err_msg=strategy)


PLACES = DRAW.integers(-7, 7, 40)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("ufunc", [np.add, np.subtract])
@pytest.mark.parametrize("few", [False, True])
def test_writing_at_places_that_repeat(ufunc, few, strategy):
    places = PLACES[:1] if few else PLACES

    def f(x, b):
        total = np.sin(x)
        ufunc.at(total, places, b[: places.size] * x[0])
        return np.sum(total * total * WEIGHTS[:7])

    x, b = DRAW.standard_normal(7), DRAW.standard_normal(40)
    value, bars = codipy.value_and_grad(f, argnums=(0, 1), strategy=strategy)(x, b)
    assert value == f(x, b)
    for k, (point, bar) in enumerate(zip((x, b), bars)):
        direction = DRAW.standard_normal(point.shape)
        ahead, back = ([*(x, b)] for _ in range(2))
        ahead[k], back[k] = point + 1e-6 * direction, point - 1e-6 * direction
        assert bar @ direction == pytest.approx((f(*ahead) - f(*back)) / 2e-6, rel=1e-6)


def test_at_sees_its_places_as_they_were():
    def f(x):
        places, total = np.array([0, 1, 1]), x * 1.0
        np.add.at(total, places, x[:3] * x[:3])
        places[:] = 2
        return np.sum(total * np.arange(3.0))

    assert codipy.grad(f)(np.array([1.0, 2.0, 3.0])).tolist() == [0.0, 5.0, 8.0]


def test_what_the_caller_changes_later():
    """Plain arrays are copied where a rule reads them at the end."""
    knots = np.array([0.0, 1.0, 2.0])

    def f(x):
        y = np.interp(x, knots, knots**2)
        knots[:] = 7.0
        return y

    assert codipy.grad(f, rebind=False)(1.5) == 3.0


def test_refusals_stay():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([1.0, 4.0]))
        with pytest.raises(ActiveError):
            np.histogram(x, 2, weights=np.array([1j, 2j]), density=True)
    with pytest.raises(codipy.errors.TapeError):
        np.sort(x)
    with codipy.passive():
        assert np.sort(x).tolist() == [1.0, 4.0] and np.concatenate((x, x)).tolist() == [1.0, 4.0, 1.0, 4.0]


def layout(x):
    return x.shape, [step for n, step in zip(x.shape, x.strides) if n > 1]


@pytest.mark.parametrize("name", CASES)
def test_shape_and_layout(name):
    """Sums over a result, and so their bits, depend on how it lies in memory."""
    tape = codipy.Tape()
    with tape:
        found = CASES[name](tape.register_input(A.copy()))
        if isinstance(found, codipy.Array):
            assert layout(found) == layout(CASES[name](A))


SPECIAL = np.array([-0.0, 0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 2.0])


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-0.0, 0.0), (np.nan, 1.0), (-1.0, np.nan), (2.0, -2.0), (None, 0.0),
                                    (np.full(8, -0.0), np.full(8, 0.0)), (0.0, SPECIAL[::-1].copy())])
def test_bits_of_clip(bounds):
    with np.errstate(all="ignore"):
        expected = np.clip(SPECIAL, *bounds)
        tape = codipy.Tape()
        with tape:
            x = tape.register_input(SPECIAL.copy())
            found = np.clip(x, *bounds)
        slow = codipy.Tape(strategy="primal")
        with slow:
            y = slow.register_input(SPECIAL.copy())
            other = np.clip(y, *bounds)
    assert codipy.value(found).tobytes() == expected.tobytes() == codipy.value(other).tobytes()
    if isinstance(found, codipy.Array) and found.is_active:
        found.gradient, other.gradient = WEIGHTS[:8], WEIGHTS[:8]
        tape.evaluate()
        slow.evaluate()
        assert x.gradient.tolist() == y.gradient.tolist()


def test_what_is_not_chosen_gets_nothing():
    def f(x):
        return np.sum(np.sqrt(np.clip(x, 0.0, None)) + np.where(x > 0.0, x, 0.0) ** 0.5)

    found = codipy.grad(f)(np.array([4.0, -1.0]))
    assert found[0] == 0.5 and found[1] == 0.0


def test_several_directions():
    def f(x):
        return np.roll(np.clip(np.where(x[:1] > 0, x, 2.0 * x), -1.0, x[0]), 1)

    x = np.array([0.5, -2.0, 0.25, 3.0])
    expected = np.array([[1.0, 0, 0, 0], [1.0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1.0, 0]])
    assert codipy.jacobian(f)(x).tolist() == expected.tolist()


@pytest.mark.parametrize("ties", [False, True])
def test_many_elements(ties):
    """Above the sizes where other ways are faster."""
    x = DRAW.standard_normal((30, 50))
    x = np.round(x, 1) if ties else x
    weights = DRAW.standard_normal(1500)
    order = np.argsort(x.reshape(-1), kind="stable")
    expected = np.empty(1500)
    expected[order] = weights
    assert codipy.grad(lambda x: np.sum(weights * np.sort(x, axis=None)))(x).reshape(-1).tolist() == expected.tolist()
    rows = codipy.grad(lambda x: np.sum(weights.reshape(30, 50) * np.sort(x)))(x)
    for row, found, weight in zip(x, rows, weights.reshape(30, 50)):
        assert found[np.argsort(row, kind="stable")].tolist() == weight.tolist()
    first = codipy.grad(np.max)(x)
    assert first.sum() == 1.0 and first.reshape(-1)[np.argmax(x)] == 1.0
    middle = codipy.grad(np.median)(x)
    assert middle.sum() == 1.0 and set(x[middle > 0]) <= {*np.sort(x, axis=None)[749:751]}


def test_nested_lists():
    def f(x):
        c, s = np.cos(x[0]), x[1]
        turned = np.array([[c, -s, 0], (s, c, 1.0), [0.0, 2, x[2]]])
        return np.sum(turned @ turned * turned) + np.array([x[2], 1.0])[0]

    x = np.array([0.3, 0.7, -1.2])
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == f(x)
    for k, step in enumerate(1e-6 * np.eye(3)):
        assert gradient[k] == pytest.approx((f(x + step) - f(x - step)) / 2e-6, rel=1e-7)
    with pytest.raises(ValueError):
        codipy.grad(lambda x: np.array([[x[0], 1.0], [x[1]]]).sum())(x)


def test_nan_and_ties():
    def f(x):
        return np.sum(np.sort(x) * np.array([1.0, 10.0, 100.0, 1000.0]))

    assert codipy.grad(f)(np.array([2.0, 1.0, 2.0, 1.0])).tolist() == [100.0, 1.0, 1000.0, 10.0]
    assert codipy.grad(np.max)(np.array([1.0, 3.0, 3.0])).tolist() == [0.0, 1.0, 0.0]
    assert codipy.grad(np.max)(np.array([1.0, np.nan, 3.0, np.nan])).tolist() == [0.0, 1.0, 0.0, 0.0]


PASSIVE = {
    "sort": lambda np, p, m: np.sort(p),
    "sort along": lambda np, p, m: np.sort(m, axis=0),
    "cumsum": lambda np, p, m: np.cumsum(m, 1),
    "outer": lambda np, p, m: np.outer(p, p),
    "where": lambda np, p, m: np.where(p > 0.5, p, 0.0),
    "clip": lambda np, p, m: np.clip(p, 0.2, 0.7),
    "concatenate": lambda np, p, m: np.concatenate((p, m[0])),
    "concatenate columns": lambda np, p, m: np.concatenate((m, m.T), axis=1),
    "roll": lambda np, p, m: np.roll(m, 1, axis=0),
    "solve": lambda np, p, m: np.linalg.solve(m, p),
    "product with a vector": lambda np, p, m: m @ p,
    "product with itself": lambda np, p, m: m @ m.T,
    "product with a copy": lambda np, p, m: m @ m.copy().T,
    "dot with a copy": lambda np, p, m: np.dot(m, m.copy().T),
    "dots": lambda np, p, m: np.linalg.multi_dot([m, m.copy().T, p]),
    "einsum": lambda np, p, m: np.einsum("ij,kj->ik", m, m.copy()),
    "transposed": lambda np, p, m: np.sort(m.T, axis=0),
    "median": lambda np, p, m: np.median(m, 0, None, True),
    "median by name": lambda np, p, m: np.median(m, axis=1, overwrite_input=True),
    "gradient": lambda np, p, m: np.gradient(p, 0.1),
    "pad": lambda np, p, m: np.pad(p, 2),
    "take": lambda np, p, m: np.take(m, [0, 2], axis=1),
    "max along": lambda np, p, m: m.max(axis=0),
    "reduced": lambda np, p, m: np.maximum.reduce(m, axis=0),
    "float32": lambda np, p, m: np.cumsum(np.sort(m.astype("f4"), axis=0), axis=0),
}
PLAIN = {
    "argmax": lambda np, p, m: np.argmax(p),
    "argsort": lambda np, p, m: np.argsort(m, axis=0),
    "isclose": lambda np, p, m: np.isclose(m, m.T),
    "flatnonzero": lambda np, p, m: np.flatnonzero(p > 0.5),
    "max": lambda np, p, m: np.max(p),
    "dot": lambda np, p, m: np.dot(p, p),
}


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("name", PASSIVE | PLAIN)
def test_passive_arrays_have_numpys_results(name):
    """Its bits and its layout, in memory that can be filled; and what went in is as it was."""
    f, plain = (PASSIVE | PLAIN)[name], np.random.default_rng(3).random((70, 70))

    def program(np, x):
        m, p = np.zeros((70, 70)), np.zeros(70)
        m[...], p[...] = plain, plain[0]
        found = f(np, p, m)
        assert np.array_equal(m, plain) or "median" in name
        if name in PASSIVE:
            found[..., 1] = x
        return found

    with codipy.Tape() as tape:
        x = tape.register_input(0.5)
        found = program(active_numpy, x)
    expected = program(np, 0.5)
    if name in PLAIN:
        assert type(found) is type(expected) and np.array_equal(found, expected)
        return
    assert found.is_active and found.dtype == expected.dtype and found.strides == expected.strides
    assert found.value.tobytes() == expected.tobytes()


def test_what_is_seen_of_passive_arrays_is_no_copy():
    def f(np, x):
        p = np.zeros(4)
        for view in (np.ravel(p)[:1], np.squeeze(p[None])[1:2], np.broadcast_to(p, (1, 4))[0, 2:3], np.real(p)[3:]):
            assert not view.flags.owndata
        np.ravel(p)[:1] = x
        np.trim_zeros(p + 1.0)[:] = x
        np.atleast_2d(p)[0, 3] = x * x
        np.copyto(p[1:2], x)
        np.sort(p, axis=None)[0] = x
        return p

    with codipy.Tape() as tape:
        x = tape.register_input(0.5)
        found = f(active_numpy, x)
    assert found.value.tolist() == f(np, 0.5).tolist() == [0.5, 0.5, 0.0, 0.25]


WRONG_CALLS = {
    "no such name": lambda a: np.max(a, axis=0, of=1),
    "too many": lambda a: np.squeeze(a, 0, 1, 2),
    "twice": lambda a: np.max(a, a=a),
    "missing": lambda a: np.append(a),
    "no such axis": lambda a: np.sort(a, 2),
    "nothing": lambda a: np.max(),
}


@pytest.mark.parametrize("name", WRONG_CALLS)
@pytest.mark.parametrize("kind", [np.asarray, lambda a: a * 1.0])
def test_wrong_calls_raise_numpys_errors(name, kind):
    """Where rebound code calls the short way itself, NumPy has not looked at the names and the number of arguments."""
    with pytest.raises((TypeError, ValueError)) as plain:
        WRONG_CALLS[name](A)
    with pytest.raises(type(plain.value)) as found:
        codipy.grad(lambda a: np.sum(a) + np.sum(WRONG_CALLS[name](kind(a))))(A)
    assert str(found.value).split("\n")[0] == str(plain.value)


def test_what_numpy_does_not_ask_is_seen():
    """An Array as the value that fills a plain diagonal: NumPy asks the array alone."""
    def f(a):
        square = np.ones((4, 4))
        np.fill_diagonal(square, a[0, :4])
        return np.sum(square * square) + np.max(OTHER, initial=9.0 * np.max(np.abs(a)))

    bars = codipy.grad(f)(A)
    step = np.where(np.abs(A) == np.max(np.abs(A)), 9.0 * np.sign(A), 0.0)
    step[0, :4] += 2.0 * A[0, :4]
    np.testing.assert_array_equal(bars, step)
