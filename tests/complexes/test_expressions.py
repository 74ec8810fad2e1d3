# SPDX-License-Identifier: Apache-2.0
"""Every expression: NumPy's bits, the gradient of differences, both modes, every strategy, second order."""

import numpy as np
import pytest

import codipy
from tests.complexes.cases import ALL, EXPRESSIONS
from tests.complexes.programs import POINT, differences, function
from tests.strategies import COMPARED, each_strategy

TANGENT = np.cos(np.arange(POINT.size))
DIRECTIONS = np.random.default_rng(5).uniform(-1.0, 1.0, (2, POINT.size))


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_values_and_gradients(text):
    f = function(text)
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    near = 2e-6 * max(1.0, np.abs(gradient).max())
    for direction in DIRECTIONS:
        slope = (f(POINT + 1e-6 * direction) - f(POINT - 1e-6 * direction)) / 2e-6
        assert gradient @ direction == pytest.approx(slope, rel=2e-6, abs=near)
    pushed = codipy.jvp(f, (POINT,), (TANGENT,))[1]
    assert pushed == pytest.approx(gradient @ TANGENT, rel=1e-10, abs=1e-10 * np.abs(gradient).max())


@each_strategy
def test_every_strategy(strategy):
    for text in EXPRESSIONS[::4]:
        f = function(text)
        expected = codipy.grad(f)(POINT)
        found = codipy.grad(f, strategy=strategy)(POINT)
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-11 * np.abs(expected).max()), text


@pytest.mark.parametrize("family", ALL)
def test_second_order(family):
    for text in ALL[family][::3]:
        f = function(text)
        found = codipy.grad(lambda p, f=f: codipy.grad(f)(p) @ TANGENT)(POINT)
        steps = [codipy.grad(f)(POINT + step * TANGENT) for step in (1e-6, -1e-6)]
        expected = (steps[0] - steps[1]) / 2e-6
        assert found == pytest.approx(expected, rel=1e-5, abs=3e-5 * max(1.0, np.abs(expected).max())), text


@pytest.mark.parametrize("variant", COMPARED, ids=map("-".join, COMPARED))
def test_a_program_under_every_variant(variant):
    def f(p):
        u = np.zeros((4, 4), complex)
        u[:2] = p[:8].reshape(2, 4)
        u[2:] = 1j * p[8:16].reshape(2, 4)
        u[0, 1] = p[16] * 2j
        u[1] *= u[0]
        u.imag[3, :] += p[17]
        v = np.fft.fft2(u)
        v[v.real > 0] /= 2
        s = 0.0
        for z in v[1]:
            s = s + abs(z) * (z / (1.0 + z)).real
        return s + np.sum(np.abs(np.fft.ifft2(v) + u.T) ** 2)

    strategy, granularity = variant
    tape = codipy.Tape(strategy, granularity, chunk_size=4)
    with tape:
        p = tape.register_input(POINT.copy())
        if strategy == "forward":
            p.tangent = TANGENT
        y = tape.register_output(codipy.rebind(f)(p))
        slope = y.tangent if strategy == "forward" else None
    assert y.value == f(POINT)
    expected = differences(f, POINT)
    if slope is None:
        y.gradient = 1.0
        tape.evaluate()
        slope = p.gradient @ TANGENT
    assert slope == pytest.approx(expected @ TANGENT, rel=1e-7)


def spectrum(x):
    return np.sum(np.abs(np.fft.fft(np.exp(1j * x) * x)) ** 3)


def test_a_recording_is_replayed():
    tape = codipy.Tape("primal")
    with tape:
        x = tape.register_input(POINT[:4].copy())
        y = tape.register_output(spectrum(x))
    tape.set_primal(x, POINT[4:8])
    tape.evaluate_primal()
    assert tape.get_primal(y) == spectrum(POINT[4:8])


def test_a_recording_is_saved(tmp_path):
    tape = codipy.Tape("primal")
    with tape:
        x = tape.register_input(POINT[:4].copy())
        y = tape.register_output(spectrum(x))
    y.gradient = 1.0
    tape.evaluate()
    tape.save(tmp_path / "spectrum.tape")
    loaded = codipy.load_tape(tmp_path / "spectrum.tape")
    loaded.outputs[0].gradient = 1.0
    loaded.evaluate()
    assert np.array_equal(loaded.inputs[0].gradient, x.gradient)


_REFUSED = [
    "np.cov(z, w, aweights=x)",
    "np.histogram(x, 2, density=True, weights=z)",
]


@pytest.mark.parametrize("text", _REFUSED)
def test_what_has_no_derivative_is_refused(text):
    with pytest.raises(TypeError, match="np.*: .*no derivative .*is known"):
        codipy.grad(function(text))(POINT)


def test_numbers_beyond_the_ends_of_an_interpolation():
    """Complex ones, which NumPy takes as Python's numbers only: of others it drops the imaginary part."""
    z = np.array([1.0 + 2.0j, 0.5j, 3.0 - 1.0j])

    def f(z, kind):
        return np.interp([-1.0, 0.5, 7.0], np.arange(3.0), z, kind(z[1] * 2.0), right=kind(z[2] * z[0]))

    value, tangent = codipy.jvp(lambda z: f(z, complex), (z,), (z,))
    assert np.array_equal(value, f(z, complex))
    assert np.array_equal(tangent, [1.0j, 0.5 + 1.25j, 10.0 + 10.0j])
    gradient = codipy.grad(lambda z: np.sum(f(z, np.complex128)).real)(z)
    assert gradient == pytest.approx(np.conj([0.5 + z[2], 2.5, z[0]]))
    with pytest.raises(TypeError, match=r"drops the imaginary part.*write complex\(left\)"):
        codipy.jvp(lambda z: f(z, lambda end: end), (z.astype(np.complex64),), (z,))


# A view of other numbers, and a remainder of which NumPy strips what is small beside double precision.
_OF_DOUBLES = {"z.view(float)", "np.polydiv(np.append(z, w), z)[1]"}


@pytest.mark.parametrize("text", [text for text in EXPRESSIONS if text not in _OF_DOUBLES])
def test_values_in_single_precision(text):
    f, point = function(text), POINT.astype(np.float32)
    value, gradient = codipy.value_and_grad(f)(point)
    assert value == f(point)
    expected = codipy.grad(f)(point.astype(np.float64))
    assert gradient == pytest.approx(expected, rel=2e-2, abs=2e-2 * np.abs(expected).max())
