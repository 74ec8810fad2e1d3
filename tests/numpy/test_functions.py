# SPDX-License-Identifier: Apache-2.0
"""Every function of NumPy that works on Arrays: values bit for bit, gradients against differences."""

import numpy as np
import pytest

import codipy
from codipy.active.array import Array
from tests.covering import in_turn
from tests.numpy.cases_movement import CASES as MOVEMENT
from tests.numpy.cases_movement import PASSIVE
from tests.numpy.cases_rules import CASES as RULES
from tests.numpy.overridable import OVERRIDABLE, set_of
from tests.numpy.table import check, evaluate, inputs, leaves, names_in, plain_results, plain_values, record
from tests.strategies import STRATEGIES

for cases in (MOVEMENT, RULES, PASSIVE):
    for name in [name for name in cases if name not in OVERRIDABLE]:
        del cases[name]  # an older NumPy does not ask
ALL = [(name, text) for cases in (MOVEMENT, RULES, PASSIVE) for name, texts in cases.items() for text in texts]
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(("name", "text"), ALL, ids=[text for _, text in ALL])
def test_value_and_gradient(name, text):
    check(text)


@pytest.mark.parametrize("name", [*MOVEMENT, *PASSIVE, *RULES])
def test_the_cases_are_where_their_set_says(name):
    wanted = "movement" if name in MOVEMENT else "passive" if name in PASSIVE else "differentiable"
    assert set_of(name) == wanted


@pytest.mark.parametrize("name", PASSIVE)
def test_a_passive_result_is_passive(name):
    for text in PASSIVE[name]:
        _, _, results, active = record(text)
        assert active == []
        assert all(not isinstance(y, Array) or not y.is_active for y in results)


FIRST = [texts[0] for cases in (MOVEMENT, RULES) for texts in cases.values() if texts]


@pytest.mark.parametrize(("strategy", "text"), in_turn(STRATEGIES, FIRST, others=2))
def test_other_strategies(text, strategy):
    check(text, strategy)


@pytest.mark.parametrize("text", FIRST)
def test_inside_passive_all_is_plain(text):
    names = names_in(text)
    expected = plain_results(text, plain_values(names))
    tape = codipy.Tape()
    with tape:
        active = inputs(tape, names)
        with codipy.passive():
            found = leaves(evaluate(text, active))
    for one, two in zip(found, expected, strict=True):
        one = np.asarray(one.value if type(one) in (Array, codipy.Real) else one)
        assert one.shape == np.shape(two)
        assert np.array_equal(one, two, equal_nan=one.dtype.kind == "f")
