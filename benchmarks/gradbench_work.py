# SPDX-License-Identifier: Apache-2.0
"""Two objectives that benchmarks of automatic differentiation share, written anew in NumPy from their description.

`mixture`: the log-likelihood of a Gaussian mixture with a Wishart prior, by the logarithms of its weights, its means
and a factor of each inverse covariance: D logarithms of its diagonal, then what is below it, column by column.
`ode`: a small system that is integrated by Runge and Kutta's method of fourth order.
"""
import math

import numpy as np
from array_points import Point, generator

WISHART_GAMMA, WISHART_M = 1.0, 0


def log_sum_exp(x, axis):
    """In a row that does not overflow."""
    most = np.max(x, axis=axis, keepdims=True)
    return np.log(np.sum(np.exp(x - most), axis=axis)) + np.squeeze(most, axis)


def wishart_constant(dimension, components):
    """The logarithm of the prior's normalisation: no parameter is in it."""
    n = dimension + WISHART_M + 1
    gamma = dimension * (dimension - 1) / 4.0 * math.log(math.pi)
    gamma += sum(math.lgamma(0.5 * (n - k)) for k in range(dimension))
    return components * (n * dimension * (math.log(WISHART_GAMMA) - 0.5 * math.log(2.0)) - gamma)


def mixture(alphas, means, inverse_factors, x):
    """The log-likelihood of the rows of `x`, and the prior."""
    size, dimension = x.shape
    components = alphas.shape[0]
    logs, below = inverse_factors[:, :dimension], inverse_factors[:, dimension:]
    columns, rows = np.triu_indices(dimension, 1)
    factors = np.zeros((components, dimension, dimension))
    factors[:, rows, columns] = below
    factors[:, np.arange(dimension), np.arange(dimension)] = np.exp(logs)
    scaled = factors @ (x.T - means[:, :, None])
    terms = (alphas + np.sum(logs, axis=1))[:, None] - 0.5 * np.sum(scaled * scaled, axis=1)
    likelihood = np.sum(log_sum_exp(terms, 0)) - size * log_sum_exp(alphas, 0)
    squares = np.sum(np.exp(2.0 * logs)) + np.sum(below * below)
    prior = 0.5 * WISHART_GAMMA**2 * squares - WISHART_M * np.sum(logs)
    constant = -0.5 * size * dimension * math.log(2.0 * math.pi) - wishart_constant(dimension, components)
    return likelihood + prior + constant


def slopes(rates, y):
    """y0' = x0, and each other y' is its rate times the y before."""
    return rates * np.append(1.0, y[:-1])


def ode(rates, steps):
    """The last of the variables after a time of 2."""
    y, h = np.zeros(rates.shape), 2.0 / steps
    for _ in range(steps):
        k1 = slopes(rates, y)
        k2 = slopes(rates, y + 0.5 * h * k1)
        k3 = slopes(rates, y + 0.5 * h * k2)
        k4 = slopes(rates, y + h * k3)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return y[-1]


def clusters(size, dimension=10, components=25):
    """Parameters and data."""
    numbers = generator()
    return (numbers.standard_normal(components), numbers.standard_normal((components, dimension)),
            0.3 * numbers.standard_normal((components, dimension * (dimension + 1) // 2)),
            numbers.standard_normal((size, dimension)))


def rates(size, variables=10):
    """Rates near 1, so that the last variable is no zero, and the number of steps."""
    return 0.8 + 0.4 * generator().random(variables), size


POINTS = {
    "gmm": Point(mixture, clusters, 1000, {"size": 12, "dimension": 3, "components": 4}, (0, 1, 2)),
    "ode": Point(ode, rates, 200, {"size": 5, "variables": 4}),
}
# What start() takes beside the size.
SIZES = {
    "gmm": [{"dimension": d, "components": k} for d in (2, 10, 20) for k in (5, 10, 25)],
    "ode": [{"variables": n} for n in (10, 100, 1000)],
}
