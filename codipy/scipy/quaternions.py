# SPDX-License-Identifier: Apache-2.0
"""Formulas between unit quaternions (x, y, z, w) and what else stands for a rotation, in NumPy's functions.

They have derivatives of any order, also where an angle is 0. Signs of a quaternion are left open: `aligned` takes that
which SciPy has. Sources: M. D. Shuster, "A survey of attitude representations", 1993; E. Bernardes, S. Viollet,
"Quaternion to Euler angles conversion", 2022.
"""

from __future__ import annotations

import numpy as np

from codipy.active.array import plain as value_of
from codipy.active.messages.callers import refusal
from codipy.errors import UndifferentiableError
from codipy.numpy.decisions import decision, keep

__all__ = [
    "JUMPED", "OPPOSITE", "aligned", "composed", "from_euler", "from_matrix", "from_mrp", "from_rotvec", "magnitude",
    "mean", "normalised", "to_euler", "to_matrix", "to_mrp", "to_rotvec",
]  # fmt: skip

_SMALL = 1e-3  # of a squared length
_IS_SMALL = decision("scipy.spatial.transform small angles", lambda square: square < _SMALL)
_IS_ZERO = decision("scipy.spatial.transform angles of 0", lambda square: square == 0.0)
_IS_NEGATIVE = decision("scipy.spatial.transform negative scalars", lambda w: w < 0.0)
_STEPS = 12    # of Newton's iteration for the nearest rotation, which is quadratic


def _join(v, w):
    return np.concatenate([v, w[..., None]], axis=-1)


def aligned(q, exact):
    """The quaternions with the signs of those that SciPy has found."""
    return q * np.where(np.sum(value_of(q) * exact, axis=-1) < 0.0, -1.0, 1.0)[..., None]


def _opposite(q, exact):
    return np.sum(q * exact, axis=-1) < 0.0


def _jumped(angles, exact):
    apart = angles - exact
    return np.abs(apart - 2 * np.pi * np.round(apart / (2 * np.pi))) > 1e-6


_LARGEST = decision("scipy.spatial.transform largest elements", lambda parts: np.argmax(parts, axis=-1))
OPPOSITE = decision("scipy.spatial.transform quaternions of the other sign", _opposite)
JUMPED = decision("scipy.spatial.transform gimbal locks", _jumped)


def normalised(q):
    """Of length 1."""
    return q / np.sqrt(np.sum(q * q, axis=-1))[..., None]


def _where_small(square, series, formula):
    """By a series where a squared length is small; the formula sees no 0."""
    keep(_IS_SMALL, (square,))
    is_small = value_of(square) < _SMALL
    return np.where(is_small, series(square), formula(np.sqrt(np.where(is_small, 1.0, square))))


def from_rotvec(v):
    """Of rotation vectors."""
    square = np.sum(v * v, axis=-1)
    scale = _where_small(square, lambda s: 0.5 - s / 48 + s**2 / 3840 - s**3 / 645120 + s**4 / 185794560,
                         lambda a: np.sin(a / 2) / a)  # fmt: skip
    cosine = _where_small(square, lambda s: 1 - s / 8 + s**2 / 384 - s**3 / 46080 + s**4 / 10321920,
                          lambda a: np.cos(a / 2))  # fmt: skip
    return _join(v * scale[..., None], cosine)


def _half(q):
    """The vector and the number of the quaternion whose number is not negative."""
    keep(_IS_NEGATIVE, (q[..., 3],))
    q = q * np.where(value_of(q)[..., 3] < 0.0, -1.0, 1.0)[..., None]
    return q[..., :3], q[..., 3]


def to_rotvec(q):
    """Rotation vectors, of at most pi."""
    v, w = _half(q)
    square = np.sum(v * v, axis=-1)
    is_small = value_of(square) < _SMALL
    scale = _where_small(square, lambda s: 2 + s / 3 + 3 * s**2 / 20 + 5 * s**3 / 56 + 35 * s**4 / 576
                         + 63 * s**5 / 1408, lambda n: 2 * np.arctan2(n, np.where(is_small, 1.0, w)) / n)  # fmt: skip
    return v * scale[..., None]


def magnitude(q):
    """Angles from 0 to pi; at 0 the slope is 0."""
    v, w = _half(q)
    square = np.sum(v * v, axis=-1)
    keep(_IS_ZERO, (square,))
    is_zero = value_of(square) == 0.0
    return np.where(is_zero, 0.0, 2 * np.arctan2(np.sqrt(np.where(is_zero, 1.0, square)), w))


def from_mrp(p):
    """Of modified Rodrigues parameters."""
    square = np.sum(p * p, axis=-1)
    return _join(2 * p, 1 - square) / (1 + square)[..., None]


def to_mrp(q):
    """Modified Rodrigues parameters, of at most 1."""
    v, w = _half(q)
    return v / (1 + w)[..., None]


def composed(p, q):
    """The product, of what is rotated by q first."""
    a, b, v, w = p[..., :3], q[..., :3], p[..., 3], q[..., 3]
    cross = np.stack([a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1], a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
                      a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]], axis=-1)  # fmt: skip
    return _join(v[..., None] * b + w[..., None] * a + cross, v * w - np.sum(a * b, axis=-1))


def to_matrix(q):
    """Matrices."""
    x, y, z, w = (q[..., k] for k in range(4))
    return np.stack([
        np.stack([x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)], axis=-1),
        np.stack([2 * (x * y + z * w), -x * x + y * y - z * z + w * w, 2 * (y * z - x * w)], axis=-1),
        np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), -x * x - y * y + z * z + w * w], axis=-1),
    ], axis=-2)  # fmt: skip


def from_matrix(m, is_rotation=False):
    """Of matrices, which are those of the nearest rotations but where they are known to be rotations."""
    if not is_rotation:
        for _ in range(_STEPS):
            m = (m + np.swapaxes(np.linalg.inv(m), -1, -2)) / 2
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    parts = np.stack([*(m[..., k, k] for k in range(3)), trace], axis=-1)
    keep(_LARGEST, (parts,))
    choice = np.argmax(value_of(parts), axis=-1)[..., None]
    found = 0.0
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        parts = {i: 1 - trace + 2 * m[..., i, i], j: m[..., j, i] + m[..., i, j], k: m[..., k, i] + m[..., i, k],
                 3: m[..., k, j] - m[..., j, k]}  # fmt: skip
        found = found + np.where(choice == i, np.stack([parts[part] for part in range(4)], axis=-1), 0.0)
    whole = np.stack([m[..., 2, 1] - m[..., 1, 2], m[..., 0, 2] - m[..., 2, 0], m[..., 1, 0] - m[..., 0, 1], 1 + trace],
                     axis=-1)  # fmt: skip
    return normalised(found + np.where(choice == 3, whole, 0.0))


def from_euler(seq, angles):
    """Of angles in radians, whose last axis is that of `seq`: capital letters are axes that turn along."""
    found = None
    for place, letter in enumerate(seq):
        unit = np.eye(3)["xyz".index(letter.lower())]
        half = angles[..., place] / 2
        turn = _join(np.sin(half)[..., None] * unit, np.cos(half))
        found = turn if found is None else composed(found, turn) if letter.isupper() else composed(turn, found)
    return found


def to_euler(q, seq, exact):
    """Three angles in radians, of which SciPy has found these values."""
    axes = ["xyz".index(letter.lower()) for letter in seq]
    is_turned = seq.islower()
    i, j, k = axes[::-1] if is_turned else axes
    m = to_matrix(q)
    if i == k:
        k = 3 - i - j
        s = 1.0 if (i + 1) % 3 == j else -1.0
        first = np.arctan2(m[..., j, i], -s * m[..., k, i])
        middle = np.arctan2(np.sqrt(m[..., i, j] ** 2 + m[..., i, k] ** 2), m[..., i, i])
        last = np.arctan2(m[..., i, j], s * m[..., i, k])
    else:
        s = 1.0 if (i + 1) % 3 == j else -1.0
        first = np.arctan2(-s * m[..., j, k], m[..., k, k])
        middle = np.arctan2(s * m[..., i, k], np.sqrt(m[..., i, i] ** 2 + m[..., i, j] ** 2))
        last = np.arctan2(-s * m[..., i, j], m[..., i, i])
    found = np.stack([last, middle, first] if is_turned else [first, middle, last], axis=-1)
    if np.any(_jumped(value_of(found), exact)):
        raise UndifferentiableError(refusal("Rotation.as_euler at gimbal lock, where angles jump,",
                                            "take as_matrix(), as_quat() or another sequence"))  # fmt: skip
    return found


def mean(q, weights):
    """The eigenvector of the sum of ``q q^T`` with the largest eigenvalue."""
    flat = np.reshape(q, (-1, 4))
    return np.linalg.eigh((weights[:, None] * flat).T @ flat)[1][:, -1]
