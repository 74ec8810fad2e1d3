# SPDX-License-Identifier: Apache-2.0
"""scipy.signal in rebound code: SciPy's bits, derivatives against differences of the same source, second order."""

import inspect
import itertools

import numpy as np
import pytest
import scipy.signal as s

import codipy
from codipy.errors import ActiveError
from codipy.scipy import signals
from tests.scipy.docstrings import calls_in, check_call
from tests.scipy.recorded import demand_same_gradient, demand_same_when_loaded
from tests.scipy.versions import LATER
from tests.strategies import each_strategy

POINT = np.random.default_rng(1).standard_normal(40)
TANGENT = np.sin(np.arange(1.0, 41.0))
B, A = s.butter(3, 0.3)
SOS = s.butter(5, 0.3, output="sos")
TIMES = np.arange(40.0) + 0.1 * np.sin(np.arange(40.0))


def denominator(p):
    return p * 0.1 + np.array([2.0] + [0.0] * (len(p) - 1))


def sections(x):
    """Second-order sections that depend on x."""
    return SOS * np.concatenate([x[:3] * 0.1 + 1.0, [1.0], x[3:5] * 0.1 + 1.0])


def flat(parts):
    return np.concatenate([np.ravel(part) for part in parts])


def image(x):
    return x[:30].reshape(5, 6)


def kernel(x, high=2, wide=3):
    return x[30:30 + high * wide].reshape(high, wide)


# Texts, so that each is compiled into a function of its own and rebuilt as a user's is.
CASES = [
    "s.chirp(x, 1., 2., 3.)", "s.chirp(x, 0.3, 2.0, 4.0, 'quadratic', phi=x[2])",
    "s.coherence(x[:20], x[20:], nperseg=8)[1]", "s.convolve(x[:30], x[30:], 'same')",
    "s.convolve(x[30:], x[:30], 'valid', 'fft')", "s.convolve(image(x), kernel(x), 'same', 'direct')",
    "s.convolve(x[0], x[1])", "s.convolve2d(image(x), kernel(x), 'full', 'fill', 0.5)",
    "s.convolve2d(image(x), kernel(x), 'full', 'wrap', 0.5)", "s.convolve2d(image(x), kernel(x), 'full', 'symm', 0.5)",
    "s.convolve2d(image(x), kernel(x), 'same', 'fill', 0.5)", "s.convolve2d(image(x), kernel(x), 'same', 'wrap', 0.5)",
    "s.convolve2d(image(x), kernel(x), 'same', 'symm', 0.5)",
    "s.convolve2d(image(x), kernel(x), 'valid', 'fill', 0.5)",
    "s.convolve2d(image(x), kernel(x), 'valid', 'wrap', 0.5)",
    "s.convolve2d(image(x), kernel(x), 'valid', 'symm', 0.5)", "s.convolve2d(kernel(x), image(x), 'valid')",
    "s.correlate(x[:30], x[30:], 'same')", "s.correlate(x[30:], x[:30], 'valid')",
    "s.correlate(image(x), kernel(x), 'valid', 'fft')", "s.correlate2d(image(x), kernel(x), 'full', 'fill', 0.5)",
    "s.correlate2d(image(x), kernel(x), 'full', 'wrap', 0.5)",
    "s.correlate2d(image(x), kernel(x), 'full', 'symm', 0.5)",
    "s.correlate2d(image(x), kernel(x), 'same', 'fill', 0.5)",
    "s.correlate2d(image(x), kernel(x), 'same', 'wrap', 0.5)",
    "s.correlate2d(image(x), kernel(x), 'same', 'symm', 0.5)",
    "s.correlate2d(image(x), kernel(x), 'valid', 'fill', 0.5)",
    "s.correlate2d(image(x), kernel(x), 'valid', 'wrap', 0.5)",
    "s.correlate2d(image(x), kernel(x), 'valid', 'symm', 0.5)", "s.correlate2d(kernel(x), image(x), 'valid')",
    "s.correlate2d(kernel(x), image(x), 'same', 'symm')", "np.abs(s.csd(x[:20], x[20:], nperseg=8)[1])",
    "s.csd(image(x), x[:6], nperseg=4)[1].imag", "s.cspline1d(x)", "s.cspline1d_eval(x, np.arange(3.)+.3)",
    "s.cspline1d_eval(POINT, x)", "np.abs(s.czt(x, m=13))", "s.decimate(x, 2)", "s.decimate(x, 2, ftype='fir')",
    "s.decimate(x, 2, zero_phase=False)", "s.decimate(x, 2, ftype='fir', zero_phase=False)",
    "s.decimate(x.reshape(2, 20), 3, 2, axis=1)", "np.concatenate(s.deconvolve(x[:20], x[20:23]+2))", "s.detrend(x)",
    "s.detrend(x, type='constant')", "s.detrend(x.reshape(20, 2), axis=0, bp=[5, 11])",
    "s.detrend(x[::2] + 1j * x[1::2], type='constant').real",
    "s.dlsim((np.eye(2)*-.1, np.ones((2, 1)), np.ones((1, 2)), 0., 1.), x)[1]", "s.envelope(x)",
    "s.envelope(x, (2, 9), squared=True, residual='all')", "s.fftconvolve(image(x), kernel(x), 'same')",
    "s.fftconvolve(image(x), x[:6][None], axes=1)", "s.fftconvolve(x[:5, None], image(x), 'valid', axes=0)",
    "s.filtfilt(B, A, x)", "s.filtfilt(B, A, x.reshape(20, 2), axis=0, padtype='even', padlen=5)",
    "s.filtfilt(B, A, x, padtype='constant')", "s.filtfilt(B, A, x, padtype=None)",
    "s.filtfilt(B, A, x, method='gust')", "s.filtfilt(B, A, x.reshape(2, 20), method='gust', irlen=8)",
    "s.filtfilt(x[:4], denominator(x[4:8]), x)",
    "np.abs(s.freqs(x[:4], denominator(x[4:8]), worN=np.arange(1., 9))[1])",
    "np.abs(s.freqs_zpk(x[:2], x[2:4], x[4], worN=np.arange(1., 9))[1])",
    "np.abs(s.freqz(x[:4], denominator(x[4:8]), worN=16)[1])", "np.abs(s.freqz(x[:4], worN=16)[1])",
    "np.abs(s.freqz_sos(sections(x), worN=16)[1])", "np.abs(s.freqz_zpk(x[:2], x[2:4], x[4], worN=16)[1])",
    "s.gauss_spline(x, 3)", "s.gausspulse(x, 1.)", "np.abs(s.group_delay((x[:4], denominator(x[4:8])), w=16)[1])",
    "np.abs(s.hilbert(x))", "s.hilbert(x.reshape(2, 20), N=25).imag", "np.unwrap(np.angle(s.hilbert(x)))",
    "np.abs(s.hilbert2(x.reshape(8, 5)))", "s.hilbert2(image(x), 4).real",
    "s.istft(s.stft(x, nperseg=8)[2]*np.arange(5)[:, None], nperseg=8)[1]",
    "s.istft(x[:20].reshape(5, 4) + 1j * x[20:].reshape(5, 4), nperseg=8, scaling='psd')[1]", "s.lfilter(B, A, x)",
    "s.lfilter(B, A, x.reshape(20, 2), axis=0)", "np.concatenate([v for v in s.lfilter(B, A, x[3:], zi=x[:3])])",
    "np.concatenate([v for v in s.lfilter(B, A, x[3:5], zi=x[:3])])", "s.lfilter(x[:3], denominator(x[3:7]), x[8:])",
    "np.concatenate(s.lfilter(x[:5], denominator(x[5:8]), x[8:], zi=x[1:5]))", "s.lfilter(x[:5], 2.5, x[8:])",
    "np.concatenate(s.lfilter(x[:5], 2.5, x[8:], zi=x[1:5]))", "s.lfilter([0.5], [2.0], x)",
    "s.lfilter(x[0], x[1:3] + 3.0, x[4:])", "s.lfilter(B, A, x.reshape(2, 20), zi=x[:3][None] * np.ones((2, 1)))[0]",
    "s.lfilter(B, A, x.reshape(2, 20), zi=x[:3][None])[1]", "s.lfilter_zi(x[:4], denominator(x[4:8]))",
    "s.lfiltic(B, A, x[:3], x[3:6])", "s.lombscargle(np.arange(40.)+.1*np.sin(np.arange(40)), x, np.arange(1., 5))",
    "s.lombscargle(x * x, x, x[:5] ** 2 + 1.0, normalize=True, floating_mean=True, weights=x * x + 0.1)",
    "s.lsim((np.eye(2)*-1, np.ones((2, 1)), np.ones((1, 2)), 0.), x, np.arange(40.))[1]",
    "s.oaconvolve(x[:35], x[35:])", "s.oaconvolve(np.tile(image(x), (1, 20)), kernel(x), 'same')",
    "s.periodogram(x)[1]",
    "s.periodogram(x.reshape(2, 20), nfft=32, window='hann', scaling='spectrum', return_onesided=False)[1]",
    "s.periodogram(image(x), 2.0, 'hann', 8, 'linear', scaling='spectrum', axis=0)[1]", "s.qspline1d(x)",
    "s.qspline1d_eval(x, np.arange(3.0) + 0.3)", "s.resample(x, 30)",
    "s.resample(x.reshape(20, 2), 33, window='hann')", "s.resample(x.reshape(2, 20), 8, axis=1)",
    "s.resample(x, 40, window=np.cos(TANGENT))", "s.resample(x, 51)",
    "s.resample(image(x), 3, domain='freq', axis=0).real", "s.resample_poly(x, 3, 2)",
    "s.resample_poly(x, 2, 3, padtype='mean')", "s.resample_poly(x, 2, 3, padtype='line')", "s.sawtooth(x, .3)",
    "np.abs(s.ShortTimeFFT(np.hanning(8), 4, 1.).stft(x))", "s.ShortTimeFFT(np.hanning(8), 4, 1.).spectrogram(x)",
    "s.sosfilt(SOS, x)", "s.sosfilt(sections(x), x)",
    "flat(s.sosfilt(SOS, x[6:].reshape(2, 17), zi=x[:12].reshape(3, 2, 2)))", "flat(s.sosfilt(SOS, x, zi=SOS[:, :2]))",
    "flat(s.sosfilt(SOS, TIMES, zi=x[:6].reshape(3, 2)))", "s.sosfilt(SOS, x[:3])",
    "s.sosfilt_zi(sections(x))", "s.sosfiltfilt(SOS, x)", "s.sosfiltfilt(sections(x), x)",
    "s.spectrogram(x, nperseg=8)[2]", "s.spectrogram(x, nperseg=8, mode='magnitude')[2]",
    "s.spectrogram(x, nperseg=8, mode='phase')[2]", "s.spectrogram(x, nperseg=8, mode='complex')[2].real",
    "np.abs(s.stft(x, nperseg=8)[2])",
    "np.abs(s.stft(x, nperseg=9, boundary='odd', detrend='linear', return_onesided=False)[2])",
    "np.abs(s.stft(x.reshape(20, 2), nperseg=8, axis=0)[2])",
    "s.stft(x[::2] + 1j * x[1::2], nperseg=8, return_onesided=False)[2].imag", "s.upfirdn(x[:5], x[5:], 3, 2)",
    "s.upfirdn(x[:7], image(x), 2, 3, axis=0, mode='smooth')", "s.upfirdn(x[:3], image(x), mode='antireflect')",
    "s.upfirdn([1.0, 2.0, 0.5], x, 3, mode='constant', cval=1.5)",
    "s.upfirdn([1.0, 2.0], x - x[1], 2) + x[1] * s.upfirdn([1.0, 2.0], np.ones(len(x)), 2, cval=1.0)",
    "s.vectorstrength(x, 3.)[0]",
    "s.vectorstrength(x, x[:3] + 4.0)[1]", "s.welch(x, nperseg=8)[1]",
    "s.welch(x, nperseg=9, average='median', detrend='linear')[1]", "s.wiener(x.reshape(8, 5))",
    "s.wiener(image(x), (3, 5), 0.4)", "np.abs(s.zoom_fft(x, [0.1, .4], m=7))",
    "s.convolve(x * 1j + x[::-1], x[:5] - 2j * x[5:10]).imag",
    "s.convolve(image(x), kernel(x) * (1 + 2j), 'same').real",
    "s.fftconvolve(image(x) * (1 - 2j), kernel(x) + 1j * kernel(x[1:]), 'valid').imag",
    "s.oaconvolve(np.tile(x, 20) + 1j, x[:5] * 1j, 'same').real",
    "np.abs(s.convolve2d(image(x), kernel(x) + 1j, 'same'))",
    "s.convolve2d(image(x) * 1j + 0.5, kernel(x) - 2j * kernel(x), boundary='symm').imag",
    "s.lfilter(B * (1 + 0.3j), A * np.exp(0.1j * np.arange(4)), x + 0.5j * x[::-1]).imag",
    "flat(s.lfilter(B * 1j, A, x + 1j * x[::-1], zi=x[:3] * 1j)).imag",
    "s.lfilter(x[:3] * (1 + 1j) + 2, x[3:6] * 0.1j + np.array([2.0, 0.0, 0.0]), x).real",
    "np.abs(s.lfilter(x[:3], [2.0, 1j], image(x), axis=0))", "s.lfilter([1j, 2.0], 1.0, image(x), axis=0).imag",
    "flat(s.sosfilt(SOS, x * 1j + 1, zi=np.zeros((3, 2)) + x[:2] * 1j)).imag",
    "s.sosfilt(sections(x), x * (1 - 1j)).real",
    "s.sosfilt(SOS * np.exp(0.1j * np.arange(1, 4))[:, None] ** [1, 2, 3, 0, 2, 1], x).imag",
    "s.filtfilt(B, A, x * 1j + x[::-1]).imag", "np.abs(s.welch(x * 1j + x[::-1], nperseg=8)[1])",
    "s.csd(x * 1j, x + 1, nperseg=8)[1].imag",
    "s.correlate(x * 1j + x[::-1], x[:7] * (1 - 2j) + 1).imag", "s.correlate(x, x * 1j + 1, 'same', 'fft').imag",
    "s.correlate(x[:5] * 1j, x[5:30], 'valid').imag",
    "s.correlate2d(image(x) * 1j + 0.5, kernel(x) - 2j * kernel(x)[::-1], boundary='symm').real",
    "s.correlate2d(kernel(x) * 1j + 1, image(x) * (2 - 1j), 'valid').imag", "s.upfirdn([1.0, 1j], x, 2).imag",
    "s.upfirdn(x[:5] * (1 + 2j) + 1j * x[5:10], x[10:] * 1j + x[::-1][:30], 3, 2).real",
    "s.upfirdn(x[:5] * 1j, x * 1j + 1, 2, 3, mode='line').imag", "s.upfirdn(x[:5] * 1j, x, 2, 3, mode='reflect').imag",
    "s.upfirdn(x[:20], x[20:30], mode='line')", "s.upfirdn(x[:20], x[20:30], mode='smooth')",
    "s.lfilter(x[:5], 2.5, np.cos(np.arange(30.0)))", "s.lfilter(x[:3] * 1j, x[4] + 3.0, B * (1 + 2j)).imag",
    "s.lfilter([1.0, 0.5], 2.0, B, zi=x[:1])[0]", "s.filtfilt(x[:2], 1.5, np.cos(np.arange(12.0)), padlen=3)",
    "s.savgol_filter(x, 7, 3)", "s.savgol_filter(x.reshape(2, 20), 7, 3, 1, 0.5, mode='nearest')",
    "s.savgol_filter(x.reshape(20, 2), 7, 3, 1, 0.5, axis=0)", "s.medfilt(x, 5)", "s.medfilt(image(x), (3, 1))",
    "s.order_filter(image(x), np.ones((3, 3)), 2)",
]  # fmt: skip


def program(text):
    """``f(x)``: a sum of the result and of its squares with fixed weights, as a user writes it in a module."""
    source = f"""
def f(x):
    out = {text}
    weights = np.reshape(np.cos(np.arange(np.size(out))), np.shape(out))
    return np.sum(out * weights) + 0.5 * np.sum(out * out)
"""
    names = {**globals(), "s": s}
    exec(source, names)
    return names["f"]


def differences(f, p, direction, step=1e-6):
    return (f(p + step * direction) - f(p - step * direction)) / (2 * step)


@pytest.mark.parametrize("text", CASES)
def test_value_gradient_and_second_order(text):
    f = program(text)
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    for direction in (TANGENT, np.cos(3.0 * np.arange(40.0))):
        slope = differences(f, POINT, direction)
        assert gradient @ direction == pytest.approx(slope, rel=2e-6, abs=2e-6)
    assert codipy.jvp(f, (POINT,), (TANGENT,))[1] == pytest.approx(gradient @ TANGENT, rel=1e-8, abs=1e-9)
    found = codipy.hvp(f, (POINT,), (TANGENT,))[0]
    expected = differences(codipy.grad(f), POINT, TANGENT)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5 * max(1.0, np.abs(expected).max()))


@each_strategy
def test_every_strategy(strategy):
    for text in CASES[::9]:
        demand_same_gradient(program(text), POINT, strategy, 1e-10, text)


@pytest.mark.parametrize("text", CASES[::8])
def test_a_tape_is_run_again_saved_and_loaded(text, tmp_path):
    f = program(text)
    tape, x, y = demand_same_when_loaded(f, POINT, tmp_path / "a.tape")
    tape.set_primal(x, POINT * 1.001)
    tape.evaluate_primal()
    assert tape.get_primal(y) == pytest.approx(f(POINT * 1.001), rel=1e-12)


@pytest.mark.parametrize("text", [
    "lfilter(B, A, x)", "sosfilt(SOS.astype(np.float32), x)", "fftconvolve(x, x[:5])", "convolve(x, x[:3], 'valid')",
    "convolve2d(image(x), kernel(x))", "savgol_filter(x, 7, 3)", "resample(x, 30)", "detrend(x)",
    "upfirdn(x[:5], x, 3, 2)",
    "welch(x, nperseg=8)[1]", "hilbert(x).imag", "filtfilt(B, A, x)", "resample_poly(x, 3, 2)",
])  # fmt: skip
def test_float32(text):
    """Values and their types are SciPy's, gradients near those of float64."""
    single = POINT.astype(np.float32)
    expected = eval("s." + text, {**globals(), "x": single})
    with codipy.Tape() as tape:
        x = tape.register_input(single)
        found = codipy.value(eval("s." + text, {**globals(), "s": codipy.scipy.signal, "x": x}))
    assert found.dtype == expected.dtype and np.array_equal(found, expected)
    gradient, double = (codipy.grad(program("s." + text))(x) for x in (single, single.astype(float)))
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, double, rtol=1e-3, atol=1e-3 * np.abs(double).max())


@pytest.mark.parametrize("function", [
    lambda z: s.lfilter(B, A, z), lambda z: s.sosfilt(SOS, z), lambda z: s.convolve(z, z[:3]),
    lambda z: s.residue(z[:3], B)[0],
])  # fmt: skip
def test_complex_numbers_inside_of_passive_are_scipys_own(function):
    """Nothing is active there, so what has no rule for complex variables is not refused."""
    found = []

    def f(x):
        with codipy.passive():
            found.append(function(x * (1.0 + 0.5j)))
        return (x * x).sum()

    np.testing.assert_array_equal(codipy.grad(f)(POINT), 2.0 * POINT)
    assert type(found[0]) is np.ndarray and np.array_equal(found[0], function(POINT * (1.0 + 0.5j)))


def test_convolutions_of_all_sizes():
    """The transposes are exact, whichever argument is longer, of even and odd lengths."""
    rng = np.random.default_rng(0)
    shapes = [((7,), (3,)), ((7,), (4,)), ((8,), (3,)), ((3,), (8,)), ((4,), (7,)), ((4,), (4,)), ((5, 6), (3, 2)),
              ((3, 2), (5, 6)), ((5, 3), (4, 4)), ((6, 7), (2, 4)), ((2, 3), (7, 8)),
              ((4, 4, 3), (2, 3, 3))]  # fmt: skip
    options = [("convolve", {"method": how}) for how in ("direct", "fft", "auto")]
    options += [("correlate", {"method": how}) for how in ("direct", "fft", "auto")]
    options += [("fftconvolve", {}), ("oaconvolve", {})]
    options += [(name, {"boundary": edge, "fillvalue": 1.5}) for name in ("convolve2d", "correlate2d")
                for edge in ("fill", "wrap", "symm")]  # fmt: skip
    tried = 0
    for (name, more), mode, (left, right) in itertools.product(options, ("full", "same", "valid"), shapes):
        if (len(left) != 2 and name.endswith("2d")) or (mode == "valid" and left == (5, 3)):
            continue
        x, w = rng.standard_normal(left), rng.standard_normal(right)
        plain, ours = (getattr(module, name) for module in (s, codipy.scipy.signal))
        out = plain(x, w, mode, **more)
        weights, steps = rng.standard_normal(out.shape), (rng.standard_normal(left), rng.standard_normal(right))
        value, (by_x, by_w) = codipy.value_and_grad(
            lambda x, w, ours=ours, weights=weights, mode=mode, more=more: np.sum(ours(x, w, mode, **more) * weights),
            argnums=(0, 1))(x, w)  # fmt: skip
        assert value == np.sum(out * weights)
        for k, gradient in enumerate((by_x, by_w)):  # linear in each: no step is too long
            moved = plain(*(a + d if k == n else a for n, (a, d) in enumerate(zip((x, w), steps))), mode, **more)
            slope = np.sum((moved - out) * weights)
            assert np.sum(gradient * steps[k]) == pytest.approx(slope, rel=1e-9, abs=1e-9), (name, mode, left, right)
        tried += 1
    assert tried > 300


@pytest.mark.parametrize("mode", ["constant", "wrap", "edge", "smooth", "symmetric", "reflect", "antisymmetric",
                                  "antireflect", "line"])  # fmt: skip
def test_upfirdn_of_all_rates(mode):
    rng = np.random.default_rng(0)
    for up, down, length, axis in itertools.product((1, 2, 3), (1, 2, 4), (1, 2, 5), (0, 1)):
        x, h = rng.standard_normal((6, 7)), rng.standard_normal(length)
        options = {"up": up, "down": down, "axis": axis, "mode": mode, "cval": 0.7}
        out = s.upfirdn(h, x, **options)
        weights, dx, dh = rng.standard_normal(out.shape), rng.standard_normal(x.shape), rng.standard_normal(length)
        by_h, by_x = codipy.grad(
            lambda h, x, options=options, weights=weights: np.sum(s.upfirdn(h, x, **options) * weights),
            argnums=(0, 1))(h, x)  # fmt: skip
        slopes = [np.sum((s.upfirdn(*moved, **options) - out) * weights) for moved in ((h + dh, x), (h, x + dx))]
        assert [np.sum(by_h * dh), np.sum(by_x * dx)] == pytest.approx(slopes, rel=1e-9, abs=1e-9)


def of_sections(direction):
    """Without the third column, of ones, if it is that of second-order sections."""
    return direction * (np.arange(6) != 3) if direction.shape[-1:] == (6,) else direction


# Of the example of `sawtooth` differences go over jumps.
@pytest.mark.parametrize("name", sorted((signals.RULED.keys() | signals.REBUILT.keys()) - {"sawtooth"}))
def test_examples_of_the_docstrings(name):
    seen = []
    for call in calls_in(s, name):
        if call[1] in seen and max(map(np.size, call[0])) > 1000:
            continue  # a long signal with the options of a shorter one
        seen.append({key: value for key, value in call[1].items() if np.ndim(value) == 0})
        check_call(codipy.scipy.signal, name, *call, of_sections if "sos" in name else lambda direction: direction)


def test_short_time_fft_made_before():
    before = s.ShortTimeFFT(np.hanning(8), 4, 1.0)

    def f(x):
        return np.sum(np.abs(before.stft(x)) ** 3) + np.sum(before.istft(before.stft(x) * 2.0, k1=40) ** 2)

    gradient = codipy.grad(f)(POINT)
    assert gradient @ TANGENT == pytest.approx(differences(f, POINT, TANGENT), rel=1e-6)
    codipy.check_derivatives(f, POINT)


def test_without_rebinding():
    def f(x, module=codipy.scipy.signal):
        spectrum = module.ShortTimeFFT(np.hanning(8), 4, 1.0).spectrogram(x)
        return np.sum(spectrum**2) + np.sum(module.filtfilt(B, A, x) * module.welch(x, nperseg=8)[1][2])

    gradient = codipy.grad(f, rebind=False)(POINT)
    assert gradient @ TANGENT == pytest.approx(differences(lambda x: f(x, s), POINT, TANGENT), rel=1e-6)


def test_what_is_passive_is_scipys_own():
    def f(x):
        b, a = s.butter(3, 0.3)
        smooth = s.lfilter(b, a, POINT)
        assert type(smooth) is np.ndarray and np.array_equal(smooth, s.lfilter(b, a, POINT))
        peaks = s.argrelmax(x)[0]
        assert np.array_equal(peaks, s.argrelmax(POINT)[0])
        return np.sum(x[peaks]) * smooth[5]

    gradient = codipy.grad(f)(POINT)
    assert set(np.nonzero(gradient)[0]) == set(s.argrelmax(POINT)[0])


REFUSED = {
    "s.butter(3, abs(x[0]))": r"scipy\.signal\.butter: .*design of filters is passive",
    "s.get_window(('gaussian', x[0] + 3.0), 8)": r"scipy\.signal\.get_window",
    "s.welch(x, window=('gaussian', x[0] + 3.0), nperseg=8)[1]": r"scipy\.signal\.get_window",
    "s.find_peaks(x)[0]": r"find the places of `codipy.value\(x\)`",
    "s.lsim((x[:1, None], np.eye(1), np.eye(1), 0.0), x, TIMES)[1]": r"lsim: it has derivatives by U and X0",
    "s.chirp(TIMES, x[0], 2.0, 3.0)": r"chirp: it has derivatives by t and phi",
    "s.upfirdn(np.ones(50), x, mode='antireflect')": r"longer than the signal",
    "s.upfirdn([1.0, 2.0], x, cval=x[0])": r"x - cval.*cval of 0.*cval times .*np.ones",
    "s.resample_poly(TIMES, 2, 1, padtype='constant', cval=x[0])": r"upfirdn: it has derivatives by filter and signal",
    "s.CZT(40)(x)": "active",
    "s.lti(x[:3], x[3:6]).num": "active",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text):
    with pytest.raises(ActiveError, match=REFUSED[text]):
        codipy.grad(lambda x: np.abs(program(text)(x)))(POINT)


@pytest.mark.parametrize("name", sorted(signals.REFUSED.keys() - LATER["signal"]))
def test_refused_functions_say_so(name):
    with pytest.raises(ActiveError, match=rf"scipy\.signal\.{name}: codipy has no derivative for it"):
        codipy.grad(lambda x: np.sum(getattr(codipy.scipy.signal, name)(x)))(POINT)


def test_functions_are_rebuilt_once():
    """What was made of a function serves the next call, in `welch` that for the next segment, and nothing piles up."""
    from codipy.tools.rebinding import signals as rebuilt

    f = program("s.welch(x, nperseg=8)[1]")
    codipy.grad(f)(POINT)
    held = list(rebuilt._HELD.links)
    codipy.grad(f)(POINT)
    assert rebuilt._HELD.links == held


def test_scipys_own_errors():
    for text in ("s.convolve(x, image(x))", "s.convolve(x, x, 'other')",
                 "s.upfirdn(x[:3], x, 0)", "s.filtfilt(B, A, x[:5])", "s.convolve2d(x, x)",
                 "s.lfilter(B, A, x, zi=x[:5])", "s.fftconvolve(image(x), kernel(x), axes=[])"):  # fmt: skip
        with pytest.raises((ValueError, TypeError)) as caught:
            program(text)(POINT)
        with pytest.raises(caught.type) as ours:
            codipy.grad(program(text))(POINT)
        assert not isinstance(ours.value, ActiveError), text


def test_every_function_is_in_one_set():
    """Nobody meets a function of SciPy's that neither works nor says what to write instead."""
    sets = [set(signals.RULED), set(signals.REBUILT), signals.STEPS, signals.WITHOUT_VALUES, set(signals.REFUSED)]
    assert sum(map(len, sets)) == len(set().union(*sets))
    others = {name for name in s.__all__ for kind in (inspect.isclass, inspect.ismodule) if kind(getattr(s, name))}
    names = set(s.__all__) - others
    assert not names & LATER["signal"] and names | LATER["signal"] == set().union(*sets)
    texts = " ".join(CASES)
    assert {name for name in sets[0] | sets[1] if f"s.{name}(" not in texts} == set(), "a case for each"
