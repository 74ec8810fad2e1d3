# SPDX-License-Identifier: Apache-2.0
"""What does the gradient of a program with complex numbers cost, in plain runs of it?"""
from timing import Figure, in_turns, ratio

ELEMENTS, GRID, STEPS = 1_000_000, 128, 50


def elementwise(x, y):
    """Functions of a million complex numbers."""
    import numpy as np
    z = x + 1j * y
    return np.sum(np.abs(np.exp(1j * z) * np.sqrt(z) + np.log(1.0 + z)) ** 2)


def navier_stokes(w, steps=STEPS, viscosity=1e-3, dt=0.01):
    """Heun's steps of the vorticity on a periodic square: derivatives by Fourier transforms, no aliasing."""
    import numpy as np
    n = len(w)
    k = np.fft.fftfreq(n, 1.0 / n)
    kx, ky = np.meshgrid(k, k, indexing="ij")
    squares = kx**2 + ky**2
    inverse = 1.0 / np.where(squares == 0.0, 1.0, squares)
    ikx, iky, kept = 1j * kx, 1j * ky, (abs(kx) < n / 3) & (abs(ky) < n / 3)

    def slope(s):
        stream = s * inverse
        u, v = np.fft.ifft2(iky * stream).real, np.fft.ifft2(-ikx * stream).real
        wx, wy = np.fft.ifft2(ikx * s).real, np.fft.ifft2(iky * s).real
        return -np.fft.fft2(u * wx + v * wy) * kept - viscosity * squares * s

    s = np.fft.fft2(w)
    for _ in range(steps):
        first = slope(s)
        s = s + 0.5 * dt * (first + slope(s + dt * first))
    return np.sum(np.fft.ifft2(s).real ** 2)


def _figure(name, f, arguments, target, question, repeats):
    import numpy as np
    from bench_arrays import keep_freed_memory

    import codipy
    keep_freed_memory()
    driver = codipy.value_and_grad(f, argnums=tuple(range(len(arguments))))
    value, gradient = driver(*arguments)
    assert value == f(*arguments)
    turned = [np.cos(np.arange(x.size)).reshape(x.shape) for x in arguments]
    ahead, back = (f(*(x + h * t for x, t in zip(arguments, turned))) for h in (1e-6, -1e-6))
    slope = sum(np.sum(g * t) for g, t in zip(gradient, turned))
    assert abs(slope - (ahead - back) / 2e-6) <= 1e-5 * max(abs(slope), 1.0)
    times, plain = in_turns([lambda: driver(*arguments), lambda: f(*arguments)], repeats)
    reached, detail = ratio(times, plain)
    return Figure(name, reached, target, detail=detail, question=question)


def expression():
    """An elementwise expression."""
    import numpy as np
    rng = np.random.default_rng(1)
    point = rng.uniform(0.2, 0.9, ELEMENTS), rng.uniform(0.2, 0.9, ELEMENTS)
    return _figure("complex elementwise expression, 1e6 elements: gradient / plain run", elementwise, point, 2.0,
                   "complex-elementwise", 9)


def spectral():
    """A spectral solver: Fourier transforms in every stage."""
    import numpy as np
    w = np.random.default_rng(2).normal(size=(GRID, GRID))
    return _figure("pseudo-spectral Navier-Stokes, 128x128, 50 steps: gradient / plain run", navier_stokes, (w,), 3.0,
                   "navier-stokes", 9)


QUESTIONS = {"complex-elementwise": expression, "navier-stokes": spectral}
