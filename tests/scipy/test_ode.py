# SPDX-License-Identifier: Apache-2.0
"""`solve_ivp` and `odeint` in rebound code: SciPy's bits, and derivatives by all that a solution depends on."""

import numpy as np
import pytest
import scipy.integrate
import scipy.sparse
import scipy.stats
from scipy.integrate import OdeSolution, odeint, solve_ivp
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.spatial.transform import Rotation

import codipy
from codipy.errors import ActiveError, UndifferentiableError
from codipy.implicit.opened import Opened
from tests.covering import in_turn
from tests.scipy.recorded import demand_no_replay_elsewhere
from tests.strategies import STRATEGIES

P = np.array([1.2, 0.7, 0.9])
DIRECTION = np.array([1.0, -0.7, 0.6])
T = np.linspace(0.0, 2.0, 5)
FINE = {"rtol": 1e-8, "atol": 1e-10}
METHODS = ("RK23", "RK45", "DOP853", "Radau", "BDF", "LSODA")
NEAR = {"RK23": 2e-5, "RK45": 3e-6, "DOP853": 3e-6, "Radau": 3e-6, "BDF": 1e-5, "LSODA": 1e-5}


def tolerances(method):
    return {"rtol": 1e-6, "atol": 1e-8} if method == "RK23" else FINE


def lotka(t, y, p):
    return np.array([p[0] * y[0] - p[1] * y[0] * y[1], p[1] * y[0] * y[1] - p[2] * y[1]])


def backwards(y, t, p):
    return lotka(t, y, p)


def is_large(t, y, p):
    return y[0] - 2.5 * p[1]


def ends(t, y, p):
    return y[1] - 2.1 * p[0]


ends.terminal = True


def solved(p, method, span=(0.0, 2.0), y0=None, **options):
    return solve_ivp(lotka, span, p[:2] * 1.5 if y0 is None else y0, method, args=(p,),
                     **{**tolerances(method), **options})


def of_events(p, method):
    found = solved(p, method, (0.0, 4.0), p[:2], events=[is_large, ends])
    assert found.status == 1 and len(found.t_events[0]) == 1
    return found.t_events[0][0] * found.y_events[0][0, 1] + found.t[-1] * found.y[0, -1]


class Equation:
    def __init__(self, p):
        self.p = p

    def slope(self, t, y):
        return lotka(t, y, self.p)


CASES = {
    "all steps": lambda p, m: np.sum(solved(p, m).y[:, -1] ** 2),
    "a closure": lambda p, m: np.sum(
        solve_ivp(lambda t, y: lotka(t, y, p), (0.0, 2.0), [1.0, 0.5], m, **tolerances(m)).y[:, -1] ** 2),
    "t_eval": lambda p, m: np.sum(solved(p, m, t_eval=[0.0, 0.5, 1.7, 2.0]).y ** 2),
    "limits": lambda p, m: np.sum(solved(p, m, (p[2] - 0.3, 2.0 * p[1]), [1.0, 0.5]).y[:, -1] ** 2),
    "downwards": lambda p, m: np.sum(solved(p, m, (2.0 * p[1], p[2] - 0.3), [1.0, 0.5], t_eval=[1.1, 0.9]).y ** 2),
    "active times": lambda p, m: np.sum(solved(p, m, t_eval=p[::-1] * np.array([0.1, 1.0, 1.5])).y ** 2),
    "the times": lambda p, m: np.sum(solved(p, m, (0.0, p[0]), [1.0, 0.5]).t[-1:] ** 2),
    "between": lambda p, m: np.sum(solved(p, m, dense_output=True).sol(p[1] + np.array([0.1, 0.5])) ** 2),
    "at a time": lambda p, m: np.sum(solved(p, m, dense_output=True).sol(0.77) ** 2),
    "events": of_events,
}
OTHERS = {
    "odeint": lambda p: np.sum(odeint(backwards, p[:2], T, args=(p,), **FINE) ** 2),
    "odeint, by the times": lambda p: np.sum(
        odeint(lotka, p[:2], np.concatenate([[p[0] - 1.2], p[1:] * 2.0]), args=(p,), tfirst=True, **FINE)[1:] ** 2),
    "odeint of a number": lambda p: odeint(lambda y, t: -p[0] * y, p[1], T[::-1], full_output=True, **FINE)[0][-1, 0],
    "odeint with its Jacobian": lambda p: odeint(lambda y, t: -p[0] * y, p[1], T, Dfun=lambda y, t: [[-p[0]]],
                                                 **FINE)[-1, 0],
    "a method": lambda p: np.sum(solve_ivp(Equation(p).slope, (0.0, 1.0), [1.0, 0.5], "Radau", **FINE).y[:, -1]),
    "columns": lambda p: solve_ivp(lambda t, y: -p[0] * y, (0.0, 1.0), p[:2], "BDF", vectorized=True, **FINE).y[1, -1],
    "its Jacobian": lambda p: solve_ivp(lambda t, y, a: -a * y, (0.0, 1.0), p[:2], "BDF", args=(p[2],),
                                        jac=lambda t, y, a: -a * np.eye(2), **FINE).y[1, -1],
    "stiff": lambda p: np.sum(solve_ivp(
        lambda t, y: [-1e3 * p[0] * (y[0] - np.cos(p[1] * t)), y[0] - p[2] * y[1]], (0.0, 1.0), p[:2], "Radau",
        **FINE).y[:, -1]),
    "a list": lambda p: solve_ivp(lambda t, y: [-p[0] * y[0], p[1]], (0.0, 1.0), [p[2], 0.0], **FINE).y[0, -1],
    "filled": lambda p: solve_ivp(filled, (0.0, 1.0), [1.0, 0.5], args=(p,), **FINE).y[0, -1],
    "an event alone": lambda p: solve_ivp(lambda t, y: -y, (0.0, 3.0), [2.0], events=lambda t, y: y[0] - p[1],
                                          **FINE).t_events[0][0],
    "an event of LSODA alone": lambda p: solve_ivp(lambda t, y: -y, (0.0, 3.0), [2.0], "LSODA",
                                                   events=lambda t, y: y[0] - p[1], **FINE).t_events[0][0],
    "no interval": lambda p: solve_ivp(lotka, (1.0, 1.0), p[:2], args=(p,)).y[0, -1],
    "a sum over time": lambda p: solve_ivp(lambda t, y: p[0] * np.sin(9.0 * t) + 0.0 * y, (0.0, p[1]), [0.0],
                                           "LSODA", max_step=0.1, **FINE).y[0, -1],
}  # fmt: skip


RATES = np.array([0.04, 3e7, 1e4])      # of Robertson's reactions
TIGHT = {"rtol": 1e-11, "atol": 1e-16, "mxstep": 100_000}


def robertson(y, t, a, b, c):
    return [-a * y[0] + c * y[1] * y[2], a * y[0] - c * y[1] * y[2] - b * y[1] ** 2, b * y[1] ** 2]


def relaxed(y, t, stiffness):
    return [y[1], stiffness * (1.0 - y[0] ** 2) * y[1] - y[0]]


def pulse(y, t, p):
    return -p[0] * y + 100.0 * p[1] * np.exp(-((t - 5.0) / 0.01) ** 2)


def switched(y, t, p):
    return -p[0] * y + (p[1] if t > 1.0 else 0.0)


def many(y, t, p):
    weights = np.random.default_rng(0).standard_normal((3, 300))
    return -y * np.array([1.0, 2.0, 3.0]) + weights @ np.tanh(np.concatenate([p, np.ones(297)])) / 50.0


# Programs, where they are differentiated, and what tolerances a difference is taken with.
ALONG = {
    "stiff, rates of many sizes": (lambda k, **how: np.sum(odeint(
        robertson, [1.0, 0.0, 0.0], [0.0, 40.0, 4e3], args=(k[0], k[1], k[2]),
        **{"rtol": 1e-8, "atol": [1e-11, 1e-13, 1e-10], "mxstep": 5000, **how})[1:]
        * np.array([1.0, 1e4, -0.5])), RATES, TIGHT),
    "stiff, the beginning": (lambda y, **how: odeint(robertson, y, [0.0, 40.0], args=tuple(RATES), **{
        "rtol": 1e-8, "atol": 1e-12, **how})[-1, 0], np.array([1.0, 1e-5, 0.1]), TIGHT),
    "stiff, LSODA": (lambda k, rtol=1e-8, atol=1e-12, mxstep=0: solve_ivp(
        lambda t, y: robertson(y, t, *k), (0.0, 4e5), [1.0, 0.0, 0.0], "LSODA", rtol=rtol, atol=atol).y[0, -1], RATES,
        TIGHT),
    "relaxation": (lambda p, **how: odeint(relaxed, [2.0, 0.0], [0.0, 500.0], args=(1000.0 * p[0],), **{
        "rtol": 1e-8, "atol": 1e-10, **how})[-1, 0], np.ones(1), TIGHT),
    "oscillations": (lambda p, **how: np.sum(odeint(relaxed, p[:2], np.linspace(0.0, 20.0, 41), args=(p[2] + 2.0,), **{
        "rtol": 1e-9, "atol": 1e-9, **how})[::4]), P, {"rtol": 1e-12, "atol": 1e-12, "mxstep": 10_000}),
    "a pulse": (lambda p, **how: odeint(pulse, [1.0], [0.0, 10.0], args=(p,), hmax=0.02, mxstep=10_000, **how)[-1, 0],
                P, {"rtol": 1e-12, "atol": 1e-14}),
    "a switch": (lambda p, **how: odeint(switched, [1.0], [0.0, 3.0], args=(p,), tcrit=[1.0], **how)[-1, 0], P,
                 {"rtol": 1e-12, "atol": 1e-14}),
    "many parameters": (lambda p, **how: np.sum(odeint(many, np.ones(3), [0.0, 1.0], args=(p,), **how)[-1] ** 2), P,
                        {"rtol": 1e-12, "atol": 1e-14}),
    "a time twice": (lambda p, **how: np.sum(odeint(backwards, p[:2], [0.0, 0.0, 1.0, 1.0, 2.0], args=(p,), **how)
                                             * np.arange(10.0).reshape(5, 2)), P, {"rtol": 1e-12, "atol": 1e-14}),
}  # fmt: skip


@pytest.mark.parametrize("name", ALONG)
def test_along_the_solution(name):
    f, x, tight = ALONG[name]
    direction = x * DIRECTION[: x.size]
    expected = differences(lambda x: f(x, **tight), at=x, direction=direction)
    value, gradient = codipy.value_and_grad(f)(x)
    assert value == f(x)
    assert gradient @ direction == pytest.approx(expected, rel=2e-5)
    np.testing.assert_allclose(codipy.jacobian(f, mode="forward")(x), gradient, rtol=2e-6)


def test_a_solution_that_rests_says_nothing_of_its_derivatives():
    """LSODA takes few steps from one end to the other, and the derivative falls to 1e-16 of its size."""
    def f(p):
        return odeint(lambda y, t, p: -p[0] * np.sin(y), p[2:], [0.0, 20.0, 30.0], args=(p,))[:, 0]

    for mode in ("reverse", "forward"):
        found = codipy.jacobian(f, mode=mode)(np.array([1.2, 0.7, 0.0]))[:, 2]
        np.testing.assert_allclose(found, np.exp([0.0, -24.0, -36.0]), rtol=1e-6)


def test_many_states_take_products_only(monkeypatch):
    from codipy.implicit import problem
    monkeypatch.setattr(problem, "_LARGEST", 1)
    demand_right(lambda p: np.sum(odeint(backwards, p[:2], T, args=(p,), **FINE) ** 2), 1e-5)


def filled(t, y, p):
    out = np.zeros(2)
    out[0] = -p[0] * y[1]
    out[1] = y[0]
    return out


def differences(f, step=1e-3, at=P, direction=DIRECTION):
    """The derivative in one direction, in which each variable counts: a plain solution is most of what a test takes."""
    h = step * direction
    return (8 * (f(at + h) - f(at - h)) - (f(at + 2 * h) - f(at - 2 * h))) / (12 * step)


def demand_right(f, near):
    value, gradient = codipy.value_and_grad(f)(P)
    assert value == f(P)
    demand_along(gradient, f, near)
    np.testing.assert_allclose(codipy.jacobian(f, mode="forward")(P), gradient, rtol=near,
                               atol=near * np.abs(gradient).max())


def demand_along(gradient, f, near, step=1e-3):
    assert gradient @ DIRECTION == pytest.approx(differences(f, step), rel=near, abs=near * np.abs(gradient).max())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CASES)
def test_each_method(name, method):
    demand_right(lambda p: CASES[name](p, method), NEAR[method])


@pytest.mark.parametrize("name", OTHERS)
def test_others(name):
    demand_right(OTHERS[name], 1e-5)


@pytest.mark.parametrize(("name", "method"), [*(("events", method) for method in METHODS[:-1]), ("all steps", "RK45"),
                                              ("all steps", "BDF")])  # fmt: skip
def test_second_order(name, method):
    gradient = codipy.grad(lambda p: CASES[name](p, method))
    found, expected = codipy.hessian(lambda p: CASES[name](p, method))(P), differences(gradient)
    np.testing.assert_allclose(found @ DIRECTION, expected, rtol=0.0,
                               atol=4.0 * NEAR[method] ** 0.8 * np.abs(expected).max())
    np.testing.assert_allclose(found, found.T, rtol=1e-8, atol=1e-9)


def test_the_equation_has_a_derivative_of_first_order():
    with pytest.raises(UndifferentiableError, match="are of first order: take a method by steps"):
        codipy.hessian(OTHERS["odeint"])(P)


@pytest.mark.parametrize(("strategy", "name"), in_turn(STRATEGIES, ["RK45", "Radau", "BDF", "odeint of a number"],
                                                       others=2))  # fmt: skip
def test_each_strategy(strategy, name):
    def f(p):
        return OTHERS[name](p) if name in OTHERS else CASES["events"](p, name)

    expected = codipy.grad(f, strategy="jacobian")(P)
    np.testing.assert_allclose(codipy.grad(f, strategy=strategy)(P), expected, rtol=1e-10)


def test_sizes_of_steps_are_constants():
    """At coarse tolerances the derivative is that of the steps, with their sizes, exactly."""
    def euler(p):
        return solve_ivp(lambda t, y: -p[0] * y, (0.0, 1.0), [1.0], "RK23", max_step=0.25, first_step=0.25, rtol=1.0,
                         atol=1.0).y[0, -1]  # fmt: skip

    h = 0.25 * P[0]
    factor, slope = 1.0 - h + h**2 / 2.0 - h**3 / 6.0, (-1.0 + h - h**2 / 2.0) * 0.25
    assert codipy.grad(euler)(P)[0] == pytest.approx(4.0 * factor**3 * slope, rel=1e-12)


@pytest.mark.parametrize(("method", "span"), [("RK45", (0.0, 8.0)), ("RK45", (3.0, 0.0)), ("DOP853", (0.0, 3.0)),
                                              ("Radau", (0.0, 2.0)), ("BDF", (2.0, 0.0)), ("LSODA", (0.0, 3.0))])
def test_continuous(method, span):
    def f(p):
        found = codipy.implicit.solve_ivp(lambda t, y: lotka(t, y, p), span, p[:2], method, [1.0, span[1]],
                                          adjoint="continuous", rtol=1e-6, atol=1e-8, max_step=0.1)
        return np.sum(found.y**2) + found.y[0, 0]

    demand_right(f, 1e-4)


def test_a_long_interval_keeps_few_states(monkeypatch):
    kept = []
    from codipy.implicit import continuous, problem

    class Seen(problem.Kept):
        def append_state(self, t, y):
            super().append_state(t, y)
            kept.append(len(self.states))

    monkeypatch.setattr(problem, "_MOST", 8)
    monkeypatch.setattr("codipy.implicit.integrators.Kept", Seen)
    monkeypatch.setattr(continuous, "Kept", Seen)
    monkeypatch.setattr(problem, "Kept", Seen)

    def f(p):
        return codipy.implicit.solve_ivp(lambda t, y: -p[0] * y + np.cos(t), (0.0, 9.0), p[:1], t_eval=[9.0],
                                         adjoint="continuous", max_step=0.04, rtol=1e-7, atol=1e-9).y[0, -1]

    demand_right(f, 1e-5)
    assert max(kept) <= 9 and len(kept) > 200


def test_steps_of_the_drop_in_are_the_same():
    def f(p):
        return codipy.implicit.solve_ivp(lotka, (0.0, 2.0), p[:2], args=(p,)).y[0, -1]

    np.testing.assert_array_equal(codipy.grad(f)(P), codipy.grad(
        lambda p: solve_ivp(lotka, (0.0, 2.0), p[:2], args=(p,)).y[0, -1])(P))
    assert f(P) == solve_ivp(lotka, (0.0, 2.0), P[:2], args=(P,)).y[0, -1]
    with pytest.raises(ValueError, match="unknown adjoint 'discrete': choose one of 'steps', 'continuous'"):
        codipy.implicit.solve_ivp(lotka, (0.0, 2.0), P[:2], adjoint="discrete")


@pytest.mark.parametrize("f", [
    lambda p: solve_ivp(Equation(p).slope, (0.0, 1.0), [1.0, 0.5], "LSODA").y[0, -1],
    lambda p: odeint(Equation(p).slope, [1.0, 0.5], T, tfirst=True)[-1, 0],
    lambda p: solve_ivp(Equation(p).slope, (0.0, p[0]), p[:2], "LSODA").y[0, -1],
])  # fmt: skip
def test_variables_that_are_not_found_are_refused(f):
    with pytest.raises(ActiveError, match="reads variables that codipy does not find.*hand them over by args="):
        codipy.grad(f)(P)


def test_passive_use_is_scipys():
    def f(p):
        found = solve_ivp(lotka, (0.0, 2.0), [1.0, 0.5], args=([1.2, 0.7, 0.9],), dense_output=True)
        assert type(found.y) is np.ndarray and isinstance(found.sol, scipy.integrate.OdeSolution)
        assert type(odeint(backwards, [1.0, 0.5], T, args=([1.2, 0.7, 0.9],))) is np.ndarray
        return p[0] * found.y[0, -1]

    assert codipy.grad(f)(P)[0] == pytest.approx(f(P) / P[0], rel=1e-14)


def test_an_event_that_does_not_change():
    def stays(t, y, p):
        return 0.0 * y[0] * p[0]

    with pytest.raises(ArithmeticError, match="the time of the event stays at .* has no derivative"):
        codipy.grad(lambda p: solve_ivp(lotka, (0.0, 1.0), [1.0, 0.5], events=stays, args=(p,)).t_events[0][0])(P)


def test_a_failure_of_lsoda_has_no_derivative(monkeypatch):
    monkeypatch.setattr(scipy.integrate.LSODA, "_step_impl", lambda solver: (False, "the steps are too small"))
    with pytest.raises(ArithmeticError, match="solve_ivp has not solved.*the steps are too small"):
        codipy.grad(lambda p: solve_ivp(lotka, (0.0, 1.0), p[:2], "LSODA", args=(p,)).y[0, -1])(P)


def test_a_failure_of_odeint_has_no_derivative():
    with pytest.raises(ArithmeticError, match="odeint has not solved"), pytest.warns(scipy.integrate.ODEintWarning):
        codipy.grad(lambda p: odeint(lambda y, t: p[0] * y**2, [1.0], [0.0, 5.0], mxstep=20)[-1, 0])(P)


@pytest.mark.parametrize(("method", "adjoint"), [("RK45", "steps"), ("Radau", "steps"), ("BDF", "steps"),
                                                 ("LSODA", "steps"), ("RK45", "continuous"), ("odeint", None)])
def test_a_replay_elsewhere_raises(method, adjoint):
    def f(p):
        if method == "odeint":
            return np.sum(odeint(backwards, p[:2], [0.0, 1.0], args=(p,))[-1])
        return np.sum(codipy.implicit.solve_ivp(lotka, (0.0, 1.0), p[:2], method, [1.0], args=(p,),
                                                adjoint=adjoint).y[:, -1])

    demand_no_replay_elsewhere(f, P, "scipy.integrate.solve_ivp|the solution of a differential equation")


def test_complex_numbers_and_methods_of_ones_own_are_rebuilt():
    class Mine(scipy.integrate.RK45):
        """A method of the user."""

    def f(p):
        z = solve_ivp(lambda t, y: (1j * p[0] - p[1]) * y, (0.0, 1.0), [1.0 + 0.0j], **FINE).y[0, -1]
        return np.abs(z) + z.imag + solve_ivp(lambda t, y: -p[1] * y, (0.0, 1.0), [p[2]], Mine, **FINE).y[0, -1]

    value, gradient = codipy.value_and_grad(f)(P)
    assert value == f(P)
    demand_along(gradient, f, 1e-5)


def test_what_a_function_closes_over_is_found_once():
    found = []

    def f(p):
        number, table = p[0], {"a": [p[1], p], "b": 1.0}

        def inner(x, scale=p[2]):
            return x * number * table["a"][0] * scale

        def outer(x):
            return inner(x) + (outer(x - 1.0) if x > 1.0 else number)

        opened = Opened(outer)
        passive = opened.passive()
        found.append((len(opened.variables), passive(2.0), codipy.value(outer(2.0)), passive is outer))
        return outer(2.0)

    codipy.grad(f)(P)
    [(count, passive, expected, is_same)] = found
    assert count == 4 and type(passive) in (float, np.float64) and passive == expected and not is_same
    assert Opened(lotka).passive() is lotka


class Reaches:
    terminal, direction = True, 1.0

    def __init__(self, level):
        self.level = level

    def __call__(self, t, y):
        return y[0] - self.level


class ReachesTwice(Reaches):
    direction = 0.0

    @property
    def terminal(self):
        return 2


class Falls(Reaches):
    @property
    def direction(self):
        return -1.0


EVENTS = {"of the class": Reaches, "a property": ReachesTwice, "a property of direction": Falls,
          "made inside": lambda level: type("Made", (Reaches,), {"direction": -1})(level)}  # fmt: skip


@pytest.mark.parametrize("method", ["RK45", "BDF"])
@pytest.mark.parametrize("name", EVENTS)
def test_events_that_are_objects_end_a_run_as_their_attributes_say(name, method):
    def f(x):
        found = solve_ivp(lambda t, y: [np.cos(t)], (0.0, 9.0), [0.0], method, events=EVENTS[name](x), **FINE)
        return found.t[-1] + found.t_events[0][-1]

    value, gradient = codipy.value_and_grad(f)(0.6)
    assert f(0.6) < 18.0 and value == f(0.6)
    assert gradient == pytest.approx((f(0.6 + 1e-4) - f(0.6 - 1e-4)) / 2e-4, rel=1e-3)


def test_a_passive_event_that_is_an_object():
    def f(x):
        return solve_ivp(lambda t, y: [1.0], (0.0, 5.0), [0.0], events=Reaches(0.5)).t[-1] * x

    value, gradient = codipy.value_and_grad(f)(0.7)
    assert value == f(0.7) and gradient == f(1.0)


def by_halves(x):
    first = solve_ivp(lambda t, y: [1.0], (0.0, x), [0.0], **FINE)
    return solve_ivp(lambda t, y: [-0.5 * y[0]], (x, 2.0), first.y[:, -1], **FINE).y[0, -1]


def by_an_event(x):
    first = solve_ivp(lambda t, y: [1.0], (0.0, 2.0), [0.0], events=Reaches(x), **FINE)
    return solve_ivp(lambda t, y: [-0.5 * y[0]], (first.t[-1], 2.0), first.y[:, -1], **FINE).y[0, -1]


def with_a_kink(x):
    return solve_ivp(lambda t, y: [1.0 - max(0.0, y[0] - x) - max(0.0, t - x)], (0.0, 2.0), [0.0], **FINE).y[0, -1]


@pytest.mark.parametrize("f", [by_halves, by_an_event, with_a_kink])
def test_what_is_written_for_a_right_hand_side_that_switches(f):
    value, gradient = codipy.value_and_grad(f)(0.7)
    assert value == f(0.7)
    assert gradient == pytest.approx((f(0.7 + 1e-3) - f(0.7 - 1e-3)) / 2e-3, rel=1e-4)


@pytest.mark.parametrize("method", ["RK45", "LSODA"])
@pytest.mark.parametrize("read", [
    lambda s: s.ts[0] + 2.0 * s.ts[-1], lambda s: s.t_min + 2.0 * s.t_max, lambda s: s.n_segments,
])  # fmt: skip
def test_the_ends_of_a_continuous_solution(read, method):
    def f(x):
        def level(t, y):
            return y[0] - 0.5 * x

        level.terminal = True
        ended = solve_ivp(lambda t, y: [-x * y[0]], (0.0, 9.0), [1.0], method, dense_output=True, events=level)
        back = solve_ivp(lambda t, y: [-x * y[0]], (x, 0.3 * x), [1.0], method, dense_output=True, t_eval=[0.4])
        return read(ended.sol) + read(back.sol)

    value, gradient = codipy.value_and_grad(f)(0.7)
    assert value == f(0.7)
    assert gradient == pytest.approx((f(0.7 + 1e-5) - f(0.7 - 1e-5)) / 2e-5, rel=1e-2)


def test_what_a_continuous_solution_is_made_of_is_refused():
    def f(x):
        found = solve_ivp(lambda t, y: [-x * y[0]], (0.0, 1.0), [1.0], dense_output=True)
        return found.sol.interpolants[0](0.01)[0]

    with pytest.raises(ActiveError, match=r"interpolants of the continuous solution .* call the solution itself"):
        codipy.grad(f)(0.7)


@pytest.mark.parametrize("method", METHODS)
def test_a_continuous_solution_of_numbers_at_active_times(method):
    def f(p):
        sol = solve_ivp(lotka, (0.0, 2.0), [1.0, 0.5], method, args=([1.2, 0.7, 0.9],), dense_output=True, **FINE).sol
        assert isinstance(sol, OdeSolution)
        assert type(sol(0.3)) is np.ndarray
        return sol(p[0])[0] * sol(p[1] + T / 9)[1] @ T

    value, gradient = codipy.value_and_grad(f)(P)
    assert value == f(P)
    demand_along(gradient, f, 1e-6, 1e-5)


class Filling:
    """A right-hand side that keeps its parameters and an array to compute in."""

    def __init__(self, p, begins):
        self.p, self.work, self.begins = p, np.zeros(2), begins

    def __call__(self, t, y):
        if self.begins:
            self.work[:] = 0.0
        self.work[0] = y[0] * (self.p[0] - self.p[1] * y[1])
        self.work[1] = y[1] * (self.p[1] * y[0] - self.p[2])
        return self.work.copy()


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "BDF"])
@pytest.mark.parametrize("begins", [False, True])
def test_an_array_that_each_call_fills_by_elements(method, begins):
    def f(p):
        return solve_ivp(Filling(p, begins), (0.0, 2.0), [1.0, 0.5], method, **FINE).y[0, -1]

    value, gradient = codipy.value_and_grad(f)(P)
    assert value == f(P)
    demand_along(gradient, f, 1e-5, 1e-5)


def _rates(p):
    return CubicSpline(np.linspace(0.0, 2.0, 4), np.concatenate([p, p[:1] ** 2]))


OBJECTS = {
    "a spline": (_rates, lambda t, y, s: -y * s(t)),
    "its derivative": (lambda p: _rates(p).derivative(), lambda t, y, s: -y * s(t) / 3),
    "a method": (lambda p: _rates(p).__call__, lambda t, y, s: -y * s(t)),
    "a B-spline": (lambda p: make_interp_spline(np.linspace(0.0, 2.0, 3), p, k=2), lambda t, y, s: -y * s(t)),
    "a sparse matrix": (lambda p: scipy.sparse.diags([p[:2], p[2:]], [0, 1]).tocsr(), lambda t, y, A: -(A @ y)),
    "a rotation": (lambda p: Rotation.from_rotvec(p), lambda t, y, r: 0.3 * r.apply(np.append(y, 1.0))[:2]),
    "a distribution": (lambda p: scipy.stats.norm(p[0], p[1]), lambda t, y, d: -y * d.pdf(t)),
}


@pytest.mark.parametrize("is_closed_over", [False, True])
@pytest.mark.parametrize("name", OBJECTS)
def test_objects_of_scipy_have_their_variables_found(name, is_closed_over):
    make, slope = OBJECTS[name]

    def f(p):
        made = make(p)
        if is_closed_over:
            return solve_ivp(lambda t, y: slope(t, y, made), (0.0, 2.0), [1.0, 0.5], "LSODA", **FINE).y[0, -1]
        return odeint(slope, [1.0, 0.5], T, args=(made,), tfirst=True, **FINE)[-1, 0]

    value, gradient = codipy.value_and_grad(f)(P)
    assert value == f(P)
    demand_along(gradient, f, 1e-4, 1e-4)


@pytest.mark.parametrize("integrator", ["dopri5", "dop853", "vode", "lsoda"])
def test_the_older_class_is_scipys_and_says_what_to_write(integrator):
    def f(p, rate):
        solver = scipy.integrate.ode(lambda t, y: np.array([-rate(p) * y[0]])).set_integrator(integrator)
        return p[0] * solver.set_initial_value([1.0], 0.0).integrate(1.0)[0]

    value, gradient = codipy.value_and_grad(f)(P, lambda p: 0.5)
    assert value == f(P, lambda p: 0.5)
    assert gradient.tolist() == [value / P[0], 0.0, 0.0]

    def with_jacobian(p, rate):
        solver = scipy.integrate.ode(lambda t, y, k: np.array([-k * y[0]]), lambda t, y, k: np.array([[-k]]))
        solver.set_integrator(integrator).set_f_params(rate(p)).set_jac_params(rate(p))
        return p[0] * solver.set_initial_value([1.0], 0.0).integrate(1.0)[0]

    value, gradient = codipy.value_and_grad(with_jacobian)(P, lambda p: 0.5)
    assert value == with_jacobian(P, lambda p: 0.5) and gradient.tolist() == [value / P[0], 0.0, 0.0]
    with pytest.raises(ActiveError, match="scipy.integrate.ode of functions .*write scipy.integrate.solve_ivp"):
        codipy.grad(f)(P, lambda p: p[1])
    with pytest.raises(ActiveError, match="write scipy.integrate.solve_ivp"):
        codipy.grad(lambda p: scipy.integrate.ode(lambda t, y: -y).set_initial_value(p[:1], 0.0).integrate(1.0)[0])(P)
