# SPDX-License-Identifier: Apache-2.0
"""What a profile says of lines, functions and loops: who wrote the last operation, who called, how often, how long."""

import functools
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import codipy
from codipy import cli
from codipy.errors import TapeError
from codipy.tools.comparison.measuring import StatefulError
from tests.strategies import each_strategy

HERE = __file__
TEXT = Path(__file__).read_text(encoding="utf-8").splitlines()


def number_of(text):
    """The line of this file that has a mark."""
    lines = [k for k, line in enumerate(TEXT, 1) if line.endswith("# " + text)]
    assert len(lines) == 1, text
    return lines[0]


def statements_of(found):
    """Statements by the mark of their line; those of lines without one together."""
    marks, counted = {}, {}
    for k, line in enumerate(TEXT, 1):
        if "  # " in line:
            marks[k] = line.rsplit("  # ", 1)[1].strip()
    for line in found.lines:
        if line.file == HERE and line.sums.statements:
            mark = marks.get(line.line, line.line)
            counted[mark] = counted.get(mark, 0) + line.sums.statements
    return counted


def pending(x):
    y = x * x  # written
    z = 3.0
    return y + y * z  # pushed


def test_a_statement_belongs_to_the_line_of_its_last_operation():
    found = codipy.profile(pending, 2.0, strategy="jacobian")
    # y is used twice, so the line that uses it pushes it; the result is pushed by codipy, that registers it.
    assert statements_of(found) == {"written": 1, "pushed": 1}


def waiting(u):
    v = np.sin(u) * 2.0  # waits
    w = v[1:]
    return np.sum(w * w)  # sums


@each_strategy
def test_an_array_statement_belongs_to_the_line_of_its_last_operation(strategy):
    found = codipy.profile(waiting, np.linspace(0.1, 1.0, 100), strategy=strategy, granularity=None)
    counted = statements_of(found)
    assert counted["waits"] >= 1
    assert set(counted) == {"waits", "sums"}


def shared(u):
    v = u * u
    a = np.exp(v)
    b = np.sin(v) * a  # first
    c = np.cos(v) * a * b  # second
    return np.sum(b + c)


def test_a_shared_buffer_belongs_to_its_first_keeper():
    found = codipy.profile(shared, np.linspace(0.1, 1.0, 1000), strategy="auto")
    values = {line.line: line.sums.values for line in found.lines}
    first, second = values[number_of("first")], values[number_of("second")]
    assert first >= second
    assert second < 3 * 8000  # a, v, b: `a` and `v` are kept by those before
    assert first % 8000 == 0


class Model:
    def __init__(self, rate):
        self.rate = rate

    def step(self, x):
        return x - self.rate * x * x  # method


def generated(x):
    for k in range(3):
        yield x * (k + 1.0)  # generator


def everything(x):
    model = Model(0.1)
    for _ in range(4):
        x = model.step(x)
    triple = lambda y: y * 3.0 * y  # noqa: E731  # lambda

    def nested(y):
        return y + triple(y) * y  # nested

    parts = [np.sin(x) * y for y in (x, 2.0)]  # comprehension
    total = 0.0
    for part in generated(x):
        total = total + part * parts[0]  # loop
    return total * nested(x) + parts[1]


@pytest.mark.parametrize("rebind", [True, False])
@each_strategy
def test_methods_closures_lambdas_generators_and_comprehensions(rebind, strategy):
    found = codipy.profile(everything, 0.5, strategy=strategy, rebind=rebind)
    counted = statements_of(found)
    # By statement an expression is one of the line that wrote its last operation, though it began in a lambda.
    inner = {"generator", "lambda", "nested"} if strategy == "simple" else set()
    assert {"method", "comprehension", "loop"} | inner <= set(counted)
    calls = {function.name: function.calls for function in found.functions}
    assert calls["everything"] == 1
    assert calls["Model.step"] == 4
    assert calls.get("everything.<locals>.nested", 1) == calls.get("everything.<locals>.<lambda>", 1) == 1
    assert calls["generated"] == 1  # of a generator each resumption is not a call
    loops = {loop.line: loop for loop in found.loops}
    assert sorted(loop.iterations for loop in loops.values() if loop.function == "everything") == [3, 4]
    step = next(loop for loop in loops.values() if loop.iterations == 4)
    whole = next(function for function in found.functions if function.name == "Model.step").whole
    assert step.sums.bytes == whole.bytes == 4 * step.each


def endless(x):
    while True:
        x = x * 0.9 + 0.1
        yield x


def left(x):
    numbers = endless(x)
    total = next(numbers) + next(numbers)
    numbers.close()
    return total


def dropped(x):
    return next(endless(x)) + sum(y for y, _ in zip(endless(x), range(3)))


def thrown(x):
    numbers = endless(x)
    total = next(numbers)
    with pytest.raises(KeyError):
        numbers.throw(KeyError())
    return total


@pytest.mark.parametrize(("f", "calls"), [(left, 1), (dropped, 2), (thrown, 1)])
def test_a_generator_that_is_not_exhausted_is_called_once(f, calls):
    found = codipy.profile(f, 0.3)
    assert {function.name: function.calls for function in found.functions}["endless"] == calls


def inner(x):
    return x * x * x * 0.5 + x  # inner


def fast(x):
    return inner(x) * 2.0


def outer(x):
    y = inner(x) + 0.0  # called here
    return fast(y) * y


def test_call_paths_say_who_called():
    found = codipy.profile(outer, 1.5, strategy="simple")
    paths = Counter()
    for path, sums in found.stacks():
        paths[tuple(name for name, _, _ in path)] += sums.bytes
    assert paths[("outer", "inner")] == paths[("outer", "fast", "inner")] > 0
    inner_, outer_ = (next(f for f in found.functions if f.name == name) for name in ("inner", "outer"))
    assert inner_.calls == 2
    assert inner_.own.bytes == inner_.whole.bytes == 2 * paths[("outer", "inner")]
    assert outer_.whole.bytes == sum(line.sums.bytes for line in found.lines if line.line)
    assert outer_.own.bytes < outer_.whole.bytes


def factorial(x, n):
    return x if n == 0 else factorial(x * (x + 1.0), n - 1)  # recursive


def test_recursion_is_one_function_in_a_path():
    found = codipy.profile(lambda x: factorial(x, 200), 1e-3, strategy="simple")
    assert {len(path) for path, sums in found.stacks() if sums.statements and path[0][2]} == {2}
    function = next(f for f in found.functions if f.name == "factorial")
    assert (function.calls, function.own.statements) == (201, 400)
    assert function.own.bytes == function.whole.bytes


def repeated(x, n):
    for _ in range(n):
        x = x * x * 0.5 + 0.1
        x = x * 1.01
    return x


def from_two_places(x):
    return repeated(x, 30) + repeated(x * 0.5, 30)


def unevenly(x):
    a = repeated(x, 40)
    return a + repeated(x * 0.5, 10)


def from_three_places(x):
    return repeated(x, 5) + repeated(x * 2.0, 6) * repeated(x * 3.0, 7)


def from_a_loop_and_elsewhere(x):
    for k in range(1, 4):
        x = repeated(x, k)
    return x + repeated(x, 10)


@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize(("f", "iterations"), [(from_two_places, 60), (unevenly, 50), (from_three_places, 18),
                                               (from_a_loop_and_elsewhere, 16)])
def test_iterations_are_those_of_all_calls(f, iterations, counted):
    if counted:
        found = codipy.profile(f, 0.3)
    else:
        with codipy.profile() as found:
            codipy.grad(f)(0.3)
    loop = next(loop for loop in found.loops if loop.function == "repeated")
    assert (loop.iterations, loop.each) == (iterations, loop.sums.bytes / iterations)
    assert f"{loop.each:.2f}".removesuffix(".00") + " B" in str(found)


def helped(x):
    return functools.reduce(lambda a, b: a * b + 1.0, [x] * 5)  # library


def interpolated(u):
    return np.sum(np.linalg.norm(u.reshape(2, -1) @ u.reshape(-1, 2), axis=0) ** 2)  # numpy


def test_what_libraries_do_belongs_to_the_line_that_called_them():
    assert set(statements_of(codipy.profile(helped, 1.1, strategy="simple"))) == {"library"}
    assert set(statements_of(codipy.profile(interpolated, np.arange(1.0, 9.0)))) == {"numpy"}


def second(u):
    return codipy.hessian(lambda v: np.sum(np.sin(v) * v ** 3))(u).sum()  # drivers


def test_what_codipy_runs_for_a_driver_inside_belongs_to_the_line_that_called_it():
    found = codipy.profile(second, np.arange(1.0, 4.0))
    assert {line.file for line in found.lines} == {"", HERE}
    assert {line.line for line in found.lines if line.line} == {number_of("drivers")}


def test_a_block_profiles_drivers_and_tapes_of_its_thread():
    x = np.linspace(0.1, 1.0, 50)
    with codipy.profile() as found:
        with pytest.raises(TapeError, match="not complete"):
            _ = found.lines
        gradient = codipy.grad(waiting)(x)
        codipy.hessian(waiting)(x[:3])
        tape = codipy.Tape("primal")
        with tape:
            y = tape.register_input(1.5)
            y = tape.register_output(inner(y))
        thread = threading.Thread(target=lambda: codipy.grad(outer)(1.0))
        thread.start()
        thread.join()
    assert np.array_equal(gradient, codipy.grad(waiting)(x))
    assert found.recordings >= 3
    names = {function.name for function in found.functions}
    assert {"waiting", "inner", "test_a_block_profiles_drivers_and_tapes_of_its_thread"} <= names
    assert "outer" not in names
    assert tape.journal is None
    used = sum(line.sums.bytes for line in found.lines) + sum(amount.used for amount in found.whole.values())
    assert used == found.total.used


def test_a_block_without_recordings_says_why():
    with codipy.profile() as found:
        thread = threading.Thread(target=lambda: codipy.grad(outer)(1.0))
        thread.start()
        thread.join()
    assert (found.recordings, found.missed) == (0, 0)
    assert "on the thread that entered it" in " ".join(str(found).split())


def apart(a):
    total = 0.0
    for k in range(4):
        total = total + np.sin(a[k]) * a[k]  # apart
    return total


def with_recordings_inside(x):
    y = x * 2.0
    z = codipy.preaccumulate(apart)(y)  # preaccumulated
    bar = codipy.grad(lambda b: np.sum(np.sin(b)))(y)
    for _ in range(3):
        y = y * z + bar  # a loop
    return np.sum(y)


@each_strategy
def test_recordings_inside_are_not_on_the_tape(strategy):
    x = np.linspace(0.1, 1.0, 6)
    found = codipy.profile(with_recordings_inside, x, strategy=strategy)
    tape = codipy.Tape(strategy)
    with tape:
        y = tape.register_output(codipy.rebind(with_recordings_inside)(tape.register_input(x)))
        statistics = tape.statistics()
    assert (found.recordings, found.inner) == (1, 2) and found.to_dict()["inner"] == 2
    streams = Counter()
    for line in found.lines:
        streams.update(line.sums.streams)
    assert streams and all(statistics[title].memory.used == used for title, used in streams.items())
    assert "Recordings inside, of drivers or preaccumulate: 2," in " ".join(str(found).split())
    statements = statements_of(found)
    assert "apart" not in statements and "a loop" in statements and y.is_active
    assert all(loop.unknown != "there are several recordings" for loop in found.loops)
    with codipy.profile() as block:
        codipy.grad(with_recordings_inside, strategy=strategy)(x)
        codipy.grad(with_recordings_inside, strategy=strategy)(x)
    assert (block.recordings, block.inner) == (2, 4)


def test_many_tapes_are_read_one_after_the_other():
    def record():
        tape = codipy.Tape("jacobian")
        with tape:
            tape.register_output(inner(tape.register_input(1.5)))

    with codipy.profile() as found:
        for _ in range(20):
            record()
            assert len(found._tapes) <= 2
    assert found.recordings == 20


def test_a_reset_to_a_position_takes_the_lines_back():
    with codipy.profile() as found:
        tape = codipy.Tape("jacobian", chunk_size=4)
        with tape:
            x = tape.register_input(1.5)
            place = tape.position()
            for _ in range(10):
                y = inner(x)
                y = y * y
            tape.reset(place)
            y = tape.register_output(x * x * x)  # after
    assert "after" in statements_of(found)
    assert "inner" not in statements_of(found)
    assert found.total == tape.statistics().total


def test_a_tape_that_began_before_is_missed_and_said_to_be():
    tape = codipy.Tape("jacobian")
    with tape:
        x = tape.register_input(1.5)
    with codipy.profile() as found, tape:
        inner(x)
    assert (found.recordings, found.missed) == (0, 1)
    assert "1 more had begun before the profile" in str(found)
    assert tape.journal is None
    tape = codipy.Tape("jacobian")
    with tape:
        x = tape.register_input(1.5)
        with codipy.profile() as found:
            inner(x)
    assert (found.recordings, found.missed) == (0, 1)


def test_one_profile_on_a_thread():
    with codipy.profile(), pytest.raises(TapeError, match="profiled already"):
        codipy.profile(inner, 1.0)
    with pytest.raises(TapeError, match="keeps no tape"):
        codipy.profile(inner, 1.0, strategy="forward")
    found = codipy.profile(inner, 1.0)
    with pytest.raises(TapeError, match="is complete"), found:
        pass


def test_calls_are_counted_where_nobody_else_listens():
    sys.setprofile(lambda *_: None)
    try:
        with pytest.raises(TapeError, match="another profiler"):
            codipy.profile(inner, 1.0)
        with codipy.profile() as found:
            codipy.grad(outer)(1.0)
    finally:
        sys.setprofile(None)
    assert [function.calls for function in found.functions] == [None] * len(found.functions)
    with codipy.profile(calls=True) as found:
        codipy.grad(outer, strategy="simple")(1.0)
    assert {f.name: f.calls for f in found.functions if f.name in ("inner", "outer")} == {"inner": 2, "outer": 1}


def test_a_function_that_is_not_the_same_twice_is_refused():
    values = iter(range(100))
    with pytest.raises(StatefulError, match="when it is called again"):
        codipy.profile(lambda x: x * next(values), 1.0)


def test_a_profile_ends_with_an_exception():
    def fails(x):
        return x * x / (x - x)

    with pytest.raises(ZeroDivisionError):
        codipy.profile(fails, 1.0)
    with pytest.raises(RuntimeError), codipy.profile() as found:
        codipy.grad(inner)(1.0)
        raise RuntimeError
    assert found.recordings == 1
    assert codipy.profile(inner, 1.0).recordings == 1


def waits(u):
    time.sleep(0.02)
    return u


def slow(u):
    for _ in range(3):
        u = np.sin(u) * waits(0.9)  # dear
    v = u[:3] * 2.0
    return np.sum(v * v)  # cheap


@each_strategy
def test_time_is_that_of_the_line_that_takes_it(strategy):
    found = codipy.profile(slow, np.linspace(0.1, 1.0, 50), strategy=strategy)
    lines = {line.line: line.sums for line in found.lines}
    assert lines[number_of("dear")].record >= 0.06
    assert all(line.sums.reverse > 0 for line in found.lines if line.sums.statements and line.line)
    (loop,) = found.loops
    assert (loop.iterations, loop.each) == (3, lines[number_of("dear")].bytes / 3)
    assert 1.0 < loop.runs <= 2.0
    assert found.functions[0].whole.record >= lines[number_of("dear")].record


def chain(x):
    y = x
    for _ in range(100):
        y = y * 1.01 + x * 0.5  # many
    for _ in range(10):
        y = y * 1.01 + x * 0.5  # few
    return y


def test_what_stays_live():
    reuse = {line.line: line.sums.live for line in codipy.profile(chain, 1.0, strategy="jacobian-reuse").lines}
    linear = {line.line: line.sums.live for line in codipy.profile(chain, 1.0, strategy="jacobian").lines}
    assert reuse[number_of("many")] == 0
    assert linear[number_of("many")] == 100


class Cells(HTMLParser):
    """Cells of tables, as text."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.inside = [], False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.inside = tag in ("td", "th")
        if tag == "tr":
            self.rows.append([])
        if self.inside:
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.inside:
            self.rows[-1][-1] += data


def test_forms_say_the_same(tmp_path, capsys):
    path = tmp_path / "model.py"
    path.write_text("def f(x):\n    y = 1.0\n    for k in range(20):\n        y = y * x[0] + k * x[1] * x[0]\n"
                    "    return y * y\nx0 = [0.5, 0.7]\n")
    files = {name: tmp_path / f"out.{name}" for name in ("json", "html", "speedscope", "collapsed")}
    arguments = [part for name, file in files.items() for part in (f"--{name}", str(file))]
    assert cli.main(["profile", f"{path}:f", "--strategy", "jacobian", *arguments]) == 0
    printed = capsys.readouterr().out
    told = json.loads(files["json"].read_text())
    line = next(line for line in told["lines"] if line["line"] == 4)
    assert line["file"] == str(path)
    assert told["loops"][0]["iterations"] == 20
    assert f"{told['loops'][0]['each']:.2f}" in printed
    assert "y = y * x[0]" in printed
    assert max(map(len, printed.splitlines())) <= 80
    rows = Cells(files["html"].read_text()).rows
    shown = next(row for row in rows if row[-1].strip().startswith("y = y * x[0]"))
    assert shown[:3] == ["4", str(line["statements"]), str(line["arguments"])]
    assert "http:" not in files["html"].read_text()
    stacks = [text.rsplit(" ", 1) for text in files["collapsed"].read_text().splitlines()]
    assert sum(int(number) for _, number in stacks) == told["total"]["used"]
    assert any(stack == "f (model.py:4)" and int(number) == line["bytes"] for stack, number in stacks)
    scope = json.loads(files["speedscope"].read_text())
    bytes_, *_ = scope["profiles"]
    assert sum(bytes_["weights"]) == bytes_["endValue"] == told["total"]["used"]
    assert all(0 <= k < len(scope["shared"]["frames"]) for sample in bytes_["samples"] for k in sample)
    assert cli.main(["profile", f"{path}:f", "--json", str(files["html"]), "--html", str(files["html"])]) == 2
    assert "are one file" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["markdown", "latex"])
def test_other_formats(form):
    text = codipy.profile(chain, 1.0).text(form)
    assert ("\\begin{tabular}" in text) == (form == "latex")
    assert ("| --- |" in text) == (form == "markdown")


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_text_is_as_wide_as_the_terminal(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    text = str(codipy.profile(everything, 0.5))
    assert "total = total + part" in text or columns == 40
    assert columns == 40 or max(map(len, text.splitlines())) <= columns


def test_what_a_sweep_imports_is_no_time_of_a_line():
    """In a fresh process, where nobody has imported SciPy."""
    script = ("import sys, numpy as np, codipy; from tests.laboratory.models import solves; "
              "before = 'scipy.linalg' in sys.modules; found = codipy.profile(solves, np.ones(3)); "
              "print(before, sum(line.sums.reverse for line in found.lines) < 0.05)")
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True,
                          cwd=Path(__file__).parents[2])
    assert told.stdout.split() == ["False", "True"]
