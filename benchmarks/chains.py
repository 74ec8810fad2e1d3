# SPDX-License-Identifier: Apache-2.0
"""More functions that are differentiated: an adaptive quadrature, long chains, a step of Burgers' equation."""
import random


def simpson(x, m, tolerance=1e-9):
    """Recursive adaptive Simpson of a damped wave on [0, 3]; amplitude, decay and frequency are the inputs."""
    amplitude, decay, frequency = x
    sin, exp = m.sin, m.exp

    def wave(t):
        return amplitude * exp(-decay * t) * sin(frequency * t)

    def refine(left, right, f_left, f_middle, f_right, whole, tolerance):
        middle = 0.5 * (left + right)
        f_1, f_3 = wave(0.5 * (left + middle)), wave(0.5 * (middle + right))
        first = (middle - left) / 6.0 * (f_left + 4.0 * f_1 + f_middle)
        second = (right - middle) / 6.0 * (f_middle + 4.0 * f_3 + f_right)
        error = first + second - whole
        if abs(error) <= 15.0 * tolerance:
            return first + second + error / 15.0
        return (refine(left, middle, f_left, f_1, f_middle, first, 0.5 * tolerance)
                + refine(middle, right, f_middle, f_3, f_right, second, 0.5 * tolerance))

    ends = wave(0.0), wave(1.5), wave(3.0)
    return refine(0.0, 3.0, *ends, 0.5 * (ends[0] + 4.0 * ends[1] + ends[2]), tolerance)


def sin_chain(x, m, length=100_000):
    """s = sin(s), again and again."""
    s, sin = x[0], m.sin
    for _ in range(length):
        s = sin(s)
    return s


def product_chain(x, m, length=200_000):
    """s = s*a + b with active a and b."""
    s, a, b = x
    for _ in range(length):
        s = s * a + b
    return s


def passive_chain(x, m, length=200_000):
    """The same with passive constants."""
    s, a, b = x[0], 0.999, 0.001
    for _ in range(length):
        s = s * a + b
    return s


def short_statements(x, m, length=1_000_000):
    """Statements of one and two arguments in turn, each needing the one before: a sweep waits for every load."""
    s, a = x
    sin = m.sin
    for _ in range(length // 2):
        s = sin(s)
        s = s * a
    return s


def burgers(x, m, cells=100, steps=52, courant=0.1, diffusion=0.05):
    """Coupled Burgers' equation in two dimensions, upwind and explicit, in scalar loops.

    Twelve arguments in each of the two statements of a cell; x are both fields, row after row.
    """
    n, inner = cells, range(1, cells - 1)
    u = [x[i * n:(i + 1) * n] for i in range(n)]
    v = [x[(n + i) * n:(n + i + 1) * n] for i in range(n)]
    for _ in range(steps):
        new_u, new_v = [list(row) for row in u], [list(row) for row in v]
        for i in inner:
            for j in inner:
                a, b = u[i][j], v[i][j]
                new_u[i][j] = (a - courant * (a * (a - u[i][j - 1]) + b * (a - u[i - 1][j]))
                               + diffusion * (u[i][j + 1] + u[i][j - 1] + u[i + 1][j] + u[i - 1][j] - 4.0 * a))
                new_v[i][j] = (b - courant * (a * (b - v[i][j - 1]) + b * (b - v[i - 1][j]))
                               + diffusion * (v[i][j + 1] + v[i][j - 1] + v[i + 1][j] + v[i - 1][j] - 4.0 * b))
        u, v = new_u, new_v
    total = 0.0
    for row in u + v:
        for value in row:
            total = total + value * value
    return total


def burgers_start(cells=100):
    """Both fields at the beginning."""
    generator = random.Random(3)
    return [0.5 + 0.2 * generator.random() for _ in range(2 * cells * cells)]
