# SPDX-License-Identifier: Apache-2.0
"""The NumPy programs that are differentiated, as a NumPy user writes them: nothing here knows of derivatives."""
import numpy as np
from scipy.special import erf


def burgers_interior(w, u, v, courant=0.1, diffusion=0.05):
    """One step of the field w, carried by (u, v), inside the border: upwind convection and diffusion."""
    return (w[1:-1, 1:-1]
            - courant * u[1:-1, 1:-1] * (w[1:-1, 1:-1] - w[1:-1, :-2])
            - courant * v[1:-1, 1:-1] * (w[1:-1, 1:-1] - w[:-2, 1:-1])
            + diffusion * (w[1:-1, 2:] + w[1:-1, :-2] + w[2:, 1:-1] + w[:-2, 1:-1] - 4.0 * w[1:-1, 1:-1]))


def burgers(u, v, steps=32):
    """Coupled Burgers' equation in two dimensions: copy both fields, write the interior."""
    for _ in range(steps):
        un, vn = u.copy(), v.copy()
        un[1:-1, 1:-1] = burgers_interior(u, u, v)
        vn[1:-1, 1:-1] = burgers_interior(v, u, v)
        u, v = un, vn
    return np.sum(u * u) + np.sum(v * v)


def burgers_fill(u, v, steps=32):
    """The same: allocate, then fill the interior and the four borders in place."""
    for _ in range(steps):
        un, vn = np.empty_like(u), np.empty_like(v)
        un[1:-1, 1:-1] = burgers_interior(u, u, v)
        vn[1:-1, 1:-1] = burgers_interior(v, u, v)
        for new, old in ((un, u), (vn, v)):
            new[0, :], new[-1, :] = old[0, :], old[-1, :]
            new[:, 0], new[:, -1] = old[:, 0], old[:, -1]
        u, v = un, vn
    return np.sum(u * u) + np.sum(v * v)


def black_scholes(spot, volatility, maturity, strike, rate=0.03):
    """The value of a book of calls, each with its own spot, volatility, maturity and strike."""
    spread = volatility * np.sqrt(maturity)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * maturity) / spread
    d2 = d1 - spread
    call = (spot * 0.5 * (1.0 + erf(d1 / 1.4142135623730951))
            - strike * np.exp(-rate * maturity) * 0.5 * (1.0 + erf(d2 / 1.4142135623730951)))
    return np.sum(call)


def chain(x, a, b, operations=10_000):
    """Small arrays, four operations in turn, each on the result of the one before."""
    for _ in range(operations // 4):
        x = x * a
        x = np.sin(x)
        x = x + b
        x = x / 1.25
    return np.sum(x)


def chain_expressions(x, a, b, operations=10_000):
    """The same operations as one expression a round."""
    for _ in range(operations // 4):
        x = (np.sin(x * a) + b) / 1.25
    return np.sum(x)


def logistic(w, x, sign):
    """Logistic regression: mean loss of the weights, labels -1 and 1, with a penalty."""
    margin = sign * (x @ w)
    return np.mean(np.log1p(np.exp(-margin))) + 0.01 * np.sum(w * w)


def log_sum_exp(a, axis):
    """log(sum(exp(a))) without overflow."""
    largest = np.max(a, axis=axis, keepdims=True)
    return np.squeeze(largest, axis=axis) + np.log(np.sum(np.exp(a - largest), axis=axis))


def perceptron(w1, b1, w2, b2, x, labels):
    """A hidden layer of tanh; mean cross entropy of the softmax."""
    logits = np.tanh(x @ w1 + b1) @ w2 + b2
    return np.mean(log_sum_exp(logits, 1) - logits[np.arange(len(labels)), labels])


def mixture(weights, means, diagonals, lower, x):
    """Log-likelihood of a Gaussian mixture; a factor of each inverse covariance has exp(diagonals) on its diagonal."""
    dimension = x.shape[1]
    factors = np.tril(lower, -1) + np.exp(diagonals)[:, :, None] * np.eye(dimension)
    scaled = np.einsum("kij,nkj->nki", factors, x[:, None, :] - means)
    terms = weights + np.sum(diagonals, axis=1) - 0.5 * np.sum(scaled * scaled, axis=2)
    return np.sum(log_sum_exp(terms, 1)) - len(x) * log_sum_exp(weights, 0)


def heat(u, conductivity, steps=20, ratio=0.4):
    """The heat equation, implicit in time: a dense system with the same matrix in each step."""
    between = ratio * conductivity
    matrix = (np.diag(1.0 + between[1:] + between[:-1]) - np.diag(between[1:-1], 1) - np.diag(between[1:-1], -1))
    for _ in range(steps):
        u = np.linalg.solve(matrix, u)
    return np.sum(u * u)


def stencil(u, steps=200, c=0.2):
    """Linear diffusion in place."""
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += c * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def stencil_nonlinear(u, steps=200, c=0.2):
    """Diffusion in place whose coefficient is the solution."""
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += c * u[1:-1] * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def fill(x, y):
    """A plain array filled element by element in two Python loops, each element from the one above."""
    a = np.zeros((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            a[i, j] = x[i] * y[j] + 0.5 * a[i - 1, j]
    return np.sum(a * a)


def squares(x):
    """Sum of squares."""
    return np.sum(x * x)
