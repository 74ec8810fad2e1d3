# SPDX-License-Identifier: Apache-2.0
"""Coefficients that are 0.0 and have a derivative, where NumPy takes a polynomial for one of a lower degree.

Sums and products of polynomials are smooth there, and what is left out has no place in the result: a gradient at
``c = np.zeros(3)`` would miss all but one of its elements. Rejected: results that keep it, whose shape is not NumPy's.
Many such zeros are products with a plain 0.0, so a sweep through the recording tells whether they depend on anything.
"""

from __future__ import annotations

import sys

import numpy as np

from codipy.active.messages.callers import frames_of_users, place, top
from codipy.errors import ActiveError
from codipy.tape.activity import active_tape

__all__ = ["refuse_dropped", "refuse_left_out", "runs_poly1d"]

_POLY1D = "numpy.lib._polynomial_impl"


def refuse_left_out(coefficients):
    """Refuse to leave out what has a derivative.

    Parameters
    ----------
    coefficients : list of Real, Array or ComplexArray
        They are 0.0.
    """
    parts = [getattr(x, "pairs", x) for x in coefficients]  # real and imaginary parts of complex ones
    active = [x for x in parts if getattr(x, "is_active", False)]
    if active and _depend(active_tape(), active):
        user = next((frame for frame in frames_of_users(sys._getframe(1)) if top(frame) != "numpy"), None)
        raise ActiveError(
            "NumPy leaves a coefficient that is 0.0 out of a polynomial, and this one would lose its derivative"
            f"{'' if user is None else f' ({place(user)})'}: start from another value, or evaluate the array of the "
            "coefficients with np.polyval; where the derivative is not wanted, say codipy.value(c)"
        )


def _depend(tape, active):
    """Whether any of these has a derivative other than zero; a sweep clears all adjoints but those of inputs."""
    if tape is None:
        return False  # nothing is recorded any more
    if not tape.can_sweep:  # what has no tangent in any direction loses none
        return any(np.any(x.tangent) for x in active)
    adjoints = tape.new_adjoints()
    for k, x in enumerate(active):
        adjoints[tape.register_output(x)] = np.linspace(1.0 + 0.1 * k, 1.7 + 0.1 * k, np.size(x)).reshape(np.shape(x))
    tape.evaluate(adjoints=adjoints)
    return bool(np.any(adjoints.read(np.arange(1, tape._identifiers.largest + 1, dtype=np.int32))))


def runs_poly1d():
    """Whether the innermost function that is not of codipy is NumPy's own for polynomials."""
    frame = sys._getframe(1)
    while frame is not None and (name := frame.f_globals.get("__name__", "")).partition(".")[0] == "codipy":
        frame = frame.f_back
    return frame is not None and name == _POLY1D


def refuse_dropped(x):
    """Called for a Real that is 0.0, has a derivative and is compared with 0: refuse where a polynomial is without it.

    Functions of `numpy.polynomial` ask so of single coefficients, `numpy.poly1d` of arrays of objects, which no
    protocol reaches. Zeros between other coefficients stay.
    """
    frame = sys._getframe(1)
    if frame.f_globals.get("__name__", "").startswith("numpy.polynomial."):
        refuse_left_out([x])
    while frame is not None and frame.f_globals.get("__name__", "").startswith("numpy."):
        if frame.f_code.co_name == "trim_zeros":
            if frame.f_back.f_globals.get("__name__") == _POLY1D:
                refuse_left_out(_leading_zeros(frame.f_locals["filt"]))
            return
        frame = frame.f_back


def _leading_zeros(coefficients):
    for x in coefficients:
        if getattr(x, "value", x) != 0.0:
            return
        yield x
