# SPDX-License-Identifier: Apache-2.0
"""Initial value problems with a choice of what is differentiated: the steps of the solver, or the equation."""

from __future__ import annotations

__all__ = ["solve_ivp"]

_ADJOINTS = ("steps", "continuous")


def solve_ivp(fun, t_span, y0, method="RK45", t_eval=None, *, adjoint="steps", **options):
    """``scipy.integrate.solve_ivp``, with a choice of what is differentiated.

    Values are SciPy's, to the last bit. In functions that are differentiated SciPy's own name does the same as
    ``adjoint="steps"``.

    Parameters
    ----------
    fun, t_span, y0, method, t_eval
        See SciPy's function. ``fun(t, y, *args)``, the limits, the initial state of shape (n,), the times and `args`
        may be active.
    adjoint : {"steps", "continuous"}
        ``"steps"``: the derivative of the steps that were taken, of fixed sizes and orders, of any order; the
        recording grows with each step. ``"continuous"``: the derivative of the equation. The recording keeps some 64
        states however long the interval is; a sweep integrates the solution anew, piece by piece, and the adjoint
        equation backwards beside it, with the same method and tolerances. So memory does not grow, and the derivative
        is as accurate as the tolerances say. It is of first order. Give `t_eval`: without it the result has all steps.
        Method LSODA, which is compiled, has this one always.
    **options
        See SciPy's function: `dense_output`, `events`, `vectorized`, `args`, `rtol`, `atol`, `max_step` and so on.

    Returns
    -------
    scipy.integrate.OdeResult
        What depends on an active value is active in it: `y`, `t`, `t_events`, `y_events`, and what `sol` returns.

    Raises
    ------
    ArithmeticError
        The time of an event has no derivative, or an equation of the derivatives was not integrated.
    ActiveError
        ``adjoint="continuous"``, and `fun` reads active values from attributes of objects: hand them over by `args`.
    ValueError
        There is no such `adjoint`.
    ImportError
        SciPy is not installed.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> def last(rate):
    ...     found = codipy.implicit.solve_ivp(lambda t, y: -rate * y, (0.0, 1.0), [2.0], t_eval=[1.0],
    ...                                       adjoint="continuous", rtol=1e-9, atol=1e-9)
    ...     return found.y[0, -1]
    >>> bool(abs(codipy.grad(last)(0.5) + 2.0 * np.exp(-0.5)) < 1e-7)
    True
    """
    if adjoint not in _ADJOINTS:
        raise ValueError(f"unknown adjoint {adjoint!r}: choose one of {', '.join(map(repr, _ADJOINTS))}")
    from codipy.implicit.integrators import integrated  # not at import: it needs SciPy

    return integrated(adjoint, (fun, t_span, y0, method, t_eval), options)
