# SPDX-License-Identifier: Apache-2.0
"""Derivatives through a Newton iteration whose length depends on the data: Kepler's equation.

E - e sin E = M gives the eccentric anomaly E of an orbit of eccentricity e at mean anomaly M. The loop runs until the
step is small, and the tape records what ran. The implicit function theorem gives the answer to check against:
dE/dM = 1 / (1 - e cos E) and dE/de = sin E / (1 - e cos E).
"""
import codipy
from codipy import math

x0 = [0.8, 0.6]                                             # mean anomaly, eccentricity


def eccentric_anomaly(x, tolerance=1e-13):
    """Solve Kepler's equation; works on floats and active values alike."""
    mean_anomaly, eccentricity = x
    angle = mean_anomaly + eccentricity * math.sin(mean_anomaly)
    for _ in range(50):
        defect = angle - eccentricity * math.sin(angle) - mean_anomaly
        step = defect / (1.0 - eccentricity * math.cos(angle))
        angle = angle - step
        if abs(step) < tolerance:                           # compares values; the branch taken is what is recorded
            return angle
    raise ArithmeticError(f"no convergence at mean anomaly {mean_anomaly}, eccentricity {eccentricity}")


def exact_derivatives(mean_anomaly, eccentricity, angle):
    """dE/dM and dE/de from the implicit function theorem."""
    slope = 1.0 - eccentricity * math.cos(angle)
    return [1.0 / slope, math.sin(angle) / slope]


def main():
    """Orbits from nearly circular to nearly parabolic, each with its own number of iterations."""
    tape = codipy.Tape(strategy="jacobian")
    worst = 0.0
    print("     M      e           E        dE/dM        dE/de  statements")
    for eccentricity in (0.05, 0.3, 0.6, 0.9, 0.99):
        for mean_anomaly in (0.2, 0.8, 2.5):
            tape.reset()
            with tape:
                inputs = [tape.register_input(v) for v in (mean_anomaly, eccentricity)]
                angle = tape.register_output(eccentric_anomaly(inputs))
            angle.gradient = 1.0
            tape.evaluate()
            found = [v.gradient for v in inputs]
            exact = exact_derivatives(mean_anomaly, eccentricity, angle.value)
            worst = max(worst, *(abs(a - b) / abs(b) for a, b in zip(found, exact)))
            print(f"{mean_anomaly:6.2f} {eccentricity:6.2f} {angle.value:11.6f} {found[0]:12.6f} {found[1]:12.6f}"
                  f" {tape.statements:11d}")
    print(f"check: largest relative difference from the implicit function theorem {worst:.1e}: "
          f"{'ok' if worst < 1e-10 else 'WRONG'}")


if __name__ == "__main__":
    main()
