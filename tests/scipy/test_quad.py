# SPDX-License-Identifier: Apache-2.0
"""`scipy.integrate.quad` and what calls it, by parameters and limits: against closed forms and plain differences."""

import math

import numpy as np
import pytest
from scipy import special
from scipy.integrate import dblquad, nquad, quad, quad_vec, tplquad

import codipy
from codipy.errors import ActiveError
from tests.scipy.recorded import demand_no_replay_elsewhere
from tests.strategies import each_strategy

P = np.array([1.3, 0.7])


class Material:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def energy(self, t):
        return self.stiffness * t * t


def filled(t, p):
    work = np.zeros(3)
    work[:] = t * p[0]
    work[1] = math.sin(p[1] * t)
    return np.sum(work)


CASES = {
    "a parameter": lambda p: quad(lambda t: math.exp(-p[0] * t) * p[1], 0.0, 2.0)[0],
    "a limit": lambda p: quad(math.sin, 0.0, p[0])[0],
    "both limits": lambda p: quad(lambda t: t**3, p[1], p[0])[0],
    "all": lambda p: quad(lambda t: math.exp(-p[0] * t) * p[1], p[1], p[0])[0],
    "reversed limits": lambda p: quad(lambda t: math.exp(-p[0] * t), p[0], p[1])[0],
    "limits that meet": lambda p: quad(lambda t: math.exp(p[1] * t), p[0], p[0] * 1.0)[0],
    "to infinity": lambda p: quad(lambda t: np.exp(-p[0] * t) * p[1], p[1], np.inf)[0],
    "from infinity": lambda p: quad(lambda t: np.exp(p[0] * t), -np.inf, p[1])[0],
    "downwards": lambda p: quad(lambda t: np.exp(-p[0] * t), np.inf, p[1])[0],
    "the line": lambda p: quad(lambda t: np.exp(-p[0] * (t - p[1]) ** 2), -np.inf, np.inf)[0],
    "the line, downwards": lambda p: quad(lambda t: np.exp(-p[0] * t * t), np.inf, -np.inf)[0],
    "args": lambda p: quad(lambda t, a, b: a * t**b, 0.1, 1.0, args=(p[0], p[1]))[0],
    "one arg": lambda p: quad(lambda t, a: a * t, 0.1, 1.0, args=p[0])[0],
    "a singular end": lambda p: quad(lambda t: t ** (p[0] - 1.0), 0.0, 1.0)[0],
    "points": lambda p: quad(lambda t: abs(t - 0.3) ** p[0], 0.0, 1.0, points=[0.3])[0],
    "a point that moves": lambda p: quad(lambda t: t * p[1] if t < p[0] / 3 else p[0], 0.0, 1.0, points=[p[0] / 3])[0],
    "points that move, downwards": lambda p: quad(lambda t: t * p[1] if t < p[0] / 4 else np.exp(
        p[0] * t) if t < p[1] / 2 + 0.3 else -1.0, 2.0, 0.0, points=np.array([p[0] / 4, p[1] / 2 + 0.3]))[0],
    "an array": lambda p: quad(lambda t: np.sum(np.exp(-p * t)), 0.0, 2.0)[0],
    "filled": lambda p: quad(filled, 0.0, 2.0, args=(p,))[0],
    "a method": lambda p: quad(Material(p[0]).energy, 0.0, 2.0)[0],
    "a branch": lambda p: quad(lambda t: p[0] * t if t > 0.4 else p[1], 0.0, 1.0, points=[0.4])[0],
    "a slope that is sharper": lambda p: quad(lambda t: math.tanh(50.0 * (t - p[1])) / 50.0, 0.0, 1.0)[0],
    "nothing": lambda p: p[0] * quad(lambda t: t * t, 0.0, 1.0)[0],
    "full_output": lambda p: quad(lambda t: p[0] * t, 0.0, 1.0, full_output=1)[0],
    "inside of another": lambda p: quad(lambda t: quad(lambda s: p[0] * s * t, 0.0, t)[0], 0.0, p[1])[0],
    "dblquad": lambda p: dblquad(lambda y, x: p[0] * x * y + np.sin(p[1] * y), 0.0, p[0], 0.0, lambda x: x * p[1])[0],
    "nquad": lambda p: nquad(lambda x, y: p[0] * x * y**p[1], [(0.0, 1.0), (0.1, p[1])])[0],
}


def differences(f, x, step=1e-6):
    return np.array([(f(x + e) - f(x - e)) / (2.0 * step) for e in step * np.eye(x.size)])


@pytest.mark.parametrize("name", CASES)
def test_value_and_gradient(name):
    f = CASES[name]
    value, gradient = codipy.value_and_grad(f)(P)
    assert value == f(P)
    np.testing.assert_allclose(gradient, differences(f, P), rtol=1e-6, atol=1e-7)


@each_strategy
@pytest.mark.parametrize("name", ["all", "to infinity", "an array"])
def test_each_strategy(name, strategy):
    expected = codipy.grad(CASES[name], strategy="jacobian")(P)
    np.testing.assert_allclose(codipy.grad(CASES[name], strategy=strategy)(P), expected, rtol=1e-12)
    np.testing.assert_allclose(codipy.jacobian(CASES[name], mode="forward")(P), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["a parameter", "both limits", "all", "reversed limits", "inside of another"])
def test_second_order(name):
    gradient = codipy.grad(CASES[name])
    np.testing.assert_allclose(codipy.hessian(CASES[name])(P), differences(gradient, P), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(codipy.jacobian(gradient)(P), differences(gradient, P), rtol=1e-6, atol=1e-7)


def test_limits_to_any_order():
    f, powers = lambda b: quad(lambda t: t**5, 0.0, b)[0], [2.0**5, 5 * 2.0**4, 20 * 2.0**3, 60 * 2.0**2]
    for expected in powers:
        f = codipy.grad(f)
        assert f(2.0) == pytest.approx(expected)


@pytest.mark.parametrize("integral", [lambda f, b: quad(f, 0.0, b)[0], lambda f, b: quad_vec(f, 0.0, b)[0]],
                         ids=["quad", "quad_vec"])
def test_an_integrand_that_keeps_results_by_its_argument(integral):
    """At the limit calls with one value have several derivatives, of which none finds what another has kept."""

    def f(p):
        kept = {}

        def sine(t):
            key = round(float(codipy.value(t)), 9)
            if key not in kept:
                kept[key] = p * p * t
            return np.sin(kept[key])

        return integral(sine, p)

    def slope(p):
        return np.imag((1.0 - np.cos((p + 1e-30j) ** 3)) / (p + 1e-30j) ** 2) * 1e30

    assert codipy.grad(f)(0.7) == pytest.approx(slope(0.7), rel=1e-8)
    expected = (slope(0.7 + 1e-5) - slope(0.7 - 1e-5)) / 2e-5
    assert codipy.hessian(f)(0.7) == pytest.approx(expected, rel=1e-7)
    assert codipy.grad(codipy.grad(f))(0.7) == pytest.approx(expected, rel=1e-7)
    assert codipy.taylor(f, 0.7, 1.0, 2)[2] == pytest.approx(expected / 2.0, rel=1e-7)


def test_closed_forms():
    def gamma(a):
        return quad(lambda t: t ** (a - 1.0) * math.exp(-t), 0.0, np.inf)[0]

    assert codipy.grad(gamma)(2.5) == pytest.approx(special.gamma(2.5) * special.digamma(2.5), rel=1e-7)
    assert codipy.grad(lambda k: quad(lambda t: math.cos(k * math.sin(t)) / math.pi, 0.0, math.pi)[0])(
        1.7) == pytest.approx(-special.j1(1.7), rel=1e-9)


def test_tplquad():
    def f(p):
        return tplquad(lambda z, y, x: p[0] * x * y, 0, 1, 0, 1, 0, p[1], epsabs=1e-3, epsrel=1e-3)[0]

    np.testing.assert_allclose(codipy.grad(f)(P), [0.25 * P[1], 0.25 * P[0]], rtol=1e-6)


def test_what_is_returned():
    def f(p):
        plain = quad(lambda t: 1.3 * t, 0.0, 1.0, full_output=1)
        area, error, info = quad(lambda t: p[0] * t, 0.0, 1.0, full_output=1)
        assert error == plain[1] and info["neval"] == plain[2]["neval"]
        assert len(quad(lambda t: p[0] * t, 0.0, 1.0)) == 2
        return area

    assert codipy.grad(f)(P) == pytest.approx([0.5, 0.0])


def test_a_derivative_that_does_not_converge():
    with pytest.raises(ArithmeticError, match="the derivative of the integral of .* did not converge in 50 intervals"):
        codipy.grad(lambda p: quad(lambda t: t**p[0], 0.0, 1.0)[0])(np.array([-0.97]))
    with pytest.raises(ArithmeticError, match="has no derivative by that limit: .* is not finite there"):
        codipy.grad(lambda a: quad(lambda t: 1.0 / np.sqrt(t), a, 1.0)[0])(0.0)


@pytest.mark.parametrize("f", [
    lambda p: quad(lambda t: p[0] * t, 0.0, 1.0, weight="cos", wvar=2.0)[0],
    lambda p: quad(lambda t: t, p[0], 1.0, weight="cos", wvar=2.0)[0],
    lambda p: quad(lambda t: p[0] * t, 0.0, 1.0, weight="cos", wvar=2.0, complex_func=True)[0].real,
])  # fmt: skip
def test_weights_are_refused(f):
    with pytest.raises(ActiveError, match="has no derivative here: write the weight into the function"):
        codipy.grad(f)(P)


@pytest.mark.parametrize("f", [
    lambda p: quad(lambda t: np.exp(1j * p[0] * t), 0.0, 1.0, complex_func=True),
    lambda p: quad(lambda t: 1.0 / (t + 1j * p[0]), p[1], 2.0, complex_func=True),
    lambda p: quad(lambda t, a: a * t + 1j, p[0] + 2.0, p[1], args=(1j * p[0],), complex_func=True),
    lambda p: quad(lambda t: p[0] * t, 0.0, 1.0, complex_func=True),
    lambda p: quad(lambda t: np.exp((1j * p[0] - 1.0) * t), 0.0, np.inf, complex_func=True, full_output=True),
])  # fmt: skip
def test_complex_integrands(f):
    def real(p):
        found = f(p)
        return 2.0 * found[0].real + 3.0 * found[0].imag + found[0].real * found[0].imag

    value, gradient = codipy.value_and_grad(real)(P)
    assert value == real(P)
    assert gradient == pytest.approx(differences(real, P), rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("name", ["a parameter", "a limit"])
def test_a_replay_elsewhere_raises(name):
    demand_no_replay_elsewhere(CASES[name], P, "scipy.integrate.quad")


def test_weights_of_plain_integrands():
    def f(p):
        return p[0] * quad(lambda t: t, 0.0, 1.0, weight="cos", wvar=2.0)[0]

    assert codipy.grad(f)(P)[0] == f(np.array([1.0, 0.0]))


MOVING = {
    "a step": lambda p: quad(lambda t: 1.0 * (t > p[0]), 0.0, 3.0)[0],
    "a condition": lambda p: quad(lambda t: t * p[1] if t < p[0] else 2.0 * p[1], 0.0, 3.0)[0],
    "where": lambda p: quad(lambda t: np.where(t < p[0], t * p[1], 2.0), 3.0, 0.0)[0],
    "at an end of intervals": lambda p: quad(lambda t: t * p[1] if t < p[0] + 0.2 else 2.0 * p[1], 0.0, 3.0)[0],
    "arguments": lambda p: quad(lambda t, a: math.exp(-t) if t < a else 0.0, 0.0, math.inf, args=(p[0],))[0],
    "points elsewhere": lambda p: quad(lambda t: 1.0 * (t > p[0]), 0.0, 3.0, points=[p[1]])[0],
}  # fmt: skip


@pytest.mark.parametrize("name", MOVING)
def test_a_jump_that_moves_is_named(name):
    with pytest.raises(ArithmeticError, match=r"jumps.* say points=\[\.\.\.\] with that place"):
        codipy.grad(MOVING[name])(P)


@pytest.mark.parametrize("f", [
    lambda p: quad(lambda t: t * p[1] if t < p[0] else 2.0 * p[1], 0.0, 3.0, points=[p[0]])[0],
    lambda p: quad(lambda t: t * p[1] if t < 1.0 else 2.0 * p[0], 0.0, 3.0)[0],
    lambda p: quad(lambda t: p[1] * math.exp(-p[0] * t) if t < 2.0 else 0.0, 0.0, math.inf)[0],
    lambda p: quad(lambda t: np.tanh((t - p[0]) * 1e4), 0.0, 3.0, limit=200)[0],
    lambda p: quad(lambda t: p[0] / math.sqrt(t), 0.0, p[1])[0],
])  # fmt: skip
def test_jumps_that_stay_and_steep_slopes_are_differentiated(f):
    value, gradient = codipy.value_and_grad(f)(P)
    assert value == f(P)
    assert gradient == pytest.approx(differences(f, P), rel=1e-5, abs=1e-6)


class Step:
    def __init__(self, place):
        self.place = place

    def height(self, t):
        return 1.0 if t < self.place else 0.5


JUMPS = {
    "a condition": lambda p: quad(lambda t: 1.0 if t < p else 0.0, 0.0, 2.0)[0],
    "where": lambda p: quad(lambda t: np.where(t < p, 1.0, 0.0), 0.0, 2.0)[0],
    "heaviside": lambda p: quad(lambda t: np.heaviside(p - t, 0.5), 0.0, 2.0)[0],
    "sign": lambda p: quad(lambda t: np.sign(t - p), 0.0, 2.0)[0],
    "floor": lambda p: quad(lambda t: np.floor(t + p), 0.0, 2.0, limit=200)[0],
    "args": lambda p: quad(lambda t, q: 1.0 if t < q else 0.0, 0.0, 2.0, args=(p,))[0],
    "an active factor": lambda p: quad(lambda t: (1.0 + p) if t < p else 0.5, 0.0, 2.0)[0],
    "a small one": lambda p: quad(lambda t: np.exp(t) + 0.001 * (t < p), 0.0, 2.0)[0],
    "on the line": lambda p: quad(lambda t: np.exp(-t * t) if t < p else 0.0, -np.inf, np.inf)[0],
    "roughly": lambda p: quad(lambda t: 1.0 if t < p else 0.0, 0.0, 2.0, epsabs=1e-2, epsrel=1e-2)[0],
    "points elsewhere": lambda p: quad(lambda t: 1.0 if t < p else 0.0, 0.0, 2.0, points=[0.4])[0],
    "an object": lambda p: quad(Step(p).height, 0.0, 2.0)[0],
    "a weight": lambda p: quad(lambda t: 1.0 if t < p else 0.0, 0.0, 2.0, weight="cos", wvar=1.0)[0],
    "quad_vec": lambda p: quad_vec(lambda t: 1.0 if t < p else 0.0, 0.0, 2.0)[0],
    "quad_vec of vectors": lambda p: np.sum(quad_vec(
        lambda t: np.where(t < np.stack([p, 0.4]), 1.0, 0.0), 0.0, 2.0)[0]),
    "quad_vec with points": lambda p: quad_vec(lambda t: 1.0 if t < p else 0.0, 0.0, 2.0, points=[1.9])[0],
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:The maximum number of subdivisions", "ignore:The integral is probably",
                            "ignore:The occurrence of roundoff")
@pytest.mark.parametrize("name", JUMPS)
def test_jumps_are_found_wherever_they_are(name):
    """Also in the middle, where the two rules of QUADPACK agree by symmetry, and where intervals end."""
    places = [1.0, 0.5, *np.random.default_rng(3).uniform(0.02, 1.97, 48 if name == "a condition" else 3)]
    for place in places:
        with pytest.raises(ArithmeticError, match="jumps at .*its derivative lacks what the jump contributes"):
            codipy.grad(JUMPS[name])(float(place))


@pytest.mark.parametrize("f", [
    lambda p: dblquad(lambda y, x: 1.0 if x + y < p else 0.0, 0.0, 1.0, 0.0, 1.0, epsabs=1e-2, epsrel=1e-2)[0],
    lambda p: nquad(lambda y, x: 1.0 if y < p * x else 0.5, [(0.0, 1.0), (0.1, 1.0)], opts={"epsabs": 1e-3})[0],
])  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_jumps_in_the_plane_raise(f):
    with pytest.raises(ArithmeticError, match="jumps at"):
        codipy.grad(f)(0.7)


@pytest.mark.parametrize("f", [
    lambda p: quad(lambda t: np.sin(40.0 * p * t), 0.0, 3.0, limit=200)[0],
    lambda p: quad(lambda t: abs(t - p), 0.0, 2.0)[0],
    lambda p: quad(lambda t: 1.0 / (1e-4 + (t - p) ** 2), 0.0, 2.0, limit=200)[0],
    lambda p: quad(lambda t: p if t < 0.4 else p * p, 0.0, 2.0)[0],
    lambda p: quad(Step(p + 2.0).height, 0.0, 2.0)[0] * p,
    lambda p: quad_vec(lambda t: p * np.heaviside(t - 0.3, 0.5), 0.0, 2.0)[0],
    lambda p: quad_vec(lambda t: np.exp(1j * p * t), 0.0, 2.0)[0].imag,
    lambda p: dblquad(lambda y, x: np.sqrt(p + x * y), 0.0, 1.0, 0.0, 1.0, epsabs=1e-3, epsrel=1e-3)[0],
])  # fmt: skip
def test_what_does_not_jump_is_not_refused(f):
    value, gradient = codipy.value_and_grad(f)(0.7)
    assert value == f(0.7)
    assert gradient == pytest.approx((f(0.7 + 1e-5) - f(0.7 - 1e-5)) / 2e-5, rel=1e-4)


def test_an_object_with_a_jump_that_stays_is_told_of_it():
    class Layers:
        def __init__(self, stiffness):
            self.stiffness = stiffness

        def energy(self, t):
            return self.stiffness * t if t < 0.4 else self.stiffness**2

    with pytest.raises(ArithmeticError, match=r"jumps at 0.4, .* say points="):
        codipy.grad(lambda p: quad(Layers(p).energy, 0.0, 1.0)[0])(0.7)
    assert codipy.grad(lambda p: quad(Layers(p).energy, 0.0, 1.0, points=[0.4])[0])(0.7) == pytest.approx(0.92)
