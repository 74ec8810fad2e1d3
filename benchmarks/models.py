# SPDX-License-Identifier: Apache-2.0
"""The functions that are differentiated: plain Python loops; `m` is `math` or, for active values, `codipy.math`."""
import random


def lorenz(x, m, steps=2000, h=0.005):
    """Lorenz's equations by RK4: three initial values, three parameters."""
    a, b, c, sigma, rho, beta = x
    half, sixth = 0.5 * h, h / 6.0

    def rates(a, b, c):
        return sigma * (b - a), a * (rho - c) - b, a * b - beta * c

    for _ in range(steps):
        a1, b1, c1 = rates(a, b, c)
        a2, b2, c2 = rates(a + half * a1, b + half * b1, c + half * c1)
        a3, b3, c3 = rates(a + half * a2, b + half * b2, c + half * c2)
        a4, b4, c4 = rates(a + h * a3, b + h * b3, c + h * c3)
        a = a + sixth * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        b = b + sixth * (b1 + 2.0 * b2 + 2.0 * b3 + b4)
        c = c + sixth * (c1 + 2.0 * c2 + 2.0 * c3 + c4)
    return a + b + c


def rosenbrock(x, m):
    """The banana valley, any number of inputs."""
    total = 0.0
    for i in range(len(x) - 1):
        a = x[i + 1] - x[i] * x[i]
        b = 1.0 - x[i]
        total = total + 100.0 * a * a + b * b
    return total


def lu_solve(x, m, n=30):
    """Solve a dense system by LU with partial pivoting; inputs are the matrix and the right-hand side."""
    matrix = [x[i * n:(i + 1) * n] for i in range(n)]
    right = x[n * n:]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(matrix[i][k]))
        matrix[k], matrix[pivot] = matrix[pivot], matrix[k]
        right[k], right[pivot] = right[pivot], right[k]
        top = matrix[k]
        for i in range(k + 1, n):
            row = matrix[i]
            factor = row[k] / top[k]
            for j in range(k + 1, n):
                row[j] = row[j] - factor * top[j]
            right[i] = right[i] - factor * right[k]
    for i in range(n - 1, -1, -1):
        row, rest = matrix[i], right[i]
        for j in range(i + 1, n):
            rest = rest - row[j] * right[j]
        right[i] = rest / row[i]
    total = 0.0
    for value in right:
        total = total + value * value
    return total


def libor(x, m, normals, steps=40, period=0.25, volatility=0.2, strike=0.045):
    """Discounted payoff of swaptions on one LIBOR path: forward rates moved through `steps` periods."""
    rates, exp = list(x), m.exp
    for n in range(steps):
        shock, drift = period ** 0.5 * normals[n], 0.0
        for i in range(n + 1, len(rates)):
            weight = period * volatility
            drift = drift + weight * rates[i] / (1.0 + period * rates[i])
            rates[i] = rates[i] * exp(weight * drift + volatility * (shock - 0.5 * weight))
    bond, annuity, payoff = 1.0, 0.0, 0.0
    for i in range(steps, len(rates)):
        bond = bond / (1.0 + period * rates[i])
        annuity = annuity + period * bond
        loss = 1.0 - bond - strike * annuity
        if i % 4 == 3 and loss > 0.0:
            payoff = payoff + 100.0 * loss
    for n in range(steps):
        payoff = payoff / (1.0 + period * rates[n])
    return payoff


def black_scholes(x, m, contracts):
    """A book of calls on one stock: spot, rate and volatility are the inputs."""
    spot, rate, volatility = x
    log, sqrt, exp, erfc = m.log, m.sqrt, m.exp, m.erfc
    total = 0.0
    for strike, maturity in contracts:
        spread = volatility * sqrt(maturity)
        d1 = (log(spot / strike) + (rate + 0.5 * volatility * volatility) * maturity) / spread
        d2 = d1 - spread
        total = total + 0.5 * (spot * erfc(-0.7071067811865476 * d1)
                               - strike * exp(-rate * maturity) * erfc(-0.7071067811865476 * d2))
    return total


def kepler(x, m, times):
    """Sum of eccentric anomalies by Newton's iteration; mean motion and eccentricity are the inputs."""
    motion, eccentricity = x
    sin, cos = m.sin, m.cos
    total = 0.0
    for t in times:
        mean = motion * t
        angle = mean + eccentricity * sin(mean)
        for _ in range(50):
            step = (angle - eccentricity * sin(angle) - mean) / (1.0 - eccentricity * cos(angle))
            angle = angle - step
            if abs(step) < 1e-12:
                break
        total = total + angle
    return total


NORMALS = [random.Random(1).gauss(0.0, 1.0) for _ in range(40)]
CONTRACTS = [(60.0 + 0.08 * k, 0.1 + 0.002 * k) for k in range(1000)]
TIMES = [0.003 * k for k in range(1, 1001)]
