# SPDX-License-Identifier: Apache-2.0
"""A strategy is a class and a line in one table: nothing else asks for its name to record and to sweep."""

import numpy as np
import pytest

import codipy
from codipy.tape.strategies.jacobian import Jacobian
from codipy.tape.strategies.primal import Primal
from codipy.tape.strategies.simple import Simple
from codipy.tape.strategies.table import STORES, STRATEGIES


def program(a, x):
    y = a * a[1] + np.sin(x[0]) * x[1]
    return x[0] * y[0], (x[1] * y).sum()


def recorded(strategy, **settings):
    """Gradients of two results by a number and by an array."""
    with codipy.Tape(strategy, chunk_size=4, **settings) as tape:
        x = [tape.register_input(value) for value in (0.5, 2.0)]
        a = tape.register_input(np.array([1.0, 3.0, 2.0]))
        results = program(a, x)
        for result in results:
            tape.register_output(result)
    results[1].gradient = 1.0
    tape.evaluate()
    return [*[each.gradient for each in x], *a.gradient.tolist(), len(tape.statistics().sections)]


@pytest.mark.parametrize(("like", "store"), [
    ("jacobian-reuse", lambda chunk_size: Jacobian(True, chunk_size)),
    ("primal", lambda chunk_size: Primal(False, chunk_size)),
    ("simple", Simple),
])  # fmt: skip
def test_a_line_in_the_table_is_a_strategy(monkeypatch, like, store):
    granularity = {"granularity": "operation"} if like == "simple" else {}
    expected = recorded(like, **granularity)
    with pytest.raises(ValueError, match="unknown strategy 'mine'"):
        codipy.Tape("mine")
    monkeypatch.setitem(STORES, "mine", store)
    assert recorded("mine", **granularity) == expected
    f = lambda x: (np.exp(x) * x).sum()  # noqa: E731
    x = np.array([0.25, 1.5])
    assert codipy.grad(f, strategy="mine", **granularity)(x).tolist() == codipy.grad(f, strategy=like)(x).tolist()


def test_every_strategy_but_auto_is_in_the_table():
    assert set(STRATEGIES) == {"auto", *STORES} - {"forward"}
    with pytest.raises(ValueError, match="'auto', 'simple', .*'forward'"):
        codipy.Tape("fastest")
