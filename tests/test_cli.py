# SPDX-License-Identifier: Apache-2.0
"""The command: what it prints and writes, its exit status, and what it says about bad files."""
import contextlib
import csv
import importlib.util
import io
import json
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import codipy
from codipy import cli
from codipy.tools.console import progress
from tests.laboratory.copies import in_copies
from tests.strategies import STRATEGIES

FILE = '''
from dataclasses import dataclass
import helper
x0 = [1.0, 2.0, 3.0]
other = [2.0, 2.0]
pair = (2.0, [3.0])
text = "no point"

@dataclass
class Scale:
    by: float = 2.0

def cost(x):
    total = 0.0
    for number in x:
        total = total + helper.square(number) * Scale().by
    return total

def own(x):
    return x * x
own.x0 = 5.0

def two(x, y):
    return x * y[0]

def tuple_of(x):
    return x[0] * x[1][0]

def fails(x):
    return [][len(x)]

def returns_nothing(x):
    pass
'''


@pytest.fixture(autouse=True)
def forked():
    """Studies, and what measures memory, do so in copies of this process."""
    with in_copies():
        yield


@contextlib.contextmanager
def standard_output(file, **options):
    """What `codipy.cli.main` prints goes there, through an encoding as strict as that of a pipe."""
    with io.TextIOWrapper(file, **options) as text, contextlib.redirect_stdout(text):
        yield


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The path of FILE; the path and the modules of the process are restored."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sys, "path", sys.path.copy())
    (tmp_path / "helper.py").write_text("def square(x):\n    return x * x\n")
    path = tmp_path / "model.py"
    path.write_text(FILE)
    yield path
    sys.modules.pop("helper", None)


def run(*words):
    return cli.main(["compare", "--repeat", "1", *map(str, words)])


def test_all_agree(file, capsys):
    assert run(f"{file}:cost") == 0
    out, err = capsys.readouterr()
    assert out.startswith("cost: value 28, 3 numbers at x0 of model.py") and "All gradients agree." in out and err == ""
    assert "\x1b" not in out      # no colours in a pipe
    parts = [part.splitlines() for part in out.split("\n\n") if "granularity" in part]
    rows = [[line for line in part if line.startswith((*STRATEGIES, "forward"))] for part in parts]
    assert {len(part) for part in rows} == {13, 11} and "Seconds, medians:" in out      # `forward` has no streams
    assert max(map(len, out.splitlines())) <= 80


def test_files_hold_what_the_table_says(file, tmp_path, capsys):
    assert run(f"{file}:cost", "--json", tmp_path / "a.json", "--csv", tmp_path / "a.csv", "--chunk-size", 16) == 0
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["function"] == "cost" and found["value"] == 28.0 and found["agree"] is True and found["memory"] == []
    assert [row["gradient"] for row in found["rows"]] == [[4.0, 8.0, 12.0]] * 13
    with open(tmp_path / "a.csv", newline="") as text:
        rows = list(csv.DictReader(text))
    assert [int(row["used"]) for row in rows] == [row["used"] for row in found["rows"]]
    tape = codipy.Tape("jacobian", chunk_size=16)
    with tape:
        x = [tape.register_input(v) for v in (1.0, 2.0, 3.0)]
        y = tape.register_output(sys.modules["codipy_target"].cost(x))
    y.gradient = 1.0
    tape.evaluate()
    assert found["rows"][3]["strategy"] == "jacobian"
    assert found["rows"][3]["allocated"] == tape.statistics().total.allocated


def test_what_the_program_prints_is_not_in_the_tables(file, capsys):
    with open(file, "a") as text:
        text.write("\ndef loud(x):\n    print('| loud |')\n    return x[0] * x[1]\n")
    for words in (["compare", "--repeat", "1"], ["predict"]):
        assert cli.main([*words, f"{file}:loud", "--strategy", "jacobian", "--format", "markdown"]) == 0
        out, err = capsys.readouterr()
        assert "| loud |" in err and "| loud |" not in out and "jacobian" in out


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device here is always full")
def test_a_full_disk_does_not_lose_the_table(file, capsys):
    assert run(f"{file}:cost", "--strategy", "jacobian", "--json", "/dev/full") == 2
    out, err = capsys.readouterr()
    assert "All gradients agree." in out and "cannot write /dev/full: No space left" in err


def test_the_point(file, capsys):
    for words, value in [
        ([f"{file}:cost", "--at", "other"], 16.0),
        ([f"{file}:own"], 25.0),
        ([f"{file}:two", "--at", "pair"], 6.0),
        ([f"{file}:tuple_of", "--at", "pair"], 6.0),
    ]:
        assert run(*words, "--strategy", "jacobian") == 0
        assert f"value {value:g}," in capsys.readouterr().out
    assert run(f"{file}:own", "--at", "text") == 2
    assert "argument 0 is not a real number but str 'no point'" in capsys.readouterr().err


def test_a_choice_of_strategies(file, capsys):
    assert run(f"{file}:cost", "--strategy", "primal", "--strategy", "simple", "--granularity", "operation") == 0
    rows = [line.split()[:2] for line in capsys.readouterr().out.splitlines() if "operation" in line]
    assert rows == [["primal", "operation"], ["simple", "operation"]] * (len(rows) // 2) and len(rows) >= 6


def test_a_wrong_strategy_is_exit_status_1(file, capsys, monkeypatch):
    class Wrong(codipy.Tape):
        def register_output(self, y):
            return super().register_output(y * 1.5 if self.strategy == "primal-reuse" else y)

    monkeypatch.setattr(importlib.import_module("codipy.tools.comparison.measuring"), "Tape", Wrong)
    assert run(f"{file}:cost") == 1
    last = " ".join(capsys.readouterr().out.rpartition("\n\n")[2].split())
    assert last == " ".join(f"primal-reuse, {granularity} disagrees with the median of all strategies: the derivative "
                            "by argument 0[2] is 18, not 12" for granularity in ("statement", "operation"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{}:missing"], "model.py has no function 'missing': there are cost, own, two"),
        (["{}:x0"], "model.py has no function 'x0'"),
        (["{}"], "is not of the form FILE.py:FUNCTION"),
        (["{}:cost()"], "is not of the form FILE.py:FUNCTION"),
        (["none.py:cost"], "there is no file none.py"),
        (["{}:cost", "--at", "nowhere"], "--at nowhere: the file has no such name"),
        (["{}:cost", "--at", "1.2,.4"], "--at 1.2,.4: the file has no such name; a point itself is given by --x0"),
        (["{}:cost", "--strategy", "simple", "--granularity", "statement"], "operations only"),
        (["{}:cost", "--json", "no-such-folder/a.json"], "cannot write no-such-folder"),
    ],
)
def test_what_cannot_be_run_is_exit_status_2(file, words, said, capsys):
    assert run(*(word.format(file) for word in words)) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("codipy compare: ") and said in err


SIZED = """
import numpy as np
def f(x):
    return np.sum(x * x)
def x0(n=3):
    return np.arange(float(n))
def g(x):
    return np.sum(x)
g.x0 = np.ones
"""


@pytest.mark.parametrize("command", ["compare", "predict", "profile", "debug", "study", "timeline"])
def test_a_point_of_a_default_size(command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sized.py").write_text(SIZED)
    one = ["--strategy", "primal", "--granularity", "statement"]
    few = {"compare": ["--repeat", "1"], "study": ["--repeat", "1", *one]}.get(command, [])
    assert cli.main([command, "sized.py:f", *few]) == 0
    assert "x0 of sized.py" in " ".join(capsys.readouterr().out.replace("()", "").split())
    assert cli.main([command, "sized.py:g", *few]) == 2
    assert "makes points of a size" in (err := capsys.readouterr().err) and "--x0, --at, or a default" in err


def test_no_point_at_all(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    (tmp_path / "pointless.py").write_text("def f(x):\n    return x\n")
    assert run(f"{tmp_path / 'pointless.py'}:f") == 2
    assert "set f.x0 or x0 in the file, or name a variable of it with --at" in capsys.readouterr().err


def test_a_script_that_exits_and_a_file_named_like_a_module(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    path = tmp_path / "json.py"
    path.write_text("import sys\nx0 = 3.0\ndef f(x):\n    return x * x\n")
    assert run(f"{path}:f", "--strategy", "simple") == 0 and sys.modules["json"] is json
    path.write_text(path.read_text() + "sys.exit(0)\n")
    assert run(f"{path}:f") == 2
    assert "json.py called exit() while it was loaded" in capsys.readouterr().err


def test_errors_of_the_function_show_its_traceback(file, capsys):
    assert run(f"{file}:fails") == 2
    err = capsys.readouterr().err
    assert "return [][len(x)]" in err and f'File "{file}"' in err and err.rstrip().endswith("out of range")
    assert "codipy" not in err.replace(str(file), "")
    assert run(f"{file}:returns_nothing") == 2
    assert "returns_nothing must return one real number, got NoneType" in capsys.readouterr().err


RAISES = """
import numpy as np
x0 = np.array([1.0, 2.0])
def singular(x):
    return np.linalg.inv(np.zeros((2, 2)) * x[0])[0, 0]
def chained(x):
    try:
        return singular(x)
    except np.linalg.LinAlgError as error:
        raise ValueError("mine") from error
def called_back(x):
    return np.vectorize(lambda v: [][v])(x)[0]
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [("singular", "LinAlgError: Singular matrix"), ("chained", "ValueError: mine"), ("called_back", "TypeError: ")],
)
@pytest.mark.parametrize("command", ["timeline", "profile", "debug", "study"])      # the first runs nothing plainly
def test_a_traceback_has_lines_of_the_user_and_of_libraries(command, name, said, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "raises.py"
    path.write_text(RAISES)
    assert cli.main([command, f"{path}:{name}"]) == 2
    err = capsys.readouterr().err
    lines = [line.strip() for line in err.splitlines()]
    files = [line for line in lines if line.startswith("File ")]
    assert f'in {name}' in files[0 if name != "chained" else -1] and said in err
    assert ("direct cause of" in err) == (name == "chained") and ("in inv" in err) == (name != "called_back")
    package = str(Path(codipy.__file__).parent)
    assert files and not [line for line in files if package in line or line.startswith('File "codipy/')]


STATEFUL = """
import array, math, random
x0, calls, kept, memo = 1.5, [0], [], []
class Clock:
    time = 0.0
    def tick(self, x):
        self.time += x
        return self.time * self.time
clock = Clock()
def ticks(x):
    return clock.tick(x)
def counts(x):
    calls[0] += 1
    return x * calls[0]
def draws(x):
    return x * random.random()
def stores(x):
    kept.append(x)
    return x * x + 0.0 * kept[0]
def catches(x):
    try:
        return array.array("d", [x])[0]
    except Exception:
        return x
def is_no_number(x):
    return x * math.nan
"""


@pytest.mark.parametrize(
    ("name", "said"),
    [("ticks", "ticks returns 2.25 when it is called first and 9.0 when"), ("counts", "counts returns 1.5 when"),
     ("draws", "draws random numbers"), ("catches", "was caught (stateful.py:"), ("stores", "")],
)  # fmt: skip
def test_functions_that_keep_something_get_one_sentence(tmp_path, name, said, capsys):
    path = tmp_path / "stateful.py"
    path.write_text(STATEFUL)
    assert run(f"{path}:{name}", "--repeat", "1") == (2 if said else 0)
    err = capsys.readouterr().err
    assert said in err and "Traceback" not in err and err.count("\n") == (1 if said else 0)


def test_a_function_whose_value_is_nan_returns_the_same_twice(tmp_path, capsys):
    path = tmp_path / "stateful.py"
    path.write_text(STATEFUL)
    assert run(f"{path}:is_no_number", "--repeat", "1", "--strategy", "primal") in (0, 1)
    assert "called again" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "said"),
    [("1 / 0\n", "ZeroDivisionError"), ("def f(:\n", "SyntaxError"), ("import no_such_module\n", "no_such_module")],
)
def test_errors_of_the_file_show_its_traceback(tmp_path, source, said, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    path = tmp_path / "broken.py"
    path.write_text(source)
    assert run(f"{path}:f") == 2
    err = capsys.readouterr().err
    assert said in err and str(path) in err and source.strip() in err and "importlib" not in err


@pytest.mark.parametrize("words", [["--repeat", "0"], ["--chunk-size", "-4"], ["--chunk-size", "x"],
                                   ["--strategy", "fast"], ["--granularity", "loop"]])
def test_bad_options_name_themselves(file, words, capsys):
    with pytest.raises(SystemExit) as caught:
        run(f"{file}:cost", *words)
    assert caught.value.code == 2 and words[0] in capsys.readouterr().err


COMMANDS = ["compare", "debug", "predict", "profile", "study", "timeline"]
FILES = [("compare", "--json"), ("compare", "--csv"), ("debug", "--json"), ("predict", "--json"), ("profile", "--json"),
         ("profile", "--html"), ("profile", "--speedscope"), ("profile", "--collapsed"), ("study", "--json"),
         ("study", "--save"), ("timeline", "--json"), ("timeline", "--csv")]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "codipy: the following arguments are required: COMMAND ("),
        (["--wrong"], "codipy: the following arguments are required: COMMAND ("),
        (["fast"], "codipy: argument COMMAND: invalid choice: 'fast'"),
        *(([name, "f.py:f", "--wrong", "more"], f"codipy {name}: unrecognized arguments: --wrong more ("
           f"codipy {name} --help") for name in COMMANDS),
        *(([name, "f.py:f", option, ""], f"codipy {name}: argument {option}: the name is empty")
          for name, option in FILES),
        (["study", "--compare", "a.json", ""], "codipy study: argument --compare: the name is empty"),
    ],
)  # fmt: skip
def test_words_that_are_wrong_are_one_line(words, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        cli.main(words)
    out, err = capsys.readouterr()
    assert caught.value.code == 2 and out == "" and err.startswith(said) and err.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_as_a_module(file):
    command = [sys.executable, "-m", "codipy", "compare", f"{file}:cost", "--repeat", "1", "--strategy", "jacobian"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "All gradients agree." in done.stdout and done.stderr == ""


def test_the_progress_bar(file, capsys, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert run(f"{file}:cost", "--strategy", "jacobian") == 0
    out, err = capsys.readouterr()
    assert "time" in err and "100%" in err and "100%" not in out


def test_a_line_of_text_without_rich(file, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    without = types.SimpleNamespace(find_spec=lambda _: None)
    monkeypatch.setattr(progress, "importlib", types.SimpleNamespace(util=without))
    assert run(f"{file}:cost", "--strategy", "jacobian") == 0
    drawn = capsys.readouterr().err.split("\r")
    steps = [f"time {step}/8" for step in range(1, 9)]      # three differences, two looks, two turns with the plain run
    assert drawn[:-2] == ["", *steps] and drawn[-1] == "" and not drawn[-2].strip()


def test_no_progress_where_nobody_sees_it(file, capsys):
    assert run(f"{file}:cost", "--strategy", "jacobian") == 0
    assert capsys.readouterr().err == ""


def test_memory(file, tmp_path, capsys):
    pytest.importorskip("memory_profiler")
    chosen = "--strategy", "jacobian", "--strategy", "forward", "--granularity", "statement"
    assert run(f"{file}:cost", *chosen, "--memory", "--json", tmp_path / "a.json") == 0
    assert "Peak resident memory, each in a process of its own:" in capsys.readouterr().out
    rows = json.loads((tmp_path / "a.json").read_text())["memory"]
    assert [row["strategy"] for row in rows] == ["plain", "jacobian", "forward"]
    for row in rows:
        assert row["peak"] >= row["baseline"] > 10 << 20 and row["growth"] == row["peak"] - row["baseline"]
        assert row["over_plain"] == row["growth"] - rows[0]["growth"]
        assert row["warning"] is None and row["mark"] in ("VmHWM", "ru_maxrss")


def test_a_function_that_exits_is_no_success(tmp_path, capsys):
    path = tmp_path / "exits.py"
    path.write_text("import sys\nx0 = 1.0\ndef f(x):\n    sys.exit(0)\n")
    for command in ("compare", "predict"):
        assert cli.main([command, f"{path}:f"]) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.startswith(f"codipy {command}: the program called exit(0) while it ran")


@pytest.mark.parametrize(("command", "one", "other"), [("compare", "json", "csv"), ("timeline", "json", "csv"),
                                                       ("profile", "html", "collapsed")])
def test_one_file_cannot_hold_both(command, one, other, file, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli.main([command, f"{file}:cost", f"--{one}", "a", f"--{other}", "./a"]) == 2
    assert f"--{one} and --{other} are one file, a: name two" in capsys.readouterr().err
    assert not (tmp_path / "a").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_who_reads_from_a_pipe_gets_all(file, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-m", "codipy", "predict", f"{file}:cost", "--json", str(tmp_path / "pipe")]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        assert len(json.loads((tmp_path / "pipe").read_text())["rows"]) == 13
    assert process.returncode == 0


def test_names_are_normalised_as_python_does_it(tmp_path, capsys):
    path = tmp_path / "names.py"
    path.write_text("x0 = 1.0\ndef cost_in_\u00b5s(x):\n    return x * x\n", encoding="utf-8")      # the micro sign
    assert cli.main(["predict", f"{path}:cost_in_\u00b5s"]) == 0


@pytest.mark.parametrize("has_rich", [True, False])
def test_progress_shows_any_text_on_a_narrow_terminal(has_rich, capsys, monkeypatch):
    if has_rich:
        pytest.importorskip("rich")
    else:
        without = types.SimpleNamespace(find_spec=lambda _: None)
        monkeypatch.setattr(progress, "importlib", types.SimpleNamespace(util=without))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "40")
    with progress.shown_progress("study") as show:
        show(1, 2, "plain at [/b] [red] and what is far too long for one line of such a terminal")
    drawn = capsys.readouterr().err
    assert "plain at [/b]" in drawn and (has_rich or max(map(len, drawn.split("\r"))) < 40)


POINTS = """
class Model:
    rate = 2.0
    def loss(self, x):
        return x * self.rate
    @staticmethod
    def plain(x):
        return x
    def __repr__(self):
        return "model"

def optional(a, b=2.0):
    return a * b
optional.x0 = (3.0, 4.0)

def counts(a, steps):
    for _ in range(steps):
        a = a * a
    return a
counts.x0 = (0.5, 3)

def fine(a, b):
    return a * b
fine.x0 = (3.0, 4)

def squares(x):
    return (x * x).sum()
squares.x0 = [1.0, 2.0]
"""


@pytest.mark.parametrize("command", ["compare", "study", "profile", "predict", "debug", "timeline"])
def test_an_error_says_how_the_point_was_taken(command, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "points.py"
    path.write_text(POINTS)

    def said(name, *words):
        assert cli.main([command, f"{path}:{name}", *words]) == 2
        out, err = capsys.readouterr()
        assert out == "" and f'File "{path}", line' in err
        return err

    tuple_taken = said("optional")
    assert "in optional\n" in tuple_taken and "TypeError: can't multiply" in tuple_taken
    assert "The point is a tuple, and optional got it as one argument" in tuple_taken
    assert "take the default of b away" in tuple_taken and "whole number" not in tuple_taken
    number_taken = said("counts")
    assert {"timeline": "TypeError: a Real is no integer"}.get(      # the others run the function plainly first
        command, "TypeError: 'float' object cannot be interpreted as an integer") in number_taken
    assert "a whole number, argument 1, which became a float" in number_taken and "is a tuple" not in number_taken
    list_taken = said("squares")
    assert "The point has a list, argument 0" in list_taken and "x0 = np.array(...)" in list_taken


@pytest.mark.parametrize("command", ["compare", "study", "profile", "predict", "debug", "timeline"])
@pytest.mark.parametrize(("source", "hint"), [
    ("f(a, b): return a * b", "f requires a and b, and the point is 1 argument. A tuple is several"),
    ("f(a, *, scale): return a[0] * scale", "f requires scale by name, which no point gives: set a default"),
    ("f(): return 1.0", "The point is 1 argument, and f takes no arguments."),
    ("f(a): return 'text'", None),
])  # fmt: skip
def test_a_hint_is_of_what_went_wrong(command, source, hint, tmp_path, capsys, monkeypatch):
    """A list as a point is no reason for what is raised before the function runs, or of its result."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hinted.py").write_text(f"x0 = [1.0, 2.0]\ndef {source}\n")
    assert cli.main([command, "hinted.py:f"]) == 2
    err = capsys.readouterr().err
    assert "TypeError" in err and "has a list" not in err and (hint in err if hint else "codipy:" not in err)


@pytest.mark.parametrize("command", ["compare", "study", "profile", "predict", "debug"])
def test_a_complex_point_is_refused_as_such(command, tmp_path, capsys, monkeypatch):
    """Its imaginary part was left away, with a warning of NumPy's: the plain run had another value."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "waves.py").write_text("import numpy as np\nx0 = np.array([1 + 2j, 3.0])\n"
                                       "def f(z):\n    return np.sum(np.abs(z) ** 2)\n")
    assert cli.main([command, "waves.py:f"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "argument 0 is or holds an ndarray of dtype complex128" in err


def test_hints_are_of_functions_that_fail(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    path = tmp_path / "points.py"
    path.write_text(POINTS)
    assert cli.main(["compare", f"{path}:fine", "--repeat", "1", "--strategy", "jacobian"]) == 0
    assert "whole number" not in capsys.readouterr().err
    assert cli.main(["compare", f"{path}:nope"]) == 2
    assert "there are Model.loss, Model.plain, optional, counts, fine, squares" in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("words", [
    ["compare", "--repeat", "1"], ["study", "--repeat", "1", "--strategy", "primal", "--granularity", "statement"],
    ["profile"], ["predict"], ["debug"], ["timeline"],
])  # fmt: skip
def test_a_full_disk_behind_the_standard_output_is_exit_status_2(words, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(tmp_path)
    (tmp_path / "points.py").write_text(POINTS)
    arguments = [words[0], "points.py:fine", *words[1:]]
    with open("/dev/full", "wb") as full:
        if words == ["predict"]:      # as a process, which flushes once more at its end
            done = subprocess.run([sys.executable, "-m", "codipy", *arguments], stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False)
            status, err = done.returncode, done.stderr
        else:
            with standard_output(full):
                status = cli.main(arguments)
            err = capsys.readouterr().err
    assert status == 2 and "Traceback" not in err and "Exception ignored" not in err
    assert f"codipy {words[0]}: cannot write to the standard output: No space left on device" in err


@pytest.mark.parametrize("words", [
    ["compare", "--repeat", "2", "--strategy", "primal"], ["profile"],
    ["study", "--repeat", "2", "--strategy", "primal", "--granularity", "statement"],
])  # fmt: skip
def test_a_standard_output_without_unicode_gets_what_it_can_write(words, tmp_path, capsys, monkeypatch):
    """As a pipe on Windows and a locale of C are; the result of a long run is not lost for a sign."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(tmp_path)
    source = "def f(p):\n    größe = p[0] * p[1]      # ½ µm → 漢字\n    return größe\nx0 = [1.0, 2.0]\n"
    (tmp_path / "signs.py").write_text(source, encoding="utf-8")
    for encoding, sign, name in (("ascii", "+-", r"gr\xf6\xdfe"), ("latin-1", "±", "größe")):
        shutil.rmtree(tmp_path / "f-study", ignore_errors=True)
        arguments = [words[0], "signs.py:f", *words[1:]]
        if words == ["profile"] and encoding == "ascii":      # as a process
            done = subprocess.run([sys.executable, "-m", "codipy", *arguments], capture_output=True, check=False,
                                  env={**os.environ, "PYTHONIOENCODING": encoding})
            status, out, err = done.returncode, done.stdout, done.stderr.decode()
        else:
            written = io.BytesIO()
            with standard_output(written, encoding=encoding):
                status = cli.main(arguments)
                out = written.getvalue()
            err = capsys.readouterr().err
        assert status == 0 and "Error" not in err
        assert (name if words == ["profile"] else sign) in out.decode(encoding)


@pytest.mark.parametrize("command", ["compare", "study", "profile", "predict", "debug", "timeline"])
def test_a_file_of_a_package_has_relative_imports(command, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "outer" / "inner"
    folder.mkdir(parents=True)
    for path in (folder, folder.parent):
        (path / "__init__.py").touch()
    (folder.parent / "rates.py").write_text("def rate(x):\n    return x * x\n")
    (folder / "model.py").write_text("from ..rates import rate\n\n\ndef f(p):\n    return rate(p[0]) * p[1]\n\n\n"
                                     "x0 = [3.0, 2.0]\n")
    words = ["--repeat", "1", "--strategy", "primal"] if command in ("compare", "study") else []
    arguments = [command, "outer/inner/model.py:f", *words]
    if command == "predict":      # as a process
        done = subprocess.run([sys.executable, "-m", "codipy", *arguments], capture_output=True, text=True, check=False)
        status, out, err = done.returncode, done.stdout, done.stderr
    else:
        status = cli.main(arguments)
        out, err = capsys.readouterr()
        for name in [name for name in sys.modules if name.partition(".")[0] == "outer"]:
            del sys.modules[name]
    assert status == 0 and "x0 of model.py" in out, err


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are Unicode")
@pytest.mark.parametrize("command", ["compare", "profile", "predict", "debug", "timeline", "study"])
def test_the_name_of_a_file_may_be_no_unicode(command, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(tmp_path)
    name = os.fsdecode(b"no\xff.py")
    (tmp_path / name).write_text("def f(p):\n    return p[0] * p[1]\nx0 = [1.0, 2.0]\n")
    words = ["--repeat", "1", "--strategy", "primal"] if command in ("compare", "study") else []
    words += ["--save", "kept"] if command == "study" else ["--json", "kept.json"]
    arguments = [command, f"{name}:f", *words]
    if command == "predict":      # as a process
        done = subprocess.run([sys.executable, "-m", "codipy", *arguments], capture_output=True, check=False,
                              env={**os.environ, "PYTHONIOENCODING": "utf-8"})
        status, out, err = done.returncode, done.stdout, done.stderr.decode()
    else:
        written = io.BytesIO()
        with standard_output(written, encoding="utf-8"):
            status = cli.main(arguments)
            out = written.getvalue()
        err = capsys.readouterr().err
    assert status == 0 and "Error" not in err and b"no\\udcff.py" in out
    assert json.loads((tmp_path / ("kept/study.json" if command == "study" else "kept.json")).read_text())


@pytest.mark.parametrize("command", ["compare", "study", "debug", "timeline"])
def test_what_would_steer_a_terminal_is_written_out(command, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "steers.py"
    file.write_text("x0 = 1.0\ndef f(x):\n    raise ValueError('\\x1b[2Jgone\\r\\u009b1m\\nhere')\n")
    assert cli.main([command, "steers.py:f"]) == 2
    err = capsys.readouterr().err
    assert "\\x1b[2Jgone\\r\\x9b1m\nhere" in err and not {"\x1b", "\r", "\x9b"} & set(err)
