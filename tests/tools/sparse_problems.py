# SPDX-License-Identifier: Apache-2.0
"""Systems and sums with sparse derivatives, and those derivatives by complex steps."""
import numpy as np

# ---- Problems of More, Garbow and Hillstrom, "Testing unconstrained optimization software", ACM TOMS 7 (1981) --------


def broyden_tridiagonal(x):
    y = (3.0 - 2.0 * x) * x + 1.0
    y[1:] -= x[:-1]
    y[:-1] -= 2.0 * x[1:]
    return y


def broyden_banded(x):
    n, y = len(x), x * (2.0 + 5.0 * x * x) + 1.0
    for i in range(n):
        for j in range(max(0, i - 5), min(n, i + 2)):
            if j != i:
                y[i] = y[i] - x[j] * (1.0 + x[j])
    return y


def discrete_boundary_value(x):
    n = len(x)
    h = 1.0 / (n + 1)
    t = h * np.arange(1, n + 1)
    around = np.concatenate([np.zeros(1), x, np.zeros(1)])
    return 2.0 * x - around[:-2] - around[2:] + 0.5 * h * h * (x + t + 1.0) ** 3


def extended_rosenbrock(x):
    y = np.zeros_like(x)
    y[::2] = 10.0 * (x[1::2] - x[::2] ** 2)
    y[1::2] = 1.0 - x[::2]
    return y


def extended_powell(x):
    a, b, c, d = x.reshape(-1, 4).T
    return np.stack([a + 10.0 * b, 5.0**0.5 * (c - d), (b - 2.0 * c) ** 2, 10.0**0.5 * (a - d) ** 2], axis=1).ravel()


def loops(x):
    return [x[0] * x[1]] + [np.sin(x[i]) * x[i - 1] + x[i + 1] ** 2 for i in range(1, len(x) - 1)] + [np.exp(x[-1])]


def wide(x):
    return np.array([np.sum(x[:4] ** 2), np.sum(x[4:])])


SYSTEMS = [broyden_tridiagonal, broyden_banded, discrete_boundary_value, extended_rosenbrock, extended_powell, loops,
           wide]


def by_complex_steps(f, x):
    step = 1e-40
    return np.array([np.imag(np.asarray(f(x + 1j * step * unit))) / step for unit in np.eye(len(x))]).T


def chained_rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def chained_loop(x):
    total = 0.0
    for i in range(len(x) - 1):
        total = total + 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def broyden_squares(x):
    return np.sum(broyden_tridiagonal(x) ** 2)


def arrow(x):
    return x[0] ** 2 * np.sum(x[1:]) + np.sum(np.cos(x))


def wood(x):
    a, b, c, d = x.reshape(-1, 4).T
    return np.sum(100.0 * (a * a - b) ** 2 + (a - 1.0) ** 2 + (c - 1.0) ** 2 + 90.0 * (c * c - d) ** 2
                  + 10.1 * ((b - 1.0) ** 2 + (d - 1.0) ** 2) + 19.8 * (b - 1.0) * (d - 1.0))


def evolving(x):
    """In place, step by step: identifiers of blocks are set again."""
    u = x.copy()
    for _ in range(3):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[1:-1]
    return np.sum(u * u)


SUMS = [chained_rosenbrock, chained_loop, broyden_squares, arrow, wood, evolving]
X = np.linspace(-0.7, 1.3, 16)
