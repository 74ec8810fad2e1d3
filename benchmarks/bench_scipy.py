# SPDX-License-Identifier: Apache-2.0
"""What do gradients of programs cost that call SciPy: a factorisation, an integrator, a root inside of a loss?"""
from timing import Figure, in_turns, ratio

SIZE, UNKNOWNS = 400, 100


def _gaussian_process():
    """The log likelihood of 400 points by their kernel's length, scale and noise."""
    import numpy as np
    from scipy.linalg import cho_factor, cho_solve

    random = np.random.default_rng(1)
    x = np.sort(random.uniform(0.0, 10.0, SIZE))
    y = np.sin(x) + 0.1 * random.standard_normal(SIZE)
    squares = (x[:, None] - x[None, :]) ** 2

    def likelihood(p):
        kernel = p[1] * np.exp(-0.5 * squares / p[0] ** 2) + p[2] * np.eye(SIZE)
        factor = cho_factor(kernel, lower=True)
        return -0.5 * y @ cho_solve(factor, y) - np.sum(np.log(np.diag(factor[0])))

    return likelihood, np.array([1.0, 0.8, 0.02])


def _integrator():
    """Ten species that eat each other, by their ten rates of growth."""
    import numpy as np
    from scipy.integrate import solve_ivp

    random = np.random.default_rng(2)
    eats = 0.1 * random.standard_normal((10, 10)) - np.eye(10)
    start = np.full(10, 0.5)

    def last(p):
        found = solve_ivp(lambda t, u: u * (p + eats @ u), (0.0, 100.0), start, method="RK45", max_step=0.1)
        return np.sum(found.y[:, -1] ** 2)

    return last, np.linspace(0.8, 1.2, 10)


def _compiled_integrator():
    """Eight species whose growth has seasons, by five parameters."""
    import numpy as np
    from scipy.integrate import odeint

    random = np.random.default_rng(2)
    eats = 0.1 * random.standard_normal((8, 8)) - np.eye(8)
    start, times = np.full(8, 0.5), np.linspace(0.0, 10.0, 21)

    def slope(u, t, p):
        return u * (p[0] + p[1] * np.sin(p[2] * t) + p[3] * (eats @ u)) - p[4] * u**2

    return lambda p: np.sum(odeint(slope, start, times, args=(p,))[-1] ** 2), np.array([0.8, 0.3, 2.0, 1.0, 0.1])


def _root():
    """A loss of the solution of 100 equations, and those equations with their Jacobian, for one step of Newton's."""
    import numpy as np
    from scipy.optimize import root

    random = np.random.default_rng(3)
    matrix = np.eye(UNKNOWNS) + random.standard_normal((UNKNOWNS, UNKNOWNS)) / (4.0 * UNKNOWNS)
    start = np.zeros(UNKNOWNS)

    def residual(u, p):
        return matrix @ u + 0.1 * u**3 - p

    def slope(u, p):
        return matrix + np.diag(0.3 * u**2)

    def loss(p):
        return np.sum(root(residual, start, args=(p,), jac=slope).x ** 2)

    return loss, np.linspace(0.5, 1.5, UNKNOWNS), residual


def _checked(f, x):
    """A driver, after one derivative was compared with a difference of the plain function."""
    import codipy
    driver = codipy.value_and_grad(f)
    value, gradient = driver(x)
    step = 1e-5 * x[0]
    further, back = x.copy(), x.copy()
    further[0] += step
    back[0] -= step
    assert value == f(x) and abs((f(further) - f(back)) / (2.0 * step) - gradient[0]) <= 1e-4 * abs(gradient).max()
    return driver


def _figure(name, made, target, question, repeats):
    f, x = made
    driver = _checked(f, x)
    times, plain = in_turns([lambda: driver(x), lambda: f(x)], repeats)
    reached, detail = ratio(times, plain)
    return Figure(name, reached, target, detail=detail, question=question)


def gaussian_process():
    """By `cho_factor` and `cho_solve`."""
    return _figure("Gaussian process, log likelihood, n=400, cho_factor, 3 hyperparameters: gradient / plain run",
                   _gaussian_process(), 3.5, "gaussian-process", 15)


def integrator():
    """By `solve_ivp`."""
    return _figure("solve_ivp, RK45, 10 parameters, 1000 steps: gradient / plain run", _integrator(), 3.5, "solve-ivp",
                   7)


def compiled_integrator():
    """By `odeint`, of which the equation is differentiated."""
    return _figure("odeint, 8 states, 5 parameters: gradient / plain run", _compiled_integrator(), 30.0, "odeint", 7)


def root():
    """What the gradient takes more than the loss, in steps of Newton's method with codipy's Jacobian."""
    import numpy as np

    import codipy
    loss, x, residual = _root()
    driver, jacobian = _checked(loss, x), codipy.jacobian(residual)
    at = 0.9 * x

    def step():
        return np.linalg.solve(jacobian(at, x), residual(at, x))

    times, plain, steps = in_turns([lambda: driver(x), lambda: loss(x), step], 25)
    _, detail = ratio(times, plain)
    gradient, run, newton = (sorted(each)[len(each) // 2] for each in (times, plain, steps))
    return Figure("root of 100 unknowns inside of a loss: (gradient - plain run) / one step of Newton's method",
                  (gradient - run) / newton, 1.0, detail=f"gradient / plain {detail}, step {1e3 * newton:.3g} ms",
                  question="root-in-loss")


QUESTIONS = {"gaussian-process": gaussian_process, "solve-ivp": integrator, "odeint": compiled_integrator,
             "root-in-loss": root}
