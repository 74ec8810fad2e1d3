# SPDX-License-Identifier: Apache-2.0
"""Colourings by the definition, on random patterns; and that what they say is enough to read a matrix off."""

import pickle

import numpy as np
import pytest

import codipy
from codipy.patterns import Sparsity
from codipy.patterns.colouring import agree, read_off
from codipy.patterns.detection import detected


def random_pattern(rng, rows, columns, density):
    return rng.random((rows, columns)) < density


def random_symmetric(rng, n, density):
    half = np.triu(rng.random((n, n)) < density)
    return half | half.T


def shares_a_row(dense, a, b):
    return (dense[:, a] & dense[:, b]).any()


def paths_of_four(dense):
    """All paths of four different vertices."""
    edges = dense & ~np.eye(len(dense), dtype=bool)
    for b, c in zip(*np.nonzero(edges)):
        for a in np.flatnonzero(edges[b]):
            for d in np.flatnonzero(edges[c]):
                if len({a, b, c, d}) == 4:
                    yield a, b, c, d


@pytest.mark.parametrize("seed", range(40))
def test_columns_and_rows(seed):
    rng = np.random.default_rng(seed)
    dense = random_pattern(rng, *rng.integers(1, 14, 2), rng.choice([0.05, 0.2, 0.5, 1.0]))
    pattern = Sparsity(dense)
    for by, one in (("columns", dense), ("rows", dense.T)):
        colouring = pattern.colouring(by)
        assert len(colouring.colours) == one.shape[1] and colouring.colours.max() + 1 <= colouring.count
        for a in range(one.shape[1]):
            for b in range(a):
                assert colouring.colours[a] != colouring.colours[b] or not shares_a_row(one, a, b)
    auto = pattern.colouring()
    assert auto.count == min(pattern.colouring("columns").count, pattern.colouring("rows").count)


@pytest.mark.parametrize("seed", range(60))
def test_stars(seed):
    rng = np.random.default_rng(seed)
    dense = random_symmetric(rng, int(rng.integers(1, 12)), rng.choice([0.1, 0.25, 0.5, 0.9]))
    if seed % 3 == 0:
        dense[0] = dense[:, 0] = True      # an arrow
    colouring = Sparsity(dense, symmetric=True).colouring("star")
    colours = colouring.colours
    for a, b in zip(*np.nonzero(dense & ~np.eye(len(dense), dtype=bool))):
        assert colours[a] != colours[b]
    for path in paths_of_four(dense):
        assert len(set(colours[list(path)])) > 2


@pytest.mark.parametrize("by", ["columns", "rows", "star"])
@pytest.mark.parametrize("seed", range(20))
def test_what_directions_give_is_the_matrix(seed, by):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 15))
    dense = random_symmetric(rng, n, 0.3) if by == "star" else random_pattern(rng, n, int(rng.integers(1, 15)), 0.3)
    pattern = Sparsity(dense, symmetric=by == "star")
    values = rng.normal(size=dense.shape)
    matrix = np.where(dense, values + values.T if by == "star" else values, 0.0)
    colouring = pattern.colouring(by)
    seeds = (colouring.colours == np.arange(colouring.count)[:, None]).astype(float)
    table = seeds @ (matrix if by == "rows" else matrix.T)
    table = np.vstack([table, np.full(table.shape[1], np.nan)])      # as with the direction of the check
    found, largest = read_off(
        table, pattern.indptr, pattern.indices, colouring.colours, colouring.alone(), by == "rows")
    assert np.array_equal(found, matrix[pattern.rows(), pattern.indices])
    sizes = np.where(dense, np.abs(matrix), -1.0).max(axis=1 if by == "rows" else 0, initial=-1.0)
    assert np.array_equal(largest, sizes)
    direction = colouring.direction()
    product = direction @ matrix if by == "rows" else matrix @ direction
    given = pattern.indptr, pattern.indices, found, by == "rows", direction
    assert agree(*given, product, 1e-13)
    for place in range(len(product)):
        assert not agree(*given, product + (np.arange(len(product)) == place), 1e-13)
        assert not agree(*given, np.where(np.arange(len(product)) == place, np.nan, product), 1e-13)


def test_few_colours_where_few_are_enough():
    n = 50
    tridiagonal = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1
    arrow = np.eye(n, dtype=bool)
    arrow[0] = arrow[:, 0] = True
    assert Sparsity(tridiagonal).colouring().count == 3
    assert Sparsity(tridiagonal, symmetric=True).colouring().count == 3
    assert Sparsity(arrow, symmetric=True).colouring().count == 2
    assert Sparsity(arrow).colouring("columns").count == n
    assert Sparsity(np.eye(n)).colouring().count == 1
    row = np.eye(n, dtype=bool)
    row[0] = True
    assert Sparsity(row).colouring().by == "rows" and Sparsity(row).colouring().count == 2
    assert Sparsity(row.T).colouring().by == "columns" and Sparsity(row.T).colouring().count == 2


def test_large_patterns_take_time_in_proportion():
    """A hundred thousand columns, an arrow among them: a quadratic loop would not end."""
    sparse = pytest.importorskip("scipy.sparse")
    n = 100_000
    band = sparse.diags_array([np.ones(n), np.ones(n - 1), np.ones(n - 1)], offsets=[0, 1, -1])
    hub = sparse.coo_array((np.ones(2 * n - 2), (np.r_[np.zeros(n - 1), np.arange(1, n)].astype(int),
                                                 np.r_[np.arange(1, n), np.zeros(n - 1)].astype(int))), shape=(n, n))
    assert Sparsity(band).colouring().count == 3
    assert Sparsity(band + hub, symmetric=True).colouring().count <= 5


@pytest.mark.parametrize("seed", range(30))
def test_detection_finds_every_element_by_sweeps(seed):
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, 400, 2)
    dense = random_pattern(rng, rows, columns, rng.choice([0.0, 0.003, 0.03, 0.3, 1.0]))
    if seed % 3 == 0:
        dense[rows // 2:rows // 2 + 1] = True
    sweeps = []

    def sweep(words):
        sweeps.append(words)
        return np.array([np.bitwise_or.reduce(words[row], initial=np.uint64(0)) for row in dense], np.uint64)

    ends, indices = detected(sweep, rows, columns)
    found = np.zeros(dense.shape, bool)
    found[np.repeat(np.arange(rows), np.diff(ends)), indices] = True
    assert np.array_equal(found, dense) and len(indices) == dense.sum()
    assert len(sweeps) <= 2 + columns / 16


def test_detection_of_a_band_takes_few_sweeps():
    n, count = 20_000, []

    def sweep(words):
        count.append(1)
        around = np.concatenate([[np.uint64(0)], words, [np.uint64(0)]])
        return around[:-2] | around[1:-1] | around[2:]

    assert len(detected(sweep, n, n)[1]) == 3 * n - 2 and len(count) <= 4


def test_patterns_are_made_of_matrices_and_compared():
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.array([[1, 0, 2], [0, 0, 3]])
    pattern = Sparsity(dense)
    assert pattern == Sparsity(sparse.csr_matrix(dense)) == Sparsity(sparse.coo_array(dense)) == Sparsity(pattern)
    assert pattern.nnz == 3 and pattern.shape == (2, 3) and pattern.T.shape == (3, 2) and pattern.T.T == pattern
    assert np.array_equal(pattern.toarray(), dense != 0) and np.array_equal(pattern.tocsr().toarray(), dense != 0)
    assert pattern != Sparsity(np.eye(3)) and pattern != 3
    both = pattern | Sparsity(np.eye(2, 3))
    assert np.array_equal(both.toarray(), (dense != 0) | np.eye(2, 3, dtype=bool))
    assert pattern.missing(both).tolist() == [[1, 1]] and both.missing(pattern).tolist() == []
    with pytest.raises(TypeError):
        hash(pattern)
    with pytest.raises(ValueError, match="read-only"):
        pattern.indices[0] = 1


def test_wrong_patterns_are_refused():
    with pytest.raises(ValueError, match="rows and columns"):
        Sparsity(np.ones(3))
    with pytest.raises(ValueError, match="symmetric"):
        Sparsity(np.triu(np.ones((3, 3))), symmetric=True)
    with pytest.raises(ValueError, match="symmetric"):
        Sparsity(np.ones((2, 3)), symmetric=True)
    with pytest.raises(ValueError, match="star"):
        Sparsity(np.eye(3)).colouring("star")
    with pytest.raises(ValueError, match="unknown colouring"):
        Sparsity(np.eye(3)).colouring("rainbow")
    with pytest.raises(ValueError, match="cannot be joined"):
        Sparsity(np.eye(3)) | Sparsity(np.eye(4))
    sparse = pytest.importorskip("scipy.sparse")
    twice = sparse.csr_array((np.ones(2), np.array([1, 1]), np.array([0, 2, 2])), shape=(2, 2))
    with pytest.raises(ValueError, match="once"):
        Sparsity(twice)


def test_patterns_and_colourings_are_pickled():
    pattern = codipy.sparsity(lambda x: x[1:] * x[:-1], np.ones(5))
    colouring = pattern.colouring()
    assert pickle.loads(pickle.dumps(pattern)) == pattern
    again = pickle.loads(pickle.dumps(colouring))
    assert again == colouring and again != 3 and again.count == colouring.count
    x = np.arange(1.0, 6.0)
    f = codipy.jacobian(lambda x: x[1:] * x[:-1], sparsity=again)
    assert np.array_equal(f(x).toarray(), codipy.jacobian(lambda x: x[1:] * x[:-1])(x))


def test_they_say_what_they_are():
    pattern = Sparsity(np.eye(3), symmetric=True)
    assert repr(pattern) == "<Sparsity of symmetric 3 x 3, 3 elements>"
    assert repr(pattern.colouring()) == "<Colouring of stars of 3 x 3, 1 colours>"
    assert repr(Sparsity(np.eye(2, 3)).colouring("rows")) == "<Colouring of the rows of 2 x 3, 1 colours>"


def test_plots():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pattern = Sparsity(np.triu(np.ones((3, 4))))
    for drawn in (pattern, pattern.colouring("columns"), pattern.colouring("rows")):
        ax = drawn.plot()
        assert len(ax.collections[0].get_offsets()) == pattern.nnz
        assert drawn.plot(ax) is ax


# ---- What is damaged -------------------------------------------------------------------------------------------------


def damaged(**arrays):
    matrix = pytest.importorskip("scipy.sparse").csr_matrix(np.eye(2))
    for name, numbers in arrays.items():
        setattr(matrix, name, np.array(numbers, np.int32))
    return matrix


@pytest.mark.parametrize("arrays", [
    {"indices": [0, 70_000_000]}, {"indices": [0, -1]}, {"indptr": [0, 2, 1]}, {"indptr": [0, 1, 90_000_000]},
    {"indptr": [1, 1, 2]}, {"indptr": [0, 2]}, {"indptr": []}])  # fmt: skip
def test_matrices_that_are_damaged_are_refused(arrays):
    with pytest.raises(ValueError, match="sparsity pattern"):
        Sparsity(damaged(**arrays))


def test_damaged_columns_are_refused_and_spare_room_is_not():
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csc_matrix(np.eye(2))
    matrix.indices = np.array([0, 70_000_000], np.int32)
    with pytest.raises(ValueError, match="ind"):
        Sparsity(matrix)
    assert np.array_equal(Sparsity(damaged(indices=[0, 1, 70_000_000])).toarray(), np.eye(2))


@pytest.mark.parametrize(("place", "wrong"), [
    (0, (2, 2)), (0, (-1, 3)), (0, (3,)), (0, (2**40, 3)), (0, (3.0, 3)), (0, None), (1, np.array([0, 1])),
    (1, np.array([[0, 1, 2, 3]])), (1, np.array([0.0, 1, 2, 3])), (1, None), (2, np.array([0, 1, -50_000_000])),
    (2, np.array([0, 1, 3])), (2, np.array([0, 1])), (2, np.array([0, 0, 1])[None]), (2, None)])  # fmt: skip
def test_damaged_states_of_patterns_are_refused(place, wrong):
    state = list(Sparsity(np.eye(3)).__getstate__())
    state[place] = wrong
    with pytest.raises(ValueError, match="sparsity pattern|whole numbers"):
        Sparsity.__new__(Sparsity).__setstate__(tuple(state))
    with pytest.raises(ValueError, match="state"):
        Sparsity.__new__(Sparsity).__setstate__(tuple(state[:3]))


@pytest.mark.parametrize("by", ["columns", "rows", "star"])
def test_damaged_states_of_colourings_are_refused(by):
    tridiagonal = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) < 2
    colouring = Sparsity(tridiagonal, symmetric=True).colouring(by)
    state = colouring.__getstate__()
    again = type(colouring).__new__(type(colouring))
    again.__setstate__(state)
    assert again == colouring
    for place, wrong in [(0, None), (1, "diagonals"), (2, np.zeros(5, np.int32)), (2, colouring.colours[:4]),
                         (2, np.array([0, 1, 2, 50_000_000, 0])), (2, np.array([0, 1, 2, -3, 0])), (2, None),
                         (2, colouring.colours * 1.0), (3, 2), (3, 0), (3, 1_000_000), (3, "3")]:  # fmt: skip
        broken = list(state)
        broken[place] = wrong
        with pytest.raises(ValueError, match="colour"):
            again.__setstate__(tuple(broken))
    with pytest.raises(ValueError, match="no colouring 'star'"):
        again.__setstate__((Sparsity(tridiagonal), "star", np.arange(5), 5))


def test_nothing_of_a_pattern_or_a_colouring_can_be_set():
    pattern = Sparsity(np.eye(4))
    colouring = pattern.colouring()
    for thing, names in ((pattern, ["shape", "indptr", "indices", "symmetric"]),
                         (colouring, ["pattern", "by", "colours", "count"])):
        for name in names:
            with pytest.raises(AttributeError):
                setattr(thing, name, getattr(thing, name))
    for numbers in (pattern.indptr, pattern.indices, colouring.colours):
        with pytest.raises(ValueError, match="WRITEABLE|writeable"):
            numbers.flags.writeable = True


def test_arrays_that_are_no_matrices_of_numbers_are_refused():
    with pytest.raises(TypeError, match="dtype"):
        Sparsity([["x"]])
