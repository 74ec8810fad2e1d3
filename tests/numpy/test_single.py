# SPDX-License-Identifier: Apache-2.0
"""Every function and ufunc of NumPy on float32 Arrays: values and dtypes bit for bit, gradients those of float64."""

from functools import reduce

import numpy as np
import pytest

import codipy
from codipy.active.array import Array
from codipy.numpy import creation, functions, special
from codipy.numpy.arguments import parameters
from tests.numpy.cases_movement import CASES as MOVEMENT
from tests.numpy.cases_movement import PASSIVE
from tests.numpy.cases_rules import CASES as RULES
from tests.numpy.cases_ufuncs import CALLS, METHODS
from tests.numpy.cases_ufuncs import PASSIVE as PASSIVE_CALLS
from tests.numpy.overridable import OVERRIDABLE
from tests.numpy.table import INPUTS, evaluate, forward, leaves, names_in, plain_results, reverse, weights_for

FUNCTIONS = [text for cases in (MOVEMENT, RULES, PASSIVE) for name, texts in cases.items() if name in OVERRIDABLE
             for text in texts]  # fmt: skip
pytestmark = pytest.mark.filterwarnings("ignore")


def values_of(names, dtype):
    """The inputs, rounded to float32; a Real is a Python float beside them."""
    return {name: INPUTS[name] if name == "r" else INPUTS[name].astype(np.float32).astype(dtype) for name in names}


def record(text, dtype):
    tape = codipy.Tape(strategy="jacobian")
    with tape:
        active = {name: tape.register_input(x if name == "r" else Array(x))
                  for name, x in values_of(names_in(text), dtype).items()}  # fmt: skip
        results = leaves(evaluate(text, active))
        chosen = [y for y in results if type(y) in (Array, codipy.Real) and y.is_active]
        for y in chosen:
            tape.register_output(y)
    return tape, active, results, chosen


def same(found, expected):
    """Whether a result is NumPy's: dtype, shape, bits; a Real has the bits in a Python float."""
    if type(found) is codipy.Real:
        is_number = isinstance(expected, float | np.floating)
        return is_number and np.array_equal(found.value, float(expected), equal_nan=True)
    one, two = np.asarray(found.value if type(found) is Array else found), np.asarray(expected)
    if one.dtype != two.dtype or one.shape != two.shape:
        return False
    return np.array_equal(one, two, equal_nan=one.dtype.kind in "fc")


@pytest.mark.parametrize("text", [*FUNCTIONS, *CALLS, *METHODS, *PASSIVE_CALLS])
def test_values_and_gradients(text):
    expected = plain_results(text, values_of(names_in(text), np.float32))
    recorded = record(text, np.float32)
    for number, (found, wanted) in enumerate(zip(recorded[2], expected, strict=True)):
        assert same(found, wanted), f"{text}, result {number}: {found!r} is not {wanted!r}"
    wide = record(text, np.float64)
    weights = weights_for([y.value if type(y) in (Array, codipy.Real) else y for y in wide[2]])
    if any(np.shape(one) != np.shape(two) for one, two in zip(weights, expected) if one is not None):
        return  # leading zeros were found in one precision only
    gradients, precise = reverse(recorded, weights), reverse(wide, weights)
    for name, gradient in precise.items():
        assert gradients[name].dtype == np.float64
        scale = max(1.0, np.max(np.abs(gradient), initial=0.0))
        np.testing.assert_allclose(gradients[name], gradient, 1e-4, 1e-4 * scale, err_msg=f"{text}, {name}")
    tangents = {name: weights_for([gradient])[0] for name, gradient in gradients.items()}
    total = sum(np.sum(gradients[name] * tangent) for name, tangent in tangents.items())
    np.testing.assert_allclose(forward(recorded, weights, tangents), total, 1e-6, 1e-6, err_msg=f"{text}, forward")


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("name", special.NAMES)
def test_ufuncs_of_scipy(name, mixed):
    scipy_special = pytest.importorskip("scipy.special")
    ufunc = special.ufunc_of(name, scipy_special)
    if ufunc is None:
        pytest.skip(f"this SciPy has no {name}")
    values = [np.linspace(0.11 + 0.05 * k, 0.93, 23, dtype=np.float64 if mixed and k else np.float32)
              for k in range(ufunc.nin)]  # fmt: skip
    try:
        expected = leaves(ufunc(*values))
    except TypeError:
        return  # whole numbers only
    special.primitive_of(ufunc)
    with codipy.Tape() as tape:
        inputs = [v if k in special.lacking(ufunc) else tape.register_input(v) for k, v in enumerate(values)]
        assert all(map(same, leaves(ufunc(*inputs)), expected))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_matrices(dtype):
    sparse = pytest.importorskip("scipy.sparse")
    matrix, x = sparse.csr_array(np.eye(5, dtype=dtype) * 0.3 + np.eye(5, k=1, dtype=dtype)), np.ones(5, np.float32) / 3
    with codipy.Tape() as tape:
        a = tape.register_input(x)
        assert same(matrix @ a, matrix @ x) and same(a @ matrix, x @ matrix)


@pytest.mark.parametrize("name", sorted(
    name for name in functions.SETS["differentiable"] | functions.SETS["movement"]
    if name not in creation.MOVEMENT
    and "dtype" in getattr(parameters(reduce(getattr, name.split("."), np)), "by_name", ())))  # fmt: skip
def test_dtype_is_honoured(name):
    func, m = reduce(getattr, name.split("."), np), np.linspace(0.11, 0.93, 12, dtype=np.float32).reshape(3, 4)
    for value in (m, m.astype(float) + 1e-9):
        for dtype in (np.float64, np.float32, "f4"):
            several = name in ("concatenate", "stack", "vstack", "hstack")
            try:
                expected = func([value, value] if several else value, dtype=dtype)
            except (TypeError, ValueError):
                continue  # it needs more arguments
            with codipy.Tape() as tape:
                x = tape.register_input(value)
                assert same(func([x, x] if several else x, dtype=dtype), expected), (value.dtype, dtype)


@pytest.mark.parametrize("options", [{}, {"num": 7, "endpoint": False}, {"num": 1}, {"num": 4, "dtype": np.float32},
                                     {"num": 4, "dtype": np.float64}], ids=str)  # fmt: skip
def test_linspace_between_numbers_of_each_kind(options):
    def ends(x):
        single = x.astype(np.float32)
        return [single[0], x[1], float(x[0]), 0, 0.1, np.float32(0.3), np.float64(0.7), single[1] * np.float32(3.0)]

    def lines(x):
        return [np.linspace(a, b, **options) for a in ends(x) for b in ends(x)]

    for x in np.random.default_rng(0).normal(size=(5, 2)):
        values, pull = codipy.vjp(lines, x)
        plain = lines(x)
        for found, line in zip(values, plain):
            assert found.dtype == line.dtype and found.tobytes() == line.tobytes()
        (gradient,) = pull([np.arange(1.0, line.size + 1) for line in plain])
        # A line is affine in its ends: the weights of both, in exact arithmetic.
        parts = max(1, (n := plain[0].size) - options.get("endpoint", True))
        t = np.arange(n) / parts
        first, last = np.sum(np.arange(1.0, n + 1) * (1.0 - t)), np.sum(np.arange(1.0, n + 1) * t)
        by_end = [(1.0, 0.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (0.0, 3.0)]
        expected = sum(np.array(a) * first + np.array(b) * last for a in by_end for b in by_end)
        assert gradient == pytest.approx(expected, rel=1e-6)
