# SPDX-License-Identifier: Apache-2.0
"""A timeline says how a tape grows line by line, how many operands are passive, and what activity analysis saved."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

import codipy
from codipy import cli
from codipy.laboratory.sampled import sampled
from codipy.tools.comparison.measuring import StatefulError
from tests.strategies import COMPARED, STRATEGIES, each_pair

RUNS = []


def model(x, k):
    z = 0.0
    for _ in range(5):
        rate = k * k
        z = z + np.sin(x) * rate
    return z * x


def field(u, dt):
    for _ in range(4):
        u = u + dt * (np.roll(u, 1) - u)
    return (u * u).sum()


@each_pair(pairs=COMPARED)
def test_the_last_sample_is_the_whole_recording(variant):
    strategy, granularity = variant
    found = codipy.timeline(model, 0.5, 2.0, strategy=strategy, granularity=granularity)
    tape = codipy.Tape(strategy, granularity)
    with tape:
        x, k = tape.register_input(0.5), tape.register_input(2.0)
        y = tape.register_output(model(x, k))
        statistics, statements = tape.statistics(), tape.statements if strategy != "forward" else 0
    last = found.samples[-1]
    assert last.lines == 18 and y.is_active
    assert (last.statements, last.largest) == (statements, statistics["identifiers"].counts["largest index"])
    assert last.used == statistics.total.used
    for name in ("lines", "statements", "largest"):
        column = [getattr(sample, name) for sample in found.samples]
        assert column == sorted(column)


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s.endswith("reuse")])
def test_the_peak_within_a_line_is_seen(strategy):
    # What Python makes of no file is not traced.
    tape, seen = codipy.Tape(strategy, "operation"), []
    looked = eval("lambda z: (seen.append(tape.statistics()['identifiers'].counts['live indices']), sum(z))[1]",
                  {"tape": tape, "seen": seen})

    def peaked(x):
        x = x * 1.5
        return looked(list(map(x.__mul__, range(1, 40))))

    def run():
        with tape:
            return tape.register_output(peaked(tape.register_input(0.5)))

    samples = sampled(tape, run)
    live = [one.live for one in samples]
    assert seen[0] > max(live) + 20 and samples[-1].peak >= seen[0]
    rising = [one.peak for one in samples]
    assert rising == sorted(rising) and rising[0] == live[0]
    assert samples[-1].peak == tape.statistics()["identifiers"].counts["max live indices"]
    found = codipy.timeline(run_of, 0.5, strategy=strategy, granularity="operation")
    curve = next(f for f in found.figures() if f.name == "identifiers").series[0].points
    assert max(y for _, y in curve) == max(one.peak for one in found.samples) > max(one.live for one in found.samples)


def run_of(x):
    x = x * 1.5
    return sum(list(map(x.__mul__, range(1, 40))))


def test_shares_and_savings_are_those_counted_by_hand():
    # Each step is sin(x), that times rate, and a sum: 4 operands that are active, or 3 in the first, and rate.
    found = codipy.timeline(model, 0.5, 2.0, argnums=0)
    assert found.saved[-1] == 5      # k * k, each time
    assert found.passive[-1] == pytest.approx((5 + 1) / (5 * 5 + 2))
    every = codipy.timeline(model, 0.5, 2.0)
    assert every.saved[-1] == 0
    assert every.passive[-1] == pytest.approx(1 / (5 * 7 + 2))
    assert math.isnan(found.passive[0])


def test_arrays_count_as_one_operand():
    found = codipy.timeline(field, np.arange(6.0), 0.1, argnums=(0,))
    # In each step the two pieces that roll copies, and the operands of -, * and +, of which dt is passive.
    assert found.passive[-1] == pytest.approx(4 / (4 * (2 + 6) + 2))
    assert found.saved[-1] == 0


def test_all_forms_have_the_same_numbers():
    found = codipy.timeline(model, 0.5, 2.0, argnums=0)
    rows = found.rows()
    stored = json.loads(found.to_json())
    assert stored["rows"][-1] == list(rows[-1]) and stored["rows"][0][6] is None
    header, *lines = found.to_csv().splitlines()
    assert header.split(",") == stored["columns"] and len(lines) == len(rows)
    assert lines[-1].split(",")[1] == str(rows[-1][1])
    assert found.table(width=200).splitlines()[-1].split()[:2] == [str(rows[-1][0]), str(rows[-1][1])]
    page = found._repr_html_()
    assert page.startswith("<iframe") and page.count("&lt;svg") == 4 and "<svg" not in page


def test_samples_are_thinned_evenly():
    found = codipy.timeline(model, 0.5, 2.0, samples=4)
    steps = np.diff([sample.lines for sample in found.samples[:-1]])
    assert len(found.samples) <= 9 and len(set(steps)) == 1


def test_arguments_stay_as_they_are_and_wrong_ones_are_refused():
    def fills(u):
        u[0] = 3.0
        return u.sum()

    u = np.zeros(3)
    codipy.timeline(fills, u)
    assert not u.any()
    with pytest.raises(ValueError, match="argnums must name some of the 1 arguments"):
        codipy.timeline(fills, u, argnums=1)
    with pytest.raises(TypeError, match=r"f must be a function, got float: say codipy.timeline\(f, x\)"):
        codipy.timeline(3.0)
    with pytest.raises(TypeError, match=r"f must be a function, got float: say codipy.debug\(f, x\)"):
        codipy.debug(3.0)
    with pytest.raises(ValueError, match="samples must be a positive int"):
        codipy.timeline(fills, u, samples=0)


def test_a_function_that_runs_other_lines_each_time_is_refused():
    def restless(x):
        RUNS.append(0)
        for _ in range(len(RUNS)):
            x = x * 2.0
        return x

    with pytest.raises(StatefulError, match="does not run the same lines each time"):
        codipy.timeline(restless, 1.0)


def test_a_function_that_returns_something_else_each_time_is_refused():
    def restless(x):
        RUNS.append(0)
        return {"a": [x * x], "b": np.full(3, float(len(RUNS)))}

    with pytest.raises(StatefulError, match="restless returns .* when it is called again with the same arguments"):
        codipy.timeline(restless, 1.0)
    found = codipy.timeline(lambda x: {"a": x * np.nan, "b": [1, np.arange(2)]}, 1.0)
    assert found.samples[-1].lines == 1


def test_a_run_that_raises_leaves_no_trace_behind():
    import sys
    before = sys.gettrace()
    with pytest.raises(ZeroDivisionError):
        sampled(codipy.Tape(), lambda: 1 / 0)
    assert sys.gettrace() is before


FILE = """
import numpy as np
x0 = (0.5, 2.0)

def model(x, k):
    print("printed")
    z = 0.0
    for _ in range(5):
        rate = k * k
        z = z + np.sin(x) * rate
    return z * x

class Model:
    def run(self, x, *, by=3.0):
        return x * x * by
    x0 = 2.0
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setenv("COLUMNS", "80")
    Path("model.py").write_text(FILE)
    return "model.py"


def run(*words):
    return cli.main(["timeline", *map(str, words)])


def test_the_command_says_what_the_function_does(file, capsys):
    words = "--argnums", 0, "--strategy", "primal-reuse", "--granularity", "operation", "--samples", 5
    assert run(f"{file}:model", *words, "--json", "a.json", "--csv", "a.csv") == 0
    out, err = capsys.readouterr()
    found = codipy.timeline(model, 0.5, 2.0, argnums=0, strategy="primal-reuse", granularity="operation", samples=5)
    stored = json.loads(Path("a.json").read_text())
    assert [row[1:] for row in stored["rows"]][-1] == list(found.rows()[-1][1:])      # it has a line more, which prints
    assert stored["function"] == "model" and stored["columns"] == Path("a.csv").read_text().split()[0].split(",")
    assert err == "printed\n" * 3 and out.endswith("The point is x0 of model.py.\n")
    assert out.splitlines()[0] == "model on a tape of strategy primal-reuse, granularity operation"
    assert run(f"{file}:Model.run") == 0
    assert capsys.readouterr().out.endswith("The point is Model.x0 of model.py.\n")


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_the_command_folds(file, capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert run(f"{file}:model") == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    assert sum(line.startswith("lines") for line in lines) == {40: 3, 60: 2, 80: 2, 120: 1}[columns]
    assert sum("operations" in line for line in lines) == 1


@pytest.mark.parametrize(("words", "said"), [
    (["--argnums", "2"], "--argnums 2: model has 2 arguments at x0 of model.py, and 0 is the first"),
    (["--strategy", "simple", "--granularity", "statement"], "strategy 'simple' records operations only"),
    (["--json", "no/a.json"], "cannot write no/a.json"),
    (["--json", "a", "--csv", "./a"], "--json and --csv are one file"),
])  # fmt: skip
def test_the_command_refuses(file, capsys, words, said):
    assert run(f"{file}:model", *words) == 2
    out, err = capsys.readouterr()
    assert out == "" and said in err
