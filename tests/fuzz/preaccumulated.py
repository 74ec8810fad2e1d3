# SPDX-License-Identifier: Apache-2.0
"""Random programs that leave nothing but a Jacobian on the tape: the gradient is that of the steps."""

import numpy as np

import codipy
from tests.fuzz.generator import constants
from tests.fuzz.judge import Finding, attempt, plain_run, quietly


def judge_preaccumulated(program, variants):
    """The first difference between a program that is preaccumulated in a larger one and its steps, or None."""
    try:
        plain = plain_run(program, program.inputs)
    except Exception:
        return None
    if not all(np.all(np.isfinite(y)) for y in plain):
        return None
    return attempt(_judge, program, variants)


def _weighted(y):
    """A number of an array, to which each element adds another share."""
    return np.sum(y * np.cos(np.arange(np.size(y), dtype=float)).reshape(np.shape(y)))


def _judge(program, variants):
    f = program.compiled(**constants(program.source), __name__="program")
    inputs, numbers = [x.copy() for x in program.inputs], tuple(range(len(program.inputs)))

    def total(f, *args):
        """Two calls: of inputs, by way of expressions that wait, and of computed arrays that others read as well."""
        scaled = [np.sin(x) + x * 0.5 for x in args]
        first, second = (f(*[np.asarray(x + 0.0) for x in given]) for given in (args, scaled))
        parts = [y for ys in (first, second) for y in (ys if isinstance(ys, tuple) else (ys,))]
        return sum(map(_weighted, parts)) + sum(np.sum(x * x) for x in scaled)

    try:
        quietly(total, f, *inputs)
    except Exception:
        return None  # at the second point the program is another one: a mask has other elements
    part = codipy.preaccumulate(f)
    by = tuple(number + 1 for number in numbers)
    for variant in variants:
        drive = codipy.value_and_grad(total, argnums=by, strategy=variant[0], granularity=variant[1])
        value, expected = quietly(drive, f, *inputs)
        if not np.isfinite(value) or not all(np.all(np.isfinite(g)) for g in expected):
            return None
        here, gradients = quietly(drive, part, *inputs)
        if here != value:
            return Finding("value", f"{variant}: {here!r}, by its steps {value!r}")
        scale = 1.0 + max(float(np.max(np.abs(g), initial=0.0)) for g in expected)
        for k, (x, y) in enumerate(zip(gradients, expected)):
            if not np.allclose(x, y, rtol=1e-9, atol=1e-9 * scale):
                return Finding("gradient", f"{variant}: by x{k} {x!r}, by its steps {y!r}, {part.last}")
    return None
