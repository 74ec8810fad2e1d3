# SPDX-License-Identifier: Apache-2.0
"""What to write in the place of functions of SciPy that end in compiled code: to rebuild what is Python is no help."""

from __future__ import annotations

__all__ = ["instead_of"]

_SOLVED = "`np.linalg.solve(a, b)`, in the place of both steps"
_SAME = ("inv", "det", "norm", "svd", "svdvals", "pinv")

# The arguments have the names that SciPy gives them. Tests run what stands between backticks.
_INSTEAD = {
    **{f"linalg.{name}": f"`np.linalg.{name}(a)`" for name in _SAME},
    **dict.fromkeys(("linalg.cho_factor", "linalg.cho_solve", "linalg.lu_factor", "linalg.lu_solve"), _SOLVED),
    "linalg.cholesky": "`np.linalg.cholesky(a).T`, and with lower=True the same without .T",
    "linalg.eigh": "`np.linalg.eigh(a)`, of one matrix only",
    "linalg.eigvalsh": "`np.linalg.eigvalsh(a)`, of one matrix only",
    "linalg.solve": "`np.linalg.solve(a, b)`, with the whole matrix in a, and a.T where transposed=True",
    "linalg.solve_triangular": "`np.linalg.solve(np.triu(a), b)`, where lower=True with np.tril(a), and "
                               "its transpose where trans=1",
    "linalg.expm": "`np.linalg.matrix_power(sum(np.linalg.matrix_power(A / 1024, k) / math.factorial(k) "
                   "for k in range(9)), 1024)`",
    "interpolate.CubicSpline": "`CubicSpline(x, np.eye(len(x)))(t) @ y`, since its values are linear in y",
    "signal.lfilter": "`lfilter(b, a, np.eye(len(x)), axis=0) @ x`, since it is linear in x",
    "integrate.odeint": "`solve_ivp(lambda s, y: func(y, s), (t[0], t[-1]), y0, t_eval=t).y.T` of scipy.integrate, and "
                        "codipy.rebind(f, modules=[\"scipy\"])",
    "integrate.quad": "a rule of your own, with `s, w = np.polynomial.legendre.leggauss(30)`: "
                      "`(b - a) / 2 * np.sum(w * func((a + b) / 2 + (b - a) / 2 * s))`",
}  # fmt: skip


def instead_of(names):
    """The advice for the first of some functions, by their names with modules, that has one; or None."""
    for name in names:
        parts = name.removesuffix(".__init__").split(".")
        if parts[0] == "scipy" and len(parts) > 2 and f"{parts[1]}.{parts[-1]}" in _INSTEAD:
            return _INSTEAD[f"{parts[1]}.{parts[-1]}"]
    return None
