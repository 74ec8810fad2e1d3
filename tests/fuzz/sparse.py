# SPDX-License-Identifier: Apache-2.0
"""Patterns of random programs: whatever has a derivative is in them, and what is compressed is what is dense.

Of a program of many numbers the dense matrix is not made, which takes hundreds of times as long: its product with a
random direction tells as well, since what a pattern lacks is lacking in what is compressed by it.
"""

import numpy as np

import codipy
from tests.fuzz.generator import constants
from tests.fuzz.judge import Finding, attempt, plain_run, quietly

DENSE, CURVED = 60, 300      # numbers, up to which there are dense matrices, and second derivatives


def judge_sparse(program):
    """The first thing that is wrong with a program's sparse derivatives, or None."""
    try:
        plain = plain_run(program, program.inputs)
    except Exception:
        return None
    if not all(np.all(np.isfinite(y)) for y in plain):
        return None
    return attempt(_judge, program)


def _matrix(blocks, rows, columns):
    """Blocks of a Jacobian side by side."""
    flat = [[np.reshape(block, (m, n)) for block, n in zip(row, columns)] for row, m in zip(blocks, rows)]
    return np.block(flat) if flat and columns else np.zeros((sum(rows), sum(columns)))


def _stacked(blocks):
    return np.vstack([np.hstack([block.toarray() for block in row]) for row in blocks])


def _along(blocks, tangents):
    """The product with a direction."""
    return np.concatenate([sum(block @ t.reshape(-1) for block, t in zip(row, tangents)) for row in blocks])


def _flat(results):
    return np.concatenate([np.reshape(y, -1) for y in results])


def _judge(program):
    module = constants(program.source)
    compiled = program.compiled(**module, __name__="program")
    numbers = tuple(range(len(program.inputs)))
    sizes = [x.size for x in program.inputs]

    def f(*args):
        ys = compiled(*args)
        return dict(enumerate(ys if isinstance(ys, tuple) else (ys,)))      # a tuple of numbers would be one leaf

    def inputs():
        return [x.copy() for x in program.inputs]

    def total(*args):
        return sum(np.sum(y * y) for y in f(*args).values())

    if sum(sizes) > DENSE:
        return _judge_along(f, total, inputs, numbers)
    blocks = quietly(codipy.jacobian(f, argnums=numbers), *inputs()).values()
    rows = [int(np.size(block[0]) // max(np.size(program.inputs[0]), 1)) for block in blocks]
    dense = _matrix(blocks, rows, sizes)
    pattern = quietly(lambda: codipy.sparsity(f, *inputs(), argnums=numbers))
    if pattern.shape != dense.shape or (outside := (dense != 0) & ~pattern.toarray()).any():
        return Finding("pattern", f"{pattern!r} lacks {np.argwhere(outside)[:3].tolist()}")
    scale = 1.0 + np.max(np.abs(dense), initial=0.0)
    for mode in ("forward", "reverse"):
        found = _stacked(quietly(codipy.jacobian(f, argnums=numbers, sparsity=pattern, mode=mode), *inputs()).values())
        if not np.allclose(found, dense, rtol=1e-10, atol=1e-11 * scale, equal_nan=True):
            return Finding("compressed", f"{mode}: {found!r}, dense {dense!r}")
    blocks = quietly(codipy.hessian(total, argnums=numbers), *inputs())
    dense = _matrix(blocks, sizes, sizes)
    pattern = quietly(lambda: codipy.hessian_sparsity(total, *inputs(), argnums=numbers))
    scale = 1.0 + np.max(np.abs(dense), initial=0.0)
    if (outside := (np.abs(dense) > 1e-10 * scale) & ~pattern.toarray()).any():
        return Finding("hessian pattern", f"{pattern!r} lacks {np.argwhere(outside)[:3].tolist()}")
    found = _stacked(quietly(codipy.hessian(total, argnums=numbers, sparsity=pattern), *inputs()))
    if not np.allclose(found, dense, rtol=1e-8, atol=1e-9 * scale, equal_nan=True):
        return Finding("compressed hessian", f"{found!r}, dense {dense!r}")
    return None


def _judge_along(f, total, inputs, numbers):
    """What is compressed, by its products with a random direction."""
    rng = np.random.default_rng(len(numbers))
    tangents = [rng.uniform(0.5, 1.5, x.shape) for x in inputs()]
    expected = _flat(quietly(codipy.jvp, f, inputs(), tangents)[1].values())
    pattern = quietly(lambda: codipy.sparsity(f, *inputs(), argnums=numbers))
    scale = 1.0 + np.max(np.abs(expected), initial=0.0)
    for mode in ("forward", "reverse"):
        blocks = quietly(codipy.jacobian(f, argnums=numbers, sparsity=pattern, mode=mode), *inputs())
        found = _along(blocks.values(), tangents)
        if not np.allclose(found, expected, rtol=1e-9, atol=1e-10 * scale, equal_nan=True):
            return Finding("compressed", f"{mode}: {found!r} along the tangents, expected {expected!r}")
    if sum(x.size for x in inputs()) > CURVED:
        return None
    expected = _flat(quietly(codipy.gradient_and_hvp, total, inputs(), tangents)[1])
    pattern = quietly(lambda: codipy.hessian_sparsity(total, *inputs(), argnums=numbers))
    scale = 1.0 + np.max(np.abs(expected), initial=0.0)
    found = _along(quietly(codipy.hessian(total, argnums=numbers, sparsity=pattern), *inputs()), tangents)
    if not np.allclose(found, expected, rtol=1e-8, atol=1e-9 * scale, equal_nan=True):
        return Finding("compressed hessian", f"{found!r} along the tangents, expected {expected!r}")
    return None
