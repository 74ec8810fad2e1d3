# SPDX-License-Identifier: Apache-2.0
"""Derivatives of an integral by recursive adaptive Simpson: branches on active values decide where to refine.

The integral over [0, b] of a / (a^2 + (t - c)^2) is atan((b - c) / a) + atan(c / a): a peak of width a at c, so the
refinement moves with the parameters. Derivatives with respect to a, b and c are checked against the formula's.
"""
import codipy
from codipy import math

x0 = [0.05, 2.0, 0.7]                                       # width a, upper end b, place c


def simpson(f, left, right, f_left, f_middle, f_right, whole, tolerance):
    """Integral of f over [left, right], halved until two halves agree with the whole."""
    middle = 0.5 * (left + right)
    f_1 = f(0.5 * (left + middle))
    f_3 = f(0.5 * (middle + right))
    first = (middle - left) / 6.0 * (f_left + 4.0 * f_1 + f_middle)
    second = (right - middle) / 6.0 * (f_middle + 4.0 * f_3 + f_right)
    error = first + second - whole
    if abs(error) <= 15.0 * tolerance:
        return first + second + error / 15.0
    return (simpson(f, left, middle, f_left, f_1, f_middle, first, 0.5 * tolerance)
            + simpson(f, middle, right, f_middle, f_3, f_right, second, 0.5 * tolerance))


def integral(x, tolerance=1e-9):
    """The integral of the peak, for floats and active values alike."""
    a, b, c = x

    def peak(t):
        return a / (a * a + (t - c) * (t - c))

    ends = peak(0.0), peak(0.5 * b), peak(b)
    whole = b / 6.0 * (ends[0] + 4.0 * ends[1] + ends[2])
    return simpson(peak, 0.0, b, *ends, whole, tolerance)


def formula(x):
    """The same in closed form."""
    a, b, c = x
    return math.atan((b - c) / a) + math.atan(c / a)


def main():
    """Print the integral's derivatives beside the formula's, for several widths of the peak."""
    worst = 0.0
    print("     a        integral          d/da          d/db          d/dc   evaluations")
    for width in (0.5, 0.1, 0.05, 0.01):
        x = [width, *x0[1:]]
        value, gradient = codipy.value_and_grad(integral)(x)
        exact_value, exact = codipy.value_and_grad(formula)(x)
        worst = max(worst, abs(value - exact_value), *(abs(g - e) / max(1.0, abs(e)) for g, e in zip(gradient, exact)))
        print(f"{width:6.2f} {value:15.10f} " + " ".join(f"{g:13.8f}" for g in gradient) + f" {evaluations(x):11d}")
    print(f"check: largest difference from the formula {worst:.1e}: {'ok' if worst < 1e-6 else 'WRONG'}")


def evaluations(x):
    """How often the integrand runs: the refinement depends on the parameters."""
    count = 0
    a, b, c = x

    def counted(t):
        nonlocal count
        count += 1
        return a / (a * a + (t - c) * (t - c))

    ends = counted(0.0), counted(0.5 * b), counted(b)
    simpson(counted, 0.0, b, *ends, b / 6.0 * (ends[0] + 4.0 * ends[1] + ends[2]), 1e-9)
    return count


if __name__ == "__main__":
    main()
