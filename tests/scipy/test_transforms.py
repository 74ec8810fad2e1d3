# SPDX-License-Identifier: Apache-2.0
"""scipy.fft in rebound code: SciPy's bits, derivatives against differences of the same source, second order."""

import inspect

import numpy as np
import pytest
import scipy.fft

import codipy
from codipy.errors import ActiveError
from codipy.scipy import transforms
from tests.scipy.recorded import demand_same_gradient, demand_same_when_loaded
from tests.strategies import each_strategy

POINT = np.random.default_rng(11).normal(size=48)
TANGENT = np.cos(np.arange(48))
OF_COMPLEX = ("fft", "ifft", "hfft", "irfft")
OF_REAL = ("rfft", "ihfft")
WAVES = ("dct", "idct", "dst", "idst")


def _of(names, arguments):
    return [f"fft.{name}({text})" for name in names for text in arguments]


# Texts on a real and a complex matrix, a and z, and their first rows x and w.
CASES = _of(OF_COMPLEX, ["w", "w, 9", "w, 3", "z, axis=0", "z, 5, 0, 'ortho'", "x", "a, norm='forward', workers=2",
                         "w, overwrite_x=True"])  # fmt: skip
CASES += _of(OF_REAL, ["x", "x, 9", "x, 3", "a, axis=0", "a, 5, 0, 'ortho'", "a, norm='forward'"])
CASES += _of([f"{name}{more}" for name in OF_COMPLEX for more in "2n"], [
    "z", "z, (3, 8)", "z, (5, -1), (1, 0)", "a, norm='ortho'",
    "np.stack([z, z * 2]), axes=(0, 2), s=(3, 4), norm='forward'"])  # fmt: skip
CASES += _of([f"{name}{more}" for name in OF_REAL for more in "2n"], [
    "a", "a, (3, 8)", "a, (5, -1), (1, 0)", "a, norm='ortho'",
    "np.stack([a, a * 2]), axes=(0, 2), s=(3, 5), norm='forward'"])  # fmt: skip
CASES += ["fft.fftn(z, 4)", "fft.fftn(z, axes=1)", "fft.hfftn(z, axes=[0])", "fft.fftn(z, axes=())"]
for kind in (1, 2, 3, 4):
    CASES += _of(WAVES, [
        f"x, {kind}", f"a, {kind}, 5, 0", f"x, type={kind}, n=9, norm='ortho'",
        f"a, {kind}, norm='forward', orthogonalize=True", f"x, {kind}, norm='ortho', orthogonalize=False",
        f"w, {kind}, norm='ortho', orthogonalize=False", f"w, {kind}, orthogonalize=True",
        f"z, {kind}, 3"])  # fmt: skip
    CASES += _of([f"{name}n" for name in WAVES], [
        f"a, {kind}", f"a, {kind}, (5, 3)", f"z, type={kind}, s=(3, 8), norm='ortho'",
        f"a, {kind}, norm='forward', orthogonalize=True", f"np.stack([a, a * 2]), {kind}, axes=(0, 2)"])  # fmt: skip
CASES += ["fft.dct(x, 2, 1)", "fft.dst(x, 3, 1)", "fft.dct(x, 1, 2)"]
CASES += _of(["fht", "ifht"], ["x, 0.1, 0.5", "a, 0.2, 1.0, 0.3, 0.4", "a[:, :5], dln=0.1, mu=0.0, bias=-0.2"])
CASES += ["fft.fftshift(z)", "fft.ifftshift(x)", "fft.fftshift(a, axes=1)", "fft.fftfreq(5, x[0])",
          "fft.fft([x[0], w[1], 2.0])", "fft.rfft([x[0], 1.0])"]  # fmt: skip


def program(text, names=None):
    """``f(p)``: a sum of the result and of its squares with fixed weights, as a user writes it in a module."""
    source = f"""
def f(p):
    a = p[:24].reshape(4, 6)
    z = a + 1j * p[24:].reshape(4, 6)
    x, w = a[0], z[0]
    out = {text}
    weights = np.reshape(np.exp(-1j * (1.0 + np.arange(np.size(out)))), np.shape(out))
    return np.sum((out * weights).real) + np.sum((out * out * weights).imag)
"""
    names = {"np": np, "fft": scipy.fft} if names is None else names
    exec(source, names)
    return names["f"]


def differences(f, p, step=1e-5):
    return np.array([(f(p + step * e) - f(p - step * e)) / (2 * step) for e in np.eye(len(p))])


@pytest.mark.parametrize("text", CASES)
def test_value_and_gradient(text):
    f = program(text)
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    near = 2e-6 * max(1.0, np.abs(gradient).max())
    for direction in np.random.default_rng(5).uniform(-1.0, 1.0, (2, POINT.size)):
        slope = (f(POINT + 1e-5 * direction) - f(POINT - 1e-5 * direction)) / 2e-5
        assert gradient @ direction == pytest.approx(slope, rel=1e-6, abs=near)
    pushed = codipy.jvp(f, (POINT,), (TANGENT,))[1]
    assert pushed == pytest.approx(gradient @ TANGENT, rel=1e-10, abs=1e-10 * np.abs(gradient).max())


@pytest.mark.parametrize("text", CASES[::2])
def test_second_order(text):
    f = program(text)
    found = codipy.grad(lambda p: codipy.grad(f)(p) @ TANGENT)(POINT)
    ahead, behind = (codipy.grad(f)(POINT + step * TANGENT) for step in (1e-5, -1e-5))
    expected = (ahead - behind) / 2e-5
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * max(1.0, np.abs(expected).max()))


@each_strategy
def test_every_strategy(strategy):
    for text in CASES[::9]:
        demand_same_gradient(program(text), POINT, strategy, 1e-11, text)


@pytest.mark.parametrize("text", CASES[::5])
def test_a_tape_is_run_again_saved_and_loaded(text, tmp_path):
    f = program(text)
    tape, x, y = demand_same_when_loaded(f, POINT, tmp_path / "a.tape")
    tape.set_primal(x, TANGENT)
    tape.evaluate_primal()
    assert tape.get_primal(y) == f(TANGENT)


@pytest.mark.parametrize("text", ["fft.fft(w)", "fft.irfft(z)", "fft.rfft(a)", "fft.dct(a)", "fft.dstn(z, 1)"])
def test_float32(text):
    """Values, types and gradients as of plain arrays and of float64."""
    def transform(a, z):
        return eval(text, {"fft": codipy.scipy.fft, "a": a, "z": z, "w": z[0]})

    a, z = POINT[:24].reshape(4, 6).astype(np.float32), POINT[24:].reshape(4, 6).astype(np.complex64)
    expected = eval(text, {"fft": scipy.fft, "a": a, "z": z, "w": z[0]})
    with codipy.Tape() as tape:
        found = transform(tape.register_input(a), tape.register_input(z))
    assert codipy.value(found).dtype == expected.dtype and np.array_equal(codipy.value(found), expected)

    def loss(a, z):
        return np.sum(np.abs(transform(a, z)) ** 2)

    single = codipy.grad(loss, argnums=(0, 1))(a, z)
    double = codipy.grad(loss, argnums=(0, 1))(a.astype(float), z.astype(complex))
    for found, expected in zip(single, double):
        assert found.dtype in (np.float32, np.complex64)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("names", [
    {"np": np, "fft": codipy.scipy.fft},
    {"np": np, "scipy": scipy, "fft": scipy.fft},
])  # fmt: skip
def test_names(names):
    assert codipy.grad(program("fft.dct(a, 3)", names))(POINT)[3] != 0.0


def test_functions_imported_by_name():
    names = {"np": np, "dct": scipy.fft.dct, "fft": scipy.fft.fft}
    f = program("fft(w) * dct(x)", names)
    np.testing.assert_allclose(codipy.grad(f)(POINT), differences(f, POINT), rtol=1e-6, atol=1e-5)


def test_what_is_passive_is_scipys_own():
    def f(x):
        spectrum = scipy.fft.rfft(POINT)
        shifted = scipy.fft.fftshift(scipy.fft.fftfreq(scipy.fft.next_fast_len(40), 0.1))
        assert type(spectrum) is np.ndarray and np.array_equal(spectrum, scipy.fft.rfft(POINT))
        with scipy.fft.set_workers(2):
            return np.sum(scipy.fft.fft(x * x).real) * shifted[3] + abs(spectrum[2])

    assert codipy.grad(f)(np.ones(3))[0] != 0.0
    with codipy.Tape():
        made = codipy.scipy.fft.dct(codipy.Array(POINT))      # an Array, but passive
        assert np.array_equal(codipy.value(made), scipy.fft.dct(POINT))
        made[0] = 1.0


@each_strategy
def test_what_may_be_overwritten_is_not(strategy):
    def f(x):
        z = x * (1 + 2j)
        y = codipy.scipy.fft.fft(z, overwrite_x=True)
        return np.sum(np.abs(y)) + np.sum(np.abs(z) ** 4)

    point = POINT[:5]
    expected = differences(lambda x: np.sum(np.abs(scipy.fft.fft(x * (1 + 2j)))) + np.sum(np.abs(x * (1 + 2j)) ** 4),
                           point)  # fmt: skip
    np.testing.assert_allclose(codipy.grad(f, strategy=strategy)(point), expected, rtol=1e-6)


REFUSED = {
    "fft.fhtoffset(0.1 * x[0], 0.5)": (ActiveError, r"scipy\.fft\.fhtoffset: codipy has no derivative for it"),
    "fft.fht(x, x[0], 0.5)": (ActiveError, r"scipy\.fft\.fht: it has derivatives by its array alone"),
    "fft.rfft(w)": (TypeError, "x must be a real sequence"),
    "fft.ihfftn(z)": (TypeError, "x must be a real sequence"),
    "fft.fht(w, 0.1, 0.5)": (TypeError, "x must be a real sequence"),
    "fft.rfftn(a, axes=())": (ValueError, "at least 1 axis"),
    "fft.dct(x, 5)": (ValueError, "type"),
    "fft.fft(x, norm='other')": (ValueError, "norm"),
    "fft.fft(x, plan=1)": (NotImplementedError, "plan"),
    "fft.fft(x, 2.5)": (TypeError, "integer"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text):
    kind, match = REFUSED[text]
    with pytest.raises(kind, match=match):
        codipy.grad(program(text))(POINT)


def test_every_function_is_in_one_set():
    """Nobody meets a function of SciPy's that neither works nor says what to write instead."""
    names = {name for name in scipy.fft.__all__ if not inspect.ismodule(getattr(scipy.fft, name))}
    assert names == transforms.FUNCTIONS.keys() | transforms.PASSIVE
    assert not transforms.FUNCTIONS.keys() & transforms.PASSIVE
    called = {name for text in CASES for name in transforms.FUNCTIONS if f"fft.{name}(" in text}
    assert called == transforms.FUNCTIONS.keys() - transforms.REFUSED.keys(), "a case for each that is differentiable"
