# SPDX-License-Identifier: Apache-2.0
"""A tape with the solution of an equation, run again at other inputs: solved anew, or refused with the way out."""

import numpy as np
import pytest
from scipy.optimize import brentq, fsolve, minimize, root

import codipy
from tests.implicit.test_implicit import LOAD, P, by_hand, equations, newton, solved, stiff
from tests.strategies import each_as_values

FAR = np.array([3.1, 0.7])


def recorded(f, x, strategy):
    """A tape of f at x, its input and its output."""
    tape = codipy.Tape(strategy, chunk_size=4)
    with tape:
        given = tape.register_input(x)
        y = tape.register_output(f(given))
    return tape, given, y


def demand_fresh(f, near, far, strategy, plain=None):
    """Value and gradient of a replay are those of the function elsewhere; and back again."""
    tape, x, y = recorded(codipy.rebind(f), near, strategy)
    for place in (far, near, far):
        tape.set_primal(x, place)
        tape.evaluate_primal()
        assert tape.get_primal(y) == (plain or f)(place)
        tape.clear_adjoints()
        y.gradient = 1.0
        tape.evaluate()
        np.testing.assert_allclose(x.gradient, codipy.grad(f)(place), rtol=1e-12, atol=1e-13)
        tape.clear_adjoints()
        x.gradient = np.ones(np.shape(place)) if np.ndim(place) else 1.0
        tape.evaluate_forward()
        assert y.gradient == pytest.approx(np.sum(codipy.grad(f)(place)), rel=1e-10, abs=1e-12)


@each_as_values
@pytest.mark.parametrize("solve", ["dense", "gmres", by_hand])
def test_a_replay_solves_again(strategy, solve):
    displaced = codipy.implicit.root(stiff, newton, solve=solve)
    demand_fresh(lambda p: np.sum(displaced(p) ** 2 * p), LOAD, 7.0 * LOAD[::-1] + 1.0, strategy)


@each_as_values
def test_of_numbers_of_trees_and_of_fixed_points(strategy):
    cube = codipy.implicit.root(lambda u, p: u**3 - p, lambda p: p ** (1.0 / 3.0))
    demand_fresh(lambda p: cube(p) * p, 8.0, 27.5, strategy)
    angle = codipy.implicit.fixed_point(lambda u, *, p: {"u": [np.cos(p * u["u"][0])]}, lambda *, p: {"u": [fixed(p)]})
    demand_fresh(lambda p: angle(p=p)["u"][0] * p, 0.9, 0.3, strategy)
    several = codipy.implicit.root(equations, lambda p: (solved(p), "aux"), has_aux=True)
    demand_fresh(lambda p: np.sum(several(p)[0] * p), P, FAR, strategy)


def fixed(p, u=1.0):
    for _ in range(200):
        u = float(np.cos(p * u))
    return u


@each_as_values
def test_of_scipy(strategy):
    def f(p):
        u = root(equations, np.ones(2), args=(p,), tol=1e-13).x
        v = brentq(lambda v, q: v**3 + v - q, 0.0, 9.0, args=(p[0],), xtol=1e-14)
        w = minimize(lambda w, q: np.sum((w - q) ** 4 + (w - q) ** 2), np.zeros(2), args=(p,), tol=1e-12).x
        return np.sum(u * w) * v

    demand_fresh(f, P, FAR, strategy)


@each_as_values
def test_what_another_solver_needs_to_know_is_told(strategy):
    """The equation has variables of the function around it, at which SciPy does not look again."""

    def f(p):
        return fsolve(lambda u: u**3 - 2.0 * p, 1.0, xtol=1e-13)[0] * p

    tape, x, y = recorded(codipy.rebind(f), 4.0, strategy)
    tape.evaluate_primal()
    assert tape.get_primal(y) == f(4.0)
    tape.set_primal(x, 5.0)
    with pytest.raises(codipy.errors.TapeError, match=r"test_replay.py.*hand them over as arguments"):
        tape.evaluate_primal()
    demand_fresh(lambda p: fsolve(lambda u, q: u**3 - q, 1.0, args=(2.0 * p,), xtol=1e-13)[0] * p, 4.0, 5.0, strategy)


def test_a_jacobian_that_alone_has_changed_is_found():
    """The residual at the recorded solution stays zero, the slope of the solution does not."""
    f = codipy.implicit.root(lambda u, p: p[1] * (u - 1.0) - p[0], lambda p: 1.0 + p[0] / p[1])
    demand_fresh(f, np.array([0.0, 2.0]), np.array([0.0, 4.0]), "primal")
    q = np.array([0.0, 2.0])
    tape, x, _ = recorded(lambda p: codipy.implicit.root(lambda u: p[1] * (u - 1.0) - p[0], lambda: 1.0)(), q, "primal")
    tape.set_primal(x, np.array([0.0, 4.0]))
    with pytest.raises(codipy.errors.TapeError, match="variables of the function around it"):
        tape.evaluate_primal()


def test_inside_of_a_derivative_that_is_recorded():
    cube = codipy.implicit.root(lambda u, p: u**3 - p, lambda p: p ** (1.0 / 3.0))
    demand_fresh(lambda p: codipy.grad(lambda q: cube(q) * q)(p), 8.0, 27.5, "primal")
    demand_fresh(lambda p: codipy.grad(codipy.grad(cube))(p), 8.0, 27.5, "primal")


@each_as_values
def test_where_it_is_solved_no_more(strategy):
    """A solver that fails elsewhere, and one that stops too early there."""
    early = codipy.implicit.root(lambda u, p: u * u - p, lambda p: np.sqrt(p) if p < 9.0 else 3.0)
    tape, x, _ = recorded(early, 4.0, strategy)
    tape.set_primal(x, 16.0)
    with pytest.raises(ArithmeticError, match=r"no solution of <lambda> = 0.*tolerance="):
        tape.evaluate_primal()
    tape.set_primal(x, 8.0)
    tape.evaluate_primal()


@each_as_values
def test_a_loaded_tape_keeps_to_its_inputs(strategy, tmp_path):
    f = codipy.implicit.root(equations, solved)
    tape, x, _ = recorded(lambda p: np.sum(f(p) * p), P, strategy)
    path = tmp_path / "tape"
    tape.save(path)
    loaded = codipy.load_tape(path)
    [x], [y] = loaded.inputs, loaded.outputs
    loaded.evaluate_primal()
    y.gradient = 1.0
    loaded.evaluate()
    np.testing.assert_allclose(x.gradient, codipy.grad(lambda p: np.sum(f(p) * p))(P), rtol=1e-13)
    loaded.set_primal(x, FAR)
    with pytest.raises(codipy.errors.TapeError, match=r"solved equations = 0 \(test_replay.py:\d+"):
        loaded.evaluate_primal()


class Spring:
    """Its method runs in recordings of what solves again, too, where no twin shows the object."""

    __slots__ = ()

    def force(self, u):
        return u * u if type(u) is float else np.exp(u)


SPRING = Spring()


@each_as_values
def test_it_takes_the_branches_of_the_plain_run(strategy):
    demand_fresh(lambda p: brentq(lambda u, p: SPRING.force(u) + u - p, 0.0, 9.0, (p,)) * p, 3.0, 3.3, strategy)
