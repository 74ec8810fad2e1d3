# SPDX-License-Identifier: Apache-2.0
"""Renders what SciPy's functions do with active values as a page: `python -m codipy.scipy.reference FILE`."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import numpy as np
import scipy.linalg
import scipy.ndimage
import scipy.signal
import scipy.special
import scipy.stats

from codipy.numpy import special
from codipy.numpy.ufuncs import kind_of
from codipy.scipy import algebra, gammas, images, matrices, normalised, samples, signals, spherical, transforms, zetas
from codipy.scipy.kernels import moves, pairs, products, sums, table

__all__ = ["render"]

HEAD = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
# SciPy functions on Arrays

In rebound code `import scipy` is `codipy.scipy`, which is SciPy itself where nothing is active. Objects that a program
has made of plain data outside, splines, distributions, trees, factors of matrices, take active arguments in it as those
that it makes itself. This page is made from the tables in `codipy/scipy` by `python -m codipy.scipy.reference`. What
stands on no list raises for an active Array.

## scipy.linalg

Values are SciPy's, to the last bit; derivatives are those of what SciPy reads: of one triangle where it reads one. They
are of any order, in both directions, of single matrices (`det`, `norm` and `expm` of stacks too). What takes complex
matrices is a row; the others raise of them. A loss that depends on the phase of a vector raises
([Complex numbers](complex.md)).

| | functions |
|---|---|
"""
SPARSE = """
## scipy.sparse

Matrices and arrays whose *values* are active: SciPy's own Python code is rebuilt, and `A.data` is an Array. All
formats, from triplets (values at equal places are added), by elements, slices and conversions, with sums, products,
`kron`, `diags`, `block_array` and whatever else SciPy writes in Python. What it leaves to compiled loops has rules:
values are SciPy's, to the last bit, a derivative by the matrix lives where that has a value, and nothing becomes dense.
Of any order, in both directions, of real and complex values. Sums and `todense()` of a `csr_matrix` and its like are
`numpy.matrix`, as in SciPy.

SciPy leaves out what is exactly 0 where it adds or multiplies two matrices by elements, converts diagonals or a dense
matrix, or sets an element; an active zero would take its derivative along, and raises. An array of triplets keeps it,
and so does `expm_multiply` where it takes the mean of the diagonal off.
A recording keeps the pattern: `evaluate_primal()` says so where SciPy would leave out others. Tapes with sparse
matrices are not saved to files.

| compiled loops | |
|---|---|
"""
LINEAR_ALGEBRA = """
### scipy.sparse.linalg

Equations have the derivative of their solution, by one solve with the transpose: direct ones by the same factors,
iterations by the same solver with the same options, so derivatives are as accurate as its tolerance says; where it
gives up, an `ArithmeticError` says so. A `LinearOperator` may use active values in its functions there, and need
not say `rmatvec`: one product is recorded, which gives those with the transpose (of a preconditioner that is compiled
there is none, and the transposed equations are solved without it). `cg` and `minres` of a matrix that is not symmetric
raise. Complex matrices have all that but `eigsh`, `svds`, `lsqr`, `lsmr` and `spsolve_triangular`. Eigenvalues and
singular values, and their vectors, have derivatives of first order, and `spilu` by right-hand sides alone. Of what
`lsqr` and `lsmr` return the solution and the norms of it and of the rest have derivatives; estimates of A are None.
What iterates with products takes arrays, and `eigsh`, `svds`, `lsqr` and `lsmr` a `LinearOperator` that uses active
values, too: their equations are solved with its products.
`scipy.sparse.csgraph` raises for active weights, and says what to write.

| | functions |
|---|---|
"""
SPECIAL = """
## scipy.special

Values are SciPy's; second derivatives are there where the first ones are made of functions of this list. `lambertw` is
complex, and takes complex numbers; `zeta` has derivatives by both arguments, by the exponent from -2 on. By the order
of `polygamma` and the dimension of `multigammaln` there are none, nor with `exact=True`. Bessel functions have first
derivatives by their orders, at positive arguments; hypergeometric functions have none by their parameters, for which
there is no function in SciPy: say `codipy.value` of these.

| | functions |
|---|---|
"""
TRANSFORMS = """
## scipy.fft

Values are SciPy's, to the last bit, which are not those of numpy.fft; of real and complex Arrays, of any order, in both
directions, with `n`, `s`, `axes`, `norm`, `type`, `orthogonalize` and `workers`. `overwrite_x` lets SciPy destroy its
argument; what a recording holds is never overwritten. `fht` and `ifht` have derivatives by their array.

| | functions |
|---|---|
"""
SIGNAL = """
## scipy.signal

Convolutions are rules on SciPy's own functions, real and complex; all else is SciPy's Python code, rebuilt when it is
called with something active, with rules where it calls compiled loops: recursive filters have derivatives by signals,
coefficients and initial states. Values are SciPy's, to the last bit; derivatives are of any order, in both directions.
Filters, convolutions and correlations take complex signals and coefficients.
`ShortTimeFFT` is rebuilt as a whole. The design of filters is passive.

| | functions |
|---|---|
"""
NDIMAGE = """
## scipy.ndimage

SciPy's Python code is rebuilt when it is called with something active; its compiled loops have rules. Linear filters
have derivatives by images and weights, interpolation by images and places: coordinates, shifts, angles, matrices and
offsets, by all orders and modes, with or without `prefilter`; at a knot the derivative is that of the piece which SciPy
evaluates. Maxima, minima, medians and percentiles hand the derivative to the value that was taken, of equal ones to the
first in the window. Values are SciPy's, to the last bit; derivatives are of any order, in both directions, and sweeps
take as long as filters do, in proportion to the image. An output of integers raises, and so does a derivative by
`cval` or by the heights of a morphological `structure`; of `gaussian_filter` there is one by `sigma`, with its
`truncate` or `radius` as it is.

| | functions |
|---|---|
"""
TAIL = """
## scipy.spatial.distance

`cdist`, `pdist`, `squareform`, and the distances between two vectors, of any order: braycurtis, canberra, chebyshev,
cityblock, correlation, cosine, euclidean, jensenshannon, mahalanobis, minkowski, seuclidean and sqeuclidean, by points,
weights (not of chebyshev), the exponent `p`, `V` and `VI`. At distance 0 the slope is 0; of several coordinates that
are furthest apart `cdist` and `pdist` take the first. Metrics of truth values, and functions of your own, raise.

## scipy.spatial

`KDTree` and `cKDTree`: which points are near is decided by values (`query_ball_point`, `query_pairs` and others give
numbers), and the distances of `query` have derivatives, without `boxsize=`; at distance 0 the slope is 0. `Delaunay`,
`ConvexHull`, `Voronoi` and what else is of neighbours raise for active points: give them `codipy.value(points)`, and
compute with `points[made.simplices]`.

`transform.Rotation`: `from_quat`, `from_matrix`, `from_rotvec`, `from_mrp`, `from_euler`, back by `as_...`, `apply`,
`inv`, `*`, `**`, `mean`, `magnitude`, `concatenate`, elements, and `Slerp` by rotations and times, of any order, also
where an angle is 0. A matrix stands for the nearest rotation, which is what SciPy makes of it. At gimbal lock
`as_euler` raises, and so do `from_davenport`, `align_vectors`, `reduce`, `RotationSpline` and `RigidTransform` of
active values.

## scipy.interpolate

SciPy's own Python code is rebuilt, by values and by points, of any order, in both directions, with SciPy's bits; where
it ends in compiled code, values are that code's, and derivatives those of a formula in NumPy.

| | by |
|---|---|
%s
At a knot or an edge where a derivative jumps it is that of the piece which SciPy evaluates; of radial functions with a
kink it is 0 at a site. A spline that is smoothed (`s > 0`) has knots and a parameter that FITPACK searches for, within
0.1%% of `s`: it raises, but where the polynomial of `k` or the spline through all values comes out. `sproot`, `insert`,
`splprep`, `bisplrep`, periodic `splrep`, `AAA`, `CloughTocher2DInterpolator` and
`griddata(method="cubic")` raise for active values, and say what to write.

## scipy.integrate

SciPy's own Python code is rebuilt: `simpson`, `trapezoid`, `romb`, `cumulative_trapezoid`, `cumulative_simpson`,
`fixed_quad`. `quad`, and `dblquad`, `tplquad` and `nquad`, which call it, have SciPy's value and the
derivatives by parameters and limits: the nodes are made dense enough for those within the tolerances of the call, or an
`ArithmeticError` says that they were not; weights raise. Where the integrand jumps
at a place that depends on parameters, what the jump moves would not be in the derivative, so it raises: say that place
by `points=` (`points=[p[0]]`), or add the integrals of both parts. A jump of a function that reads parameters from
attributes of objects may depend on them, and is to be said as well, with a plain number where it stays. Jumps are
looked for between the nodes that SciPy took; one that is smaller than 1e-5 of the largest number there, or than
`epsabs`, is not seen, nor is one beside an end that no node lies behind. `quad_vec` has its derivatives by parameters
from the nodes that SciPy takes, and by limits, and raises at such jumps. `fixed_quad`, `simpson` and their like are
sums of samples: a jump contributes nothing to the derivative, as to the differences, until a sample passes it.

`solve_ivp` and `odeint` run on plain numbers, so values and steps are SciPy's; derivatives are by parameters (`args=`,
and what the function closes over), initial values, `t_span` and `t_eval`, in both directions:

| method | what is differentiated | order |
|---|---|---|
| `RK23`, `RK45`, `DOP853` | the steps; their sizes, and estimates of errors, are constants | any |
| `Radau`, `BDF` | likewise; the equations of a step by the implicit function theorem, one dense solve | any |
| `LSODA`, `odeint` | the equation: sensitivities forward, adjoints backward, within the same tolerances | first |
| all, if `adjoint="continuous"` | the equation, by the same method; 64 states are kept of any interval | first |

The last is asked for by `codipy.implicit.solve_ivp(fun, t_span, y0, ..., adjoint="continuous")`, for long intervals.
`t_events` and `y_events` are differentiated by the implicit function theorem, and so are `t` and `y` where a terminal
event has ended the run; `dense_output` gives `sol(t)`, by what `t` depends on, too. Where the equation is
differentiated, it must have its variables by `args=` or close over them: those in attributes of objects of your own
raise. Complex states, and methods of your own, have SciPy's loop rebuilt (explicit ones). `evaluate_primal()` raises at
other inputs. `tanhsinh`, `nsum`, `cubature` and `solve_bvp` raise.

Steps that are differentiated cost several plain runs. An equation that is differentiated is integrated anew, with the
derivatives of `fun` at each step, beside a plain run that is compiled: a gradient takes some 20 to 130 runs of `LSODA`
and `odeint`. Unless the equation is stiff, take `method="DOP853"` or `"RK45"`, which also have second derivatives.

A right-hand side may have kinks, as of `max(0, y)`, and may jump at fixed times (`t < 1.0`, square waves, controls that
are held, `u[int(t / dt)]`). Where it jumps at a time or a state that depends on variables, `1.0 if t < t0 else -y[0]`,
`np.sign(v)`, the derivative would lack what moving the jump contributes, so an `ArithmeticError` says at which time.
Write two integrations, up to `t0` and from there on (`t_span`), or to a terminal event where the state switches, of
which `t[-1]` and `y[:, -1]` begin the second one, and give each a right-hand side with its own branch: with both
branches in one function the last stages of the first integration are on the other side, and it raises. A state is taken
to move if anything does, also one that counts time, so switch by `t`; so does a jump of a function that reads variables
from attributes of objects, which `args=` would show to stay; and by steps, all times move with an active first one.

Jumps are looked for between two stages of a step (two steps of `Radau`, `BDF`, `LSODA`, `odeint`) where the slopes
are rougher than beside them, or roughest of all, and by a few calls there. Not found are those that are smaller than
1e-5 of the slopes (a tenth of `rtol`, if that is more) or than what these change by otherwise between two stages,
those that all stages have gone over, and those of complex states and of methods of your own. Smooth slopes
that a step went over, of `tanh(1e6 * (t - t0))`, are not refused: by coarse tolerances their derivative is coarse.

## scipy.optimize

SciPy solves with plain numbers, and the solution has its derivative by the implicit function theorem, to any order:
`bisect`, `brenth`, `brentq`, `ridder`, `toms748`, `newton`, `root_scalar`, `fsolve`, `root`, `fixed_point`, `anderson`,
`broyden1`, `broyden2`, `diagbroyden`, `excitingmixing`, `linearmixing`, `newton_krylov`; `minimize`, `minimize_scalar`,
`brent`, `golden`, `fminbound`, `fmin` and all `fmin_...`, `basinhopping`, `brute`, `differential_evolution`, `direct`,
`dual_annealing`, `shgo`; `least_squares` (with SciPy's losses by name), `leastsq`, `lsq_linear`, `curve_fit` (with its
covariance), `nnls`; by all methods. The function is run once more, at the solution, and what it keeps on the side is as
in the [plain run](limits.md): a last state has its derivative, what earlier calls kept raises. If that is none within
1e-6 (minima: 1e-4), or if the solver says that it failed, an `ArithmeticError` says so. So it does at kinks and jumps:
a minimum of `abs(u - x)`, a median, a function that jumps over zero where a variable says are no solutions of
equations. Say by `codipy.implicit.root` which equation holds there, or write the kink as constraints (`linprog`). A
function that leads to a variable, also by the attributes of an object, is taken to depend on it: give it
`codipy.value(x)` if it does not.

Where bounds or constraints hold a minimum, it is differentiated with those numbers at their bounds, and with the
constraints as equations, by the conditions of Karush, Kuhn and Tucker; bounds, constraints and what these read may be
active. Where one just touches it, or equations are singular, it raises. A vertex that `linprog` finds is such a
minimum, with `fun`, `slack` and `con`. A result has `x` or `root`, and `fun`, `fvec` and `cost` where there are such,
as variables, and its counts; other numbers of it (`jac`, `grad`, `hess_inv`, `cov_x`, `optimality`) would be constants:
to use one raises and says what to write, and `result.jac.value` is its number. `evaluate_primal()` solves again, and
raises where it cannot: of a tape that was loaded, of `curve_fit`, `nnls`, `linprog` and what constraints hold, where
other bounds hold, and where the function depends on variables around it that are others now; hand these over by
`args=`, each by itself: lists and dicts there are your own, to which the function may write. `linear_sum_assignment`
gives indices, as `np.argmin` does. `milp`, whole numbers (`integrality=`) and a `loss` of `curve_fit` or of your own
raise.

## scipy.stats

SciPy's own methods are rebuilt one by one when they are called, so that values have its bits: `pdf`, `logpdf`, `cdf`,
`logcdf`, `sf`, `logsf`, `ppf` and `isf` of continuous distributions by x, shapes, `loc` and `scale`; `pmf`, `logpmf`,
`cdf` and its like of discrete ones by shapes; also of frozen distributions, `st.norm(mu, sigma).logpdf(x)`. `mean`,
`var`, `std`, `stats`, `moment`, `entropy`, `median` and `interval` have derivatives by shapes, `loc` and `scale` where
SciPy's formulas or integrals have them; `moment` not by a `loc` of 0, which SciPy leaves out there. Quantiles
that SciPy finds by a search have the derivative of the inverse function; where SciPy integrates the density there is
one by x. Where SciPy has a formula of its own for one value of a shape (`genextreme` at c = 0), a derivative by that
shape is refused there. Beside them `pdf` and `logpdf` of `multivariate_normal`, `multivariate_t`, `matrix_normal`,
`dirichlet` and `wishart`, and the `entropy` of these but Student's; also frozen, and where a covariance has equal
eigenvalues; and `gaussian_kde` by dataset, points, weights, a number `bw_method` and limits, with `pdf`, `logpdf`,
`integrate_box_1d`, `integrate_gaussian`, `integrate_kde`, `marginal`, `covariance`. All else raises, as do in
SciPy 1.17 (1.16 and 1.18 lack no more than these):

| distribution | without a derivative |
|---|---|
| `binom` | `pmf cdf logcdf sf logsf` by n |
| `gausshyper` | `pdf logpdf cdf logcdf sf logsf ppf isf` by a, b, c; `cdf logcdf sf logsf ppf isf` by z |
| `genhyperbolic` | `pdf logpdf cdf logcdf sf logsf` by x; `pdf logpdf cdf logcdf sf logsf ppf isf` by p, a, b |
| `geninvgauss` | `cdf logcdf sf logsf ppf isf` by p, b |
| `hypergeom` | `pmf cdf sf` by M, n, N |
| `irwinhall` | `pdf logpdf cdf logcdf sf logsf` by x; `pdf logpdf cdf logcdf sf logsf ppf isf` by n |
| `ksone` | `pdf logpdf` by x; `pdf logpdf cdf logcdf sf logsf ppf isf` by n |
| `kstwo` | `pdf logpdf cdf logcdf sf logsf ppf isf` by x, n |
| `kstwobign` | `pdf logpdf` by x |
| `landau` | `pdf logpdf` by x |
| `ncf` | `pdf logpdf` by x, nc; `pdf logpdf cdf logcdf sf logsf ppf isf` by dfn, dfd |
| `nchypergeom_fisher` | `pmf logpmf cdf logcdf sf logsf` by odds |
| `nchypergeom_wallenius` | `pmf logpmf cdf logcdf sf logsf` by odds |
| `nct` | `pdf logpdf cdf logcdf sf logsf ppf isf` by df, nc |
| `ncx2` | `pdf cdf logcdf sf logsf ppf isf` by df |
| `norminvgauss` | `cdf logcdf logsf ppf` by a, b |
| `truncpareto` | `logcdf logsf` by x, b, c |
| `vonmises` | `cdf logcdf sf logsf` by x; `cdf logcdf sf logsf ppf isf` by kappa |
| `vonmises_line` | `cdf logcdf sf logsf` by x; `cdf logcdf sf logsf ppf isf` by kappa |
| `zipfian` | `pmf logpmf cdf logcdf sf logsf` by a |
| `levy_stable` | all |
| `studentized_range` | all |

Functions of samples are SciPy's Python code, rebuilt when they are called with something active. Tests that depend on
ranks alone are constant.

| | functions |
|---|---|
%s
## Elsewhere

Other modules: `codipy.rebind(f, modules=["scipy"])` rebuilds what is Python in them, and messages say what to write in
the place of what is not.
"""

# What interpolators have derivatives by.
INTERPOLATORS = (
    ("`CubicSpline`, `PchipInterpolator`, `Akima1DInterpolator`, `CubicHermiteSpline`, `PPoly`, with "
     "`derivative`, `antiderivative` and `integrate` (first order)",
     "values, points, breakpoints"),
    ("`NdPPoly`, with `derivative`, `antiderivative` and `integrate` (first order)", "values, points, breakpoints"),
    ("`BSpline`, `make_interp_spline`, `make_lsq_spline`, `interp1d`, with `derivative`, `antiderivative`, "
     "`integrate`, `insert_knot`",
     "values, points, knots and sites, weights"),
    ("`splrep`, `splev`, `splint`, `spalde`, `splder`, `splantider`, `UnivariateSpline`, "
     "`InterpolatedUnivariateSpline`, `LSQUnivariateSpline` with their methods",
     "values, points, knots and sites, weights, limits"),
    ("`RectBivariateSpline`, with `ev`, `dx=`, `dy=` and `integral`",
     "values, points, both axes of the grid, limits"),
    ("`RegularGridInterpolator` and `interpn`: linear by all; `nearest`, `slinear`, `cubic`, `quintic`, "
     "`pchip`; `NdBSpline`",
     "values and points"),
    ("`RBFInterpolator` with every kernel, also of `neighbors`",
     "values, points, sites, `smoothing`, `epsilon`"),
    ("`LinearNDInterpolator`, `griddata` linear; `NearestNDInterpolator`",
     "values, points, sites; the nearest by values, since it jumps"),
    ("`BarycentricInterpolator`, `KroghInterpolator`, `FloaterHormannInterpolator`, `lagrange`, `Rbf`",
     "values, points, sites"),
    ("`make_smoothing_spline` with `lam=`", "values and points"),
)


def _names(names):
    return ", ".join(f"`{name}`" for name in sorted(names))


def _sparse():
    rows = f"| move values | {_names(moves.LOOPS)} |\n| add values | {_names(sums.LOOPS)} |\n"
    rows += f"| multiply | {_names([*products.LOOPS, *pairs.LOOPS])} |\n"
    rows += f"| compare, or read no values | {_names(table.PASSIVE)} |\n| refused | {_names(table.REFUSED)} |\n"
    ruled = matrices.RULES.keys()
    refused = matrices.FUNCTIONS.keys() - ruled
    rest = "".join(f"| `{name}` | {matrices.instead_of(name)} |\n" for name in sorted(refused))
    return (f"{SPARSE}{rows}{LINEAR_ALGEBRA}| differentiable ({len(ruled)}) | {_names(ruled)} |\n"
            f"| rebuilt ({len(matrices.REBUILT)}) | {_names(matrices.REBUILT)}, `LinearOperator` |\n"
            f"\n| refused of active values ({len(refused)}) | write |\n|---|---|\n{rest}")


def _interpolators():
    return "".join(f"| {names} | {by} |\n" for names, by in INTERPOLATORS)


def _partly(rows):
    """Functions with the numbers of the arguments by which they have a derivative."""
    found = []
    for name, texts in sorted(rows.items()):
        which = [str(k + 1) for k, text in enumerate(texts) if text != "-"]
        found.append(f"`{name}` by {' and '.join(which)}")
    return ", ".join(found)


_COMPLEX = {"hankel1", "hankel1e", "hankel2", "hankel2e", "wofz"}  # by rules of the layer of complex arrays


def _special():
    rows = {name: texts for name, texts in special.ARGUMENTS.items() if not name.startswith("_")}
    whole = {name for name, texts in rows.items() if "-" not in texts} | special.WHOLE
    some = {name: texts for name, texts in rows.items() if "-" in texts}
    ufuncs = {name for name, value in vars(scipy.special).items() if isinstance(value, np.ufunc)}
    refused = {name for name in ufuncs if kind_of(getattr(scipy.special, name)) is None}
    python = {*normalised.FUNCTIONS, *gammas.FUNCTIONS, *spherical.FUNCTIONS, *zetas.FUNCTIONS}
    return (f"{SPECIAL}| by every argument ({len(whole)}) | {_names(whole)} |\n"
            f"| by some, which have these numbers ({len(some)}) | {_partly(some)} |\n"
            f"| in Python | {_names(python)}, and those that call these |\n"
            f"| complex, by the last argument ({len(_COMPLEX)}) | {_names(_COMPLEX)} |\n"
            f"| refused | {_names(refused - _COMPLEX)} |\n")


def _transforms():
    works = transforms.FUNCTIONS.keys() - transforms.REFUSED.keys()
    rows = "".join(f"\n| `{name}` is refused | {why} |" for name, why in sorted(transforms.REFUSED.items()))
    return (f"{TRANSFORMS}| differentiable ({len(works)}) | {_names(works)} |\n"
            f"| SciPy's own | {_names(transforms.PASSIVE)} |{rows}\n")


def _rebuilt(tables, library):
    """The sets of a module whose functions are rebuilt one by one."""
    only = {name: allowed for name, allowed in tables.REBUILT.items() if allowed is not None}
    works = {name for name in {*tables.RULED, *tables.REBUILT} - only.keys() if hasattr(library, name)}
    some = ", ".join(f"`{name}` by {' and '.join(f'`{k}`' for k in only[name])}" for name in sorted(only))
    reasons = dict.fromkeys(tables.REFUSED.values())
    refused = "".join(f"| {_names(name for name, of in tables.REFUSED.items() if of == why)} | {why} |\n"
                      for why in reasons)  # fmt: skip
    return (f"| differentiable ({len(works)}) | {_names(works)} |\n"
            f"{f'| by some arguments ({len(only)}) | {some} |' + chr(10) if only else ''}"
            f"| passive: steps, whose slope is zero ({len(tables.STEPS)}) | {_names(tables.STEPS)} |\n"
            f"| passive: read no such values ({len(tables.WITHOUT_VALUES)}) | {_names(tables.WITHOUT_VALUES)} |\n"
            f"\n| refused ({len(tables.REFUSED)}) | with the advice |\n|---|---|\n{refused}")


def render():
    """The page as Markdown."""
    functions = {name for name in scipy.linalg.__all__ if inspect.isfunction(getattr(scipy.linalg, name))}
    refused = functions & set(algebra.REFUSED)
    works = functions & set(algebra.FUNCTIONS) - refused
    rows = "".join(f"| `{name}` | {algebra.REFUSED[name]} |\n" for name in sorted(refused))
    return (f"{HEAD}| differentiable ({len(works)}) | {_names(works)} |\n"
            f"| of complex matrices too ({len(algebra.COMPLEX)}) | {_names(algebra.COMPLEX)} |\n"
            f"| passive: no argument has a derivative | {_names(functions & algebra.PASSIVE)} |\n"
            f"\n| refused ({len(refused)}) | with the advice |\n|---|---|\n{rows}"
            f"{_special()}"
            f"{_sparse()}"
            f"{_transforms()}"
            f"{SIGNAL}{_rebuilt(signals, scipy.signal)}{NDIMAGE}{_rebuilt(images, scipy.ndimage)}"
            f"{TAIL % (_interpolators(), _rebuilt(samples, scipy.stats))}")


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render(), encoding="utf-8")
