# SPDX-License-Identifier: Apache-2.0
"""What does the gradient of a program with complex numbers cost, in plain runs of it?"""
from functools import partial

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


def chain(x, y):
    """Squares of numbers of Python, as the Mandelbrot set has them."""
    total = 0.0
    for a, b in zip(x.tolist(), y.tolist()):
        c = a + 1j * b
        z = 0.1j
        for _ in range(100):
            z = z * z + c
        total += abs(z) ** 2
    return total


def newton(x, y):
    """Newton's steps to the cube roots of complex numbers."""
    total = 0.0
    for a, b in zip(x.tolist(), y.tolist()):
        c, z = a + 1j * b, 1.3 + 0.9j
        for _ in range(50):
            z = z - (z**3 - c) / (3.0 * z**2)
        total += z.real - 0.3 * z.imag
    return total


def layers(x, y):
    """The reflection of light by a stack of layers: their transfer matrices, multiplied."""
    import cmath
    total = 0.0
    indices, thicknesses = x.tolist(), y.tolist()
    for wavelength in (0.5, 0.6, 0.7):
        a, b, c, d = 1.0 + 0.0j, 0.0j, 0.0j, 1.0 + 0.0j
        for n, thickness in zip(indices, thicknesses):
            m = n + 0.05j
            forth = cmath.exp(2j * cmath.pi * m * thickness / wavelength)
            back = 1.0 / forth
            cosine, sine = 0.5 * (forth + back), -0.5j * (forth - back)
            p, q = 1j * sine / m, 1j * sine * m
            a, b, c, d = a * cosine + b * q, a * p + b * cosine, c * cosine + d * q, c * p + d * cosine
        r = (a + 1.5 * b - c - 1.5 * d) / (a + 1.5 * b + c + 1.5 * d)
        total += abs(r) ** 2
    return total


def power_flow(x, y):
    """Gauss-Seidel sweeps over the buses of a network: elements of arrays, NumPy's numbers."""
    import numpy as np
    n = len(x)
    power = -0.1 * (x + 1j * y)
    voltage = np.ones(n, complex)
    line = 1.0 / (0.02 + 0.08j)
    for _ in range(10):
        for k in range(1, n):
            after = voltage[k + 1] if k + 1 < n else voltage[0]
            current = (power[k] / voltage[k]).conjugate()
            voltage[k] = (current + line * (voltage[k - 1] + after)) / (2.0 * line)
    return np.sum(np.abs(voltage) ** 2)


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


def numbers(name):
    """Loops over single complex numbers."""
    import numpy as np
    rng = np.random.default_rng(3)
    f, title, target, low, high = NUMBERS[name]
    point = rng.uniform(low, high, 20), rng.uniform(low, high, 20)
    return _figure(f"{title}: gradient / plain run", f, point, target, name, 15)


NUMBERS = {
    "complex-chain": (chain, "2,000 steps z = z * z + c of Python's complex numbers", 6.0, -0.3, 0.3),
    "complex-newton": (newton, "1,000 Newton steps of complex numbers with quotients and powers", 6.0, 0.5, 1.5),
    "complex-layers": (layers, "60 transfer matrices with cmath.exp, multiplied", 6.0, 1.1, 1.9),
    "complex-power-flow": (power_flow, "Gauss-Seidel power flow over elements of a complex array", 8.0, 0.1, 0.9),
}  # fmt: skip

QUESTIONS = {"complex-elementwise": expression, "navier-stokes": spectral,
             **{name: partial(numbers, name) for name in NUMBERS}}
