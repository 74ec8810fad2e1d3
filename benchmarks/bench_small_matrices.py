# SPDX-License-Identifier: Apache-2.0
"""What does one NumPy function cost on a matrix of 4 x 4, in plain calls of it?

Plain: a program of `operations` on ndarrays. Gradient: `codipy.value_and_grad` of it. Both as slopes: 100 uses.
"""
from functools import partial

from slopes import measure

TARGETS = {"rotation": 4.0, "kalman": 6.0, "logaddexp-reduce": 6.0}
NAMES = ("einsum", "trace", "sort", "interp", "norm", "dot-of-rows", "product", "product-plain", "det", "concatenate",
         "stack", "diag", "where", "clip", "maximum", "maximum-rows", "solve", "inv", "cholesky", "matrix-power",
         "prod", "cumsum", "outer", "roll", "take", "median", "slogdet", "logaddexp-reduce", "rotation", "kalman")


def one(name):
    """Gradient over plain run of one use of an operation."""
    import operations

    program, x = operations.small(name)
    return measure(f"small-{name}", f"{name}, 4 x 4", program, x, 100, TARGETS.get(name, 8.0))


QUESTIONS = {f"small-{name}": partial(one, name) for name in NAMES}
