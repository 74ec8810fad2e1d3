# SPDX-License-Identifier: Apache-2.0
"""Right-hand sides that jump: where variables move the jump it raises; else derivatives are those of differences."""

import numpy as np
import pytest
from scipy.integrate import odeint, solve_ivp

import codipy

END = 1.5
METHODS = ["RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA", "odeint", "continuous"]
TABLE = np.array([1.0, 3.0, 2.0, 0.5, 4.0, 1.0, 2.0])


def last(f, x, method, tolerance=1e-6, start=(1.0,)):
    """The first number of the solution at the end."""
    tolerances = {"rtol": tolerance, "atol": 1e-2 * tolerance}
    if method == "odeint":
        return odeint(lambda y, t: f(t, y, x), list(start), [0.0, END], **tolerances)[-1, 0]
    if method == "continuous":
        return codipy.implicit.solve_ivp(lambda t, y: f(t, y, x), (0.0, END), list(start), method="RK45",
                                         adjoint="continuous", **tolerances).y[0, -1]
    return solve_ivp(lambda t, y: f(t, y, x), (0.0, END), list(start), method=method, **tolerances).y[0, -1]


def slope(f, x, method, tolerance=1e-6):
    return codipy.grad(lambda x: last(f, x, method, tolerance))(x)


def difference(f, x, step=1e-4):
    """Of the plain run at tolerances that are tight."""
    return (last(f, x + step, "RK45", 1e-9) - last(f, x - step, "RK45", 1e-9)) / (2.0 * step)


MOVING = {
    "time": lambda t, y, x: [1.0 if t < x else -y[0]],
    "a small jump": lambda t, y, x: [-y[0] + (0.02 if t < x else 0.0)],
    "dose": lambda t, y, x: [(2.0 if x < t < x + 0.3 else 0.0) - y[0]],
    "wave": lambda t, y, x: [(3.0 if (t * x) % 0.4 < 0.2 else 0.0) - y[0]],
    "heaviside": lambda t, y, x: [np.heaviside(t - x * x, 0.5) * y[0]],
    "state": lambda t, y, x: [x if y[0] < 1.4 else 0.2 * y[0]],
    "where": lambda t, y, x: np.where(y > 1.2, 0.5 * x, x) + 0.5,
    "a factor": lambda t, y, x: x * y * (y < 1.6) + 0.1,
    "sign": lambda t, y, x: [x - 0.5 * np.sign(y[0] - 1.3)],
    "floor": lambda t, y, x: [0.3 * np.floor(2.0 * y[0]) + x],
    "sawtooth": lambda t, y, x: [y[0] % 0.5 + 0.3 + x],
    "angle": lambda t, y, x: [1.5 + 0.1 * np.arctan2(np.sin(2.5 * y[0]), np.cos(2.5 * y[0])) * x],
    "nearest": lambda t, y, x: [TABLE[np.searchsorted([0.5, 1.1, 1.2, 1.5], y[0])] * x],
    "thermostat": lambda t, y, x: [-x * y[0] + (0.3 if y[0] < 0.8 else 0.0)],
}
STILL = {
    "max": lambda t, y, x: [max(0.0, y[0] - 0.7) - x],
    "abs": lambda t, y, x: [np.abs(y[0] - 0.9) - x],
    "time": lambda t, y, x: [x if t < 0.5 else -y[0] * x],
    "square wave": lambda t, y, x: [(1.0 if t % 0.5 < 0.25 else 0.0) - y[0] * x],
    "held controls": lambda t, y, x: [(x * TABLE)[int(t / 0.25)] - y[0]],
    "table": lambda t, y, x: [np.interp(t, [0.0, 0.4, 0.9, 2.0], [1.0, 3.0, 0.0, 2.0]) * x - y[0]],
    "sigmoid": lambda t, y, x: [1.0 / (1.0 + np.exp(-100.0 * (t - x))) - y[0]],
    "steep": lambda t, y, x: [np.tanh(100.0 * (y[0] - 1.3)) + x + 1.0],
    "fast": lambda t, y, x: [np.sin(30.0 * t) * x - y[0] ** 2],
    "stiff": lambda t, y, x: [-200.0 * (y[0] - np.cos(t * x))],
    "stiff, and a jump": lambda t, y, x: [-200.0 * (y[0] - np.cos(t * x)) + (20.0 if t > 1.0 else 0.0)],
    "zero": lambda t, y, x: [0.0 * x],
}
STEEP = {"sigmoid", "steep", "stiff", "stiff, and a jump"}      # of which equations of derivatives take long


@pytest.mark.parametrize("f", [
    lambda t, y, x: [np.tanh(1e4 * (y[0] - 1.3)) + x + 1.0],
    lambda t, y, x: [np.sqrt(np.abs(t - x)) + y[0]],
])
def test_what_is_nearly_a_jump_is_not_refused(f):
    """Steps need tighter tolerances for a derivative that is right in a few digits."""
    wanted = difference(f, 0.7)
    for method in ("RK45", "Radau"):
        found = slope(f, 0.7, method)
        assert found == pytest.approx(wanted, rel=0.2)


@pytest.mark.parametrize("name", MOVING)
def test_jumps_that_move_raise(name):
    f, x = MOVING[name], 0.7
    some = list(MOVING).index(name) % 3
    for k, method in enumerate(METHODS[some::3]):
        with pytest.raises(ArithmeticError, match="jumps at t = .* lacks what moving the jump contributes"):
            slope(f, x, method, 1e-3 if k % 2 else 1e-6)
    with pytest.raises(ArithmeticError, match="jumps at t = "):
        codipy.jvp(lambda x: last(f, x, "RK45"), (x,), (1.0,))


@pytest.mark.parametrize("name", STILL)
def test_others_are_differentiated(name):
    f, x = STILL[name], 0.7
    wanted = difference(f, x)
    some = list(STILL).index(name) % 3
    for method in METHODS[1:5] if name in STEEP else METHODS[1 + some::3]:
        tolerance = 1e-5 if method == "Radau" else 1e-6
        found = slope(f, x, method, tolerance)
        assert found == pytest.approx(wanted, rel=2e-2, abs=1e-4), method
        slope(f, x, method, 1e-3)      # does not raise, as rough as it is


def test_the_time_is_said():
    with pytest.raises(ArithmeticError, match="right-hand side slope .*jumps at t = 0.7, "):
        def slope(t, y, x):
            return [1.0 if t < x else -y[0]]

        codipy.grad(lambda x: solve_ivp(slope, (0.0, 1.0), [1.0], args=(x,)).y[0, -1])(0.7)


@pytest.mark.parametrize("method", METHODS[:6])
def test_two_integrations(method):
    """The way out; each with its own side. With both sides in one function the end of the first is of two sides."""
    tolerances = {"method": method, "rtol": 1e-9, "atol": 1e-11}

    def event(t, y):
        return y[0] - 1.5

    event.terminal = True

    def to_a_time(x, first, second):
        before = solve_ivp(lambda t, y: first(t, y, x), (0.0, x), [1.0], **tolerances)
        return solve_ivp(lambda t, y: second(t, y, x), (x, 2.0), before.y[:, -1], **tolerances).y[0, -1]

    def to_a_state(x, first, second):
        before = solve_ivp(lambda t, y: first(t, y, x), (0.0, 2.0), [1.0], events=event, **tolerances)
        return solve_ivp(lambda t, y: second(t, y, x), (before.t[-1], 2.0), before.y[:, -1], **tolerances).y[0, -1]

    for integrated, first, second in (
        (to_a_time, lambda t, y, x: [1.0], lambda t, y, x: [-y[0]]),
        (to_a_state, lambda t, y, x: [x], lambda t, y, x: [0.2 * y[0]]),
    ):
        wanted = (integrated(0.7 + 1e-5, first, second) - integrated(0.7 - 1e-5, first, second)) / 2e-5
        assert codipy.grad(integrated)(0.7, first, second) == pytest.approx(wanted, rel=1e-5)

    for integrated, both in (
        (to_a_time, lambda t, y, x: [1.0 if t < x else -y[0]]),
        (to_a_state, lambda t, y, x: [x if y[0] < 1.5 else 0.2 * y[0]]),
    ):
        with pytest.raises(ArithmeticError, match="jumps at t = "):
            codipy.grad(integrated)(0.7, both, both)


def test_what_moves():
    def slope(t, y):
        return [y[0] if t < 1.0 else -1.0]

    def by_start(x):
        return solve_ivp(slope, (0.0, 2.0), [x], rtol=1e-8, atol=1e-10).y[0, -1]

    def by_end(x):
        return solve_ivp(lambda t, y: [y[0] if y[0] < 1.3 else 0.5], (0.0, x), [0.7], rtol=1e-8, atol=1e-10).y[0, -1]

    def by_first_time(x, method="RK45"):
        return solve_ivp(slope, (x, 2.0), [1.0], method=method, rtol=1e-8, atol=1e-10).y[0, -1]

    assert codipy.grad(by_start)(0.7) == pytest.approx(np.e, rel=1e-5)
    assert codipy.grad(by_end)(1.7) == pytest.approx(0.5, rel=1e-5)
    # All steps move with the first time, so that they go over the jump elsewhere; the equation does not.
    with pytest.raises(ArithmeticError, match="jumps at t = 1"):
        codipy.grad(by_first_time)(0.2)
    assert codipy.grad(lambda x: by_first_time(x, "LSODA"))(0.2) == pytest.approx(-np.exp(0.8), rel=1e-5)
    with pytest.raises(ArithmeticError, match="jumps at t = "):
        codipy.grad(lambda x: solve_ivp(lambda t, y: [1.0 if t > x else y[0]], (2.0, 0.0), [1.0]).y[0, -1])(0.7)


def test_long_runs_are_looked_at_in_parts():
    def run(x, f):
        return codipy.implicit.solve_ivp(f, (0.0, 3.0), [x], adjoint="continuous", max_step=1e-3).y[0, -1]

    with pytest.raises(ArithmeticError, match=r"jumps at t = 2\.8"):
        codipy.grad(lambda x: run(x, lambda t, y: [0.1 if y[0] < 1.28 else 0.2]))(1.0)
    with pytest.raises(ArithmeticError, match=r"jumps at t = 0\.5"):
        codipy.grad(lambda x: run(x, lambda t, y: [0.1 if y[0] < 1.05 else 0.2]))(1.0)


def _program(seed):
    """A system with a term that jumps in some way, whether that moves, and where it starts."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 4))
    matrix = 0.4 * random.standard_normal((n, n)) - np.eye(n)
    force, speed, into, start = random.standard_normal((4, n))
    size, when = 10.0 ** random.uniform(-1.0, 0.5), random.uniform(0.4, 1.1)
    terms = [
        lambda t, y, x: float(t < when * x),
        lambda t, y, x: float(t * x % when < 0.5 * when),
        lambda t, y, x: np.sign(t * x - when) * y[0],
        lambda t, y, x: float(t < when),
        lambda t, y, x: float(t % when < 0.5 * when) * x,
        lambda t, y, x: max(y[0] - 0.3, t - when * x),
        lambda t, y, x: np.tanh(20.0 * (t - when * x)),
    ]
    kind = seed % len(terms)

    def f(t, y, x):
        return matrix @ y * x + force * np.sin(speed * t) + size * terms[kind](t, y, x) * into

    return f, kind < 3, start


@pytest.mark.parametrize("seed", range(14))
def test_random_programs(seed):
    f, moves, start = _program(seed)
    method = METHODS[(3 * seed + 1) % len(METHODS)]

    def run(x, method=method, tolerance=1e-7):
        return last(f, x, method, tolerance, start)

    if moves:
        with pytest.raises(ArithmeticError, match="jumps at t = "):
            codipy.grad(run)(1.0)
    else:
        wanted = (run(1.0 + 1e-4, "RK45", 1e-9) - run(1.0 - 1e-4, "RK45", 1e-9)) / 2e-4
        assert codipy.grad(run)(1.0) == pytest.approx(wanted, rel=1e-2, abs=1e-3)
