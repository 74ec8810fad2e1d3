# SPDX-License-Identifier: Apache-2.0
"""What does a gradient cost, in plain runs of the same function on floats?

Plain: the function on floats with `math`. Gradient: `codipy.value_and_grad`, which records on a tape that is used
again, sweeps and reads all inputs.
"""
import math
import random
from functools import partial

import chains
import models
from timing import Figure, in_turns, ratio


def linear_system(n=30):
    """A well-conditioned matrix, row after row, and its right-hand side."""
    generator = random.Random(2)
    return [generator.gauss(0.0, 1.0) for _ in range(n * n + n)]


# name: function of (x, m), point, target
WORK = {
    "lorenz": (models.lorenz, [1.0, 1.0, 20.0, 10.0, 28.0, 8.0 / 3.0], 2.0),
    "rosenbrock": (models.rosenbrock, [-1.2 + 0.0021 * i for i in range(1000)], 2.5),
    "lu": (models.lu_solve, linear_system(), 3.5),
    "libor": (partial(models.libor, normals=models.NORMALS), [0.05] * 80, 3.5),
    "black-scholes": (partial(models.black_scholes, contracts=models.CONTRACTS), [100.0, 0.03, 0.2], 3.5),
    "kepler": (partial(models.kepler, times=models.TIMES), [1.0, 0.6], 3.5),
    "simpson": (chains.simpson, [1.0, 0.4, 6.0], 3.5),
    "chain-sin": (chains.sin_chain, [1.0], 2.5),
    "chain-product": (chains.product_chain, [1.0, 0.999, 0.001], 3.0),
    "chain-passive": (chains.passive_chain, [1.0], 3.0),
}
TITLES = {
    "lorenz": "Lorenz, RK4, 2000 steps, six inputs: gradient / plain run",
    "rosenbrock": "Rosenbrock, n=1000: gradient / plain run",
    "lu": "LU solve 30x30, 930 inputs: gradient / plain run",
    "libor": "LIBOR swaption path, 80 rates, 40 steps: gradient / plain run",
    "black-scholes": "Black-Scholes x 1000: gradient / plain run",
    "kepler": "Newton for Kepler x 1000: gradient / plain run",
    "simpson": "recursive adaptive Simpson: gradient / plain run",
    "chain-sin": "chain s = sin(s), 1e5: gradient / plain run",
    "chain-product": "chain s = s*a + b, 2e5: gradient / plain run",
    "chain-passive": "chain s = s*a + b, passive a and b, 2e5: gradient / plain run",
}


def measure(name, repeats=15):
    """The figure of one function."""
    import codipy
    import codipy.math

    function, x, target = WORK[name]
    active = partial(function, m=codipy.math)
    check(function(list(x), math), *(codipy.value_and_grad(active, strategy=s)(x) for s in ("auto", "primal")))
    driver = codipy.value_and_grad(active)
    plain, times = in_turns([lambda: function(list(x), math), lambda: driver(x)], repeats)
    reached, detail = ratio(times, plain)
    return Figure(TITLES[name], reached, target, detail=detail, question=name)


def check(plain, mine, other):
    """The recorded value is the plain one, bit for bit, and the gradient that of a second strategy."""
    if mine[0] != plain:
        raise AssertionError(f"recorded value {mine[0]!r}, plain value {plain!r}")
    scale = max(map(abs, other[1]))
    if not all(abs(a - b) <= 1e-9 * scale for a, b in zip(mine[1], other[1])):
        raise AssertionError("gradients of two strategies differ")


QUESTIONS = {name: partial(measure, name) for name in WORK}
