# SPDX-License-Identifier: Apache-2.0
"""Decompositions of complex matrices: phases of vectors, kinds of results, complex64, replay, equal values."""

import numpy as np
import pytest

import codipy
from codipy.errors import TapeError

RNG = np.random.default_rng(5)
M = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))
H = M @ M.conj().T
TURN = np.array([[0.1, -1.0, 0.3], [1.2, 0.2, 0.1], [0.4, 0.5, 2.0]])
NEARLY = np.diag([1.0, 2.0, 3.0]) + 0.1 * TURN

ON_A_PHASE = {
    "eig": (lambda a: np.linalg.eig(a)[1][0, 1].imag, M),
    "eig of a real matrix": (lambda a: np.sum(np.linalg.eig(a)[1] * M).real, TURN),
    "eigh": (lambda a: np.sum(np.linalg.eigh(a)[1] ** 2).real, H),
    "svd, left": (lambda a: np.linalg.svd(a)[0][1, 1].real, M),
    "svd, right": (lambda a: np.linalg.svd(a)[2][0, 2].real, M),
    "svd, of a Hermitian matrix": (lambda a: np.linalg.svd(a, hermitian=True)[2][0, 2].real, H),
    "a stack": (lambda a: np.linalg.eigh(np.stack([a, a @ a]))[1][1, 0, 1].imag, H),
}


@pytest.mark.parametrize("case", ON_A_PHASE)
@pytest.mark.parametrize("kind", [1, 2])
def test_a_loss_that_depends_on_a_phase_raises(case, kind):
    loss, a = ON_A_PHASE[case]
    a = a if kind == 1 else a.astype(np.complex64 if np.iscomplexobj(a) else np.float32)
    with pytest.raises(np.linalg.LinAlgError, match="right with any phase"):
        codipy.grad(loss)(a)


def test_what_depends_on_none_does_not():
    """Beside terms that are much larger, and where all that is left of a cotangent is rounding."""
    def loss(a):
        w, v = np.linalg.eigh(a)
        return 1e9 * np.sum(w) + np.sum(np.abs(v) ** 2) + np.sum(np.abs(v[0]) ** 4)

    assert np.all(np.isfinite(codipy.grad(loss)(H)))
    spectral = codipy.grad(lambda a: np.sum(np.abs(np.linalg.eigvals(a)) ** 2))
    second = codipy.grad(lambda a: np.sum(spectral(a) * a))(TURN)      # along the matrix: its vectors stay
    np.testing.assert_allclose(second, 2 * spectral(TURN), rtol=1e-10)


@pytest.mark.parametrize("f", [lambda a: np.linalg.eig(a), lambda a: np.linalg.eigvals(a)])
def test_eigenvalues_of_a_real_matrix_are_of_numpys_kind(f):
    for a in (TURN, NEARLY):
        with codipy.Tape() as tape:
            found = f(tape.register_input(a.copy()))
        expected = f(a)
        assert type(found) is type(expected) or not isinstance(expected, tuple)
        for ours, theirs in zip(found if isinstance(found, tuple) else [found],
                                expected if isinstance(expected, tuple) else [expected]):  # fmt: skip
            assert type(ours) is (codipy.ComplexArray if np.iscomplexobj(theirs) else codipy.Array)
            assert np.array_equal(codipy.value(ours), theirs)


def test_the_tangent_of_eig_is_that_of_lapacks_vectors():
    def first(a):
        w, v = np.linalg.eig(a)
        return v[0, 0].imag + v[1, 0].real + v[2, 1].imag

    expected = (first(TURN + 1e-6 * NEARLY) - first(TURN - 1e-6 * NEARLY)) / 2e-6
    assert codipy.jvp(first, (TURN,), (NEARLY,))[1] == pytest.approx(expected, rel=1e-7)


def test_a_replay_with_eigenvalues_of_another_kind_raises():
    changes = np.isrealobj(np.linalg.eigvals(NEARLY))  # before NumPy 2.5
    for recorded, other in ((NEARLY, TURN), (TURN, NEARLY)):
        tape = codipy.Tape("primal")
        with tape:
            x = tape.register_input(recorded.copy())
            y = tape.register_output(np.sum(np.abs(np.linalg.eigvals(x)) ** 2))
        tape.set_primal(x, 1.1 * recorded)
        tape.evaluate_primal()
        assert tape.get_primal(y) == np.sum(np.abs(np.linalg.eigvals(1.1 * recorded)) ** 2)
        tape.set_primal(x, other)
        if changes and recorded is NEARLY:
            with pytest.raises(TapeError, match="real when it was recorded, and is complex now"):
                tape.evaluate_primal()
        else:
            tape.evaluate_primal()
            assert tape.get_primal(y) == pytest.approx(np.sum(np.abs(np.linalg.eigvals(other)) ** 2))


SINGLE = {
    "eigh": lambda a: np.sum(np.abs(np.linalg.eigh(a)[1][0]) ** 4),
    "svd": lambda a: np.sum(np.abs(np.linalg.svd(a)[0][0]) ** 4),
    "qr": lambda a: np.sum(np.abs(np.linalg.qr(a)[1]) ** 2 * np.arange(3.0)),
    "cholesky": lambda a: np.sum(np.linalg.cholesky(a @ a.conj().T).real),
    "slogdet": lambda a: np.linalg.slogdet(a)[1] + np.linalg.slogdet(a)[0].imag,
    "eig": lambda a: np.sum(np.abs(np.linalg.eig(a)[1][0]) ** 4),
}


@pytest.mark.parametrize("name", SINGLE)
def test_complex64(name):
    f, a = SINGLE[name], M.astype(np.complex64)
    value, found = codipy.value_and_grad(f)(a)
    assert value == f(a) and found.dtype == np.complex64
    np.testing.assert_allclose(found, codipy.grad(f)(M), rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize(("loss", "match"), [
    (lambda a: np.sum(np.abs(np.linalg.svd(a)[0]) ** 4), "svd: (two singular values are|a singular value is zero)"),
    (lambda a: np.sum(np.abs(np.linalg.eigh(a)[1]) ** 4), "eigh: two eigenvalues are equal"),
])  # fmt: skip
def test_equal_values_have_no_vectors(loss, match):
    q = np.linalg.qr(M)[0]
    for values in ([2.0, 2.0, 1.0], [0.0, 0.0, 1.0]):
        a = (q * values) @ q.conj().T
        with pytest.raises(np.linalg.LinAlgError, match=match):
            codipy.grad(loss)(a)


def test_phases_at_a_singular_value_of_zero():
    """There left and right vectors turn by themselves, and their product is a choice."""
    q = np.linalg.qr(M)[0]

    def loss(a):
        u, _, vh = np.linalg.svd(a)
        return (u @ vh)[0, 0].real

    with pytest.raises(np.linalg.LinAlgError, match="a singular value is zero"):
        codipy.grad(loss)((q * [2.0, 1.0, 0.0]) @ q.T)


def test_named_results():
    with codipy.Tape() as tape:
        z = tape.register_input(M.copy())
        assert np.linalg.eig(z)._fields == ("eigenvalues", "eigenvectors")
        assert np.linalg.eigh(z)._fields == ("eigenvalues", "eigenvectors")
        assert np.linalg.svd(z)._fields == ("U", "S", "Vh")
        assert np.linalg.qr(z)._fields == ("Q", "R")
        assert np.linalg.slogdet(z)._fields == ("sign", "logabsdet")


@pytest.mark.parametrize("number", [1j, 2.0, 0.5 - 1.5j], ids=str)
@pytest.mark.parametrize("name", ["dot", "inner", "vdot", "outer", "kron", "tensordot"])
@pytest.mark.parametrize("swap", [False, True])
def test_products_with_a_number_of_python(name, number, swap):
    options = {"axes": 0} if name == "tensordot" else {}

    def f(x):
        total = 0.0
        for y in (x[0], 1j * x[0] * x[1], x[0] * x[1]) + ((x, 1j * x * x[1]) if name != "vdot" else ()):
            z = getattr(np, name)(*((y, number) if swap else (number, y)), **options)
            total = total + np.sum(2.0 * z.real + 3.0 * z.imag)
        return total

    x, h = np.array([1.3, 0.7]), 1e-6
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == f(x)
    expected = [(f(x + d) - f(x - d)) / (2 * h) for d in h * np.eye(2)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-7)
    for unit, slope in zip(np.eye(2), gradient):
        assert codipy.jvp(f, (x,), (unit,))[1] == pytest.approx(slope)
