# SPDX-License-Identifier: Apache-2.0
"""What does one NumPy function cost on a large array, in plain calls of it?

Plain: a program of `operations` on ndarrays. Gradient: `codipy.value_and_grad` of it. Both as slopes: 20 uses.
"""
from functools import partial

from bench_arrays import keep_freed_memory
from slopes import measure

# name: title, target
WORK = {
    "add-at": ("np.add.at of 200,000 into 1000", 4.0),
    "clip-large": ("np.clip, 100,000", 3.0),
    "interp-large": ("np.interp, 100,000 in 200 knots", 3.0),
    "diff-append": ("np.append(np.diff(u), u[0]), 100,000", 4.0),
    "roll-large": ("np.roll, 100,000", 3.0),
    "where-large": ("np.where(mask, u, 0.5 * u), 100,000", 3.0),
    "pad": ("np.pad, 100,000", 3.0),
    "concatenate-large": ("np.concatenate, 100,000", 3.0),
    "fancy-index": ("u[I], 100,000", 3.0),
    "einsum-three": ("np.einsum of three operands, 60 x 60", 3.0),
    "maximum-large": ("u.max(), 100,000", 3.0),
}


def one(name):
    """Gradient over plain run of one use of an operation."""
    import operations

    keep_freed_memory()
    title, target = WORK[name]
    program, x = operations.large(name)
    return measure(name, title, program, x, 20, target)


QUESTIONS = {name: partial(one, name) for name in WORK}
