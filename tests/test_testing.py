# SPDX-License-Identifier: Apache-2.0
"""check_derivatives: passes what is right, and shows where and how much what is wrong is wrong."""
import math
from dataclasses import dataclass

import numpy as np
import pytest

import codipy
from codipy import testing
from codipy.testing import DerivativeError, check_derivatives


def smooth(a, x, p):
    total = a
    for k, number in enumerate(x):
        total = total + (k + 1.0) * number**2 / (1.0 + p["scale"] * number**2)
    return total * p["factor"][0]


ARGUMENTS = (1.5, [0.3, -2.0, 1e-4], {"scale": 0.5, "factor": (2.0,)})


def with_jacobians(*jacobians):
    """A product whose recording states these Jacobians; plain runs know nothing of them."""

    def product(x):
        tape = codipy.active_tape()
        if tape is None:
            return x[0] * x[1]
        return tape.push_statement(codipy.value(x[0]) * codipy.value(x[1]), x, jacobians)

    return product


def test_what_is_right_passes_under_every_setting():
    report = check_derivatives(smooth, *ARGUMENTS)
    assert report.passed and len(report.rows) == len(report.gradients) == 13
    assert report.value == smooth(*ARGUMENTS)
    assert report.names[1] == "argument 1[0]" and report.names[-1] == "argument 2['factor'][0]"
    assert "smooth: derivatives agree" in str(report) and "wrong" not in str(report)
    for gradient in report.gradients.values():
        assert gradient == pytest.approx(report.differences, rel=1e-6, abs=1e-9)
    assert codipy.check_derivatives is check_derivatives


def element_kept(x):
    c = x * 2.0
    c[0] = np.sin(x[1])
    q = c[2]
    return np.sum(np.sin(c)) + q


def rod(u):
    """Heat in a rod whose end is kept warm, read by a thermometer inside of it."""
    seen = 0.0
    for _ in range(5):
        u = u + 0.2 * (np.roll(u, 1) - 2.0 * u + np.roll(u, -1))
        u[0] = np.sin(u[1])
        seen = seen + u[3] * u[3]
    return np.sum(u * u) + seen


@pytest.mark.parametrize("f", [element_kept, rod])
def test_elements_that_are_kept_are_right_where_the_default_records(f):
    """Of arrays that hold some elements by identifiers of their own, in a block of which others are read."""
    x = np.linspace(0.3, 1.4, 6)
    report = check_derivatives(f, x)
    assert ("auto", "statement") in report.gradients and ("auto", "operation") in report.gradients
    comparison = codipy.compare(f, x, repeat=1)
    assert comparison.agree and {row.granularity for row in comparison.rows if row.strategy == "auto"} == {
        "statement", "operation"}


def test_a_choice_of_settings():
    report = check_derivatives(smooth, *ARGUMENTS, strategies="primal", granularities=["operation"], chunk_size=4)
    assert [(row.strategy, row.granularity) for row in report.rows] == [("primal", "operation")]
    with pytest.raises(ValueError, match="unknown strategy 'fast'"):
        check_derivatives(smooth, *ARGUMENTS, strategies=["fast"])
    with pytest.raises(ValueError, match="operations only"):
        check_derivatives(smooth, *ARGUMENTS, strategies="simple", granularities="statement")


def test_the_default_of_the_drivers_is_among_them(monkeypatch):
    class Wrong(codipy.Tape):
        def evaluate_forward(self, *, adjoints):
            if self.strategy != "auto":
                super().evaluate_forward(adjoints=adjoints)

    assert check_derivatives(smooth, *ARGUMENTS, strategies="auto").rows[0].strategy == "auto"
    monkeypatch.setattr(testing, "Tape", Wrong)
    with pytest.raises(DerivativeError) as caught:
        check_derivatives(smooth, *ARGUMENTS)
    assert {row.strategy for row in caught.value.report.rows if not row.passed} == {"auto"}


def test_many_numbers_take_random_directions():
    x = [math.sin(k) for k in range(40)]
    assert check_derivatives(lambda v: sum(a * b for a, b in zip(v, v[1:])), x).passed


def test_a_function_of_nothing_and_a_constant():
    assert check_derivatives(lambda x: 3.0, []).passed
    assert check_derivatives(lambda x: 3.0, [1.0, 0.0]).passed


@pytest.mark.parametrize("jacobians", [(1.0, 2.0), (3.0, math.nan), (-3.0, 2.0), (3.0, 2.0001), (0.0, 0.0)])
def test_a_wrong_derivative_is_shown(jacobians):
    with pytest.raises(AssertionError) as caught:
        check_derivatives(with_jacobians(*jacobians), [2.0, 3.0])
    text, report = str(caught.value), caught.value.report
    assert isinstance(caught.value, DerivativeError) and not report.passed
    assert text == str(report)
    assert text.count("<- wrong") == 13 and "product: derivatives disagree" in text
    worst = 0 if jacobians[0] != 3.0 else 1
    assert f"argument 0[{worst}]" in text.split("Worst of auto, statement:")[1].splitlines()[3]
    check_derivatives(with_jacobians(3.0, 2.0), [2.0, 3.0])


def test_a_wrong_value_is_shown():
    def other_when_recorded(x):
        return x * 2.0 if codipy.active_tape() is None else x * 2.0 + 1e-3

    with pytest.raises(DerivativeError) as caught:
        check_derivatives(other_when_recorded, 1.0)
    assert all(row.value > 1.0 >= max(row.differences, row.forward) for row in caught.value.report.rows)


def test_one_wrong_strategy_is_told_from_the_others(monkeypatch):
    class Wrong(codipy.Tape):
        def evaluate_forward(self, *, adjoints):
            if self.strategy != "primal":
                super().evaluate_forward(adjoints=adjoints)

    monkeypatch.setattr(testing, "Tape", Wrong)
    with pytest.raises(DerivativeError) as caught:
        check_derivatives(smooth, *ARGUMENTS)
    wrong = [row for row in caught.value.report.rows if not row.passed]
    assert [row.strategy for row in wrong] == ["primal", "primal"]
    assert all(row.forward > 1.0 >= row.differences for row in wrong)


def test_the_edge_of_a_domain_is_stepped_around():
    report = check_derivatives(lambda x: x**0.5, 1e-9)
    assert report.passed and math.isfinite(report.differences[0])
    assert report.gradients["jacobian", "statement"][0] == pytest.approx(0.5 * 1e-9**-0.5)


def test_where_no_step_is_possible_forward_against_reverse_remains():
    def only_here(x):
        if x != 2.0:
            raise ValueError("elsewhere")
        return x * x

    report = check_derivatives(only_here, 2.0)
    assert report.passed and math.isnan(report.differences[0]) and report.allowed[0] == math.inf


def test_errors_of_the_function_come_through():
    with pytest.raises(ZeroDivisionError):
        check_derivatives(lambda x: x / 0.0, 1.0)
    with pytest.raises(TypeError, match=r"must return real numbers and arrays, .* got str as result\[0\]"):
        check_derivatives(lambda x: ["text"], 1.0)
    with pytest.raises(TypeError, match=r"argument 1\[0\]"):
        check_derivatives(lambda x, y: x, 1.0, [np.zeros(2, int)])


@dataclass
class Pair:
    a: np.ndarray
    b: float


def of_arrays(x, pair):
    x[0] *= 2.0
    product = x * pair.a + pair.b
    return {"product": product, "list": [pair.b * pair.b, x[1:, 0], 3]}


def test_arrays_in_and_out():
    report = check_derivatives(of_arrays, np.array([[1.0, -2.0], [0.5, 3.0]]), Pair(np.array([0.3, 2.0]), 1.5))
    assert report.passed and len(report.rows) == 13
    assert list(report.names) == [*(f"argument 0[{i}, {j}]" for i in (0, 1) for j in (0, 1)),
                                  "argument 1.a[0]", "argument 1.a[1]", "argument 1.b"]
    assert "(value 5.0, 2 numbers)" in str(check_derivatives(lambda x: (x * x).sum(), np.array([1.0, 2.0])))
    assert set(report.value) == {"product", "list"} and "(value a dict, 7 numbers)" in str(report)


def wrong_by(error):
    """The squares of an array; its recording multiplies the derivatives of number 1 by a factor."""

    def squares(x):
        plain = codipy.active_tape() is None
        y = x * x
        if not plain:
            y[1] = codipy.active_tape().push_statement(codipy.value(y[1]), [x[1]], [2.0 * codipy.value(x[1]) * error])
        return y

    return squares


@pytest.mark.parametrize("size", [3, 300])
def test_a_wrong_derivative_of_an_array_is_shown(size):
    x = np.linspace(1.0, 2.0, size)
    assert check_derivatives(wrong_by(1.0), x, strategies="jacobian").passed
    with pytest.raises(DerivativeError) as caught:
        check_derivatives(wrong_by(1.01), x, strategies="jacobian")
    report = caught.value.report
    assert all(row.differences > 1.0 >= max(row.value, row.forward) for row in report.rows)
    assert ("argument 0[1]" if size == 3 else "direction ") in str(report)
    assert (report.directions is None) == (size == 3)


def test_large_arguments_take_few_runs():
    runs = []

    def f(x):
        runs.append(1)
        return x * x * x

    assert check_derivatives(f, np.linspace(-1.0, 1.0, 1000), strategies="primal").passed
    assert len(runs) < 600
