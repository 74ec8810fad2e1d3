# SPDX-License-Identifier: Apache-2.0
"""Factors that are remembered: they change no bit of a solution and are never those of another matrix."""

import numpy as np
import pytest

import codipy
from codipy.numpy.rules import factors, lapack
from codipy.numpy.rules.linalg import PRIMITIVES

from .checking import check, normal

ROWS = [1, 5, factors.LEAST - 1, factors.LEAST, 97, 130]


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    monkeypatch.setattr(factors, "_last", None)


@pytest.fixture
def made(monkeypatch):
    """One entry for each time that NumPy's LAPACK factorises."""
    own = lapack.numpys()
    if own is None:
        pytest.skip("NumPy is not linked with the LAPACK of its wheels")
    found, factorise = [], lapack.Lapack.factorise_and_solve
    monkeypatch.setattr(lapack.Lapack, "factorise_and_solve", lambda *args: found.append(1) or factorise(*args))
    return found


def regular(n, seed=0):
    """A matrix that is far from singular."""
    return normal(n, n, seed=seed) + 3 * np.sqrt(n) * np.eye(n)


def same_bits(a, b):
    """Also whether they lie in memory the same way."""
    return a.shape == b.shape and a.flags.c_contiguous == b.flags.c_contiguous and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("columns", [(), (1,), (3,), (70,)])
@pytest.mark.parametrize("n", ROWS)
def test_solutions_are_numpys(n, columns):
    wide = np.repeat(regular(n), 2, axis=0)
    for a in (regular(n), np.asfortranarray(regular(n)), wide[::-2], regular(n)[::-1, ::-1]):
        for seed in (1, 2, 3):
            b = normal(n, *columns, seed=seed)
            assert same_bits(factors.solve(a, b), np.linalg.solve(a, b))
            assert same_bits(factors.solve(a, b[::-1]), np.linalg.solve(a, b[::-1]))


@pytest.mark.parametrize("special", [-0.0, np.nan, 1e-310, 1e308])
def test_solutions_with_special_numbers_are_numpys(special):
    a, b = regular(factors.LEAST), normal(factors.LEAST)
    a[3, 1:] = 0.0
    for place in ((3, 1), (0, 0)):
        other = a.copy()
        other[place] = special
        for matrix in (a, other, a):
            assert same_bits(factors.solve(matrix, b), np.linalg.solve(matrix, b))
    for b[5] in (special, np.inf):
        assert same_bits(factors.solve(a, b), np.linalg.solve(a, b))


def test_time_steps_factorise_once(made):
    def steps(a, u):
        for _ in range(5):
            u = np.linalg.solve(a, u)
        return np.sum(u * u)

    a, u = regular(factors.LEAST), normal(factors.LEAST)
    value, (slope, _) = codipy.value_and_grad(steps, argnums=(0, 1))(a, u)
    assert len(made) == 1
    assert value == steps(a, u)
    t = normal(*a.shape, seed=4)
    ends = [steps(a + h * t, u) for h in (1e-6, -1e-6)]
    assert np.sum(slope * t) == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


def test_a_matrix_that_was_written_to_is_another(made):
    a, b = regular(factors.LEAST), normal(factors.LEAST)
    factors.solve(a, b)
    factors.solve(a.copy(), b)
    assert len(made) == 1
    a[-1, -1] += 1.0
    assert same_bits(factors.solve(a, b), np.linalg.solve(a, b))
    assert len(made) == 2


@pytest.mark.parametrize("own", [True, False], ids=["NumPy's", "SciPy's"])
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("n", [5, factors.LEAST])
def test_columns_do_not_depend_on_what_is_remembered(n, columns, own, monkeypatch):
    if not own:
        monkeypatch.setattr(lapack, "numpys", lambda: None)
    a, b = regular(n), normal(n, columns)
    for transposed in (True, False):
        monkeypatch.setattr(factors, "_last", None)
        fresh = factors.solve_columns(a, b, transposed)
        assert (a.T if transposed else a) @ fresh == pytest.approx(b)
        factors.solve(a, b)
        assert factors.solve_columns(a, b, transposed).tobytes() == fresh.tobytes()
        factors.solve(a, normal(n, 3))
        assert factors.solve_columns(a.copy(), b, transposed).tobytes() == fresh.tobytes()


@pytest.mark.parametrize("n", [5, factors.LEAST])
def test_singular_matrices_are_refused(n):
    a = regular(n)
    a[1] = 0.0
    for _ in range(2):
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            factors.solve(a, normal(n))
        with pytest.raises(np.linalg.LinAlgError, match="Singular"):
            factors.solve_columns(a, normal(n, 1), transposed=True)


def test_what_does_not_fit_is_numpys_to_refuse():
    a = regular(factors.LEAST)
    for left, right in ((a, normal(3)), (a[:-1], normal(factors.LEAST)), (a, np.array(1.0))):
        with pytest.raises((ValueError, np.linalg.LinAlgError)):
            factors.solve(left, right)
    assert factors.solve(a, normal(factors.LEAST, 0)).shape == (factors.LEAST, 0)


def test_scipys_factors_are_made_once(monkeypatch):
    scipys = pytest.importorskip("scipy.linalg").lapack
    made, dgetrf = [], scipys.dgetrf
    monkeypatch.setattr(scipys, "dgetrf", lambda a: made.append(1) or dgetrf(a))
    a = regular(5)
    first = factors.solve_columns(a, normal(5, 1), transposed=True)
    again = factors.solve_columns(a.copy(), normal(5, 1), transposed=True)
    assert len(made) == 1
    np.testing.assert_array_equal(first, again)
    a[0, 0] += 1.0
    np.testing.assert_allclose(a @ factors.solve_columns(a, normal(5, 1)), normal(5, 1))
    assert len(made) == 2


def test_solve_without_scipy(monkeypatch):
    monkeypatch.setattr(factors, "_by_scipys", lambda *args: None)
    check(PRIMITIVES["linalg.solve"], (regular(3), normal(3)))


def test_a_lapack_of_other_bits_is_not_used(monkeypatch, made):
    solve = np.linalg.solve
    monkeypatch.setattr(np.linalg, "solve", lambda a, b: solve(a, b) * (1 + 2**-52))
    assert lapack.numpys.__wrapped__() is None
    monkeypatch.undo()
    assert lapack.numpys.__wrapped__() is not None


@pytest.mark.parametrize("transposed", [False, True])
def test_a_small_matrix_with_several_columns_wakes_no_threads(transposed, monkeypatch):
    """dgetrs of several columns shares work of any size among threads: 118 of two rows took half a second."""
    monkeypatch.setattr(factors, "import_lapack", lambda: pytest.fail("LAPACK was asked to solve with known factors"))
    for n, columns in ((2, 2), (5, 3), (factors.LEAST - 1, 4)):
        a, b = regular(n), normal(n, columns)
        found = factors.solve_columns(a, b, transposed)
        assert np.array_equal(found, np.linalg.solve(a.T if transposed else a, b))
