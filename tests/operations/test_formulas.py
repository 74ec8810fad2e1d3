# SPDX-License-Identifier: Apache-2.0
"""Formulas say what the table's expressions say."""

import cmath
import math
import operator

import pytest

from codipy.operations import TABLE, helpers
from codipy.operations.codegen import AUXILIARY
from codipy.operations.formulas import Formulas

ACTIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
UNARY = {"~": operator.neg, "|": abs, "v": cmath.sqrt}
ARGUMENTS = {"x": 0.7, "y": -1.9, "z": 2.3, "w": 0.4, "e": 0.6}
EXPRESSIONS = sorted(
    {row.value for row in TABLE}
    | {partial for row in TABLE for partial in row.partials}
    | {text for entries in AUXILIARY.values() for _, *texts in entries for text in texts if text}
)


def run(formula, numbers):
    """The value of a formula at ARGUMENTS."""
    stack = []
    for letter in formula:
        if letter in ACTIONS:
            second = stack.pop()
            stack.append(ACTIONS[letter](stack.pop(), second))
        elif letter in UNARY:
            stack.append(UNARY[letter](stack.pop()))
        else:
            stack.append(ARGUMENTS[letter] if letter in ARGUMENTS else numbers[ord(letter) - ord("A")])
    (value,) = stack
    return value


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_formula_has_the_expressions_value(expression):
    formulas = Formulas()
    formula = formulas.of(expression)
    calls = {name for name in vars(helpers) if f"{name}(" in expression} - {"fabs", "sqrt"}
    assert (formula == "") == bool(calls or {"copysign", "pick", "rint"} & set(expression.replace("(", " ").split()))
    if formula:
        names = {**vars(helpers), "sqrt": cmath.sqrt, **ARGUMENTS}
        assert run(formula, formulas.numbers) == eval(expression, names)


def test_numbers_are_shared_and_only_those_of_formulas():
    formulas = Formulas()
    assert formulas.of("2 * x") == "Cx*"
    assert formulas.of("pow(3, x)") == ""
    assert formulas.of("-2 * x + 2") == "Dx*C+"
    assert [math.copysign(1, number) for number in formulas.numbers[:2]] == [1, -1]
    assert formulas.numbers[2:] == [2.0, -2.0]
