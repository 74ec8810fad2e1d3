# SPDX-License-Identifier: Apache-2.0
"""Trajectories as people write them: what one step touches is small, what it is a part of grows with the steps.

Each pattern is a function of one array of 30 numbers and of n, which counts steps unless its name says cells.
"""

import numpy as np

POINT = np.linspace(0.5, 1.5, 30)
A = np.linspace(-0.03, 0.03, 900).reshape(30, 30) + 0.5 * np.eye(30)
STEPS = (500, 1500, 4500)


def rows(x, n):
    h = np.zeros((n + 1, 30))
    h[0] = x
    for k in range(n):
        h[k + 1] = h[k] + 0.01 * np.sin(h[k])
    return np.sum(h[-1])


def columns(x, n):
    h = np.zeros((30, n + 1))
    h[:, 0] = x
    for k in range(n):
        h[:, k + 1] = A @ h[:, k] + 0.1
    return np.sum(h)    # of the last column alone, adjoints would shrink below 1e-308, where products are slow


def lorenz(x, n):
    y = np.empty((n + 1, 3))
    y[0] = x[:3]
    for k in range(n):
        a, b, c = y[k]
        y[k + 1] = y[k] + 0.001 * np.array([10.0 * (b - a), a * (28.0 - c) - b, a * b - c])
    return np.sum(y[-1] * x[3:6])


def boxes(x, n):
    g = np.zeros((n + 1, 7, 8))
    g[0, 1:-1, 1:-1] = x.reshape(5, 6)
    for k in range(n):
        g[k + 1, 1:-1, 1:-1] = 0.25 * (g[k, 2:, 1:-1] + g[k, :-2, 1:-1] + g[k, 1:-1, 2:] + g[k, 1:-1, :-2])
    return np.sum(g[-1] ** 2)


def elements(x, n):
    y = np.zeros(n + 1)
    y[0] = x[0]
    for k in range(n):
        y[k + 1] = y[k] + 0.01 * x[k % 30] * (1.0 - y[k])
    return y[-1] * y[-1]


def elements_of_rows(x, n):
    y = np.zeros((n + 1, 2))
    y[0, 0], y[0, 1] = x[0], x[1]
    for k in range(n):
        y[k + 1, 0] = y[k, 0] + 0.01 * y[k, 1]
        y[k + 1, 1] = y[k, 1] - 0.01 * y[k, 0]
    return y[-1, 0] * x[2]


def strided_parts(x, n):
    u = np.zeros(4 * n)
    u[:30] = x
    for k in range(n - 8):
        u[4 * k + 1 : 4 * k + 31 : 4] = 0.9 * u[4 * k : 4 * k + 30 : 4] + 0.1
    return np.sum(u)


def backward_recursion(x, n):
    v = np.zeros((n + 1, 30))
    v[n] = x
    for k in range(n - 1, -1, -1):
        v[k] = np.maximum(0.99 * v[k + 1], 0.5 * (v[k + 1] + x))
    return np.sum(v[0])


def assembly(x, n):
    matrix = np.zeros((80, 80))
    block = np.outer(x[:4], x[4:8])
    for k in range(n):
        t = [k % 76, k % 76 + 1, k % 76 + 2, k % 76 + 3]
        matrix[np.ix_(t, t)] += block
    return np.sum(matrix * matrix) / n


def scattered(x, n):
    h = np.zeros(4 * n)
    for k in range(n):
        np.add.at(h, [4 * k, 4 * k + 1, 4 * k], x[:3])
    return np.sum(h * h)


def lists(x, n):
    states = [x]
    for _ in range(n):
        states.append(states[-1] + 0.01 * np.cos(states[-1]))
    return np.sum(states[-1] * states[n // 2])


def stacked(x, n):
    states = []
    u = x
    for _ in range(n):
        u = 0.99 * u + 0.01
        states.append(u)
    return np.sum(np.stack(states) ** 2)


def windows(x, n):
    y = np.zeros(n + 10)
    y[:10] = x[:10]
    for k in range(10, n + 10):
        y[k] = np.dot(x[:5], y[k - 5 : k]) * 0.2
    return np.sum(y)


def exchanged(x, n):
    u, v = x.copy(), np.zeros(30)
    for _ in range(n):
        v[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u, v = v, u
    return np.sum(u * u)


def measured(x, n):
    seen, u = np.zeros(n), x
    for k in range(n):
        u = u + 0.001 * u * (1.0 - u)
        seen[k] = np.sum(u)
    return np.sum(seen**2) / n


def in_place_rows(x, n):
    h = np.ones((n, 30))
    for row in h:
        row *= x
        row += 1.0
    return np.sum(h)


def two_trajectories(x, n):
    place, speed = np.zeros((n + 1, 5, 3)), np.zeros((n + 1, 5, 3))
    place[0], speed[0] = x[:15].reshape(5, 3), x[15:].reshape(5, 3)
    for k in range(n):
        speed[k + 1] = speed[k] - 0.001 * place[k]
        place[k + 1] = place[k] + 0.001 * speed[k + 1]
    return np.sum(place[-1] ** 2)


def chosen(x, n):
    h = np.zeros((n + 1, 30))
    h[0] = x
    for k in range(n):
        h[k + 1] = np.where(h[k] > 1.0, 0.99 * h[k], 1.01 * h[k])
    return np.sum(h[-1])


def borders(x, n):
    u = x
    for _ in range(n):
        new = u.copy()
        new[0] = u[1]
        new[1:] = u[1:] - 0.1 * u[1:] * (u[1:] - u[:-1])
        u = new
    return np.sum(u)


def elimination(x, n):
    c, d = np.zeros(n), np.zeros(n)
    c[0], d[0] = 0.3, x[0]
    for k in range(1, n):
        c[k] = 0.3 / (1.5 - 0.3 * c[k - 1])
        d[k] = (x[k % 30] - 0.3 * d[k - 1]) / (1.5 - 0.3 * c[k - 1])
    for k in range(n - 2, -1, -1):
        d[k] = d[k] - c[k] * d[k + 1]
    return np.sum(d)


def many_cells(x, n):
    h = np.zeros((21, n))
    h[0] = 0.5 + 0.4 * np.sin(np.linspace(0.0, 9.0, n) * x[0])
    for k in range(20):
        h[k + 1] = h[k] + 0.1 * h[k] * (1.0 - h[k])
    return np.sum(h[-1])


# name -> (function, three sizes)
OF_STEPS = (rows, columns, lorenz, boxes, elements, elements_of_rows, strided_parts, backward_recursion, assembly,
            scattered, lists, stacked, windows, exchanged, measured, in_place_rows, two_trajectories, chosen, borders,
            elimination)
PATTERNS = {f.__name__.replace("_", " "): (f, STEPS) for f in OF_STEPS}
PATTERNS["20 steps, cells"] = many_cells, (20_000, 60_000, 200_000)
