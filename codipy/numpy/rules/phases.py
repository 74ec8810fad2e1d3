# SPDX-License-Identifier: Apache-2.0
"""Vectors of complex decompositions, which are right with any phase: a loss that depends on it has no derivative."""

from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from codipy.active.doors import door
from codipy.numpy.rules.building import is_plain
from codipy.numpy.rules.matrices import CANCELLED, refuse

__all__ = ["ANY", "demand_no_phase", "of_any_phase", "tried", "vectors"]

ANY = " of any phase"  # behind the names of rules that ask for none

_TRIED = ContextVar("tried", default=False)


@contextmanager
def tried():
    """Run rules with cotangents that nobody has, or of what is known to depend on no phase."""
    before = _TRIED.set(True)
    try:
        yield
    finally:
        _TRIED.reset(before)


def of_any_phase(rule):
    """The same rule for what is known to depend on no phase: rounding is all that is left of it."""

    def unasked(*args):
        with tried():
            return rule(*args)

    return unasked


def demand_no_phase(turns, sizes, name):
    """Raise if a loss depends on the phases of vectors.

    Parameters
    ----------
    turns : array
        For each vector v with the cotangent g a complex number whose imaginary part is that of ``conj(v) @ g``.
    sizes : array
        For each what the imaginary part is small beside if it is rounding.
    name : str
        Of the function.
    """
    if turns.dtype.kind != "c" or _TRIED.get():
        return
    rounding = 1e-3 if turns.dtype.itemsize == 8 else CANCELLED
    most = np.max(sizes, axis=-1, keepdims=True, initial=0.0)
    refuse(np.abs(turns.imag) > rounding * most, f"{name}: each of the vectors is right with any phase, and the result "
           "depends on it: no derivative exists; take their sizes, products with their conjugates, or divide each by "
           "the phase of a component")  # fmt: skip


def vectors(name, a, is_complex=None, **options):
    """A decomposition by numpy.linalg for rules that depend on no phase of its vectors.

    Parameters
    ----------
    name : str
        Of the function.
    a : array
        The matrix, which may be active where derivatives are nested.
    is_complex : bool, optional
        Whether the vectors are; as the matrix, by default.
    """
    is_complex = a.dtype.kind == "c" if is_complex is None else is_complex
    if is_plain(a) or not is_complex:
        return getattr(np.linalg, name)(a, **options)
    return door("complexes")().recorded(f"linalg.{name}{ANY}", (a,), options)
