# SPDX-License-Identifier: Apache-2.0
"""Matrices that scipy.linalg builds of the elements of others: they are moved, and nothing is computed."""

import numpy as np
import scipy.linalg

from codipy.numpy import allocation
from codipy.numpy.arguments import refuse
from codipy.scipy.calls import of_active

__all__ = ["FUNCTIONS"]


def _vector(name, x):
    x = allocation.asarray(x)
    if x.ndim != 1:
        refuse(f"scipy.linalg.{name}", f"of active values it takes vectors, not an array of shape {x.shape}")
    return x


@of_active(scipy.linalg.toeplitz)
def toeplitz(c, r=None):
    """Of active vectors."""
    c = _vector("toeplitz", c)
    r = _vector("toeplitz", r) if r is not None else np.conjugate(c) if np.iscomplexobj(c) else c
    places = np.arange(len(c))[:, None] - np.arange(len(r)) + len(r) - 1
    return np.concatenate([r[:0:-1], c])[places]


@of_active(scipy.linalg.hankel)
def hankel(c, r=None):
    """Of active vectors."""
    c = _vector("hankel", c)
    r = np.zeros(len(c)) if r is None else _vector("hankel", r)
    return np.concatenate([c, r[1:]])[np.arange(len(c))[:, None] + np.arange(len(r))]


@of_active(scipy.linalg.circulant)
def circulant(c):
    """Of an active vector."""
    c = _vector("circulant", c)
    return c[(np.arange(len(c))[:, None] - np.arange(len(c))) % len(c)]


@of_active(scipy.linalg.block_diag)
def block_diag(*arrs):
    """Of active matrices."""
    blocks = [np.atleast_2d(allocation.asarray(block)) for block in arrs]
    for block in blocks:
        if block.ndim != 2:
            shape = block.shape
            refuse("scipy.linalg.block_diag", f"of active values it takes matrices, not an array of shape {shape}")
    width, done, rows = sum(block.shape[1] for block in blocks), 0, []
    for block in blocks:
        height, columns = block.shape
        left, right = np.zeros((height, done)), np.zeros((height, width - done - columns))
        rows.append(np.concatenate([left, block, right], axis=1))
        done += columns
    return np.concatenate(rows)


@of_active(scipy.linalg.khatri_rao)
def khatri_rao(a, b):
    """Of active matrices."""
    a, b = allocation.asarray(a), allocation.asarray(b)
    if a.ndim != 2 or b.ndim != 2:
        refuse("scipy.linalg.khatri_rao", "of active values it takes two matrices")
    return (a[:, None, :] * b[None, :, :]).reshape(-1, a.shape[1])


@of_active(scipy.linalg.companion)
def companion(a):
    """Of an active vector."""
    a = _vector("companion", a)
    if len(a) < 2:
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    first = -a[1:] / (1.0 * a[0])
    return np.concatenate([first[None, :], np.eye(len(a) - 1)[:-1]])


FUNCTIONS = {function.__name__: function
             for function in (toeplitz, hankel, circulant, block_diag, khatri_rao, companion)}  # fmt: skip
