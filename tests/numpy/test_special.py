# SPDX-License-Identifier: Apache-2.0
"""The ufuncs of scipy.special: partials against differences, and what has none is named."""

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, UndifferentiableError
from codipy.numpy import special as table
from tests.strategies import each_strategy

special, stats = pytest.importorskip("scipy.special"), pytest.importorskip("scipy.stats")
pytestmark = pytest.mark.filterwarnings("ignore")

# Points where they are smooth; whole first arguments where orders must be.
POINTS = {
    "erfinv": [[-0.7, 0.3]], "erfcinv": [[0.4, 1.3]], "logit": [[0.2, 0.9]], "ndtri": [[0.2, 0.9]],
               "ndtri_exp": [[-0.3, -2.0]],
    "gamma": [[0.6, 3.3]], "psi": [[0.6, 3.3]], "ellipk": [[0.3, -0.8]], "ellipe": [[0.3, -0.8]],
    "spence": [[0.3, 2.2]], "exprel": [[1e-6, -1.5, 2.0]], "kl_div": [[0.4, 1.5], [0.7, 2.0]],
    "huber": [[1.0, 0.5], [0.3, -2.0]], "binom": [[4.3, 5.1], [1.4, 2.2]], "yn": [[1, 2], [0.7, 2.5]],
    "kn": [[1, 2], [0.7, 2.5]], "expn": [[0, 1, 3], [0.7, 1.2, 0.4]], "gammaincinv": [[1.3, 2.0], [0.3, 0.8]],
    "gammainccinv": [[1.3, 2.0], [0.3, 0.8]], "boxcox": [[0.7, 2.0, 1.4], [0.3, -1.2, 0.0]],
    "boxcox1p": [[0.7, 2.0, 1.4], [0.3, -1.2, 0.0]], "inv_boxcox": [[0.3, 0.6], [0.4, 1.3]],
    "stdtrit": [[3.0, 5.0], [0.3, 0.9]], "ellipkinc": [[0.5, 1.2], [0.3, 0.7]], "ellipeinc": [[0.5, 1.2], [0.3, 0.7]],
    "pdtr": [[1.0, 3.0], [0.7, 2.5]], "pdtrc": [[1.0, 3.0], [0.7, 2.5]],
    "betainc": [[1.3, 2.0], [0.8, 1.5], [0.3, 0.8]], "betaincc": [[1.3, 2.0], [0.8, 1.5], [0.3, 0.8]],
    "betaincinv": [[1.3, 2.0], [0.8, 1.5], [0.3, 0.8]],
    "hyp2f1": [[0.4, 1.2], [0.7, 0.3], [1.5, 2.2], [0.3, -0.8]],
    "kolmogorov": [[0.7, 1.2]], "kolmogi": [[0.2, 0.8]], "_kolmogci": [[0.2, 0.8]], "_log1mexp": [[-0.3, -2.0]],
    "chdtri": [[3.0, 5.0], [0.3, 0.9]], "pdtri": [[1.0, 3.0], [0.3, 0.9]], "_cosine_invcdf": [[0.3, 0.8]],
    "tklmbda": [[0.3, -0.5], [0.6, 1.2]], "ellipj": [[0.5, 1.2], [0.3, 0.7]], "itairy": [[0.4, 0.9]],
    "pbwa": [[0.4, 1.0], [0.5, 1.2]], "_beta_ppf": [[0.3, 0.8], [1.3, 2.0], [0.8, 1.5]],
    "_beta_pdf": [[0.3, 0.8], [1.3, 2.0], [0.8, 1.5]], "gdtrix": [[1.3, 2.0], [0.8, 1.5], [0.3, 0.8]],
    "betainccinv": [[1.3, 2.0], [0.8, 1.5], [0.3, 0.8]], "chndtrix": [[0.3, 0.8], [3.0, 2.0], [0.8, 1.5]],
    "nctdtrit": [[3.0, 5.0], [0.4, 1.2], [0.3, 0.8]], "fdtri": [[3.0, 5.0], [4.0, 7.0], [0.3, 0.8]],
    "lpmv": [[1.0, 2.0], [2.0, 3.0], [0.3, -0.5]], "voigt_profile": [[0.3, -1.2], [0.5, 1.2], [0.4, 0.9]],
    "ncfdtri": [[3.0, 5.0], [4.0, 7.0], [0.3, 0.8], [0.2, 0.7]],
    "eval_sh_jacobi": [[0.0, 3.0], [2.3, 3.0], [0.5, 1.2], [0.3, 0.6]], "_zeta": [[2.5, 3.0], [0.9, 2.3]],
    "eval_jacobi": [[0, 3], [0.3, 1.0], [0.5, 0.2], [0.3, -0.6]],
    "eval_genlaguerre": [[0, 3], [0.3, 1.0], [0.3, 1.6]], "eval_gegenbauer": [[0, 3], [0.6, 1.2], [0.3, -0.6]],
}  # fmt: skip
POINTS |= {
    f"eval_{name}": [[0, 1, 4], [0.3, 0.4, -0.6]]
    for name in ("legendre", "chebyt", "chebyu", "hermite", "hermitenorm", "laguerre")
}
POINTS |= {f"{name}": [[1.0, 3.0], [4.0, 6.0], [0.3, 0.8]] for name in (
    "bdtr", "bdtrc", "bdtri", "nbdtr", "nbdtrc", "nbdtri", "_binom_pmf", "_binom_cdf", "_binom_sf", "_nbinom_pmf",
    "_nbinom_cdf", "_nbinom_sf")}  # fmt: skip
POINTS |= dict.fromkeys(("smirnov", "smirnovi", "_smirnovc", "_smirnovci"), [[3.0, 5.0], [0.3, 0.6]])
POINTS |= dict.fromkeys(("_landau_ppf", "_landau_isf"), [[0.3, 0.8], [0.1, 0.2], [1.0, 1.3]])
POINTS |= dict.fromkeys(("_cauchy_ppf", "_cauchy_isf"), [[0.3, 0.8], [0.0, 0.0], [1.0, 1.0]])
POINTS |= dict.fromkeys(("_invgauss_ppf", "_invgauss_isf"), [[0.3, 0.8], [0.6, 1.2], [1.0, 1.0]])
POINTS |= dict.fromkeys(("_ncx2_isf", "_ncx2_ppf", "_nct_isf"), [[0.3, 0.8], [3.0, 5.0], [0.7, 1.2]])
POINTS |= {f"_nbinom_{name}": [[4.0, 6.0], [0.3, 0.8]]
           for name in ("mean", "variance", "skewness", "kurtosis_excess")}  # fmt: skip
POINTS["_ncf_isf"] = [[0.3, 0.8], [3.0, 5.0], [4.0, 7.0], [0.7, 1.2]]
POINTS |= dict.fromkeys(("_skewnorm_ppf", "_skewnorm_isf", "_skewnorm_cdf"),
                        [[0.3, 0.8], [0.0, 0.0], [1.0, 1.0], [1.2, -0.7]])  # fmt: skip
POINTS |= {f"eval_{name}": [[0.0, 1.0, 4.0], [0.3, 0.4, 0.6]] for name in (
    "chebyc", "chebys", "sh_legendre", "sh_chebyt", "sh_chebyu")}  # fmt: skip
DEFAULT = [[0.4, 1.7], [0.9, 2.3], [0.6, 1.4], [0.3, 0.8]]
TABLE_ROWS = ["erf", "erfc", "gammaln", "digamma", "expit", "cbrt", "exp2", "expm1", "log1p"]


def rows():
    """Every ufunc, and each argument that has a derivative."""
    for name in [*table.NAMES, *TABLE_ROWS]:
        if table.ufunc_of(name, special) is None:
            continue
        several = table._SEVERAL_OF_TWO.get(name, [None])[0]
        texts = several or table._TWO.get(name) or table._THREE.get(name) or table._FOUR.get(name) or ("",)
        yield from ((name, k) for k, text in enumerate(texts) if text != "-")


@pytest.mark.parametrize(("name", "argument"), list(dict.fromkeys(rows())))
def test_value_and_derivative(name, argument):
    ufunc = table.ufunc_of(name, special)
    point = [np.array(x) for x in (POINTS.get(name) or DEFAULT[: ufunc.nin])]
    expected = ufunc(*point)
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(point[argument].astype(float))
        found = ufunc(*point[:argument], x, *point[argument + 1 :])
        outputs = found if isinstance(found, tuple) else (found,)
        for y in outputs:
            tape.register_output(y)
    expected = expected if isinstance(expected, tuple) else (expected,)
    for number, (y, value) in enumerate(zip(outputs, expected, strict=True)):
        assert np.array_equal(y.value, value)
        tape.clear_adjoints()
        y.gradient = 1.0
        tape.evaluate()
        sides = []
        for step in (1e-4, -1e-4, 2e-4, -2e-4):
            result = ufunc(*point[:argument], point[argument] + step, *point[argument + 1 :])
            sides.append(result[number] if isinstance(result, tuple) else result)
        slope = (8 * (sides[0] - sides[1]) - (sides[2] - sides[3])) / 12e-4
        np.testing.assert_allclose(x.gradient, slope, 1e-6, 1e-8)


@pytest.mark.parametrize("name", ["mathieu_a", "obl_cv", "stdtridf", "zetac"])
def test_what_has_no_derivative_is_named(name):
    ufunc = getattr(special, name)
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([0.5]))
        with pytest.raises(ActiveError, match=f"{name}: codipy has no derivative"):
            ufunc(*[x] * ufunc.nin)
        with codipy.passive():
            assert np.array_equal(ufunc(*[x] * ufunc.nin), ufunc(*[np.array([0.5])] * ufunc.nin), equal_nan=True)


def test_an_argument_without_derivative_is_named():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([0.5]))
        with pytest.raises(TypeError, match="scipy.special.hyp1f1: there is no derivative in argument 1"):
            special.hyp1f1(x, 1.0, 1.0)


def test_functions_on_top_of_ufuncs():
    tape = codipy.Tape()
    with tape:
        x = tape.register_input(np.array([0.5, 2.0]))
        y = tape.register_output(special.xlogy(x, x))
    y.gradient = 1.0
    tape.evaluate()
    np.testing.assert_allclose(x.gradient, np.log([0.5, 2.0]) + 1, 1e-14)


POINT = np.array([0.3, 0.45])


# Functions in Python, and how many arguments they take; others crash where an argument makes no sense to them.
IN_PYTHON = {
    "comb": 2, "perm": 2, "polygamma": 2, "diric": 2, "factorial": 1, "factorial2": 1, "factorialk": 2, "logsumexp": 1,
    "softmax": 1, "log_softmax": 1, "multigammaln": 2, "sinc": 1, "legendre_p": 2, "legendre_p_all": 2,
    "assoc_legendre_p": 3, "sph_legendre_p": 3, "sph_harm_y": 4, "spherical_jn": 2, "spherical_yn": 2,
    "spherical_in": 2, "spherical_kn": 2, "jvp": 2, "kvp": 2, "h1vp": 2, "ellip_harm": 4, "zeta": 2, "stirling2": 2
}  # fmt: skip


def calls():
    """Each ufunc of scipy.special, and functions on top of them, at each place of an argument."""
    for name in special.__all__:
        f = getattr(special, name)
        count = IN_PYTHON.get(name, 0) if not isinstance(f, np.ufunc) else f.nin * (not name.startswith(("obl", "pro")))
        yield from ((name, count, place) for place in range(count))


def first(result):
    while isinstance(result, (tuple, list)):
        result = result[0]
    return result


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("fill", [0.4, 2])
@pytest.mark.parametrize("of", ["array", "number"])
def test_every_function_has_the_slope_of_the_plain_one_or_says_that_it_has_none(of, fill):
    def f(x, name, count, place):
        given = [(x if of == "array" else x[0]) if k == place else fill for k in range(count)]
        value = first(getattr(special, name)(*given))
        return np.sum(value * np.ones(np.shape(value)))

    gradient, right, refused = codipy.value_and_grad(f), 0, 0
    for call in calls():
        try:
            plain = f(POINT, *call)
        except Exception:  # it takes other arguments
            continue
        if np.iscomplexobj(plain) or not np.isfinite(plain):
            continue
        try:
            value, found = gradient(POINT.copy(), *call)
        except ActiveError:
            refused += 1
            continue
        steps = np.eye(2) * 1e-6
        slopes = [(f(POINT + h, *call) - f(POINT - h, *call)) / 2e-6 for h in steps]
        assert value == plain, call
        np.testing.assert_allclose(found, slopes, rtol=1e-4, atol=1e-5 * max(1.0, abs(plain)), err_msg=str(call))
        right += 1
    assert right > 90 and refused > 50


@each_strategy
def test_expm1_keeps_the_digits_of_its_derivative_where_the_value_is_minus_one(strategy):
    """The value + 1 was nothing at -40, where the derivative is exp(-40)."""
    x = np.array([-40.0, -5.0, -0.7, 0.3])
    found = codipy.grad(lambda x: special.expm1(x).sum(), strategy=strategy)(x)
    np.testing.assert_allclose(found, np.exp(x), 1e-15)


SHAPES = {
    "gammainc": [(0.02, 0.3), (0.7, 1e-8), (3.0, 0.4), (3.0, 30.0), (60.0, 20.0), (60.0, 90.0), (2e4, 2.02e4),
                 (400.0, 405.0), (5.5, 6.5)],
    "gammaincc": [(0.3, 4.0), (3.0, 60.0), (60.0, 200.0)],
    "betainc": [(0.3, 0.7, 1e-6), (2.0, 3.0, 0.99), (30.0, 2.0, 0.7), (0.5, 40.0, 0.6), (500.0, 600.0, 0.47)],
    "betaincc": [(2.0, 3.0, 0.999), (5.0, 5.0, 0.01)],
    "stdtr": [(0.7, -30.0), (2.5, 0.0), (4.0, 1e-3), (300.0, 2.0), (6.5, 1e-12), (40.0, -1e-6), (40.0, 1e-20)],
    "fdtr": [(1.0, 9.0, 0.2), (40.0, 3.0, 7.0), (2.0, 3.0, 1e10), (2.0, 3.0, 1e17)],
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_far_out_keep_their_digits(name):
    """Against mpmath's quadrature of 30 digits, tails relative to themselves."""
    mp = pytest.importorskip("mpmath")
    functions = {
        "gammainc": lambda a, x: mp.gammainc(a, 0, x, regularized=True),
        "gammaincc": lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True),
        "betainc": lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
        "betaincc": lambda a, b, x: mp.betainc(a, b, x, 1, regularized=True),
        "stdtr": lambda v, t: (lambda half: half if t < 0 else 1 - half)(
            mp.betainc(v / 2, mp.mpf(0.5), 0, v / (v + mp.mpf(t) ** 2), regularized=True) / 2),
        "fdtr": lambda a, b, x: mp.betainc(a / 2, b / 2, 0, a * x / (a * x + b), regularized=True),
    }  # fmt: skip
    count = 2 if name in ("betainc", "betaincc", "fdtr") else 1
    with mp.workdps(30):
        for point in SHAPES[name]:
            for k in range(count):
                def along(s, point=point, k=k):
                    return functions[name](*(s if j == k else mp.mpf(x) for j, x in enumerate(point)))

                expected = float(mp.diff(along, point[k], h=mp.mpf(10) ** -8 * point[k]))
                found = codipy.grad(lambda s, point=point, k=k: getattr(special, name)(
                    *(s if j == k else x for j, x in enumerate(point))))(float(point[k]))  # fmt: skip
                assert found == pytest.approx(expected, rel=1e-8, abs=1e-300), (point, k)


def test_the_slope_by_the_degrees_of_freedom_is_not_differentiated_again_where_it_is_a_limit():
    def slope(t, v=2.5):
        return codipy.grad(lambda v: special.stdtr(v, t))(v)

    change = (codipy.grad(lambda t: special.stdtr(2.5 + 1e-5, t))(1e-6) - codipy.grad(
        lambda t: special.stdtr(2.5 - 1e-5, t))(1e-6)) / 2e-5  # fmt: skip
    assert codipy.grad(slope)(1e-6) == pytest.approx(change, rel=1e-7)
    with pytest.raises(UndifferentiableError, match="limit"):
        codipy.grad(slope)(0.0)


def test_of_what_is_beyond_its_range():
    """The distribution function is 0 and 1 beyond the ends of its support, which move with the shape."""
    gradient = codipy.grad(lambda s: np.sum(special.tklmbda(np.array([1.3, -2.0, 0.2]), s)))(np.array([2.2, 3.0, 1.3]))
    step = 1e-6
    expected = (special.tklmbda(0.2, 1.3 + step) - special.tklmbda(0.2, 1.3 - step)) / (2 * step)
    np.testing.assert_allclose(gradient, [0.0, 0.0, expected], rtol=1e-7)


@pytest.mark.parametrize("name, advice", [("kelvin", "berp"), ("zetac", "zeta"), ("stdtridf", "brentq")])
def test_what_is_refused_says_what_to_write(name, advice):
    with pytest.raises(ActiveError, match=rf"special\.{name}: .*{advice}"):
        codipy.grad(lambda x: np.real(getattr(special, name)(*[x] * getattr(special, name).nin)[0]))(np.full(1, 0.6))


@pytest.mark.parametrize("t", [0.0, 1e-12, -1e-9, 1e-6, 0.0099, 0.0101, 0.099, 0.101, 0.7, -0.5])
@pytest.mark.parametrize("name", ["boxcox", "boxcox1p", "inv_boxcox", "inv_boxcox1p", "ellipk", "ellipe"])
def test_slopes_whose_formula_cancels_near_zero(name, t):
    mpmath = pytest.importorskip("mpmath")
    exact = {
        "boxcox": lambda a: mpmath.expm1(a * mpmath.log(1.7)) / a,
        "boxcox1p": lambda a: mpmath.expm1(a * mpmath.log1p(0.7)) / a,
        "inv_boxcox": lambda a: mpmath.exp(mpmath.log1p(a * 0.7) / a),
        "inv_boxcox1p": lambda a: mpmath.expm1(mpmath.log1p(a * 0.7) / a),
        "ellipk": mpmath.ellipk,
        "ellipe": mpmath.ellipe,
    }[name]
    function = getattr(special, name)
    first = {"boxcox": (1.7,), "ellipk": (), "ellipe": ()}.get(name, (0.7,))

    def f(a):
        return function(*first, a)

    with mpmath.workdps(60):
        at = mpmath.mpf(t) if t or name.startswith("ellip") else mpmath.mpf("1e-20")
        slopes = [float(mpmath.diff(exact, at, k)) for k in (1, 2)]
    assert codipy.grad(f)(t) == pytest.approx(slopes[0], rel=1e-11)
    assert codipy.hessian(f)(t) == pytest.approx(slopes[1], rel=1e-9)
    assert codipy.grad(codipy.grad(f))(t) == pytest.approx(slopes[1], rel=1e-9)


# Where a quantile is an end of the range, whatever the shapes are: the arguments, and which of them are shapes.
ENDS = {
    "gammaincinv": ([2.3, 0.0], [0]), "gammainccinv": ([2.3, 1.0], [0]), "chdtri": ([5.3, 1.0], [0]),
    "betaincinv": ([2.3, 3.0, 1.0], [0, 1]), "betainccinv": ([2.3, 3.0, 1.0], [0, 1]),
    "fdtri": ([5.3, 4.0, 0.0], [0, 1]), "gdtrix": ([1.3, 2.0, 0.0], [1]), "chndtrix": ([0.0, 5.0, 1.3], [2]),
    "ncfdtri": ([5.0, 3.0, 1.3, 0.0], [2]), "_beta_ppf": ([0.0, 2.3, 3.0], [1, 2]),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_the_ends_of_a_range_do_not_move_with_shapes(name):
    args, shapes = ENDS[name]
    f = getattr(special, name, None) or getattr(special._ufuncs, name, None)
    if f is None:
        pytest.skip("this SciPy has it not")

    def moved(p):
        given = list(args)
        for k, x in zip(shapes, p):
            given[k] = x
        return f(*given)

    at = np.array([args[k] for k in shapes])
    if np.isnan(moved(at)):
        pytest.skip("not a number in this SciPy")
    assert moved(at) == moved(at + 0.1)
    np.testing.assert_array_equal(codipy.grad(lambda p: np.sum(moved(p)))(at), np.zeros(len(shapes)))


# Slopes that cancel near a point, or are quotients of infinities at one: functions and the points.
HIGHER = {
    "ellipkm1": (lambda x: special.ellipkm1(x), lambda x: mp().ellipk(1 - x), [1e-12, 1e-8, 0.3, 1 - 1e-9, 1.0, 1.7]),
    "ellipkinc": (lambda m: special.ellipkinc(0.6, m), lambda m: mp().ellipf(0.6, m), [0.0, 1e-12, -1e-5, 0.3, 1.0]),
    "ellipkinc, turns": (lambda m: special.ellipkinc(7.0, m), lambda m: mp().ellipf(7, m), [0.0, 1e-9, 0.6, -2.0]),
    "ellipkinc, angle": (lambda x: special.ellipkinc(x, 0.4), lambda x: mp().ellipf(x, 0.4), [0.0, 1e-9, 2.0]),
    "ellipeinc": (lambda m: special.ellipeinc(0.6, m), lambda m: mp().ellipe(0.6, m), [0.0, 1e-12, -1e-5, 0.3, 1.0]),
    "ellipeinc, turns": (lambda m: special.ellipeinc(-7.0, m), lambda m: mp().ellipe(-7, m), [0.0, 1e-9, 0.6, -2.0]),
    "agm": (lambda x: special.agm(x, 1.0), lambda x: mp().agm(x, 1), [1e-12, 0.3, 1 - 1e-9, 1.0, 1e8]),
    "elliprf": (lambda x: special.elliprf(x, 0.7, 1.1), lambda x: mp().elliprf(x, 0.7, 1.1), [1e-8, 0.7, 1.1, 1e8]),
    "elliprc": (lambda x: special.elliprc(x, 0.7), lambda x: mp().elliprc(x, 0.7), [1e-8, 0.69, 0.7, 1e8]),
    "elliprg": (lambda x: special.elliprg(x, 0.7, 1.1), lambda x: mp().elliprg(x, 0.7, 1.1), [1e-8, 0.7, 1.1]),
    "sici": (lambda x: special.sici(x)[0], lambda x: mp().si(x), [0.0, 1e-12, -1e-8, 1e-5, 0.99, 1.01, 9.0]),
    "shichi": (lambda x: special.shichi(x)[0], lambda x: mp().shi(x), [0.0, 1e-12, -1e-8, 1e-5, 0.99, 1.01, 9.0]),
    "struve, 0": (lambda x: special.struve(0, x), lambda x: mp().struveh(0, x), [1e-12, -1e-8, 0.3, 7.9, 8.1]),
    "struve, 1": (lambda x: special.struve(1, x), lambda x: mp().struveh(1, x), [1e-12, 1e-8, 0.3, 7.9, 8.1]),
    "modstruve, 0": (lambda x: special.modstruve(0, x), lambda x: mp().struvel(0, x), [1e-12, -1e-8, 0.3, 7.9, 8.1]),
    "modstruve, 1": (lambda x: special.modstruve(1, x), lambda x: mp().struvel(1, x), [1e-12, 1e-8, 0.3, 7.9]),
    "rgamma": (lambda x: special.rgamma(x), lambda x: mp().rgamma(x), [0.0, 1e-12, -1.0, -9.0, -2.5, 0.49, 0.51, 9.0]),
    "dawsn": (lambda x: special.dawsn(x), lambda x: mp().sqrt(mp().pi) / 2 * mp().exp(-x * x) * mp().erfi(x),
              [0.0, 1e-12, 1.0, -11.0, 13.0, 1e4]),
    "erfcx": (lambda x: special.erfcx(x), lambda x: mp().exp(x * x) * mp().erfc(x),
              [0.0, 1e-12, -2.0, 11.0, 13.0, 1e4]),
    "exprel": (lambda x: special.exprel(x), lambda x: mp().expm1(x) / x, [1e-12, -1e-8, 1e-5, 0.49, 0.51, -9.0]),
    "log_ndtr": (lambda x: special.log_ndtr(x), lambda x: mp().log(mp().erfc(-x / mp().sqrt(2)) / 2),
                 [-1e4, -30.0, -1.1, -0.9, 3.0]),
    "poch": (lambda x: special.poch(x, 3.0), lambda x: x * (x + 1) * (x + 2), [0.0, 1e-12, -1.0, -3.0, -9.0, 0.3]),
    "poch, broken": (lambda x: special.poch(x, 1.5), lambda x: mp().rf(x, 1.5), [1e-12, -2.0, -1.3, 0.3]),
    "binom": (lambda x: special.binom(x, 2.0), lambda x: x * (x - 1) / 2, [0.0, 1e-8, 1.0, 2.5]),
    "pseudo_huber, delta": (lambda x: special.pseudo_huber(x, 0.7), lambda x: x * (mp().hypot(x, 0.7) - x),
                            [1e-8, 0.7, 1e4]),
    "pseudo_huber": (lambda x: special.pseudo_huber(0.7, x), lambda x: mp().mpf(0.7) * mp().hypot(x, 0.7),
                     [0.0, 1e-8, -0.7, 1e4]),
    "spence": (lambda x: special.spence(x), lambda x: mp().polylog(2, 1 - x), [1e-8, 0.94, 1 - 1e-9, 1.0, 1.06, 9.0]),
}  # fmt: skip


def mp():
    return pytest.importorskip("mpmath")


@pytest.mark.parametrize("name", HIGHER)
def test_derivatives_to_the_third_keep_their_digits(name):
    f, exact, points = HIGHER[name]
    second = codipy.grad(codipy.grad(f))
    for x in points:
        near = min(abs(x), 1.0) or 1.0
        with mp().workdps(int(60 - 4 * np.log10(near))):
            step = mp().mpf(near) * mp().mpf(10) ** -12
            expected = [float(mp().re(mp().diff(exact, mp().mpf(x) + (step / 10**3 if x in (0, 1) else 0), k, h=step)))
                        for k in (1, 2, 3)]  # fmt: skip
        found = [codipy.grad(f)(x), codipy.hessian(f)(x), codipy.taylor(f, x, 1.0, 3)[3] * 6]
        np.testing.assert_allclose(found[:2], expected[:2], rtol=1e-8, atol=1e-11, err_msg=f"{x}")
        np.testing.assert_allclose(found[2], expected[2], rtol=1e-5, atol=1e-9, err_msg=f"{x}")
        assert second(x) == pytest.approx(found[1], rel=1e-8, abs=1e-11), x


COUNTS, MEANS = np.array([0.0, 1.0, 3.0]), np.array([0.5, 1.2, 2.5])
AT_NOTHING = {
    "the deviance of counts": lambda m: 2.0 * np.sum(special.xlogy(COUNTS, COUNTS / m) - (COUNTS - m)),
    "xlogy": lambda m: np.sum(special.xlogy(COUNTS, m)),
    "xlog1py": lambda m: np.sum(special.xlog1py(COUNTS, COUNTS / m - 1.0)),
    "rel_entr": lambda m: np.sum(special.rel_entr(COUNTS, COUNTS * m)),
    "kl_div": lambda m: np.sum(special.kl_div(COUNTS, COUNTS * m)),
    "beta.pdf by a": lambda m: np.sum(stats.beta.pdf([0.0, 1 / 3, 1.0], m + 2.0, 2.5)),
    "beta.pdf by b": lambda m: np.sum(stats.beta.pdf([0.0, 1 / 3, 1.0], 2.5, m + 2.0)),
}


@pytest.mark.parametrize("f", AT_NOTHING.values(), ids=AT_NOTHING)
def test_what_is_nothing_whatever_its_other_argument_is_has_a_slope_of_zero(f):
    gradient = codipy.grad(f)(MEANS)
    steps = 1e-6 * np.eye(3)
    np.testing.assert_allclose(gradient, [(f(MEANS + h) - f(MEANS - h)) / 2e-6 for h in steps], rtol=1e-6, atol=1e-8)
    second = codipy.hvp(f, (MEANS,), (np.ones(3),))[0]
    expected = (codipy.grad(f)(MEANS + 1e-5) - codipy.grad(f)(MEANS - 1e-5)) / 2e-5
    np.testing.assert_allclose(second, expected, rtol=1e-5, atol=1e-6)
