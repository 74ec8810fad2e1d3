# SPDX-License-Identifier: Apache-2.0
"""scipy.ndimage in rebound code: SciPy's bits, derivatives against differences of the same source, second order."""

import numpy as np
import pytest
import scipy.ndimage as nd
import scipy.signal

import codipy
from codipy.errors import ActiveError
from codipy.scipy import images
from codipy.scipy.kernels import sampling
from tests.covering import pairs
from tests.scipy.docstrings import calls_in, check_call
from tests.scipy.recorded import demand_same_gradient, demand_same_when_loaded
from tests.scipy.versions import LATER
from tests.strategies import each_strategy

POINT = np.random.default_rng(1).standard_normal(40)
TANGENT = np.sin(np.arange(1.0, 41.0))
MODES = ("reflect", "grid-mirror", "constant", "grid-constant", "nearest", "mirror", "grid-wrap", "wrap")
ORDERS = range(6)
LABELS = np.array([[1, 1, 2, 2, 0], [1, 0, 2, 2, 3], [1, 0, 0, 3, 3], [4, 4, 0, 3, 3], [4, 4, 4, 0, 0], [1, 1, 2, 2, 0],
                   [0, 0, 5, 5, 5], [0, 6, 6, 6, 5]])  # fmt: skip
HEIGHTS = np.array([[0.1, 0.3], [0.2, 0.7], [0.0, 0.05]])
MATRIX = np.array([[1.1, 0.3], [-0.2, 0.9]])
AFFINE = np.array([[1.1, 0.3, 0.2], [-0.2, 0.9, 0.1], [0.0, 0.0, 1.0]])

# Texts, so that each is compiled into a function of its own and rebuilt as a user's is; of a vector x and an image a.
CASES = [
    "gaussian_filter1d(x, 2.0, order=2)", "gaussian_filter1d(a, 1.5, 0, 1, mode='wrap')", "gaussian_laplace(a, 1.0)",
    "gaussian_gradient_magnitude(a, 1.0)", "laplace(a)", "sobel(a)", "prewitt(a, 0)",
    "gaussian_filter(a, abs(x[0]) + 1)",
    "gaussian_filter1d(x, abs(x[0]) + 1, radius=4)", "gaussian_filter(a, (1.0, 0.0), (1, 0))", "gaussian_filter(a, 0)",
    "generic_laplace(a, lambda i, k, o, m, c: nd.correlate1d(i, [1, -2, 1.5], k, o, m, c))",
    "generic_gradient_magnitude(a, nd.sobel)", "convolve(a, x[:1].reshape(1, 1) * [[1, 1e-17], [3, 4]])",
    "rank_filter(a, -2, size=(2, 3))", "maximum_filter1d(x, 4, origin=-1)", "minimum_filter1d(a, 3, 0)",
    "percentile_filter(a, 100, 2)", "grey_opening(a, 3)", "grey_closing(a, 3)", "morphological_gradient(a, 3)",
    "morphological_laplace(a, 3)", "white_tophat(a, 3)", "black_tophat(a, 3)", "grey_dilation(a, 2)",
    "spline_filter(a, 4)", "spline_filter(a[:1], 5)", "rotate(x.reshape(2, 4, 5), 20.0, (1, 2))",
    "rotate(a, 20 + x[0])",
    "affine_transform(a, AFFINE)", "affine_transform(a, AFFINE[:2] * x[0], output_shape=(4, 4))",
    "map_coordinates(x, [x[:9] * 20])", "shift(x, x[3] * 3, order=2)", "shift(a, 1.5)", "zoom(x, 0.3)",
    "zoom(a, 1.0)", "zoom(a * 1j + 0.5, 1.6, order=2).imag",
    "uniform_filter1d(x, 5, mode='mirror')", "correlate1d(x, [1, 2, 3])", "convolve1d(POINT, x[:4])",
    "convolve1d(a, [1.0, -0.5], 0, origin=-1)", "correlate1d(a + 1j * a[::-1], x[:3]).imag",
    "gaussian_filter(a, 1.0, output=np.zeros((8, 5)))", "gaussian_filter(a[::-1, ::2], 1.0)",
    "np.stack(nd.center_of_mass(a + 5.0))", "np.array(nd.center_of_mass(a + 5.0, LABELS, [1, 2]))",
]  # fmt: skip
for _name in ("sum", "sum_labels", "mean", "variance", "standard_deviation", "minimum", "maximum", "median"):
    CASES += [f"{_name}(a{more})" for more in (
        "", ", LABELS", ", LABELS, 3", ", LABELS, [1, 2, 5]", ", LABELS + 0.5, [1.5]")]  # fmt: skip
for _mode in MODES:
    _more = f"mode='{_mode}', cval=0.7"
    CASES += [
        f"correlate1d(a, x[:4], 0, origin=1, {_more})", f"correlate1d(x, x[:5], origin=-2, {_more})",
        f"correlate1d(a, x[:14], origin=-2, {_more})", f"correlate(a, x[:6].reshape(2, 3), origin=(0, 1), {_more})",
        f"convolve(a, x[:6].reshape(3, 2), origin=-1, {_more})", f"uniform_filter(a, (4, 3), origin=(1, 0), {_more})",
        f"gaussian_filter(a, 1.3, {_more})", f"maximum_filter(a, (2, 3), origin=(0, 1), {_more})",
        f"minimum_filter(a, footprint=[[1, 0, 1], [0, 1, 1]], {_more})", f"median_filter(a, 3, {_more})",
        f"median_filter(x, 4, origin=1, {_more})", f"percentile_filter(x, 30, 5, {_more})",
        f"grey_dilation(a, structure=HEIGHTS, {_more})", f"grey_erosion(a, structure=HEIGHTS, {_more})",
    ]  # fmt: skip
# Interpolation, by image and by places, whose derivative of the highest order is not continuous.
OF_SPLINES = [
    "spline_filter1d(a, {order}, 0, mode='{mode}')",
    "map_coordinates(a, x.reshape(2, 20) * 6 + 0.03, {more})",
    "map_coordinates(x[:30].reshape(2, 3, 5), x[:36].reshape(3, 3, 4) * 6 + 0.03, prefilter=False, {more})",
    "shift(a, (x[0] * 3, x[1] * 2), {more})", "zoom(a, (1.6, 0.8), {more})",
    "zoom(a, (1.6, 0.8), grid_mode=True, {more})", "rotate(a, 30 + 10 * x[0], reshape=False, {more})",
    "affine_transform(a, MATRIX + 0.2 * x[:4].reshape(2, 2), x[4:6], output_shape=(6, 7), {more})",
    "affine_transform(a, np.array([0.9, 0.8]) + 0.1 * x[:2], x[4:6], {more})",
]  # fmt: skip
# Every two of text, mode and order meet; `test_sums_of_splines_are_scipys` has every mode of every order.
SPLINES = [text.format(mode=mode, order=order, more=f"order={order}, mode='{mode}', cval=0.7")
           for text, mode, order in pairs(OF_SPLINES, MODES, ORDERS)]  # fmt: skip


def program(text, module=nd):
    """``f(x)``: a sum of the result and of its squares with fixed weights, as a user writes it in a module."""
    source = f"""
def f(x):
    a = x.reshape(8, 5)
    out = np.asarray({text if text.startswith("np.") else "nd." + text})
    weights = np.reshape(np.cos(np.arange(np.size(out))), np.shape(out))
    return np.sum(out * weights) + 0.5 * np.sum(out * out)
"""
    names = {**globals(), "nd": module}
    exec(source, names)
    return names["f"]


def differences(f, p, direction, step=1e-6):
    return (f(p + step * direction) - f(p - step * direction)) / (2 * step)


@pytest.mark.filterwarnings("ignore:It is recommended")
@pytest.mark.parametrize("text", CASES + SPLINES)
def test_value_gradient_and_second_order(text):
    f = program(text)
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    for direction in (TANGENT, np.cos(3.0 * np.arange(40.0))):
        assert gradient @ direction == pytest.approx(differences(f, POINT, direction), rel=2e-6, abs=2e-6)
    slope = codipy.jvp(f, (POINT,), (TANGENT,))[1]
    assert slope == pytest.approx(gradient @ TANGENT, rel=1e-8, abs=1e-8)
    found = codipy.hvp(f, (POINT,), (TANGENT,))[0]
    expected = differences(codipy.grad(f), POINT, TANGENT)
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=2e-5 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("text", [
    "correlate(a, x[:6].reshape(2, 3))", "correlate(a, HEIGHTS, mode='constant', cval=0.7)",
    "convolve(a, x[:1].reshape(1, 1) * [[1, 1e-17], [3, 4]])", "convolve(LABELS * 1.0, x[:4].reshape(2, 2))",
    "correlate1d(a, x[:4], 0)", "uniform_filter(a, 3)", "gaussian_filter(a, 1.0)", "spline_filter(a)",
    "map_coordinates(a, x.reshape(2, 20) * 6 + 0.03, order=3)", "median_filter(a, 3)",
])  # fmt: skip
def test_taylor_coefficients(text):
    f = program(text)
    value, slope, half = codipy.taylor(f, POINT, TANGENT, 2)
    step = 1e-4
    above, below = f(POINT + step * TANGENT), f(POINT - step * TANGENT)
    assert value == f(POINT)
    assert slope == pytest.approx((above - below) / (2 * step), rel=1e-5, abs=1e-5)
    assert half == pytest.approx((above - 2 * f(POINT) + below) / (2 * step**2), rel=1e-4, abs=1e-4)


@each_strategy
def test_every_strategy(strategy):
    for text in CASES[::11] + SPLINES[7::17]:
        demand_same_gradient(program(text), POINT, strategy, 1e-10, text)


@pytest.mark.parametrize("text", CASES[::13] + SPLINES[5::19])
def test_a_tape_is_run_again_saved_and_loaded(text, tmp_path):
    f = program(text)
    tape, x, y = demand_same_when_loaded(f, POINT, tmp_path / "a.tape")
    tape.set_primal(x, POINT * 1.001)
    tape.evaluate_primal()
    assert tape.get_primal(y) == pytest.approx(f(POINT * 1.001), rel=1e-13)


def test_what_is_selected_is_another_when_a_tape_is_run_again():
    def f(x):
        return np.sum(nd.median_filter(x, 3) * TANGENT)

    with codipy.Tape("primal") as tape:
        x = tape.register_input(POINT.copy())
        y = tape.register_output(codipy.rebind(f)(x))
    tape.set_primal(x, POINT[::-1].copy())
    tape.evaluate_primal()
    y.gradient = 1.0
    tape.evaluate()
    assert tape.get_primal(y) == f(POINT[::-1])
    np.testing.assert_array_equal(x.gradient, codipy.grad(f)(POINT[::-1].copy()))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", ORDERS)
def test_sums_of_splines_are_scipys(mode, order):
    """Far from the image too, at whole and half numbers, and of images of one, two and three values."""
    code = scipy.ndimage._ni_support._extend_mode_to_code(mode)
    rng = np.random.default_rng(order)
    for n in (1, 2, 3, 7):
        image = rng.standard_normal((n, 4))
        x = np.concatenate([rng.uniform(-3.0 * n - 3.0, 4.0 * n + 3.0, 60), np.arange(-2 * n - 2, 3 * n + 2) * 0.5])
        places = np.stack([x, rng.uniform(-9.0, 12.0, x.size)])
        expected = nd.map_coordinates(image, places, order=order, mode=mode, cval=0.0, prefilter=False)
        found = sampling._valued(image, *places, order=order, mode=code, cval=0.0, degrees=(0, 0))
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("text", [
    "gaussian_filter(a, 1.0)", "median_filter(a, 3)", "map_coordinates(a, x.reshape(2, 20) * 3)", "shift(a, 0.3)",
    "convolve(a, x[:4].reshape(2, 2))", "sobel(a)", "uniform_filter(a, 3)", "spline_filter(a)", "zoom(a, 1.5, order=1)",
])  # fmt: skip
def test_float32(text):
    """Values and their types are SciPy's, gradients near those of float64."""
    single = POINT.astype(np.float32)

    def result(x, module):
        return eval("nd." + text, {"nd": module, "x": x, "a": x.reshape(8, 5)})

    expected = result(single, nd)
    with codipy.Tape() as tape:
        found = codipy.value(result(tape.register_input(single), codipy.scipy.ndimage))
    assert found.dtype == expected.dtype and np.array_equal(found, expected)
    gradient = codipy.grad(program(text))(single)
    assert gradient.dtype == np.float32
    double = codipy.grad(program(text))(single.astype(float))
    np.testing.assert_allclose(gradient, double, rtol=1e-3, atol=1e-3 * np.abs(double).max())


@pytest.mark.parametrize("name", sorted(images.REBUILT))
def test_examples_of_the_docstrings(name):
    for call in calls_in(nd, name):
        check_call(codipy.scipy.ndimage, name, *call)


def test_without_rebinding():
    def f(x, module=codipy.scipy.ndimage):
        return np.sum(module.map_coordinates(x.reshape(8, 5), x.reshape(2, 20) * 3.0) * TANGENT[:20])

    gradient = codipy.grad(f, rebind=False)(POINT)
    assert gradient @ TANGENT == pytest.approx(differences(lambda x: f(x, nd), POINT, TANGENT), rel=1e-6)


def test_what_is_passive_is_scipys_own():
    def f(x):
        labels, count = nd.label(x > 0.0)
        smooth = nd.gaussian_filter(POINT, 2.0)
        assert type(smooth) is np.ndarray and np.array_equal(smooth, nd.gaussian_filter(POINT, 2.0))
        assert nd.maximum_position(x) == (int(np.argmax(POINT)),)
        return np.sum(nd.sum_labels(x * x, labels, np.arange(1, count + 1))) + smooth[0]

    np.testing.assert_array_equal(codipy.grad(f)(POINT), np.where(POINT > 0.0, 2.0 * POINT, 0.0))


REFUSED = {
    "generic_filter(a, np.max, 3)": r"scipy\.ndimage\.generic_filter: codipy has no derivative for it",
    "geometric_transform(a, lambda p: p)": r"scipy\.ndimage\.geometric_transform.*map_coordinates",
    "distance_transform_edt(a > 0, x[:2])": r"scipy\.ndimage\.distance_transform_edt",
    "fourier_gaussian(a, 1.0)": r"multiply with the factors",
    "zoom(a, x[0] + 2.0)": r"scipy\.ndimage\.zoom: it has derivatives by input",
    "gaussian_filter(a, 1.0, mode='constant', cval=x[0])": "float",
    "shift(a, 0.5, mode='grid-constant', cval=x[0])": "float",
    "gaussian_filter(a, 1.0, output=int)": r"output of floats",
    "median_filter(a, 3, output=np.int16)": r"output of floats",
    "grey_dilation(a, structure=x[:4].reshape(2, 2))": r"structure",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused(text):
    with pytest.raises(ActiveError, match=REFUSED[text]):
        codipy.grad(program(text))(POINT)


@pytest.mark.parametrize("name", sorted(images.REFUSED.keys() - LATER["ndimage"]))
def test_refused_functions_say_so(name):
    with pytest.raises(ActiveError, match=rf"scipy\.ndimage\.{name}: codipy has no derivative for it"):
        codipy.grad(lambda x: np.sum(getattr(codipy.scipy.ndimage, name)(x)))(POINT)


def test_a_plain_output_is_refused():
    with pytest.raises(ActiveError, match="plain array"):
        codipy.grad(lambda x: np.sum(codipy.scipy.ndimage.laplace(x, np.zeros(40))), rebind=False)(POINT)


def test_scipys_own_errors():
    for text, kind in {"shift(a, 1.0, order=7)": RuntimeError, "gaussian_filter(a, 1.0, mode='other')": RuntimeError,
                       "correlate1d(a, x[:3], 5)": ValueError, "median_filter(a)": RuntimeError}.items():  # fmt: skip
        with pytest.raises(kind):
            codipy.grad(program(text))(POINT)


def test_every_function_is_in_one_set():
    """Nobody meets a function of SciPy's that neither works nor says what to write instead."""
    sets = [set(images.RULED), set(images.REBUILT), images.STEPS, images.WITHOUT_VALUES, set(images.REFUSED)]
    assert sum(map(len, sets)) == len(set().union(*sets))
    names = set(nd.__all__)
    assert not names & LATER["ndimage"] and names | LATER["ndimage"] == set().union(*sets)
    texts = " ".join(["nd." + text for text in CASES + SPLINES])
    assert {name for name in sets[1] if f"nd.{name}(" not in texts} == set(), "a case for each"
