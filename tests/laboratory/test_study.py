# SPDX-License-Identifier: Apache-2.0
"""codipy.study: which rows there are, and that their figures are those that a tape gives."""

import json
import os
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest

import codipy
from codipy.laboratory import StudyError, worker
from codipy.laboratory.plan import Combination, Point
from codipy.laboratory.source import Given
from codipy.tools.comparison.measuring import StatefulError
from codipy.tools.comparison.verdict import Differences, Verdict
from codipy.tools.runs.problem import Problem
from tests.laboratory import models
from tests.laboratory.copies import in_copies
from tests.strategies import AS_VALUES, COMPARED


@pytest.fixture(scope="module")
def found():
    """One study of all strategies, measured in copies of this process; others below are measured in fresh ones."""
    with in_copies():
        return codipy.study(models.heat, sizes=[10], repeat=2)


def test_every_way_has_a_row_at_every_size(found):
    asked = [(row.combination.point.size, row.combination.strategy, row.combination.granularity) for row in found.rows]
    assert asked == [(n, *way) for n in (10,) for way in [("plain", "-"), *COMPARED]]
    assert found.agree and found.disagreements == [] and found.header["finished"] is True


def test_figures_are_those_of_a_tape(found):
    for row in found.taped:
        if row.combination.strategy == "forward":
            assert (row.statements, row.streams, list(row.seconds)) == (0, {}, ["record"])
            continue
        tape = codipy.Tape(row.combination.strategy, row.combination.granularity)
        with tape:
            u = tape.register_input(models.heat.x0(row.size))
            y = tape.register_output(models.heat(u))
        y.gradient = 1.0
        tape.evaluate()
        statistics = tape.statistics()
        assert (row.used, row.allocated) == tuple(statistics.total)
        assert row.adjoint_bytes == statistics["adjoint vector"].memory.used
        assert (row.statements, row.numbers) == (tape.statements, row.size)
        assert row.value == models.heat(models.heat.x0(row.size))
        assert row.streams == {section.title: section.memory.used for section in statistics.recorded}
        for title, section in row.sections.items():
            assert (section["used"], section["allocated"]) == tuple(statistics[title].memory)
        counts = statistics["identifiers"].counts
        assert [row.live, row.peak_live, row.largest] == [
            counts[name] for name in ("live indices", "max live indices", "largest index")]
        assert row.gradient_difference < 1e-14 and row.finite_difference < 1e-6


def test_times_are_there_for_what_a_way_can_do(found):
    for row in found.taped:
        assert ("replay" in row.seconds) == (row.combination.strategy in AS_VALUES)
        assert len(row.plain) == 2 and all(len(taken) == 2 and min(taken) > 0.0 for taken in row.seconds.values())
        assert row.combination.strategy == "forward" or row.sweep_rate > 0.0 and row.copy_rate > 0.0
        assert set(row.seconds) | set(row.refused) == {"record", "reverse", "forward", "replay"}


@pytest.mark.parametrize("way", [("plain", "-"), *COMPARED[:1], COMPARED[-1]])
def test_what_a_process_answers(way, tmp_path, monkeypatch):
    """The work of a process, done here: the same figures as in a study."""
    monkeypatch.setenv(worker.RUNNING, "")
    request = {"source": Given(models.heat, None), "combination": Combination(Point("n=10", 10), *way), "repeat": 2,
               "rebind": True, "gradient": str(tmp_path / "g.npy"), "cold": str(tmp_path / "cold")}
    worker.answer(request, tmp_path / "answer")
    found = pickle.loads((tmp_path / "answer").read_bytes())
    expected = codipy.value_and_grad(models.heat)(models.heat.x0(10))
    assert found["value"] == expected[0] and (tmp_path / "cold").exists() and len(found["plain"]) == 2
    if way[0] == "plain":
        assert np.allclose(found["differences"].values, expected[1], atol=1e-7)
    else:
        assert np.allclose(np.load(tmp_path / "g.npy"), expected[1], rtol=1e-14)
        assert found["timeline"][-1][1] == found["statements"]


def test_a_study_within_a_process_of_a_study_is_refused(monkeypatch):
    """A script without a guard would start studies for ever."""
    monkeypatch.setenv(worker.RUNNING, "1")
    with pytest.raises(codipy.laboratory.StudyError, match="under if __name__ == '__main__'"):
        codipy.study(models.products, [1.0, 2.0])


def test_importing_codipy_does_not_import_the_laboratory():
    script = "import codipy, sys; print([name for name in sys.modules if 'laboratory' in name])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_scripts_are_measured_in_fresh_processes(tmp_path):
    path = tmp_path / "script.py"
    path.write_text("import codipy\n\ndef f(x):\n    return x[0] * x[1]\n\nif __name__ == '__main__':\n"
                    "    ways = {'strategies': 'jacobian', 'granularities': 'statement'}\n"
                    "    found = codipy.study(f, [2.0, 3.0], **ways, repeat=1)\n"
                    "    print([row.process for row in found.rows], found.agree)\n")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("['fresh', 'fresh'] True\n", "")


def test_lambdas_and_closures_are_measured_in_copies_of_this_process():
    factor = np.linspace(0.0, 1.0, 5)
    found = codipy.study(lambda x: np.sum(x * x * factor), np.ones(5), strategies="primal", repeat=1)
    assert found.agree and {row.process for row in found.rows} == {"forked"}
    assert "Put the function into a module" in str(found).replace("\n  ", " ")


@pytest.mark.usefixtures("forked")
def test_a_study_goes_on_with_the_same_function_at_the_same_point_only(tmp_path):
    options = {"strategies": "primal", "granularities": "statement", "repeat": 1, "save": tmp_path / "study"}
    found = codipy.study(models.products, [1.5, 2.0], **options)
    again = codipy.study(models.products, [1.5, 2.0], **options, resume=True)
    assert again.rows[1].plain == found.rows[1].plain      # measured once
    with pytest.raises(codipy.laboratory.StudyError, match="study holds a study: resume it"):
        codipy.study(models.products, [1.5, 2.0], **options)
    for function, point in ((models.products, [1.5, 3.0]), (models.wrong_under_primal, [1.5, 2.0])):
        with pytest.raises(codipy.laboratory.StudyError, match="holds another study, of another .*content"):
            codipy.study(function, point, **options, resume=True)
    with pytest.raises(codipy.laboratory.StudyError, match="nobody can tell"):
        codipy.study(eval("lambda x: x[0] * x[1]"), [1.5, 2.0], **options, resume=True)


@pytest.mark.usefixtures("forked")
def test_chunk_sizes_and_widths_are_combinations():
    found = codipy.study(models.products, [1.5, 2.0], strategies=["jacobian", "forward"], granularities="statement",
                         chunk_sizes=[4, 1024], widths=[1, 3], repeat=1)
    rows = {(row.combination.strategy, row.combination.chunk_size, row.combination.width): row for row in found.taped}
    assert list(rows) == [*(("jacobian", chunk, width) for chunk in (4, 1024) for width in (1, 3)),
                          ("forward", None, 1), ("forward", None, 3)]
    assert found.agree
    small, large = rows["jacobian", 4, 1], rows["jacobian", 1024, 1]
    assert small.used == large.used and small.allocated < large.allocated
    assert rows["jacobian", 4, 3].adjoint_bytes == 3 * small.adjoint_bytes


@pytest.mark.usefixtures("forked")
def test_steps_are_handed_on():
    found = codipy.study(models.stepped, sizes=[6], steps=[2, 5], strategies="primal",
                         granularities="statement", repeat=1)
    few, many = (row for row in found.taped)
    assert (few.combination.point.label, many.combination.point.label) == ("n=6 steps=2", "n=6 steps=5")
    assert many.statements > few.statements
    assert many.value == models.stepped(models.stepped.x0(6), steps=5)


@pytest.mark.usefixtures("forked")
def test_a_wrong_strategy_is_named():
    found = codipy.study(models.wrong_under_primal, [2.0, 3.0], strategies=["jacobian", "primal"],
                         granularities="operation", repeat=1)
    assert not found.agree and len(found.disagreements) == 1
    assert found.disagreements[0].startswith("primal, operation at x0 disagrees with the median of all strategies: the "
                                             "derivative by argument 0[1] is 7, not 2")
    assert found.disagreements[0] in " ".join(str(found).split())


@pytest.mark.usefixtures("forked")
def test_what_a_strategy_cannot_do_is_a_row_with_the_reason():
    found = codipy.study(models.fails_under_simple, [2.0, 3.0], strategies=["simple", "primal"],
                         granularities="operation", repeat=1)
    plain, simple, primal = found.rows
    assert "MemoryError: no room for this" in simple.error and primal.error is None and not found.agree
    assert "simple, operation at x0 failed: MemoryError: no room for this" in " ".join(str(found).split())


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize(
    ("function", "error", "said"),
    [(models.fails, ZeroDivisionError, "division"),
     (models.counts, StatefulError, "counts returns"),
     (models.returns_text, TypeError, "must return one real number")],
)  # fmt: skip
def test_what_the_plain_run_raises_is_raised(function, error, said):
    with pytest.raises(error, match=said) as caught:
        codipy.study(function, [2.0, 3.0], strategies="primal", repeat=1)
    assert "in another process" in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("words", "options", "error", "said"),
    [
        ([models.heat], {}, TypeError, "study needs the arguments"),
        ([models.heat, np.ones(3)], {"sizes": [3]}, TypeError, "sizes need one function"),
        ([models.heat], {"sizes": [0]}, ValueError, "sizes must be positive"),
        ([models.heat], {"sizes": [1.5]}, TypeError, "sizes must be ints"),
        ([models.heat], {"sizes": []}, ValueError, "sizes must hold one"),
        ([models.heat], {"sizes": [3], "strategies": "fast"}, ValueError, "unknown strategy 'fast'"),
        ([models.heat], {"sizes": [3], "widths": [True]}, TypeError, "widths must be ints"),
        ([models.heat], {"sizes": [3], "repeat": 0}, ValueError, "repeat must be at least 1"),
        ([models.heat], {"sizes": [3], "repeat": 1.0}, TypeError, "repeat must be an int"),
        ([models.heat], {"sizes": [3], "at": "p"}, TypeError, "at and x0 are for a function of a file"),
        ([models.long], {"sizes": [3], "steps": [2]}, ValueError, "nothing takes the number of steps"),
        ([models.long, np.ones(3)], {"steps": [2, 4]}, ValueError, "nothing takes the number of steps: give long"),
        (["none.py:f"], {}, ValueError, "there is no file none.py"),
        ([3.0], {}, TypeError, "f must be a function"),
    ],
)
def test_bad_options_are_refused_before_anything_runs(words, options, error, said):
    with pytest.raises(error, match=said):
        codipy.study(*words, **options)


@pytest.mark.usefixtures("forked")
def test_forward_alone_by_many_numbers_is_compared_with_differences():
    study = codipy.study(models.heat, sizes=300, strategies="forward", granularities="statement", repeat=2)
    assert study.agree and [row.gradient_difference for row in study.taped] == [None]
    assert [note[:40] for note in study.notes] == ["n=300: No gradient was computed: by 300 "]


def test_differences_go_through_a_file(tmp_path):
    problem = Problem(models.heat, (models.heat.x0(30),))
    for seconds in (1e-6, 1.0):      # the second: some numbers only, and directions
        found = Differences(problem, seconds)
        np.savez(tmp_path / "a.npz", **found.arrays())
        with np.load(tmp_path / "a.npz") as arrays:
            again = Differences.of(dict(arrays), problem.names)
        gradient = codipy.grad(models.heat)(models.heat.x0(30))
        for wrong in (0.0, 1.0):
            lines = [list(Verdict([gradient + wrong], one, 1e-8).lines(["primal"])) for one in (found, again)]
            assert lines[0] == lines[1] and bool(lines[0]) == bool(wrong)
        assert (again.count, len(again.directions)) == (found.count, len(found.directions))


@pytest.mark.usefixtures("forked")
def test_a_file_that_changes_while_it_is_studied_is_an_error(tmp_path):
    """Rows of two programs under one title would be compared as if they were one."""
    path = tmp_path / "edited.py"
    text = "def f(x):\n    return x[0] * x[1]\nx0 = [2.0, 3.0]\n"
    path.write_text(text)
    chosen = {"strategies": ["jacobian", "primal"], "granularities": "statement", "repeat": 1}

    def edit(done, total, what):
        if done == 1:
            path.write_text(text.replace("x[1]", "x[1] * 1.0"))

    with pytest.raises(StudyError, match="was changed while it was studied"):
        codipy.study(f"{path}:f", save=tmp_path / "kept", progress=edit, **chosen)
    path.write_text(text)
    found = codipy.study(f"{path}:f", save=tmp_path / "kept", resume=True, **chosen)
    assert found.agree and {row.statements for row in found.taped} == {4}


@pytest.mark.usefixtures("forked")
def test_what_is_kept_may_be_damaged(tmp_path):
    chosen = {"strategies": "jacobian", "granularities": "statement", "repeat": 1, "save": tmp_path}
    codipy.study(models.heat, np.ones(8), **chosen)
    kept = tmp_path / ".measured" / "rows.jsonl"
    header, *rows = kept.read_text().splitlines()
    kept.write_text("\n".join([header, rows[0], "[]", rows[1]]))      # what follows is measured again
    assert len(codipy.study(models.heat, np.ones(8), resume=True, **chosen).taped) == 1
    for first in (header[:50], "[1]", ""):
        kept.write_text("\n".join([first, *rows]))
        with pytest.raises(StudyError, match="is damaged"):
            codipy.study(models.heat, np.ones(8), resume=True, **chosen)


@pytest.mark.usefixtures("forked")
def test_sizes_may_be_numpys():
    found = codipy.study(models.heat, sizes=np.array([8]), chunk_sizes=range(4, 6), strategies="jacobian",
                         granularities="statement", repeat=1)
    assert [(row.size, row.combination.chunk_size) for row in found.taped] == [(8, 4), (8, 5)]
    assert json.loads(found.to_json())["header"]["chunk sizes"] == [4, 5]


@pytest.mark.usefixtures("forked")
def test_recordings_that_grow_are_said():
    """The value is the same each time, so nothing else tells."""
    found = codipy.study(models.grows, [2.0, 3.0], strategies="jacobian", granularities="statement", repeat=1)
    assert [row.warning is None for row in found.rows] == [True, False]
    assert "the first recording has" in str(found) and "keep something" in " ".join(str(found).split())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("function", ["endless", "lambda x: endless(x)"])
def test_a_process_of_a_study_that_is_killed_ends(function, tmp_path):
    """A lambda's is a copy of the process that asks."""
    script = tmp_path / "script.py"
    script.write_text("import os\nimport codipy\n\n\ndef endless(x):\n"
                      "    if os.environ.get('CODIPY_STUDY_PROCESS'):\n"
                      "        open('number.new', 'w').write(str(os.getpid()))\n"
                      "        os.rename('number.new', 'number')\n"
                      "        while True:\n            pass\n    return x * x\n\n\n"
                      "if __name__ == '__main__':\n"
                      f"    codipy.study({function}, 2.0, strategies='jacobian', repeat=1)\n")
    number = tmp_path / "number"
    with subprocess.Popen([sys.executable, str(script)], cwd=tmp_path) as asks:
        try:
            until(number.exists)
        finally:
            asks.kill()
    until(lambda: not runs(int(number.read_text())))


def until(condition):
    end = time.monotonic() + 60.0
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def runs(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    try:      # one that nobody has asked how it ended
        with open(f"/proc/{number}/stat", encoding="ascii") as told:
            return told.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return os.path.exists("/proc/self/stat") is False


@pytest.mark.usefixtures("forked")
def test_gradients_that_are_no_numbers_are_said():
    found = codipy.study(models.root, [0.0, 2.0], strategies=["jacobian", "primal"], granularities="statement",
                         repeat=1)
    assert "All gradients agree" not in str(found) + found.to_html()
    assert "The derivative by 1 of 2 numbers is NaN or infinite" in " ".join(str(found).split())
    assert codipy.laboratory.Study.from_dict(found.to_dict()).notes == found.notes
