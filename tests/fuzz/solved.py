# SPDX-License-Identifier: Apache-2.0
"""Random functions for SciPy's solvers, which keep, fill, write and return arrays: `python -m tests.fuzz --solved`.

What such a program must do is to have the plain run's value to the last bit and its slopes, or to raise.
"""

import random

import numpy as np
from scipy import integrate, optimize
from scipy.sparse import linalg

import codipy
from codipy.errors import ActiveError, TapeError
from tests.fuzz.judge import Finding, quietly

STEPS = 1e-5, 1e-4
POINT = np.array([0.7, 1.3])

_KEPT = ("kept[:] = kept[-2:] + [out]", "kept[:] = [out]", "kept[:] = [out[1:]]", "kept[:] = [out[::-1]]",
         "kept.append(out[:1])", "kept[:] = []", "kept[:] = kept[-1:] + [out[1:], u]", "pass")
_WRITTEN = ("kept[0][0] = {v}", "kept[-1][-1] *= {v}", "kept[0][:] = {v}", "kept[-1][0] = u[0] * {v}",
            "kept.pop()[0] += {v}", "kept[0] *= {v}", "u[0] = min(u[0], {v})", "u[:] = np.clip(u, {v}, 50.0)",
            "u *= 0.9")
_WHEN = ("n[0] == {k}", "n[0] > {k}", "n[0] % 2 == 0", "True")
_MADE = ("out = np.array([{e}])", "out = work; out[0], out[1] = {e}", "out = np.zeros(3)[:2]; out[0], out[1] = {e}",
         "out = works[n[0] % 2]; out[:] = [{e}]", "out = np.zeros(2); out[0], out[1] = {e}",
         "out = kept.pop() if kept and kept[-1].size == 2 else np.zeros(2); out[0], out[1] = {e}")
_RETURNED = ("return out", "return out[:]", "return out.copy()", "return [out[0], out[1]]", "return out")

_RESIDUAL = "u[0] * (1.0 + u[1] ** 2) - p[0], u[1] * p[1] - 1.0"
_SLOPE = "-p[0] * u[0], p[1] * u[0] - u[1]"
_PRODUCT = "(2.0 + p[0]) * u[0] + 0.1 * u[1], 0.3 * u[0] + 3.0 * u[1]"
_COST = "(u[0] - p[0]) ** 2 + (u[1] - p[1]) ** 2 + 0.2 * u[0] ** 2 * u[1] ** 2"
_GRADIENT = "2.0 * (u[0] - p[0]) + 0.4 * u[0] * u[1] ** 2, 2.0 * (u[1] - p[1]) + 0.4 * u[1] * u[0] ** 2"


def _methods(*names):
    return ["", *(f", method={name!r}" for name in names)]


# What is solved, what the function computes, its parameters, what it returns in the place of an array, and options.
_SOLVED = (
    ("optimize.least_squares(f, [1.0, 2.0], max_nfev=60{}).x", _RESIDUAL, "u", None, _methods("lm", "dogbox")),
    ("optimize.root(f, [1.0, 2.0]{}).x", _RESIDUAL, "u", None, _methods("lm", "broyden1", "df-sane")),
    ("optimize.leastsq(f, [1.0, 2.0])[0]{}", _RESIDUAL, "u", None, [""]),
    ("optimize.fsolve(f, [1.0, 2.0]){}", _RESIDUAL, "u", None, [""]),
    ("optimize.fixed_point(f, [0.3, 0.2]){}", "0.5 * np.cos(u[0]) * p[0], 0.3 * np.sin(u[1]) + 0.2 * p[1]", "u", None,
     [""]),
    ("optimize.minimize(f, [1.0, 2.0], jac=True{}).x", _GRADIENT, "u", f"return {_COST}, out",
     _methods("CG", "L-BFGS-B", "TNC", "SLSQP")),
    (f"optimize.minimize(lambda u: {_COST}, [1.0, 2.0], jac=f{{}}).x", _GRADIENT, "u", None,
     _methods("CG", "L-BFGS-B", "SLSQP", "Newton-CG")),
    ("integrate.solve_ivp(f, (0.0, 0.7), [1.0, 2.0] * p{}).y[:, -1]", _SLOPE, "t, u", None,
     _methods("RK45", "DOP853", "Radau", "BDF")),
    ("integrate.solve_ivp(f, (0.0, 0.7), [1.0, 2.0]{}).y[:, -1]", _SLOPE, "t, u", None, _methods("RK23", "BDF")),
    ("linalg.bicgstab(linalg.LinearOperator((2, 2), matvec=f, dtype=float), p, rtol=1e-9)[0]{}", _PRODUCT, "u", None,
     [""]),
    ("linalg.gmres(linalg.LinearOperator((2, 2), matvec=f, dtype=float), p, rtol=1e-9)[0]{}", _PRODUCT, "u", None,
     [""]),
)  # fmt: skip


def write_solved(seed):
    """The source of a function of two numbers."""
    rng = random.Random(seed)
    call, computed, parameters, returned, options = rng.choice(_SOLVED)

    def writes():
        when, what = rng.choice(_WHEN), rng.choice(_WRITTEN)
        return f"        if kept and {when}: {what}".format(k=rng.randrange(1, 9), v=rng.choice((-2.0, 0.0, 0.5, 1.5)))

    lines = ["def program(p):", "    kept, n, work, works = [], [0], np.zeros(2), [np.zeros(2), np.zeros(2)]", "",
             f"    def f({parameters}):", "        n[0] += 1"]
    lines += [writes() for _ in range(rng.choice((0, 1, 1, 2)))]
    lines += [f"        {rng.choice(_MADE).format(e=computed)}", f"        {rng.choice(_KEPT)}"]
    lines += [writes() for _ in range(rng.random() < 0.2)]
    lines += [f"        {returned or rng.choice(_RETURNED)}", "",
              f"    return np.sum({call.format(rng.choice(options))} * np.array([1.0, 0.7]))", ""]
    return "\n".join(lines)


def judge_solved(source):
    """The first thing that is wrong with a program, or None; also where the plain run raises or is not repeated."""
    module = {"np": np, "optimize": optimize, "integrate": integrate, "linalg": linalg, "__name__": "program"}
    exec(source, module)
    f = module["program"]
    try:
        values = [quietly(f, POINT + shift) for shift in _shifts()]
    except Exception:
        return None
    if not np.all(np.isfinite(values)):
        return None
    try:
        value, gradient = quietly(codipy.value_and_grad(f), POINT.copy())
    except (ActiveError, TapeError, ArithmeticError) as error:
        return Finding("refused", f"{type(error).__name__}: {error}")
    except Exception as error:
        return Finding(type(error).__name__, f"{type(error).__name__}: {error}")
    if value != values[0]:
        return Finding("value", f"{value!r} for {values[0]!r}")
    near, far = ((values[k:k + 4:2] - np.array(values[k + 1:k + 4:2])) / (2.0 * step)
                 for k, step in zip((1, 5), STEPS))  # fmt: skip
    is_smooth = np.allclose(near, far, rtol=3e-3, atol=1e-3)      # tolerances of solvers, and steps that they choose
    if is_smooth and not np.allclose(gradient, near, rtol=0.02, atol=0.02):
        return Finding("gradient", f"{gradient!r} for {near!r}")
    return None


def _shifts():
    yield np.zeros(2)
    for step in STEPS:
        for axis in np.eye(2):
            yield step * axis
            yield -step * axis
