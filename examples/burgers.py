# SPDX-License-Identifier: Apache-2.0
"""The coupled Burgers' equation in two dimensions, in scalar loops and in arrays: what a tape of each costs.

    u' + u u_x + v u_y = nu (u_xx + u_yy)          v' + u v_x + v v_y = nu (v_xx + v_yy)

on 1 <= x <= 1.5, 0 <= y <= 0.5, with the solution u = (x + y - 2 x t) / (1 - 2 t^2), v = (x - y - 2 y t) / (1 - 2 t^2)
of J. Biazar and H. Aminikhah (Mathematical and Computer Modelling 49, 2009) at the start and on the border. Both fields
are positive, so differences are taken upwind, to the left and below; steps are explicit. The inputs are the fields at
the start, the result is the integral of u^2 + v^2 at the end.

Run it: python examples/burgers.py; or codipy study examples/burgers.py:loops --sizes 26,51 --steps 8,16
"""
import numpy as np

import codipy

VISCOSITY = 1e-4
COURANT = 0.1                                               # time step over width of a cell


def solution(n, t):
    """Both fields at time t on n x n points."""
    x, y = np.meshgrid(np.linspace(1.0, 1.5, n), np.linspace(0.0, 0.5, n), indexing="ij")
    return (x + y - 2.0 * x * t) / (1.0 - 2.0 * t * t), (x - y - 2.0 * y * t) / (1.0 - 2.0 * t * t)


def loops(fields, steps=8):
    """The integral, by loops over floats; `fields` are u and v as lists of rows."""
    u, v = fields
    n, h = len(u), 0.5 / (len(u) - 1)
    courant, diffusion = COURANT, VISCOSITY * COURANT / h
    for step in range(1, steps + 1):
        new_u, new_v = (field.tolist() for field in solution(n, step * COURANT * h))
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a, b = u[i][j], v[i][j]
                new_u[i][j] = (a - courant * (a * (a - u[i - 1][j]) + b * (a - u[i][j - 1]))
                               + diffusion * (u[i + 1][j] + u[i - 1][j] + u[i][j + 1] + u[i][j - 1] - 4.0 * a))
                new_v[i][j] = (b - courant * (a * (b - v[i - 1][j]) + b * (b - v[i][j - 1]))
                               + diffusion * (v[i + 1][j] + v[i - 1][j] + v[i][j + 1] + v[i][j - 1] - 4.0 * b))
        u, v = new_u, new_v
    total = 0.0
    for field in (u, v):
        for row in field:
            for value in row:
                total = total + h * h * value * value
    return total


def moved(w, u, v, diffusion):
    """A step of the field w, carried by u and v, inside of the border."""
    inner = w[1:-1, 1:-1]
    return (inner - COURANT * (u[1:-1, 1:-1] * (inner - w[:-2, 1:-1]) + v[1:-1, 1:-1] * (inner - w[1:-1, :-2]))
            + diffusion * (w[2:, 1:-1] + w[:-2, 1:-1] + w[1:-1, 2:] + w[1:-1, :-2] - 4.0 * inner))


def arrays(u, v, steps=8):
    """The same integral, by NumPy."""
    n, h = len(u), 0.5 / (len(u) - 1)
    for step in range(1, steps + 1):
        new_u, new_v = solution(n, step * COURANT * h)
        new_u[1:-1, 1:-1] = moved(u, u, v, VISCOSITY * COURANT / h)
        new_v[1:-1, 1:-1] = moved(v, u, v, VISCOSITY * COURANT / h)
        u, v = new_u, new_v
    return h * h * (np.sum(u * u) + np.sum(v * v))


def x0(n):
    """Both fields at the start, as arrays."""
    return solution(int(n), 0.0)


loops.x0 = lambda n: [field.tolist() for field in x0(n)]


def main():
    """Compare both programs with the solution, and their gradients with one another."""
    n, steps = 21, 8
    fields = x0(n)
    value, by_arrays = codipy.value_and_grad(arrays, argnums=(0, 1))(*fields)
    by_loops = codipy.grad(loops)(loops.x0(n))
    end = solution(n, steps * COURANT * 0.5 / (n - 1))
    integral = (0.5 / (n - 1)) ** 2 * sum(float(np.sum(field * field)) for field in end)
    print(f"integral of u^2 + v^2 after {steps} steps: {value:.9f}, of the solution: {integral:.9f}")
    near = abs(value - integral) < 1e-3 * integral
    same = all(np.allclose(a, b, rtol=1e-10, atol=1e-14) for a, b in zip(by_arrays, by_loops))
    print(f"check: the value is that of the solution, the gradients are equal: {'ok' if near and same else 'WRONG'}")


if __name__ == "__main__":
    main()
