# SPDX-License-Identifier: Apache-2.0
"""What is what in `scipy.signal`: rules of our own, SciPy's functions that are rebuilt, passive and refused ones."""

from __future__ import annotations

from codipy.scipy.kernels import convolutions, recursions, resampling

__all__ = ["LOOPS", "REBUILT", "REFUSED", "RULED", "STEPS", "WITHOUT_VALUES"]

LOOPS = recursions.FUNCTIONS  # what the rebuilt functions leave to compiled code

RULED = {**convolutions.FUNCTIONS, **resampling.FUNCTIONS}
# Rebuilt functions, each with the arguments that may be active, None for all.
REBUILT: dict[str, tuple | None] = {
    **dict.fromkeys((
        "coherence", "csd", "cspline1d", "cspline1d_eval", "czt", "decimate", "deconvolve", "detrend", "envelope",
        "filtfilt", "freqs", "freqs_zpk", "freqz", "freqz_sos", "freqz_zpk", "gauss_spline", "gausspulse",
        "group_delay", "hilbert", "hilbert2", "istft", "lfilter", "lfilter_zi", "lfiltic", "lombscargle", "medfilt",
        "order_filter", "periodogram", "qspline1d", "qspline1d_eval", "resample", "resample_poly", "savgol_filter",
        "sawtooth", "sosfilt", "sosfilt_zi", "sosfiltfilt", "spectrogram", "stft", "vectorstrength", "welch",
        "wiener", "zoom_fft",
    )),
    "chirp": ("t", "phi"), "dlsim": ("u", "x0"), "lsim": ("U", "X0"),
}  # fmt: skip
# What gives places, truth and steps, so that its slope is zero.
STEPS = frozenset((
    "argrelextrema", "argrelmax", "argrelmin", "check_COLA", "check_NOLA", "find_peaks_cwt", "square",
))  # fmt: skip
WITHOUT_VALUES = frozenset(("choose_conv_method", "correlation_lags", "max_len_seq", "unit_impulse"))  # of sizes
_DESIGN = "the design of filters is passive: design with `codipy.value(x)`"
_ROOTS = "roots of polynomials have no derivative here: take `np.polyval` and the coefficients themselves"
_SYSTEMS = ("systems are passive: give them `codipy.value(x)`, or take `scipy.linalg.expm` and products of matrices, "
            "`scipy.signal.lsim` by the input")  # fmt: skip
_PEAKS = "it takes decisions: find the places of `codipy.value(x)`, and take the values there, x[places]"
_SPLINES = "take `scipy.ndimage.spline_filter`"
REFUSED = {
    **dict.fromkeys((
        "band_stop_obj", "bessel", "besselap", "bilinear", "bilinear_zpk", "buttap", "butter", "buttord", "cheb1ap",
        "cheb1ord", "cheb2ap", "cheb2ord", "cheby1", "cheby2", "ellip", "ellipap", "ellipord", "findfreqs", "firls",
        "firwin", "firwin2", "firwin_2d", "gammatone", "get_window", "iircomb", "iirdesign", "iirfilter", "iirnotch",
        "iirpeak", "kaiser_atten", "kaiser_beta", "kaiserord", "lp2bp", "lp2bp_zpk", "lp2bs", "lp2bs_zpk", "lp2hp",
        "lp2hp_zpk", "lp2lp", "lp2lp_zpk", "minimum_phase", "normalize", "remez", "savgol_coeffs", "sos2tf",
        "zpk2sos", "zpk2tf", "closest_STFT_dual_window", "czt_points",
    ), _DESIGN),
    **dict.fromkeys((
        "invres", "invresz", "residue", "residuez", "sos2zpk", "tf2sos", "tf2zpk", "unique_roots",
    ), _ROOTS),
    **dict.fromkeys((
        "abcd_normalize", "bode", "cont2discrete", "dbode", "dfreqresp", "dimpulse", "dstep", "freqresp", "impulse",
        "place_poles", "ss2tf", "ss2zpk", "step", "tf2ss", "zpk2ss",
    ), _SYSTEMS),
    **dict.fromkeys(("find_peaks", "peak_prominences", "peak_widths"), _PEAKS),
    **dict.fromkeys(("cspline2d", "qspline2d", "spline_filter"), _SPLINES),
    "medfilt2d": "take `scipy.signal.medfilt(x, kernel_size)`",
    "sepfir2d": "take `scipy.ndimage.convolve1d` along each axis",
    "sosfreqz": "take `scipy.signal.freqz_sos`, its new name",
    "sweep_poly": "take `np.cos` of the phase, an integral of the polynomial",
    "symiirorder1": "take `scipy.signal.lfilter` forwards and backwards",
    "symiirorder2": "take `scipy.signal.lfilter` forwards and backwards",
    "whittaker_henderson": "take `np.linalg.solve(np.diag(w) + lamb * D.T @ D, w * x)`, D = np.diff(np.eye(n), order, "
                           "axis=0)",
}  # fmt: skip
