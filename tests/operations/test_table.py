# SPDX-License-Identifier: Apache-2.0
"""The table is consistent with itself, and every spelling in it exists and takes as many arguments."""

import ast
import inspect
import math
import operator
from pathlib import Path

import numpy as np
import pytest

from codipy._testing import kernels
from codipy.operations import BY_NAME, PASSIVE, TABLE, helpers
from codipy.operations.callables import python_callable
from codipy.operations.reference import render

from .sampling import names

ROOT = Path(__file__).parents[2]
NEWER = {"fma", "cbrt", "exp2", "fmax", "fmin", "signbit"}  # `math` has these from 3.11, 3.13 or 3.15 on

REQUIRED = {
    "add", "subtract", "multiply", "divide", "power", "negative", "positive", "identity", "absolute", "mod", "fmod",
    "remainder", "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan",
    "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "hypot", "erf", "erfc",
    "gamma", "lgamma", "digamma", "expit", "logaddexp", "copysign", "fabs", "fma", "degrees", "radians", "maximum",
    "minimum", "fmax", "fmin", "square", "reciprocal", "scale", "mantissa", "fraction",
    "single",
}  # fmt: skip


def test_every_operation_is_there_once():
    assert set(names()) == REQUIRED
    assert len(names()) == len(REQUIRED)
    assert [row.code for row in TABLE] == list(range(len(TABLE)))
    assert list(BY_NAME.values()) == list(TABLE)
    assert kernels.count() == len(TABLE)


@pytest.mark.parametrize("row", TABLE, ids=names())
def test_row_is_complete(row):
    assert 1 <= row.arity <= 3
    assert len(row.second) == row.arity * (row.arity + 1) // 2
    assert len(row.domain) >= row.arity
    assert all(low < high for low, high in row.domain)
    assert all(len(edge) == row.arity for edge in row.edges)
    assert kernels.arity(row.name) == kernels.arity(row.code) == row.arity
    assert kernels.python_value(row.name) == row.python_value
    with pytest.raises(AttributeError):
        row.code = 0


@pytest.mark.parametrize("row", TABLE, ids=names())
def test_expressions_use_only_their_arguments_and_the_helpers(row):
    for text in (row.value, *row.partials, *row.second):
        found = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
        unknown = {name for name in found - set("xyzw"[: row.arity]) - {"w"} if not hasattr(helpers, name)}
        assert unknown == set(), text
        assert text not in row.value or "w" not in found, "the value cannot use itself"


@pytest.mark.parametrize("row", TABLE, ids=names())
def test_python_callable_takes_as_many_arguments(row):
    function = python_callable(row.python)
    point = [interval[1] for interval in row.domain[: row.arity]]
    assert type(function(*point)) is float
    if row.name not in {"log", "hypot"}:  # the base; any number of coordinates
        with pytest.raises(TypeError):
            function(*point, 1.0)


@pytest.mark.parametrize("row", TABLE + PASSIVE, ids=names(TABLE + PASSIVE))
def test_spellings_exist(row):
    for name in row.numpy:
        ufunc = getattr(np, name)
        assert isinstance(ufunc, np.ufunc)
        assert ufunc.nin == getattr(row, "arity", ufunc.nin)
    if row.math_name and (row.math_name not in NEWER or hasattr(math, row.math_name)):
        assert callable(getattr(math, row.math_name))
    assert callable(python_callable(row.python))


def test_no_ufunc_means_two_operations():
    ufuncs = [ufunc for row in TABLE + PASSIVE for ufunc in {getattr(np, name) for name in row.numpy}]
    assert len(ufuncs) == len(set(ufuncs))


def test_scipy_spellings_exist():
    special = pytest.importorskip("scipy.special")
    for row in TABLE:
        if row.scipy:
            assert getattr(special, row.scipy).nin == row.arity


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("floor", (-1.5,), -2), ("ceil", (-1.5,), -1), ("trunc", (-1.5,), -1), ("round", (2.5,), 2),
        ("sign", (-3.0,), -1.0), ("sign", (0.0,), 0.0), ("signbit", (-0.0,), True), ("signbit", (0.0,), False),
        ("isnan", (math.nan,), True),
        ("isfinite", (math.inf,), False), ("isinf", (math.inf,), True), ("isclose", (1.0, 1.0 + 1e-12), True),
        ("floordiv", (-7.0, 2.0), -4.0), ("equal", (0.0, -0.0), True), ("not_equal", (1.0, 1.0), False),
        ("less", (1.0, 2.0), True), ("less_equal", (2.0, 2.0), True), ("greater", (1.0, 2.0), False),
        ("greater_equal", (1.0, 2.0), False),
    ],
)  # fmt: skip
def test_passive_operations(name, arguments, expected):
    passive = {row.name: row for row in PASSIVE}
    result = python_callable(passive[name].python)(*arguments)
    assert result == expected
    assert type(result) is type(expected)


def test_the_tables_do_not_overlap():
    assert set(names()).isdisjoint(row.name for row in PASSIVE)


def test_python_operators_are_all_there():
    """What `float` has as an arithmetic operator is a row, or passive."""
    spelled = {row.python for row in TABLE + PASSIVE}
    dunder = {name.strip("_") for name, _ in inspect.getmembers(float) if name.startswith("__")}
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "neg", "pos", "abs", "eq", "lt", "ge"):
        assert name in dunder
        assert f"operator.{name}" in spelled
        assert hasattr(operator, name)


@pytest.mark.release
def test_the_reference_page_is_current():
    page = ROOT / "docs" / "operations.md"
    assert page.read_text(encoding="utf-8") == render(), f"run python -m codipy.operations.reference {page.name}"


def test_kernels_name_what_they_refuse():
    with pytest.raises(KeyError, match="no operation has the code 1000"):
        kernels.arity(1000)
    with pytest.raises(KeyError, match="sine"):
        kernels.value("sine", 1.0)
    with pytest.raises(TypeError, match="takes 2 arguments, got 1"):
        kernels.value("add", 1.0)
