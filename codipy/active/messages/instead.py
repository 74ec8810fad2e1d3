# SPDX-License-Identifier: Apache-2.0
"""What to write in the place of functions of SciPy: where they end in compiled code, to rebuild them is no help."""

from __future__ import annotations

__all__ = ["instead_of", "is_rebuilt", "is_rebuilt_anyhow"]

# Python code of NumPy and SciPy that asks no protocol of what it gets: it is rebuilt with the user's, who did not ask.
_ANYHOW = ("numpy.polynomial", "scipy.integrate", "scipy.interpolate", "scipy.sparse", "scipy._lib", "scipy._external",
           "scipy.signal._short_time_fft")

# The arguments have the names that SciPy gives them. Tests run what stands between backticks.
_INSTEAD = {
    "stats.expect": "`scipy.integrate.quad(lambda t: func(t) * dist.pdf(t, *args), lb, ub)[0]`",
    "stats.fit": "`scipy.optimize.minimize(lambda q: -np.sum(dist.logpdf(data, *q)), start, "
                 "method='Nelder-Mead').x`",
}  # fmt: skip
# Where it depends on what is done with the result.
_WORDS = dict.fromkeys(
    ("signal.normalize", "signal.abcd_normalize"),
    "systems of `codipy.value(x)`, which are passive, or scipy.linalg.expm and products of matrices for a system in "
    "time, np.polyval for one in frequency")


_WORDS["integrate.set_initial_value"] = "scipy.integrate.solve_ivp(fun, (t0, t1), y0, args=...) or odeint"

_WORDS |= dict.fromkeys(("optimize.approx_fprime", "optimize.check_grad"),
                        "codipy.grad(f)(xk), or codipy.jacobian, in the place of differences")
_WORDS["special.MultiUFunc"] = (      # sph_harm_y and its like
    "it with scipy.special.lpmv(m, n, z), which has a derivative by z: sph_harm_y(n, m, theta, phi) is "
    "lpmv(m, n, np.cos(theta)) * np.exp(1j * m * phi) * "
    "np.sqrt((2 * n + 1) / (4 * np.pi) * poch(n + m + 1, -2 * m))")
_NORMAL = "scipy.stats.norm, as scipy.stats.norm.cdf(x, mu, sigma)"

# What rebound code finds by itself, by module.
_FOUND = {
    "interpolate": "Akima1DInterpolator BSpline BarycentricInterpolator CubicHermiteSpline CubicSpline "
                   "InterpolatedUnivariateSpline LSQUnivariateSpline LinearNDInterpolator NearestNDInterpolator PPoly "
                   "PchipInterpolator RBFInterpolator RectBivariateSpline RegularGridInterpolator UnivariateSpline "
                   "griddata interp1d interpn make_interp_spline make_lsq_spline splev splint splrep",
    "integrate": "cumulative_simpson cumulative_trapezoid dblquad fixed_quad nquad odeint quad quad_vec romb simpson "
                 "solve_ivp tplquad trapezoid",
    "ndimage": "affine_transform center_of_mass convolve convolve1d correlate correlate1d gaussian_filter "
               "gaussian_filter1d gaussian_gradient_magnitude gaussian_laplace laplace map_coordinates maximum_filter "
               "maximum_filter1d mean median_filter minimum_filter minimum_filter1d percentile_filter prewitt "
               "rank_filter rotate shift sobel spline_filter spline_filter1d sum_labels uniform_filter "
               "uniform_filter1d variance zoom",
    "signal": "ShortTimeFFT coherence convolve convolve2d correlate correlate2d csd decimate deconvolve detrend "
              "envelope fftconvolve filtfilt freqz hilbert istft lfilter lfilter_zi medfilt oaconvolve periodogram "
              "resample resample_poly savgol_filter sosfilt sosfilt_zi sosfiltfilt spectrogram stft upfirdn welch "
              "wiener",
    "spatial": "KDTree braycurtis cKDTree canberra cdist chebyshev cityblock correlation cosine euclidean "
               "jensenshannon mahalanobis minkowski pdist seuclidean sqeuclidean squareform",
    "optimize": "anderson basinhopping bisect brenth brentq broyden1 broyden2 brute curve_fit diagbroyden "
                "differential_evolution direct dual_annealing excitingmixing fixed_point fmin fmin_bfgs fmin_cg "
                "fmin_cobyla fmin_l_bfgs_b fmin_ncg fmin_powell fmin_slsqp fmin_tnc fsolve least_squares leastsq "
                "linearmixing linprog lsq_linear minimize minimize_scalar newton newton_krylov nnls ridder root "
                "root_scalar shgo toms748",
}

# What is differentiated once SciPy is rebuilt, by module.
_REBUILT = {
    "optimize": "rosen",
}


def instead_of(names, is_ours=False):
    """The advice for the last of some functions that has one, by their names with modules: the user called it.

    Parameters
    ----------
    names : list of str
    is_ours : bool
        Whether what runs is what `codipy.scipy` has in their place.
    """
    for name in reversed(names):
        parts = name.removesuffix(".__init__").removesuffix(".__call__").split(".")
        if parts[:2] == ["scipy", "sparse"] and len(parts) == 3 and not is_ours:
            return f"`codipy.{'.'.join(parts)}` in its place"
        is_found = parts[0] == "scipy" and parts[-1] in _FOUND.get(parts[1], "").split() and not is_ours
        if parts[:2] == ["scipy", "linalg"] or is_found:
            return f"`codipy.{'.'.join(parts)}` in its place"
        if parts[:2] == ["statistics", "NormalDist"]:
            return _NORMAL
        if parts[0] == "scipy" and len(parts) > 2:
            for key in (".".join(parts[1:]), f"{parts[1]}.{parts[-1]}"):
                if key in _INSTEAD or key in _WORDS:
                    return _INSTEAD.get(key) or _WORDS[key]
    return None


def is_rebuilt(names):
    """Whether `codipy.rebind` of their library is of use for functions, by their names with modules."""
    for name in names:
        parts = name.removesuffix(".__init__").split(".")
        if parts[0] != "scipy" or parts[1] == "stats" or parts[-1] in _REBUILT.get(parts[1], "").split():
            return True
    return False


def is_rebuilt_anyhow(name):
    """Whether a module is rebuilt although it is a library's and nobody named it."""
    return any(name == package or name.startswith(package + ".") for package in _ANYHOW)
