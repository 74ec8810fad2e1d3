# SPDX-License-Identifier: Apache-2.0
"""The programs of `array_work` that assign to slices, rewritten for packages that have no assignment."""
import numpy as np
from array_work import burgers_interior


def embed(w, interior):
    """The field w with another interior."""
    middle = np.concatenate([w[1:-1, :1], interior, w[1:-1, -1:]], axis=1)
    return np.concatenate([w[:1], middle, w[-1:]], axis=0)


def burgers(u, v, steps=32):
    """Coupled Burgers' equation, each step built of five parts."""
    for _ in range(steps):
        u, v = embed(u, burgers_interior(u, u, v)), embed(v, burgers_interior(v, u, v))
    return np.sum(u * u) + np.sum(v * v)


def stencil(u, steps=200, c=0.2):
    """Linear diffusion, each step built of three parts."""
    for _ in range(steps):
        u = np.concatenate([u[:1], u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2]), u[-1:]])
    return np.sum(u * u)


def stencil_nonlinear(u, steps=200, c=0.2):
    """Diffusion whose coefficient is the solution, each step built of three parts."""
    for _ in range(steps):
        u = np.concatenate([u[:1], u[1:-1] + c * u[1:-1] * (u[2:] - 2 * u[1:-1] + u[:-2]), u[-1:]])
    return np.sum(u * u)
