# SPDX-License-Identifier: Apache-2.0
"""Second derivatives of random programs: swept, forward and reverse over reverse, and differences of gradients.

The oracle is a first derivative, which `tests.fuzz.judge` compares with complex steps of the plain run.
"""

import contextlib

import numpy as np

import codipy
from codipy.tools.derivatives import curvature
from tests.fuzz.generator import constants
from tests.fuzz.judge import Finding, attempt, plain_run, quietly
from tests.nested.once import set_twice

STEPS = 1e-4, 3e-5


def judge_second(program):
    """The first thing that is wrong with a program's second derivatives, or None."""
    try:
        plain = plain_run(program, program.inputs)
    except Exception:
        return None
    if not all(np.all(np.isfinite(y)) for y in plain):
        return None
    rng = np.random.default_rng(len(plain))
    seeds = [rng.uniform(0.5, 1.5, y.shape) for y in plain]
    tangents = [rng.uniform(-1.0, 1.0, x.shape) for x in program.inputs]
    return attempt(_judge, program, seeds, tangents)


def _judge(program, seeds, tangents):
    module = constants(program.source)
    f = program.compiled(**module, __name__="program")
    inputs, numbers = [x.copy() for x in program.inputs], tuple(range(len(program.inputs)))

    def total(*args):
        ys = f(*args)
        return sum(np.sum(y * seed) for y, seed in zip(ys if isinstance(ys, tuple) else (ys,), seeds))

    gradient = codipy.grad(total, argnums=numbers)

    def along(*args):
        return sum(np.sum(g * t) for g, t in zip(gradient(*args), tangents))

    try:
        expected = [_difference(gradient, inputs, tangents, h) for h in STEPS]
    except Exception:
        return None  # beside this point the program is another one: a mask has other elements
    scale = 1.0 + max(float(np.max(np.abs(g), initial=0.0)) for g in quietly(gradient, *inputs))
    value, forward = quietly(codipy.jvp, gradient, tuple(inputs), tuple(tangents))
    for x, y in zip(value, quietly(gradient, *inputs)):
        if not np.allclose(x, y, rtol=1e-10, atol=1e-10 * scale, equal_nan=True):
            return Finding("gradient", f"inside of jvp the gradient is {x!r}, by itself {y!r}")
    with swept_once():
        first, swept = quietly(codipy.gradient_and_hvp, total, tuple(inputs), tuple(tangents))
    for x, y in zip(value, first):
        if not np.allclose(x, y, rtol=1e-10, atol=1e-10 * scale, equal_nan=True):
            return Finding("gradient", f"inside of jvp the gradient is {x!r}, before a product {y!r}")
    reverse = quietly(codipy.grad(along, argnums=numbers), *inputs)
    lent = quietly(codipy.grad(lambda *args: _slope(total, args, tangents), argnums=numbers), *inputs)
    scale += max(float(np.max(np.abs(g), initial=0.0)) for g in forward)
    for k, (x, y) in enumerate(zip(swept, forward)):
        if not np.allclose(x, y, rtol=1e-8, atol=1e-8 * scale, equal_nan=True):
            return Finding("swept", f"by x{k}: swept {x!r}, forward over reverse {y!r}")
    for k, (x, y) in enumerate(zip(forward, reverse)):
        if not np.allclose(x, y, rtol=1e-8, atol=1e-8 * scale, equal_nan=True):
            return Finding("second", f"by x{k}: forward over reverse {x!r}, reverse over reverse {y!r}")
    for k, (x, y) in enumerate(zip(lent, reverse)):
        if not np.allclose(x, y, rtol=1e-8, atol=1e-8 * scale, equal_nan=True):
            return Finding("lent", f"by x{k}: as variables of the outer function {x!r}, as arguments {y!r}")
    for k, (x, *near) in enumerate(zip(forward, *expected)):
        smooth = np.allclose(near[0], near[1], rtol=1e-4, atol=1e-5 * scale)
        if smooth and not np.allclose(x, near[1], rtol=1e-3, atol=1e-4 * scale):
            return Finding("second", f"by x{k}: {x!r}, expected {near[1]!r}")
    return None


@contextlib.contextmanager
def swept_once():
    """Fails where a recording is not swept, or sets an identifier twice."""
    has_second = curvature.has_second

    def known(tape):
        assert has_second(tape), "no sweep of second order"
        assert not set_twice(tape), "an identifier is set twice"
        return True

    curvature.has_second = known
    try:
        yield
    finally:
        curvature.has_second = has_second


def _slope(total, args, tangents):
    """The derivative along the tangents by an inner gradient, to which what it is taken at is lent, in two forms."""
    given = []
    for k, x in enumerate(args):
        y = x * 1.0  # it waits
        if k % 2 and x.size > 1:
            y.reshape(-1)[0] = x.reshape(-1)[0]  # identifiers of its own
        given.append(y)
    return codipy.grad(lambda t: total(*[np.asarray(y + t * v) for y, v in zip(given, tangents)]))(0.0)


def _difference(gradient, inputs, tangents, h):
    """The gradient's derivative along the tangents, by central differences of fourth order."""
    at = {k: quietly(gradient, *[np.asarray(x + k * h * t) for x, t in zip(inputs, tangents)]) for k in (-2, -1, 1, 2)}
    return [(8.0 * (b - a) - (d - c)) / (12.0 * h) for a, b, c, d in zip(at[-1], at[1], at[-2], at[2])]


