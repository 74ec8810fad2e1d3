# SPDX-License-Identifier: Apache-2.0
"""The catalogue: small functions of floats that together use everything a tape must follow.

A function takes a namespace of math functions (tests/namespaces.py) and floats, and returns a float or a tuple of them.
"""

import math
from dataclasses import dataclass

CATALOGUE = []


@dataclass(frozen=True)
class Case:
    """One function with the points at which it is tested."""

    name: str
    f: object
    points: tuple
    replays: bool  # whether it takes the same path at a point nearby, so that evaluate_primal can follow


def case(*points, replays=True):
    """Put the function into the catalogue."""

    def add(f):
        CATALOGUE.append(Case(f.__name__, f, points, replays))
        return f

    return add


# ---- Values that are used once, twice, by other names, or not at all ----

@case((3.0,), (-0.0,))
def the_input_itself(m, x):
    return x


@case((3.0,))
def constant(m, x):
    return 2.5


@case((3.0, 4.0))
def unused_input(m, x, y):
    return y * y


@case((1.5,))
def increment(m, x):
    x = x + 1
    return x * x


@case((0.7,), (-2.0,))
def used_again(m, x):
    y = x * x + 1.0
    return y * y + m.sin(y)


@case((0.7,))
def other_names(m, x):
    y = x
    z = y
    x = x + y
    return x * y * z


@case((3.0, 4.0))
def worked_example(m, a, b):
    return m.sin(a + b) * m.cos(a - b)


@case((0.3, 1.2))
def dead_ends(m, x, y):
    kept = m.exp(x) * y
    m.sin(kept)
    lost = kept * kept
    del lost
    return kept + m.cos(x * y)


@case((0.3, 1.2))
def several_outputs(m, x, y):
    s = x + y
    return m.sin(s), m.cos(s), s * x


@case((0.3, 1.2))
def one_output_twice(m, x, y):
    z = x * y
    return z, z, x


@case((0.3, 1.2))
def inputs_and_constants_as_outputs(m, x, y):
    return y, 1.0, x * y, x


@case((0.4, 1.3))
def output_used_on(m, x, y):
    first = x * y
    second = m.exp(first)
    return first, second, first + second


@case((0.8,))
def pending_in_a_list(m, x):
    terms = [x * i + 1.0 for i in range(6)]
    m.mark()
    return terms[0] * terms[5] + terms[2] * terms[2]


@case((0.8,))
def memory_by_name(m, x):
    known = {0: x, 1: m.sin(x)}
    for i in range(2, 12):
        known[i] = known[i - 1] * 0.5 + known[i - 2]
    return known[11]


# ---- Passive parts, zeros ----

@case((2.7, 0.4))
def passive_parts(m, x, y):
    scale = math.floor(m.value(x)) * 3.0 + 2.0 * 0.25
    return scale * y + (1.0 + 2.0) * m.sin(x) - scale


@case((2.7, 0.4))
def zero_jacobians(m, x, y):
    return 0.0 * x + y - y + x * x * 0.0 + y


@case((0.0, 0.0))
def zeros(m, x, y):
    return x * y + x * x, m.sin(x) * y


@case((2.7,))
def cancels(m, x):
    y = x - x
    return y * y + (x + 1.0) * (x - x)


@case((2.7, 0.4), (-1.3, 2.0))
def integers_and_reflected(m, x, y):
    return (3 - x) * 2 + 1 / (y + True) - (-x) + +y + abs(x - 5) + 7 % (y + 3.0)


@case((5.3, 2.0), (-1.7, 3.1))
def remainders(m, x, y):
    return x % 2.0 + (x // 2.0 if isinstance(x, float) else math.floor(m.value(x) / 2.0)) * y


@case((1.3, 0.4))
def powers(m, x, y):
    return x**2 + x**3 - x**-1 + x**0.5 + x**y + 2.0**y + x**1 + x**0


@case((1.3, 0.4, -0.2))
def three_arguments(m, x, y, z):
    return m.fma(x, y, z) * m.hypot(x, y * z) + m.fma(x, 2.0, x)


@case((1.3, 0.4), (0.4, 1.3))
def larger_of_two(m, x, y):
    return m.maximum(x * y, y) + m.maximum(x, 0.5)


# ---- Loops, branches, recursion ----

@case((0.5,), (-0.5,), replays=False)
def branch(m, x):
    if m.sin(x) > 0.0:
        return x * x
    return m.exp(x) - x


@case((0.9,))
def chain(m, x):
    for _ in range(60):
        x = m.sin(x) + 0.1
        m.mark()
    return x


@case((0.9, 1.1))
def chain_of_two(m, a, b):
    s = a
    for _ in range(40):
        s = s * a + b * 0.5
    return s


@case((2.0,), (9.0,), replays=False)
def newton(m, x):
    root = 0.5 * x
    while abs(root * root - x) > 1e-9:
        root = root - (root * root - x) / (2.0 * root)
    return root


@case((0.7, 0.3), replays=False)
def kepler(m, anomaly, eccentricity):
    e = anomaly
    for _ in range(50):
        step = (e - eccentricity * m.sin(e) - anomaly) / (1.0 - eccentricity * m.cos(e))
        e = e - step
        if abs(step) < 1e-10:
            break
    return e


@case((1.1,))
def power_by_squaring(m, x):
    def power(base, n):
        if n == 0:
            return 1.0
        half = power(base, n // 2)
        return half * half * base if n % 2 else half * half

    return power(x, 13)


@case((0.2, 1.4), replays=False)
def adaptive_simpson(m, a, b):
    def f(x):
        return m.exp(-x * x) * m.cos(3.0 * x)

    def simpson(a, b, fa, fm, fb, whole, depth):
        c = (a + b) / 2
        d, e = f((a + c) / 2), f((c + b) / 2)
        left, right = (c - a) / 6 * (fa + 4 * d + fm), (b - c) / 6 * (fm + 4 * e + fb)
        if depth == 0 or abs(left + right - whole) < 1e-4:
            return left + right
        return simpson(a, c, fa, d, fm, left, depth - 1) + simpson(c, b, fm, e, fb, right, depth - 1)

    fa, fm, fb = f(a), f((a + b) / 2), f(b)
    return simpson(a, b, fa, fm, fb, (b - a) / 6 * (fa + 4 * fm + fb), 6)


@case((3.0, 1.0, 2.0), (1.0, 1.5, -2.0), replays=False)
def sorting(m, x, y, z):
    low, middle, high = sorted([x * 1.0, y * 1.0, z * 1.0], key=m.value)
    return low + 2.0 * middle + 3.0 * high * high


# ---- Wide statements and long expressions ----

@case(tuple(0.01 * i + 0.5 for i in range(100)))
def sum_of_100(m, *x):
    return sum(x)


@case(tuple(0.01 * i + 0.5 for i in range(20)))
def sum_of_squares(m, *x):
    return m.sqrt(sum(value * value for value in x))


@case(tuple(0.01 * i + 0.9 for i in range(24)))
def one_expression_of_24(m, *x):
    return (
        ((x[0] * x[1] + x[2] * x[3]) * (x[4] + x[5] * x[6]) + (x[7] - x[8]) * (x[9] * x[10] + x[11]))
        * ((x[12] + x[13]) * (x[14] + x[15] * x[16]) - (x[17] * x[18] + x[19] * x[20]) / (x[21] + x[22] * x[23]))
    )


@case((0.3, 0.7))
def long_expression_of_two(m, x, y):
    return m.sin(m.cos(m.sin(m.cos(m.exp(m.sin(x * y + x - y) * y) + x) * y) - x) + y) * m.exp(-x * m.sin(y + m.cos(x)))


@case((0.4,))
def deep_expression(m, x):
    s = m.sin
    for _ in range(4):
        x = s(s(s(s(s(s(s(s(s(s(s(s(s(s(s(x)))))))))))))))
        x = s(s(s(s(s(s(s(s(s(s(s(s(s(s(s(s(s(s(s(s(s(s(s(s(s(s(x)))))))))))))))))))))))))) * 2.0
    return x


@case((0.9, 1.1))
def product_of_40(m, x, y):
    result = x
    for i in range(40):
        result *= y if i % 3 else x
    return result


@case(tuple(0.01 * i + 0.5 for i in range(20)))
def handmade_of_20(m, *x):
    return m.sin(m.weighted(x, [0.1 * i for i in range(20)])) * x[3]


@case((0.3, 0.4), (1.0, 0.0))
def handmade_of_600(m, x, y):
    z = m.sin(x) + y
    return m.weighted([x, y, z] * 200, [0.001 * (i % 7) for i in range(600)]) * z


@case((0.3, 0.4))
def handmade_of_few(m, x, y):
    both = m.weighted([x * y, 2.0, x], [3.0, 1.0, 0.0])
    m.mark()
    return both + m.weighted([both], [0.5]) * y


# ---- Lists, linear algebra, time steps ----

@case(tuple(0.1 * i + 0.2 for i in range(8)))
def dot_product(m, *x):
    return sum(a * b for a, b in zip(x[:4], x[4:], strict=True))


@case((-1.2, 1.0, 0.4, -0.3, 0.9, 1.7))
def rosenbrock(m, *x):
    return sum(100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2 for i in range(len(x) - 1))


@case(tuple(1.0 + 0.37 * ((7 * i) % 11) for i in range(12)))
def linear_solve(m, *x):
    n = 3
    a = [[x[n * i + j] + (4.0 if i == j else 0.0) for j in range(n)] for i in range(n)]
    b = list(x[n * n :])
    for k in range(n):
        m.mark()
        for i in range(k + 1, n):
            factor = a[i][k] / a[k][k]
            for j in range(k, n):
                a[i][j] = a[i][j] - factor * a[k][j]
            b[i] = b[i] - factor * b[k]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            b[i] -= a[i][j] * b[j]
        b[i] /= a[i][i]
    return tuple(b)


@case((0.3, 0.1, 0.7, 0.2))
def heat_in_place(m, *x):
    u = [*x, 0.0, 1.0]
    for _ in range(6):
        m.mark()
        for i in range(1, len(u) - 1):
            u[i] = u[i] + 0.25 * (u[i - 1] - 2.0 * u[i] + u[i + 1])
    return u[1], u[-2]


@case((1.0, 0.5))
def fibonacci_swap(m, x, y):
    for _ in range(15):
        x, y = y, x + y * 0.5
        m.mark()
    return x * y


@case((0.31, 3.7))
def logistic_map(m, x, rate):
    for _ in range(25):
        x = rate * x * (1.0 - x)
    return x


@case((1.0, 0.5, 0.6, 0.4))
def lotka_volterra(m, hare, lynx, growth, hunger):
    for _ in range(12):
        m.mark()
        meet = hare * lynx
        hare, lynx = hare + 0.1 * (growth * hare - meet), lynx + 0.1 * (meet - hunger * lynx)
    return hare, lynx


@case((100.0, 0.2, 0.03))
def black_scholes(m, price, volatility, rate):
    strike, time = 95.0, 0.75
    spread = volatility * m.sqrt(time)
    d1 = (m.log(price / strike) + (rate + volatility**2 / 2) * time) / spread
    d2 = d1 - spread
    normal = [0.5 * (1.0 + m.erf(d / math.sqrt(2.0))) for d in (d1, d2)]
    return price * normal[0] - strike * m.exp(-rate * time) * normal[1]


@case((0.6, 0.2))
def early_deaths(m, x, y):
    total = 0.0
    for i in range(20):
        a = m.sin(x * i)
        b = m.cos(y + a)
        a = a * b
        total = total + a / (2.0 + b)
        del b
    return total


@case((0.6,))
def closures(m, x):
    def scaled(factor):
        product = factor * x
        return lambda y: m.tanh(product * y) + product

    first, second = scaled(2.0), scaled(x)
    return first(second(x)) + second(0.5) * m.atan(x) + m.tan(x)
