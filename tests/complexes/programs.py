# SPDX-License-Identifier: Apache-2.0
"""Expressions with complex numbers as functions of one real vector, and their gradients by differences."""

import numpy as np

POINT = np.random.default_rng(7).uniform(0.3, 0.9, 30) * np.where(np.arange(30) % 7 == 3, -1.0, 1.0)
C = np.array([0.3 - 0.2j, -1.1j, 0.7 + 0.4j])

TURN = np.array([[0.0, -2.0, 0.3], [2.0, 0.0, 0.1], [0.0, 0.2, 1.0]])


def turned(v):
    """Vectors with the phase that makes their last component positive."""
    last = v[..., -1:, :]
    return v * (np.abs(last) / last)


def polar(a, hermitian=False):
    """The unitary factor: a product of vectors of which both have the same phase."""
    u, _, vh = np.linalg.svd(a, full_matrices=False, hermitian=hermitian)
    return u @ vh


def hole(a):
    """A copy with a NaN in the place of its second element."""
    a = a.copy()
    a[(0,) * (a.ndim - 1) + (1,)] = complex(np.nan, 0.0)
    return a


def filled(write, a, *rest):
    """A copy that `write` has written into."""
    a = a.copy()
    write(a, *rest)
    return a


def flatten(a, values):
    """Through the elements one by one."""
    a.flat = values


def names(p, np):
    """The operands that an expression names, made of a vector of 30 numbers."""
    square = p[:9].reshape(3, 3)
    m = square + 1j * p[9:18].reshape(3, 3) + np.eye(3)
    return {"np": np, "z": p[18:21] + 1j * p[21:24], "w": p[24:27] + 1j * p[27:30], "m": m, "n": m.T @ m * 0.5 + 1.0,
            "x": abs(p[:3]) + 0.1, "a": square + np.eye(3), "c": C, "h": m @ m.conj().T + np.eye(3), "e": square + TURN,
            "turned": turned, "polar": polar, "hole": hole,
            "filled": filled, "flatten": flatten}  # fmt: skip


def function(text):
    """The weighted sum of what an expression gives."""
    code = compile(text, text, "eval")

    def f(p):
        out = eval(code, names(p, np))
        size = np.size(out)
        shape = np.shape(out)
        weights = (np.cos(1.0 + np.arange(size)) - 1j * np.sin(2.0 + np.arange(size))).reshape(shape)
        return np.sum((out * weights).real) + np.sum((out * out * weights).imag)

    return f


def differences(f, p, step=1e-6):
    """The gradient by central differences."""
    return np.array([(f(p + step * e) - f(p - step * e)) / (2 * step) for e in np.eye(len(p))])
