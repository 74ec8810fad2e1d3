# SPDX-License-Identifier: Apache-2.0
"""Numbers of a solver's result that have no derivative here: to use one says why, and what to write instead.

They would be constants beside a solution that is none. Rejected: to leave them out, of which Python's errors say that
SciPy has no such attribute; to differentiate them all, which records what nobody asked for.
"""

from __future__ import annotations

import numpy as np

from codipy.errors import ActiveError

__all__ = ["Withheld", "told", "withhold"]

_INSTEAD = {
    "jac": "of least squares take codipy.jacobian of the residuals at the solution, of a minimum codipy.grad",
    "grad": "take codipy.grad of the function at the solution",
    "fjac": "take codipy.jacobian of the function at the solution",
    "cov_x": "take np.linalg.inv(J.T @ J) with J = codipy.jacobian(residuals)(x), or curve_fit",
    "hess": "take codipy.hessian of the function at the solution",
    "hess_inv": "it is an estimate that the steps made: take np.linalg.inv of codipy.hessian at the solution",
}
_INSTEAD |= dict.fromkeys(("ineqlin", "eqlin", "lower", "upper"),
                          "its marginals are codipy.grad of `fun` by these right-hand sides or bounds")
_INSTEAD |= {"Bopt": _INSTEAD["hess_inv"], "gopt": _INSTEAD["grad"]}
_WHOLE = {"active_mask"}      # of whole numbers, floats as they are
# What stands in tuples beside the solution.
_ITEMS = {"brute": {2: "grid", 3: "Jout"}, "fmin_bfgs": {2: "gopt", 3: "Bopt"}, "fmin_powell": {2: "direc"},
          "leastsq": {1: "cov_x"}}  # fmt: skip


class Withheld:
    """A number or an array that a solver told.

    Parameters
    ----------
    name : str
        Where it was told.
    key : str
        Its name.
    value : object

    Attributes
    ----------
    value : object
        As SciPy gave it.
    """

    __slots__ = ("_key", "_name", "value")
    __array_ufunc__ = None      # NumPy's arrays leave their operators to those below

    def __init__(self, name, key, value):
        self._name, self._key, self.value = name, key, value

    def __repr__(self):
        return f"{self.value!r} (no derivative)"

    def _refuse(self, *_, **__):
        raise ActiveError(f"{self._key} of scipy.optimize.{self._name} depends on active values and has no derivative "
                          f"here{_said(self._key)}; its number is {self._key}.value")

    def __getattr__(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        return self._refuse()


def _said(key):
    return f": {_INSTEAD[key]}" if key in _INSTEAD else ""


_OPERATIONS = (
    "abs add and array array_function bool call complex contains divmod eq float floordiv ge getitem gt hash index "
    "int invert iter le len lt matmul mod mul ne neg or pos pow radd rdivmod rfloordiv rmatmul rmod rmul round rpow "
    "rsub rtruediv setitem sub truediv xor"
)
for _operation in _OPERATIONS.split():
    setattr(Withheld, f"__{_operation}__", Withheld._refuse)


def withhold(name, key, told):
    """What a solver told beside the solution, by name or position: as it is, if its numbers are whole ones."""
    key = _ITEMS.get(name, {}).get(key, "allvecs") if isinstance(key, int) else key
    return Withheld(name, key, told) if key not in _WHOLE and _has_floats(told) else told


def told(name, found, answers):
    """A dictionary of a solver's as it is, but for numbers: those that are variables, and others withheld."""
    for key in found:
        found[key] = answers[key] if key in answers else withhold(name, key, found[key])
    return found


def _has_floats(x):
    if isinstance(x, dict):
        return any(map(_has_floats, x.values()))
    if isinstance(x, (list, tuple)):
        return any(map(_has_floats, x))
    if x is None or isinstance(x, (str, bytes, bool, int, np.integer, np.bool_)):
        return False
    return not (isinstance(x, np.ndarray) and x.dtype.kind in "biuSU")
