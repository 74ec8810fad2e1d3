# SPDX-License-Identifier: Apache-2.0
"""The studies of docs/studies.md: they can be made, and the small tables there are those of today's tapes."""

import csv
import importlib
import sys
from pathlib import Path

import pytest

import codipy
from codipy.laboratory.plan import Point
from codipy.laboratory.source import as_steps
from codipy.tools.console.target import find
from tests.laboratory.copies import in_copies
from tests.strategies import STRATEGIES

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))
try:
    studies = importlib.import_module("studies")
finally:
    del sys.path[0]


def table(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def statistics_of(function, point, strategy, granularity):
    tape = codipy.Tape(strategy, granularity)
    with tape:
        fields = [[[tape.register_input(value) for value in row] for row in field] for field in point]
        y = tape.register_output(codipy.rebind(function)(fields))
    y.gradient = 1.0
    tape.evaluate()
    return tape.statistics()


def test_a_study_is_made(tmp_path):
    with in_copies():
        study = studies.make("burgers-loops", quick=True, build=tmp_path, tables=tmp_path / "tables")
    assert study.agree and (tmp_path / "burgers-loops" / "study.html").exists()
    rows = table(tmp_path / "tables" / "burgers-loops.csv")
    found = find(str(ROOT / "examples" / "burgers.py") + ":loops").function
    assert {row["strategy"] for row in rows} == {*STRATEGIES, "forward"}
    for row in rows:
        if row["strategy"] in ("auto", "primal-reuse"):
            taken = statistics_of(lambda x: found(x, steps=2), found.x0(11), row["strategy"], row["granularity"])
            assert int(row["used"]) == taken.total.used


def test_a_prediction_stands_beside_what_was_measured():
    target = str(ROOT / "examples" / "burgers.py") + ":loops"
    rows = {row["strategy"]: row for row in studies.predicted(target, 7, 2) if row["granularity"] == "statement"}
    found = find(target).function
    for strategy in ("jacobian", "primal"):
        assert rows[strategy]["predicted"] == "yes"
        taken = statistics_of(lambda x: found(x, steps=2), found.x0(7), strategy, "statement")
        assert rows[strategy]["used"] == taken.total.used


@pytest.mark.parametrize("name", studies.STUDIES)
def test_the_small_tables_are_there(name):
    rows = table(ROOT / "docs" / "studies" / f"{name}.csv")
    assert list(rows[0]) == list(studies.COLUMNS)
    assert {row["strategy"] for row in rows if not row["predicted"]} == {*STRATEGIES, "forward"}


def test_the_table_of_the_fit_has_the_bytes_of_today():
    function = find(str(ROOT / "examples" / "lynx_hare.py") + ":misfit").function
    point = sys.modules["codipy_target"].x0
    for row in table(ROOT / "docs" / "studies" / "lynx-hare.csv"):
        if row["strategy"] == "forward":
            continue
        tape = codipy.Tape(row["strategy"], row["granularity"])
        with tape:
            y = tape.register_output(codipy.rebind(function)([tape.register_input(value) for value in point]))
        y.gradient = 1.0
        tape.evaluate()
        assert int(row["used"]) == tape.statistics().total.used, row["strategy"]


@pytest.mark.parametrize(("name", "size", "steps"), [
    ("burgers-loops", 26, 8), ("burgers-arrays", 51, 8), ("swaptions", None, 10)])  # fmt: skip
@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 lets fewer temporaries be overwritten")
def test_the_other_tables_have_the_bytes_that_are_predicted_today(name, size, steps):
    found = find(str(ROOT / "examples" / studies.STUDIES[name][0]))
    point = found.made(size, steps) if size else (sys.modules["codipy_target"].x0,)
    label = f"n={size} steps={steps}" if size else f"steps={steps}"
    predicted = codipy.predict(as_steps(found.function, Point("", size, steps)), *point)
    today = {(row.strategy, row.granularity): (row.statements, row.used, row.allocated) for row in predicted.rows}
    rows = [row for row in table(studies.TABLES / f"{name}.csv") if row["point"] == label]
    there = {(row["strategy"], row["granularity"]): tuple(int(row[column]) for column in (
        "statements", "used", "allocated")) for row in rows}  # fmt: skip
    assert there == today, f"run `python benchmarks/studies.py {name}`"


def test_the_page_shows_the_tables():
    page = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    assert studies.with_tables(page) == page, "run `python benchmarks/studies.py --page`"
    assert all(phrase in page for phrase in studies.said_of_times()), studies.said_of_times()
    assert all(f"| {row['strategy']}, {row['point']} |" in page for row in table(studies.TABLES / "lynx-hare.csv")
               if row["granularity"] == "statement")  # fmt: skip
