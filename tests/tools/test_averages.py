# SPDX-License-Identifier: Apache-2.0
"""``statistics`` in rebound code: bits of the plain run, slopes by differences, refusals that name what to write."""

import random
import statistics

import numpy as np
import pytest

import codipy
from codipy.errors import ActiveError, TapeError
from tests.strategies import each_strategy

NAMES = ["mean", "fmean", "geometric_mean", "harmonic_mean", "variance", "pvariance", "stdev", "pstdev", "median",
         "median_low", "median_high"]  # fmt: skip
CALLS = {name: (lambda x, name=name: getattr(statistics, name)(x)) for name in NAMES}
CALLS |= {
    "of a generator": lambda x: statistics.mean(v * v for v in x),
    "around a number": lambda x: statistics.variance(x, 1.5) + statistics.pvariance(x, mu=0.5),
    "around their mean": lambda x: statistics.stdev(x, statistics.mean(x)),
    "around one of them": lambda x: statistics.pvariance(x, x[0]) + statistics.pstdev(data=x, mu=x[1]),
    "harmonic with weights": lambda x: statistics.harmonic_mean(x, weights=[1.0, 2.0, 0.5, 3.0]),
    "quantiles": lambda x: statistics.quantiles(x, n=5)[2],
    "of numbers among them": lambda x: statistics.mean([x[0], 1, 2.5, x[1]]),
    "passed on": lambda x: statistics.mean([statistics.stdev(x), statistics.mean(x) ** 2]),
}
if hasattr(statistics, "covariance"):
    CALLS["covariance"] = lambda x: statistics.covariance(x, [v * v for v in x])
try:
    statistics.fmean([1.0], [1.0])
    CALLS["fmean with weights"] = lambda x: statistics.fmean(x, [x[1], 2.0, x[0] * x[0], 1.0])
    CALLS["weights first"] = lambda x: statistics.fmean(weights=[1.0, 2.0, x[0], 1.0], data=x)
except TypeError:  # of Python 3.10
    pass
POINTS = [[0.7, 1.9, 0.2, 3.1], [1e8 + 0.3, 1e8, 1e8 + 0.1, 1e8 - 0.7], [0.1, 0.1, 0.1, 0.4]]


def slopes(f, x):
    steps = 1e-5 * np.maximum(1.0, np.abs(x)) * 1e-1
    found = []
    for k, h in enumerate(steps):
        high, low = list(x), list(x)
        high[k], low[k] = x[k] + h, x[k] - h
        found.append((f(high) - f(low)) / (high[k] - low[k]))
    return found


@each_strategy
@pytest.mark.parametrize("name", CALLS)
def test_values_and_slopes(name, strategy):
    f = CALLS[name]
    for point in POINTS:
        for given in (point, np.array(point)):
            plain = f(given)
            kinds = []

            def g(x, kinds=kinds):
                y = f(x)
                kinds.append(type(codipy.value(y)))
                return y

            value, gradient = codipy.value_and_grad(g, strategy=strategy)(given)
            assert value == plain and kinds == [type(plain)]
        if point is POINTS[0]:
            np.testing.assert_allclose(gradient, slopes(f, point), rtol=1e-6, atol=1e-9)


def test_bits_of_random_data():
    rng = random.Random(4)
    for _ in range(60):
        data = [rng.choice([1e-3, 1.0, 1e5]) * rng.uniform(0.5, 1.5) for _ in range(rng.randrange(2, 12))]
        for name in NAMES:
            assert codipy.value_and_grad(CALLS[name])(data)[0] == CALLS[name](data)


def test_equal_values_have_slope_0():
    assert codipy.grad(statistics.stdev)([2.0, 2.0, 2.0]) == [0.0, 0.0, 0.0]
    assert codipy.grad(lambda x: statistics.pstdev(x))(np.full(3, 0.1)).tolist() == [0.0, 0.0, 0.0]


def test_errors_are_pythons():
    with pytest.raises(statistics.StatisticsError):
        codipy.grad(lambda x: statistics.mean([]) + x)(1.0)
    with pytest.raises(statistics.StatisticsError):
        codipy.grad(lambda x: statistics.variance([x]))(1.0)
    assert codipy.grad(lambda x: statistics.mean([1.0, 2.0]) * x)(3.0) == 1.5


@pytest.mark.parametrize(
    ("name", "advice"), [("mode", "np.unique"), ("multimode", "np.unique"), ("median_grouped", "np.median")]
)
def test_what_has_no_rule_names_what_to_write(name, advice):
    with pytest.raises(ActiveError, match=rf"statistics\.{name}.*{advice}"):
        codipy.grad(lambda x: getattr(statistics, name)([x, x * 2.0]))(1.0)


@pytest.mark.parametrize("name", ["mean", "variance", "stdev"])
def test_outside_of_rebound_code_they_are_refused(name):
    with pytest.raises(ActiveError, match="np.mean"):
        codipy.grad(getattr(statistics, name), rebind=False)([1.0, 2.0])


def test_a_replay_is_refused():
    tape = codipy.Tape(strategy="primal")
    with tape:
        x = [tape.register_input(codipy.Real(v)) for v in (1.0, 2.5)]
        tape.register_output(codipy.rebind(lambda: statistics.mean(x))())
    with pytest.raises(TapeError, match="push_statement"):
        tape.evaluate_primal()
