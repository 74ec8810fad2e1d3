# SPDX-License-Identifier: Apache-2.0
"""codipy.compare: rows, figures that the tape itself confirms, and verdicts."""
import csv
import functools
import gc
import importlib
import io
import json
import math

import numpy as np
import pytest

import codipy
from codipy.tools import compare as compare_function
from codipy.tools.comparison.report import Times
from tests.strategies import AS_VALUES, COMPARED, FORWARD, VARIANTS


def cost(x, factor):
    total = factor
    for number in x:
        total = total * number + number * number
    return total


POINT = ([1.0, 2.0, 0.5, 3.0], 2.0)


def wrong_under(*strategies):
    """A product that claims a wrong Jacobian when one of these strategies records."""

    def product(x):
        tape = codipy.active_tape()
        if tape is None or tape.strategy not in strategies:
            return x[0] * x[1]
        return tape.push_statement(codipy.value(x[0]) * codipy.value(x[1]), x, [codipy.value(x[1]), 7.0])

    return product


@pytest.fixture(scope="module")
def result():
    return codipy.compare(cost, *POINT, repeat=3)


def test_every_setting_has_a_row(result):
    assert [(row.strategy, row.granularity) for row in result.rows] == COMPARED
    assert len(result.rows) == len(COMPARED) and result.agree and result.disagreements == []
    assert result.function == "cost" and result.value == cost(*POINT) and result.numbers == 5


def test_figures_are_those_of_the_tape(result):
    for row in result.rows[:-2]:
        tape = codipy.Tape(row.strategy, row.granularity)
        with tape:
            x = [tape.register_input(number) for number in POINT[0]]
            factor = tape.register_input(POINT[1])
            y = tape.register_output(cost(x, factor))
        y.gradient = 1.0
        tape.evaluate()
        statistics = tape.statistics()
        assert (row.used, row.allocated) == (statistics.total.used, statistics.total.allocated)
        assert row.statements == tape.statements
        assert row.adjoint_bytes == statistics["adjoint vector"].memory.used
        assert row.live_identifiers == statistics["identifiers"].counts["live indices"]
        assert row.peak_identifiers == statistics["identifiers"].counts["max live indices"]
        assert set(row.streams) >= {stream.name for stream in tape.store.streams}
        assert all(statistics[name].memory.used == used for name, used in row.streams.items())
        assert row.gradient == [v.gradient for v in [*x, factor]]
        assert row.gradient_difference < 1e-14 and row.finite_difference < 1e-7
        assert row.record.median > 0.0 and row.reverse.median > 0.0 and row.record.spread >= 0.0


def test_the_strategy_that_keeps_nothing_has_no_sweep(result):
    for row in result.rows[-2:]:
        assert (row.strategy, row.granularity) in FORWARD
        assert (row.statements, row.streams, row.reverse, row.forward, row.replay) == (0, {}, None, None, None)
        assert row.gradient == pytest.approx(result.rows[0].gradient) and row.gradient_difference < 1e-14
        assert row.finite_difference < 1e-7 and row.record.median > 0.0
        assert 0 < row.used <= row.allocated < result.rows[0].used + 2000


def test_wrong_tangents_are_named():
    def wrong(x):
        tape = codipy.active_tape()
        if tape is None or tape.strategy != "forward":
            return (x * x).sum()
        return (x[:-1] * x[:-1]).sum() + codipy.value(x[-1]) ** 2

    for size in (5, 400):
        x = np.linspace(1.0, 2.0, size)
        assert codipy.compare(lambda x: (x * x).sum(), x, repeat=1).agree
        result = codipy.compare(wrong, x, repeat=1)
        assert not result.agree and len(result.disagreements) == 2
        assert all(text.startswith("forward, ") for text in result.disagreements)
        alone = codipy.compare(wrong, x, strategies="forward", repeat=1)
        assert not alone.agree and all("finite differences" in text for text in alone.disagreements)
    x = np.linspace(1.0, 2.0, 400)
    alone = codipy.compare(lambda x: (x * x).sum(), x, strategies="forward", repeat=1)
    assert alone.agree and [row.gradient_difference for row in alone.rows] == [None, None]
    assert "No gradient was computed: by 400 numbers" in str(alone)
    assert "NaN" not in str(alone) and "by stream" not in str(alone)
    alone = codipy.compare(cost, *POINT, strategies="forward", repeat=1)
    assert alone.agree and [row.strategy for row in alone.rows] == ["forward", "forward"]


def test_one_measurement_has_no_spread():
    text = str(codipy.compare(cost, *POINT, strategies="auto", repeat=1))
    assert "one measurement, whose spread nobody knows" in " ".join(text.split()) and "±" not in text


def test_text(result):
    text = str(result)
    assert text.startswith(f"cost: value {result.value:.12g}, 5 numbers, plain run ")
    for row in result.rows:
        assert f"{row.strategy:<14}  {row.granularity:<11}" in text
    assert "All gradients agree." in text and "Jacobian entries" in text and "resident" not in text


def test_json(result):
    read = json.loads(json.dumps(result.to_dict()))
    assert read["agree"] is True and read["numbers"] == 5 and read["repeat"] == 3
    for row, dictionary in zip(result.rows, read["rows"]):
        assert dictionary["streams"] == row.streams
        assert dictionary["record"] == {"median": row.record.median, "spread": row.record.spread}


def test_the_default_of_the_drivers_is_among_them():
    wrong = codipy.compare(wrong_under("auto"), [2.0, 3.0], repeat=1)
    assert [line.split(" disagrees")[0] for line in wrong.disagreements] == ["auto, statement", "auto, operation"]
    [row] = codipy.compare(cost, *POINT, strategies="auto", granularities="statement", repeat=1).rows
    assert (row.strategy, row.granularity) == ("auto", "statement") == VARIANTS[0]


def test_csv(result):
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert len(rows) == len(COMPARED)
    for row, cells in zip(result.rows, rows):
        assert cells["strategy"] == row.strategy and int(cells["used"]) == row.used
        assert float(cells["record median"]) == row.record.median
        assert {name: int(cells[f"used by {name}"]) for name in row.streams} == row.streams
    for row in rows:
        assert (row["used by Jacobian entries"] == "") == (row["strategy"] in (*AS_VALUES, "forward"))
        assert (row["used by operator data"] == "") == (row["strategy"] != "simple")


def test_one_wrong_strategy_is_named():
    result = codipy.compare(wrong_under("primal"), [2.0, 3.0], repeat=1)
    assert not result.agree
    assert [line.split(" disagrees")[0] for line in result.disagreements] == ["primal, statement", "primal, operation"]
    assert "median of all strategies: the derivative by argument 0[1] is 7, not 2" in result.disagreements[0]
    assert result.disagreements[0] in " ".join(str(result).split()) and "All gradients agree" not in str(result)
    assert {row.strategy for row in result.rows if row.gradient_difference > 1.0} == {"primal"}


def test_all_wrong_in_the_same_way_is_seen_by_finite_differences():
    result = codipy.compare(wrong_under("jacobian"), [2.0, 3.0], strategies="jacobian", repeat=1)
    assert len(result.disagreements) == 2
    assert "finite differences: the derivative by argument 0[1] is 7, not 2" in result.disagreements[0]
    assert result.rows[0].gradient_difference == 0.0 and result.rows[0].finite_difference > 1.0


def test_nan_in_one_strategy_is_a_disagreement():
    def f(x):
        tape = codipy.active_tape()
        if tape is None or tape.strategy != "simple":
            return x * x
        return tape.push_statement(codipy.value(x) * codipy.value(x), [x], [math.nan])

    result = codipy.compare(f, 2.0, repeat=1)
    assert [line.split(",")[0] for line in result.disagreements] == ["simple"]


def test_a_choice_and_a_chunk_size():
    small = codipy.compare(cost, *POINT, strategies=["primal", "simple"], granularities="operation", chunk_size=4,
                           repeat=1)
    large = codipy.compare(cost, *POINT, strategies=["primal", "simple"], granularities="operation", chunk_size=4096,
                           repeat=1)
    assert [row.strategy for row in small.rows] == ["primal", "simple"]
    for a, b in zip(small.rows, large.rows):
        assert a.used == b.used and a.allocated < b.allocated and a.record.spread is None


def test_progress_reaches_its_end():
    seen = []
    codipy.compare(cost, *POINT, strategies="jacobian", repeat=2, progress=lambda *step: seen.append(step))
    # Differences of five numbers, a look at both ways to record, and two turns of these and the plain run.
    assert seen == [(k, 13) for k in range(1, 14)]


def test_finite_differences_of_some_numbers_where_all_would_take_long(monkeypatch):
    monkeypatch.setattr(importlib.import_module("codipy.tools.comparison.verdict"), "_DIFFERENCING", 1e-9)
    result = codipy.compare(cost, *POINT, strategies="simple", repeat=1)
    assert result.agree and (result.differenced, result.numbers) == (1, 5)
    assert "Finite differences are those of 1 numbers." in str(result)
    assert result.rows[0].finite_difference < 1e-7


def test_garbage_collection_is_restored():
    def fails(x):
        if not gc.isenabled():
            raise RuntimeError("while timing")
        return x

    with pytest.raises(RuntimeError, match="while timing"):
        codipy.compare(fails, 1.0, repeat=1)
    assert gc.isenabled() and codipy.active_tape() is None


def test_a_function_that_changes_its_argument():
    def f(x):
        x[0] = x[0] * x[0]
        return x[0] + x.pop()

    assert codipy.compare(f, [3.0, 1.0], repeat=2).rows[0].gradient == [6.0, 1.0]


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"strategies": "fast"}, ValueError, "unknown strategy 'fast'"),
        ({"granularities": ["loop"]}, ValueError, "unknown granularity 'loop'"),
        ({"strategies": "simple", "granularities": "statement"}, ValueError, "operations only"),
        ({"repeat": 0}, ValueError, "repeat must be at least 1"),
        ({"repeat": 1.5}, TypeError, "repeat must be an int"),
        ({"chunk_size": 0}, ValueError, "chunk_size"),
    ],
)
def test_bad_options(options, error, said):
    with pytest.raises(error, match=said):
        codipy.compare(cost, *POINT, **options)


def test_times():
    assert Times.of([2.0]) == Times(2.0, None)
    assert Times.of([1.0, 2.0, 3.0, 4.0, 50.0]) == Times(3.0, 1.0)
    assert str(Times(1.234, 0.5)) == "1.23 ± 0.50"
    assert compare_function is codipy.compare


def energy(u, p):
    v = u.copy()
    v[1:-1] = u[2:] - u[:-2]
    return (v * v).sum() * p["scale"]


def test_functions_of_arrays():
    u = np.sin(np.arange(7.0))
    result = codipy.compare(energy, u, {"scale": 2.0}, repeat=1)
    assert result.agree and len(result.rows) == len(COMPARED)
    assert (result.numbers, result.differenced, result.directions) == (8, 8, 0)
    expected = codipy.value_and_grad(energy, (0, 1))(u, {"scale": 2.0})
    assert result.value == expected[0]
    for row in result.rows:
        assert row.gradient == pytest.approx([*expected[1][0], expected[1][1]["scale"]])
        assert row.used > 0 and row.finite_difference < 1e-7


def test_large_arrays_are_moved_in_random_directions(monkeypatch):
    module = importlib.import_module("codipy.tools.comparison.compare")
    monkeypatch.setattr(importlib.import_module("codipy.tools.comparison.verdict"), "_DIFFERENCING", 1e-9)
    monkeypatch.setattr(module, "_KEPT", 100)

    def wrong(x):
        if codipy.active_tape() is None or codipy.active_tape().strategy != "primal":
            return (x * x).sum()
        return (x[:-1] * x[:-1]).sum() + codipy.value(x[-1]) ** 2

    x = np.linspace(1.0, 2.0, 200)
    right = codipy.compare(lambda x: (x * x).sum(), x, strategies="primal", repeat=1)
    assert right.agree and (right.differenced, right.directions) == (1, 3) and right.rows[0].gradient == []
    assert "in 3 random directions" in str(right).replace("\n", " ")
    result = codipy.compare(wrong, x, strategies="primal", repeat=1)
    assert "primal, statement disagrees with finite differences in a random direction" in result.disagreements[0]
    result = codipy.compare(wrong, x, repeat=1)
    assert "the derivative by argument 0[199] is 0, not 4" in result.disagreements[0]


def test_a_function_that_returns_an_array():
    with pytest.raises(TypeError, match=r"must return one real number, got ndarray of shape \(2,\): .*sum\(\)"):
        codipy.compare(lambda x: x, np.ones(2))


def test_gradients_that_are_no_numbers_are_said():
    """Where all have NaN none is right by that."""
    def root(x):
        return (x[0] * x[1]) ** 0.5

    result = codipy.compare(root, [0.0, 2.0], repeat=1)
    assert result.agree and "All gradients agree" not in str(result) + result._repr_html_()
    text = " ".join(str(result).split())
    assert "The derivative by 1 of 2 numbers is NaN or infinite, the first by argument 0[0]: inf." in text
    assert result.to_dict()["notes"] == result.notes
    good = codipy.compare(root, [1.0, 2.0], repeat=1)
    assert good.notes == [] and "All gradients agree" in str(good)


class Rod:
    def __init__(self, stiffness):
        self.stiffness = stiffness

    def loss(self, x):
        return self.stiffness * x * x


def test_a_method_is_called_by_its_class_and_name():
    method = Rod(2.0).loss
    assert codipy.compare(method, 3.0).function == "Rod.loss"
    assert codipy.timeline(method, 3.0).table().startswith("Rod.loss on a tape")
    assert codipy.predict(functools.partial(method), 3.0).function == "Rod.loss"
