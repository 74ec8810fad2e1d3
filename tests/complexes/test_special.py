# SPDX-License-Identifier: Apache-2.0
"""scipy.special of complex arguments: SciPy's bits, gradients by differences, both modes, second order."""

import numpy as np
import pytest
import scipy.special as sp

import codipy
from codipy.complexes.record import RULES, special_name
from codipy.errors import ActiveError
from tests.strategies import each_strategy

# One call for each ufunc with a rule; orders and shapes are real.
CALLS = {
    **{name: f"sp.{name}(z)" for name in (
        "airy", "dawsn", "erf", "erfc", "erfcx", "erfi", "exp1", "expi", "expm1", "fresnel", "gamma", "log1p",
        "log_ndtr", "loggamma", "ndtr", "psi", "rgamma", "shichi", "sici", "spence", "wofz", "wrightomega",
    )},
    **{name: f"sp.{name}(1.3, z)" for name in (
        "hankel1", "hankel1e", "hankel2", "hankel2e", "hyp0f1", "iv", "jv", "kv", "kve", "yv",
    )},
    **{f"eval_{name}": f"sp.eval_{name}(2.5, z)" for name in (
        "chebyc", "chebys", "chebyt", "chebyu", "laguerre", "legendre", "sh_chebyt", "sh_chebyu", "sh_legendre",
    )},
    "eval_gegenbauer": "sp.eval_gegenbauer(2.5, 0.7, z)", "eval_genlaguerre": "sp.eval_genlaguerre(2.5, 0.7, z)",
    "eval_jacobi": "sp.eval_jacobi(2.5, 0.7, 0.4, z)", "eval_sh_jacobi": "sp.eval_sh_jacobi(2.5, 1.7, 0.4, z)",
    "hyp1f1": "sp.hyp1f1(0.5, 1.5, z)", "hyp2f1": "sp.hyp2f1(0.5, 1.2, 1.5, 0.3 * z)",
    **{f"spherical_{kind}": f"sp.spherical_{kind}(np.arange(4), z)" for kind in ("jn", "yn", "in", "kn")},
    **{f"spherical_{kind}, its derivative": f"sp.spherical_{kind}(2, z, derivative=True)"
       for kind in ("jn", "yn", "in", "kn")},
    "logsumexp": "sp.logsumexp(z, b=2.0 - z)", "softmax": "sp.softmax(z)", "log_softmax": "sp.log_softmax(z * z)",
    "xlogy": "sp.xlogy(z, 2.0 - z)", "xlog1py": "sp.xlog1py(1j * z, z)",
}  # fmt: skip
# Of real arguments, with complex results or beside complex numbers.
MIXED = ["sp.hankel1(0, np.abs(x))", "sp.wofz(x + 0.3j)", "sp.xlogy(x, 2j)", "sp.jv(np.arange(4), z)", "sp.gamma(z[0])",
         "sp.digamma(z - 30.0)", "sp.psi(9.0 * z)", "sp.psi(z.real - 0.3j)", "sp.spherical_jn(1, z[0])",
         "sp.spherical_yn(2, np.abs(x))", "sp.spherical_kn(0, np.abs(x[1]), derivative=True)"]  # fmt: skip
POINT = np.array([0.4, -0.7, 1.2, 0.9, 0.5, 0.8, -0.6, 0.3])
TANGENT = np.cos(np.arange(8.0))


def function(text):
    code = compile(text, text, "eval")

    def f(p):
        found = eval(code, {"sp": sp, "np": np, "x": p[:4], "z": p[:4] + 1j * p[4:]})
        parts = found if isinstance(found, tuple) else (found,)
        weighed = [(part * (1.0 - 0.3j) ** k).real * (2.0 + np.arange(np.size(part))) for k, part in enumerate(parts)]
        return sum(map(np.sum, weighed))

    return f


def differences(f, step=1e-6):
    return np.array([(f(POINT + step * e) - f(POINT - step * e)) / (2 * step) for e in np.eye(8)])


def test_every_rule_has_a_call():
    special_name(sp.erf)
    assert {name.removeprefix("scipy.special.") for name in RULES if "special" in name} == {*CALLS, "lambertw"}


@pytest.mark.parametrize("text", [*CALLS.values(), *MIXED])
def test_values_and_gradients(text):
    f = function(text)
    value, gradient = codipy.value_and_grad(f)(POINT)
    assert value == f(POINT)
    expected = differences(f)
    assert gradient == pytest.approx(expected, rel=1e-6, abs=1e-6 * np.abs(expected).max())
    assert codipy.jvp(f, (POINT,), (TANGENT,))[1] == pytest.approx(gradient @ TANGENT, rel=1e-10)


@each_strategy
def test_every_strategy(strategy):
    for text in [*CALLS.values()][::5]:
        expected = codipy.grad(function(text))(POINT)
        assert codipy.grad(function(text), strategy=strategy)(POINT) == pytest.approx(expected, rel=1e-11), text


@pytest.mark.parametrize("name", CALLS)
def test_second_order(name):
    f = function(CALLS[name])
    found = codipy.grad(lambda p: codipy.grad(f)(p) @ TANGENT)(POINT)
    expected = (codipy.grad(f)(POINT + 1e-6 * TANGENT) - codipy.grad(f)(POINT - 1e-6 * TANGENT)) / 2e-6
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("text, said", [
    ("sp.polygamma(1, z)", "polygamma"),
    ("sp.spherical_jn(z.real, z)", "scipy.special.spherical_jn: there is no derivative by the order"),
    ("sp.jv(x, z)", "scipy.special.jv: there is no derivative in argument 1"),
    ("sp.hankel1(x, 2.0)", "scipy.special.hankel1: there is no derivative in argument 1"),
    ("sp.jve(1, z)", "scipy.special.jve: no derivative is known for complex operands"),
])  # fmt: skip
def test_what_is_refused(text, said):
    with pytest.raises(ActiveError, match=said):
        codipy.grad(function(text))(POINT)


def test_a_function_of_scipy_is_not_numpys_of_the_same_name():
    z = np.array([0.07 + 0.1j, -0.12 + 0.1j, 0.04 + 0.1j, 0.19 + 0.1j])
    tape = codipy.Tape()
    with tape:
        active = tape.register_input(z)
        assert np.array_equal(sp.log1p(active).value, sp.log1p(z))
        assert np.array_equal(np.log1p(active).value, np.log1p(z))
    assert not np.array_equal(sp.log1p(z), np.log1p(z))


@pytest.mark.parametrize("z", [13 + 5j, 20j, 0.3 - 0.2j, -14 + 0.5j, 5j, 1 - 20j])
@pytest.mark.parametrize("name", ["dawsn", "erfcx", "log_ndtr", "rgamma", "spence"])
def test_slopes_of_real_numbers_are_not_those_of_complex_ones_on_other_parts_of_the_plane(name, z):
    def f(p):
        return np.real(getattr(sp, name)(p[0] + 1j * p[1]) * (1.3 - 0.4j))

    at, h = np.array([z.real, z.imag]), 1e-6
    expected = [(f(at + h * unit) - f(at - h * unit)) / (2 * h) for unit in np.eye(2)]
    np.testing.assert_allclose(codipy.grad(f)(at), expected, rtol=2e-5, atol=1e-7)
