# SPDX-License-Identifier: Apache-2.0
"""``out`` by position is ``out`` by name, for every function and method of NumPy that has one."""

import importlib.util
import sys

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError
from codipy.numpy.outputs import methods, outs
from tests.covering import in_turn

X = np.array([[0.7, 2.1, 3.3, -1.2], [1.9, -0.4, 0.8, 2.6], [-1.1, 1.3, 0.2, 0.9]])
# The arguments before `out`, all of them; `m` is made of the input, `A` and `E` are constants.
FUNCTIONS = {
    "all": "m, 0", "amax": "m, 0", "amin": "m, 1", "any": "m, 0", "argmax": "m, 0", "argmin": "m, 1", "around": "m, 1",
    "choose": "[0, 1, 0, 1], [m[0], m[1]]", "clip": "m, -0.5, m[0, 1]", "compress": "[True, False, True], m, 0",
    "concat": "(m, A), 0", "concatenate": "(m, A), 1", "cumprod": "m, 0, None", "cumsum": "m, 1, None", "dot": "m, A.T",
    "fft.fft": "m, None, -1, None", "fft.fft2": "m, None, (-2, -1), None", "fft.fftn": "m, None, None, None",
    "fft.ifft": "m, None, -1, None",
    "fft.ifftn": "m, None, None, None", "fft.ihfft": "m, None, -1, None", "fft.irfft": "m, None, -1, None",
    "fft.irfftn": "m, None, None, None", "fft.rfft": "m, None, -1, None",
    "fft.rfft2": "m, None, (-2, -1), None", "fft.rfftn": "m, None, None, None", "fix": "m", "isneginf": "m",
    "isposinf": "m", "max": "m, 0", "mean": "m, 0, None", "median": "m, 0", "min": "m, 1", "nanargmax": "m, 0",
    "nanargmin": "m, 0", "nancumprod": "m, 0, None", "nancumsum": "m, 1, None", "nanmax": "m, 0",
    "nanmean": "m, 0, None", "nanmedian": "m, 0", "nanmin": "m, 1", "nanpercentile": "m, 30, 0",
    "nanprod": "m, 0, None", "nanquantile": "m, 0.3, 0", "nanstd": "m, 0, None", "nansum": "m, 0, None",
    "nanvar": "m, 0, None", "outer": "m[0], m[1]", "percentile": "m, 30, 0", "prod": "m, 0, None", "ptp": "m, 0",
    "quantile": "m, 0.3, 1", "round": "m, 1", "stack": "(m, A), 1", "std": "m, 0, None", "sum": "m, 0, None",
    "take": "m, [2, 0], 0", "trace": "np.stack((m, A)), 0, 1, 2, None", "var": "m, 0, None",
    "add": "A, m", "multiply": "m, A", "exp": "m", "add.reduce": "m, 0, None", "logaddexp.reduce": "m, 0, None",
    "add.accumulate": "m, 1, None", "add.reduceat": "m, [0, 2], 1, None",
}  # fmt: skip
METHODS = {  # those of `all` and `any` have in truth a dtype before `out`
    "all": "", "any": "", "argmax": "0", "argmin": "0", "choose": "", "clip": "-0.5, m[0, 1]",
    "compress": "[True, False, True], 0", "cumprod": "0, None", "cumsum": "1, None", "dot": "A.T", "max": "0",
    "mean": "0, None", "min": "0", "prod": "0, None", "round": "1", "std": "0, None", "sum": "0, None",
    "take": "[2, 0], 0", "trace": "", "var": "0, None",
}  # fmt: skip
UNWRITTEN = {name: f"m, None, {axes}, None" for name, axes in  # by NumPy itself
             (("fft.hfft", "-1"), ("fft.ifft2", "(-2, -1)"), ("fft.irfft2", "(-2, -1)"))}  # fmt: skip
NO_NUMBERS = {"busday_count", "busday_offset", "is_busday"}
RANDOM = {"random", "standard_normal", "standard_exponential", "standard_gamma"}
CALLS = {f"np.{name}": f"np.{name}({given}, U)" for name, given in FUNCTIONS.items()}
CALLS |= {f"m.{name}": f"m.{name}({given}, U)" for name, given in METHODS.items() if given}
CALLS |= {"m.trace": "np.stack((m, A)).trace(0, 1, 2, None, U)", "modf": "np.modf(m, U, U2)"}
STEPS = {"np.around", "np.round", "np.fix", "m.round"}  # whose slope is 0, where differences may meet a step
PLACES = {
    "global": "", "copied": "U = U0.copy()", "computed": "U = U0 + U0", "passed": "U = given(U0)",
    "zeros": "U = np.zeros(U0.shape, U0.dtype)", "item": "held = [U0.copy()]; U = held[0]",
}  # fmt: skip


def module_of(tmp_path, monkeypatch, call, made):
    path = tmp_path / "positional.py"
    path.write_text(f"""import numpy as np
A, E, U0, U, U2 = (None,) * 5
def given(u): return u.copy()
def f(x):
    {made}
    m = x * x + x
    {call}
    return (np.real(U) * W).sum() + (np.imag(U) * W).sum()
""", encoding="utf-8")  # fmt: skip
    spec = importlib.util.spec_from_file_location("positional", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "positional", module)
    spec.loader.exec_module(module)
    module.A, module.E = np.cos(np.arange(12.0)).reshape(3, 4), np.eye(4)
    m, module.U0 = X * X + X, np.zeros(X.shape)
    bare = call.removeprefix("U = ")
    for end in (", U, U2)", ", U)", ", out=U)", ", out=(U, U2))"):
        bare = bare.replace(end, ")")
    found = eval(bare, vars(module) | {"m": m})
    found = np.asarray(found[0] if isinstance(found, tuple) else found)
    module.U0, module.U, module.U2 = np.zeros_like(found), np.zeros_like(found), np.zeros_like(found)
    module.W = np.sin(1.0 + np.arange(found.size)).reshape(found.shape)
    return module


def by_name(call):
    return call.replace("U, U2)", "out=(U, U2))") if "U2" in call else call.removesuffix("U)") + "out=U)"


@pytest.mark.parametrize(("place", "call"), [(place, CALLS[name]) for place, name in in_turn(PLACES, CALLS, others=3)])
def test_position_is_name(call, place, tmp_path, monkeypatch):
    results = []
    for text in (call, by_name(call)):
        module = module_of(tmp_path, monkeypatch, text, PLACES[place])
        expected = module.f(X.copy())
        module.U[...] = 0
        if module.U0.dtype.kind == "c" and place == "global":  # which is not exchanged
            with pytest.raises(ActiveError, match="would lose the derivative"):
                codipy.grad(module.f)(X.copy())
            continue
        value, gradient = codipy.value_and_grad(module.f)(X.copy())
        assert value == expected
        assert type(module.U) is np.ndarray
        results.append(gradient)
    if not results:
        return
    assert np.array_equal(*results)
    name = call.partition("(")[0]
    if name in STEPS or module.U.dtype.kind not in "fc" or place in ("copied", "item"):
        return
    h = 1e-6
    for direction in np.random.default_rng(1).uniform(-1.0, 1.0, (2, *X.shape)):
        slope = (module.f(X + h * direction) - module.f(X - h * direction)) / (2 * h)
        assert np.sum(gradient * direction) == pytest.approx(slope, rel=1e-5, abs=1e-5)


def test_every_function_and_method_has_a_case():
    names = {f"{one.__module__.removeprefix('numpy').lstrip('.')}.{one.__name__}".lstrip(".") for one in outs()}
    names = {name if name.startswith("fft") else name.rpartition(".")[2] for name in names}
    assert names - FUNCTIONS.keys() - UNWRITTEN.keys() - NO_NUMBERS == set()
    others = {"reduce", "accumulate", "reduceat", "ptp"}  # up to NumPy 2.2 the last one is there to say that it is gone
    assert methods().keys() - METHODS.keys() - RANDOM - others == set()


@pytest.mark.parametrize("name", UNWRITTEN)
def test_what_numpy_leaves_unwritten_is_refused(name, tmp_path, monkeypatch):
    for call in (f"np.{name}({UNWRITTEN[name]}, U)", f"np.{name}(m, out=U)"):
        module = module_of(tmp_path, monkeypatch, call, "U = U0.copy()")
        with pytest.raises(ActiveError, match="NumPy ignores its out="):
            codipy.grad(module.f)(X.copy())


@pytest.mark.parametrize("call", [
    "np.add(A, m, out=U0.copy())", "np.add(A, m, U0.copy())", "np.cumsum(m, 1, None, -U0)",
    "np.multiply(A, m, where=m > 0, out=U0 * 2.0)", "m.cumsum(0, None, U0 + 1.0)",
])  # fmt: skip
def test_out_may_be_made_in_the_call(call, tmp_path, monkeypatch):
    module = module_of(tmp_path, monkeypatch, f"U = {call}", "U = None")
    value, gradient = codipy.value_and_grad(module.f)(X.copy())
    assert value == module.f(X.copy())
    for k in ((0, 1), (1, 3), (2, 0)):
        z = X.astype(complex)
        z[k] += 1e-30j
        m = z * z + z
        if "cumsum" in call:
            found = np.cumsum(m, int(call.startswith("np")))
        else:
            found = module.A + m if "add" in call else np.where(m.real > 0, module.A * m, 0)
        assert gradient[k] == pytest.approx((found * module.W).sum().imag * 1e30, rel=1e-12)


ROWS = {
    "a row": "np.add(U0[0], m[0], out=U0[0])", "by position": "np.multiply(U0[1], m[1], U0[1])",
    "a row of itself": "np.add(m[0], U0[-1], out=U0[-1])", "two": "np.divmod(U0[0] + m[0], 2.0, out=(U0[0], U0[1]))",
    "a method": "m.sum(axis=1, out=U0[:3, 0])",
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_the_module_has_may_be_read_where_they_are_written(name, tmp_path, monkeypatch):
    module = module_of(tmp_path, monkeypatch, "U = A * 1.0", f"m = x * x; U0[:] = A; {ROWS[name]}; A[:] = U0")

    def value_at(x):
        module.A[:] = np.cos(np.arange(12.0)).reshape(3, 4)
        return module.f(x)

    expected = [(value_at(X + step) - value_at(X - step)) / 2e-6 for step in 1e-6 * np.eye(12).reshape(12, 3, 4)]
    module.A[:] = np.cos(np.arange(12.0)).reshape(3, 4)
    value, gradient = codipy.value_and_grad(module.f)(X.copy())
    assert value == value_at(X)
    np.testing.assert_allclose(gradient.ravel(), expected, rtol=1e-6, atol=1e-7)
    assert type(module.U0) is np.ndarray
