# SPDX-License-Identifier: Apache-2.0
"""Functions in which something is wrong, each with its line marked, for the tests of `codipy.debug`."""

import numpy as np

import codipy


def log_of_negative(p):
    shifted = p - 2.0
    scaled = np.exp(p) * shifted
    logs = np.log(scaled)  # value
    return logs.sum()


log_of_negative.x0 = np.array([3.0, 2.5, 1.0])


def helped(x):
    shifted = x - 5.0
    return shifted


def after_a_call(x):
    big = [helped(k * x) for k in (1.0, 2.0)]
    return sum(big) * np.log(helped(x) * 1.0)  # value


after_a_call.x0 = 2.0


def inside_of_a_generator(x):
    def terms():
        for k in range(3):
            yield np.sqrt(x - k)  # value

    return sum(term * 2.0 for term in terms())


inside_of_a_generator.x0 = 1.5


class Model:
    """A method."""

    def __init__(self, rate=np.inf):
        self.rate = rate

    def run(self, x):
        return (lambda y: y * self.rate)(x) + 1.0  # value


model_run = Model().run


def scalar_overflow(x):
    y = x
    for _ in range(4):
        y = y * y  # value
    return y + 1.0


scalar_overflow.x0 = 1e50


def root_of_zero(p):
    total = p[0] * p[0]
    distance = np.sqrt(total - p[0] * p[0])  # adjoint
    return distance + p[1]


root_of_zero.x0 = np.array([1.0, 2.0])


def power_of_array(p):
    return (p**0.5).sum()  # adjoint


power_of_array.x0 = np.array([1.0, 0.0, 4.0])


def some_unread(p):
    q = np.zeros(4)
    q[1:] = p[1:]
    q = q * 2.0
    return q[:3].sum()


some_unread.x0 = np.array([1.0, 2.0, 3.0, 4.0])


def constant_output(x):
    return x * 2.0, 7.0


constant_output.x0 = 1.0


def plain_factor(p):
    factor = codipy.value(p[0])  # plain
    return (p * factor).sum()


plain_factor.x0 = np.array([1.5, 2.0])


def plain_array(p):
    weights = codipy.value(p)  # plain
    return (p * weights).sum()


plain_array.x0 = np.array([1.5, 2.0])


def plain_twice_removed(p):
    table = [0.0, 0.0]
    table[0] = codipy.value(p[0]) ** 2 + 1.0  # plain
    return p[1] * table[0]


plain_twice_removed.x0 = np.array([1.5, 2.0])


def plain_but_harmless(p):
    if codipy.value(p[0]) > 0.0:
        print(codipy.value(p[1]), end="")
    scale = codipy.value(np.abs(p)).max()
    return ((p / scale) ** 2.0).sum() * scale**2.0


plain_but_harmless.x0 = np.array([1.5, 2.0])


def shifted_exponentials(p):
    largest = codipy.value(p).max()
    return np.log(np.exp(p - largest).sum()) + largest


shifted_exponentials.x0 = np.array([1.05, 2.8, -0.42, 2.79, 0.25])


def written(p):
    first = p[0] * 1.0
    p[0] = 5.0  # overwritten
    return first + p[1] * p[0]


written.x0 = np.array([1.5, 2.0])


def cancelling(x):
    large = x * 1e10  # one of its terms
    return large - x * 9999999999.0


cancelling.x0 = 2.0


def cancelling_inside(x):
    y = x * x
    return y * 1e10 - y * 9999999999.0


def square_root(a):
    x = 1.0
    for _ in range(8):
        x = x - (x * x - a) / (2.0 * x)
    return x


def healthy(p):
    u = np.sin(p) * p
    for _ in range(3):
        u = u + 0.1 * np.roll(u, 1) * u
    return (u * u).sum() + np.exp(-p[0]) + p[-1] ** 2


healthy.x0 = np.array([0.5, 1.0, 2.0])
