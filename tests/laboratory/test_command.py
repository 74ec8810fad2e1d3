# SPDX-License-Identifier: Apache-2.0
"""``codipy study`` as a new user runs it: files, points, folders, Ctrl-C and --resume, pipes, bad words."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import codipy
from codipy import cli
from codipy.laboratory import Study
from tests.laboratory.copies import in_copies

FILE = '''
import numpy as np, sys
other = [2.0, 2.0]

def cost(x):
    total = 0.0
    for number in x:
        total = total + number * number * 0.5
    return total
cost.x0 = lambda n: [1.0 + k / n for k in range(n)]

def steady(x, steps=1):
    for _ in range(steps):
        x = [number * 0.5 for number in x]
    return cost(x)
steady.x0 = cost.x0

def fixed(x):
    return x[0]
def x0():
    return [1.0]
fixed.x0 = x0
del x0

class Model:
    rate = 3.0
    def run(self, x):
        return self.rate * x[0] * x[1]
    x0 = [2.0, 5.0]

class Needs:
    def __init__(self, size):
        self.size = size
    def run(self, x):
        return x[0]

def fails(x):
    return [][len(x)]

def draws(x):
    return x[0] * np.random.rand()

def leaves(x):
    sys.exit(3)

def slow(x):
    import time
    time.sleep(0.3)
    return x[0] * x[1]
'''
FEW = "--strategy", "jacobian", "--granularity", "statement", "--repeat", "1"


@pytest.fixture
def file(tmp_path, monkeypatch):
    """The path of FILE in the folder where the command runs."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("model.py").write_text(FILE)
    return "model.py"


def run(*words):
    return cli.main(["study", *map(str, words)])


# The command as a process: as it is, and with studies that measure in copies of it.
COMMAND = "-m", "codipy"
IN_COPIES = "-c", ("import sys; from codipy import cli; from tests.laboratory.copies import in_copies\n"
                   "with in_copies(): sys.exit(cli.main(sys.argv[1:]))")  # fmt: skip


def process_of(command, *words, **options):
    paths = [str(Path(__file__).parents[2]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.Popen([sys.executable, *command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=environment, **options)


@pytest.mark.usefixtures("forked")
def test_sizes(file, capsys):
    assert run(f"{file}:cost", "--sizes", "4,1e1", *FEW) == 0
    out, err = capsys.readouterr()
    assert err == "" and "All gradients agree." in out and out.rstrip().endswith("The study is in cost-study.")
    assert max(map(len, out.splitlines())) <= 80
    found = Study.load("cost-study")
    assert [(row.size, row.combination.strategy) for row in found.rows] == [
        (n, strategy) for n in (4, 10) for strategy in ("plain", "jacobian")]
    assert found.rows[0].value == sum(0.5 * (1.0 + k / 4) ** 2 for k in range(4))
    assert [round(fit.exponents["size"]) for fit in found.fits() if fit.metric == "bytes used"] == [1]


def test_predictions_of_all_sizes(file, capsys):
    """They are those of `codipy predict`, size by size and width by width; nothing is kept."""
    few = "--strategy", "jacobian", "--granularity", "statement"
    assert run(f"{file}:cost", "--predict", "--sizes", "4,1e3", "--width", "1,3", *few) == 0
    out = capsys.readouterr().out
    assert not Path("cost-study").exists()
    for size in (4, 1000):
        x = [1.0 + k / size for k in range(size)]
        for width in (1, 3):
            found = codipy.predict(cost, x, strategies="jacobian", granularities="statement", width=width)
            assert found.table() in out
            assert f"cost: {size} numbers at n={size};" in out
    assert run(f"{file}:cost", "--predict", "--sizes", "4", "--resume") == 2
    assert "leave --save, --resume and --details out" in capsys.readouterr().err


def cost(x):
    total = 0.0
    for number in x:
        total = total + number * number * 0.5
    return total


GOLDEN = """\
cost: x# (cost.x# of model.py): value #, # numbers, plain run #
codipy #, Python #, NumPy #,
time is processor time Each combination ran in a process of its own. Times over
plain: median ± half the distance of the quartiles of # measurements, in turns
with the plain run. Memory: the kernel's own high-water mark of the process (VmHWM).
Time over that of the plain run: strategy granularity record reverse forward replay
primal statement # ± # # ± # # ± # # ± #
Memory of the tape, and growth of the process over that of the plain run: strategy
granularity used allocated adjoints peak live over plain primal statement # # # # #
All gradients agree. The study is in cost-study.
"""


@pytest.mark.usefixtures("forked")
@pytest.mark.skipif(sys.platform != "linux", reason="the mark is that of Linux")
def test_the_text(file, capsys):
    """Words and their order; numbers with their units are masked, and what is of this machine is left out."""
    Path(file).write_text(FILE.replace("cost.x0 = lambda n: [1.0 + k / n for k in range(n)]", "cost.x0 = [1.0, 2.0]"))
    assert run(f"{file}:cost", "--strategy", "primal", "--granularity", "statement", "--repeat", "2") == 0
    text = " ".join(capsys.readouterr().out.split())
    text = re.sub(r"(?<=NumPy )(\S+,) .*? UTC;", r"\1", text)
    text = re.sub(r"-?\d[\d.]*(e[-+]\d+)?( (B|KB|MB|us|ms|s)\b)?", "#", re.sub(r" -{2,}", "", text))
    assert text == " ".join(GOLDEN.split())


@pytest.mark.usefixtures("forked")
def test_points(file, capsys):
    for words, value in ((["model.py:cost", "--at", "other"], 4.0), (["model.py:cost", "--x0", "[4.0]"], 8.0),
                         (["model.py:Model.run"], 30.0)):
        assert run(*words, *FEW, "--save", "s") == 0
        [plain, taped] = Study.load("s").rows
        assert (plain.value, taped.value) == (value, value)
        for path in sorted(Path("s").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
    out = capsys.readouterr().out
    assert "cost: [4.0]: value 8, 1 numbers" in out and "Model.run: x0 (Model.x0 of model.py): value 30," in out


@pytest.mark.usefixtures("forked")
def test_a_folder_is_not_overwritten_and_resume_measures_only_what_is_new(file, capsys):
    assert run(f"{file}:cost", "--sizes", "4", *FEW) == 0
    kept = Path("cost-study/.measured/rows.jsonl").read_text()
    assert run(f"{file}:cost", "--sizes", "4", *FEW) == 2
    assert "cost-study holds a study: resume it (--resume)" in capsys.readouterr().err
    assert run(f"{file}:cost", "--sizes", "4,8", *FEW, "--resume") == 0
    now = Path("cost-study/.measured/rows.jsonl").read_text()
    assert now.startswith(kept) and now.count("\n") == kept.count("\n") + 2
    assert [row.size for row in Study.load("cost-study").rows] == [4, 4, 8, 8]
    assert all(row.gradient_difference == 0.0 for row in Study.load("cost-study").taped)
    Path("model.py").write_text(FILE + "\n# another\n")
    assert run(f"{file}:cost", "--sizes", "4,8", *FEW, "--resume") == 2
    assert "cost-study holds another study, of another content" in capsys.readouterr().err


@pytest.mark.usefixtures("forked")
def test_a_line_that_was_cut_is_measured_again(file, capsys):
    assert run(f"{file}:cost", "--sizes", "4", *FEW) == 0
    path = Path("cost-study/.measured/rows.jsonl")
    path.write_text(path.read_text()[:-40])
    assert run(f"{file}:cost", "--sizes", "4", *FEW, "--resume") == 0
    assert len(path.read_text().splitlines()) == 3 and len(Study.load("cost-study").rows) == 2


def as_in_a_terminal():
    """Signals end this process, also where the tests run in the background and inherit that they are ignored."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for one process")
@pytest.mark.parametrize(("end", "command"), [("SIGINT", COMMAND), ("SIGTERM", IN_COPIES), ("SIGHUP", IN_COPIES)])
def test_ctrl_c_keeps_what_is_done(file, end, command):
    """The others are `kill` and a terminal that is closed."""
    words = ["study", f"{file}:slow", "--x0", "[1.0, 2.0]", "--repeat", "1"]
    process = process_of(command, *words, text=True, start_new_session=True, preexec_fn=as_in_a_terminal)
    rows = Path("slow-study/.measured/rows.jsonl")
    for _ in range(600):
        if rows.exists() and rows.read_text().count("\n") >= 2:
            break
        time.sleep(0.05)
    os.kill(process.pid, getattr(signal, end))
    out, err = process.communicate(timeout=30)
    found = Study.load("slow-study")
    assert process.returncode == 130 and "Traceback" not in err
    assert "The study was stopped before its end." in " ".join(out.split()) and "--resume goes on" in out
    assert found.header["finished"] is False and 1 <= len(found.rows) < 14 and found.rows[0].is_plain


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["model.py:fails", "--at", "other"], "return [][len(x)]"),
        (["model.py:draws", "--at", "other"], "draws random numbers"),
        (["model.py:leaves", "--at", "other"], "plain at other: the program called exit(3) while it ran"),
        (["model.py:cost"], "cost.x0 makes points of a size: say which, --size 10"),
        (["model.py:Model.run", "--sizes", "3"], "Model.x0 of model.py is one point: sizes need a function"),
        (["model.py:Needs.run", "--at", "other"], "Needs() cannot be made without arguments"),
        (["model.py:Model.missing"], "has no function 'Model.missing'"),
        (["model.py:cost", "--x0", "[1.0, x]"], "--x0 [1.0, x]: not a number, nor a list"),
        (["model.py:cost", "--x0", "1.0", "--sizes", "3"], "sizes, at and x0 exclude one another"),
        (["model.py:cost", "--sizes", "3", "--steps", "2"], "nothing takes the number of steps"),
        (["model.py:cost", "--x0", "[1.0]", "--steps", "2,4"], "nothing takes the number of steps: give cost"),
        (["model.py:cost", "--sizes", "3", "--save", "model.py"], "model.py: Not a directory"),
        ([], "which function?"),
        (["model.py:cost", "--compare", "a", "b"], "--compare runs nothing"),
        (["--compare", "a", "b"], "cannot read a"),
        (["model.py:cost", "--sizes", "3", "--json", "a.json"], "--json is for --compare"),
    ],
)
def test_what_cannot_be_run_is_exit_status_2(file, words, said, capsys):
    assert run(*words) == 2
    out, err = capsys.readouterr()
    assert out == "" and said in err and "codipy/laboratory" not in err
    assert not Path("cost-study").exists()


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize("command", ["compare", "predict", "debug", "timeline", "profile"])
def test_commands_of_one_point_take_a_size_and_steps(file, command, capsys):
    more = ["--repeat", "1", "--strategy", "auto", "--memory"] if command == "compare" else []
    assert cli.main([command, "model.py:steady", "--size", "3", "--steps", "2", *more]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "steady" in text and "steady.x0(3) of model.py, 2 steps" in text and "partial" not in text
    for words, said in ((["steady"], "--size 10 (--sizes 10,100 of codipy study)"),
                        (["steady", "--size", "3", "--at", "other"], "--size, --at and --x0 exclude one another"),
                        (["steady", "--size", "3,4"], "more than one number"),
                        (["cost", "--size", "3", "--steps", "2"], "nothing takes the number of steps"),
                        (["fixed", "--size", "3"], "x0 takes no size: it needs one parameter")):  # fmt: skip
        try:
            assert cli.main([command, f"model.py:{words[0]}", *words[1:]]) == 2
        except SystemExit as end:      # of argparse
            assert end.code == 2
        out, err = capsys.readouterr()
        assert out == "" and said in err


@pytest.mark.usefixtures("forked")
@pytest.mark.parametrize("before", [[], ["mine"]])
def test_a_study_that_is_stopped_before_its_first_measurement_keeps_nothing(file, capsys, monkeypatch, before):
    def stopped(*_):
        raise KeyboardInterrupt

    if before:
        Path("cost-study").mkdir()
        Path("cost-study", *before).touch()
    with monkeypatch.context() as patched:
        patched.setattr("codipy.laboratory.run.measured", stopped)
        assert run(f"{file}:cost", "--sizes", "4", *FEW) == 130
        found = codipy.study(lambda x: x, 1.0, save="other", repeat=1)
    assert capsys.readouterr().out == "The study was stopped before anything was measured: nothing is kept.\n"
    assert [path.name for path in Path().glob("cost-study/*")] == before and not Path("other").exists()
    assert found.rows == [] and found.table().splitlines() == [
        "<lambda>: nothing was measured.", "", "The study was stopped before its end."]
    assert run(f"{file}:cost", "--sizes", "4", *FEW) == 0      # nothing stands in the way


@pytest.mark.usefixtures("forked")
def test_a_study_that_could_not_begin_leaves_no_folder(file, capsys):
    for _ in range(2):      # the second time nothing stands in the way
        assert run(f"{file}:fails", "--x0", "[1.0]", *FEW) == 2
        assert "IndexError" in capsys.readouterr().err and not Path("fails-study").exists()
    Path("fails-study").mkdir()
    Path("fails-study", "mine").touch()
    assert run(f"{file}:fails", "--x0", "[1.0]", *FEW) == 2
    assert [path.name for path in Path("fails-study").iterdir()] == ["mine"]


@pytest.mark.usefixtures("forked")
def test_a_study_with_no_number_is_json_that_all_readers_take(file, capsys):
    def refuse(word):
        raise ValueError(word)

    assert run(f"{file}:cost", "--x0", "[1e300]", *FEW) == 0      # its square is infinite
    text = Path("cost-study", "study.json").read_text()
    rows = json.loads(text, parse_constant=refuse)["rows"]
    assert [row["value"] for row in rows] == ["Infinity"] * 2
    assert [row.value for row in Study.load("cost-study").rows] == [float("inf")] * 2
    assert run(f"{file}:cost", "--x0", "[1e300]", "--resume", *FEW) == 0      # what is kept is read back
    assert json.loads(Path("cost-study", "study.json").read_text())["rows"] == rows


@pytest.mark.parametrize("words", [["--sizes", "0"], ["--sizes", "1,x"], ["--width", "1.5"], ["--sizes", "nan"]])
def test_bad_numbers_name_themselves(file, words, capsys):
    with pytest.raises(SystemExit) as caught:
        run(f"{file}:cost", *words)
    assert caught.value.code == 2 and words[0] in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--sizes", "4"], ["--save", "a"], ["--predict"], ["--strategy", "primal"]])
def test_a_comparison_of_studies_takes_nothing_that_it_would_ignore(file, words, capsys):
    assert cli.main(["study", "--compare", "a", "b", *words]) == 2
    assert f"--compare runs nothing: leave {words[0]} out" in capsys.readouterr().err


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no device here has no end")
def test_a_device_is_no_study(file, capsys):
    assert cli.main(["study", "--compare", "/dev/zero", "b"]) == 2
    assert "/dev/zero is no regular file but a device or a pipe" in capsys.readouterr().err
    Path("deep.json").write_text("[" * 100_000)
    assert cli.main(["study", "--compare", "deep.json", "b"]) == 2
    assert "deep.json is no JSON" in capsys.readouterr().err


def test_a_study_without_a_name_of_its_folder_is_none(file):
    with pytest.raises(ValueError, match="save must name a folder"):
        codipy.study("model.py:cost", sizes=2, save="")
    assert os.listdir() == ["model.py"]


@pytest.mark.usefixtures("forked")
def test_two_studies(file, capsys):
    for name in ("a", "b"):
        assert run(f"{file}:Model.run", *FEW, "--save", name) == 0
    capsys.readouterr()
    path = Path("b/study.json")
    study = Study.load(path)
    study.taped[0].used += 8
    path.write_text(study.to_json())
    status = run("--compare", "a", path, "--json", "changes.json")
    out = capsys.readouterr().out
    assert status == 1 and "jacobian, statement at x0" in out
    compared = json.loads(Path("changes.json").read_text())["compared"]
    changed = [change for change in compared if change["quantity"] == "used"]
    assert [change["changed"] for change in changed] == [True]


@pytest.mark.skipif(sys.platform == "win32", reason="no head")
@pytest.mark.parametrize("words", [["compare", "model.py:Model.run", "--repeat", "1"],
                                   ["study", "model.py:Model.run", *FEW]])
def test_a_pipe_that_closes_is_no_error(file, words):
    process = process_of(IN_COPIES, *words)
    process.stdout.close()      # whoever reads has gone before the first line
    assert process.stderr.read() == b"" and process.wait() == 0


@pytest.mark.usefixtures("forked")
def test_formats(file, capsys):
    assert run(f"{file}:Model.run", *FEW, "--format", "latex") == 0
    assert r"\toprule" in capsys.readouterr().out
    assert cli.main(["compare", f"{file}:Model.run", *FEW, "--format", "markdown"]) == 0
    assert "| strategy | granularity |" in capsys.readouterr().out


WANDERING = '''
import os

os.chdir(os.path.sep)

def cost(x):
    os.chdir(os.path.sep)
    return x * x

cost.x0 = 3.0

def pair(x):
    return x, x

pair.x0 = 1.0
'''


def test_a_program_that_changes_the_working_directory(file, capsys):
    Path("wandering.py").write_text(WANDERING)
    home = Path.cwd()
    assert run("wandering.py:cost", *FEW) == 0
    assert "The study is in cost-study." in capsys.readouterr().out
    assert Path.cwd() == home and [row.error for row in Study.load("cost-study").rows] == [None, None]
    assert run("wandering.py:cost", *FEW, "--resume") == 0
    for command, option in (("compare", "--json"), ("compare", "--csv"), ("profile", "--html"), ("timeline", "--csv"),
                            ("debug", "--json"), ("predict", "--json")):
        few = FEW if command == "compare" else ()
        assert cli.main([command, "wandering.py:cost", option, f"{command}.out", *few]) == 0
        assert Path(f"{command}.out").read_text()
        Path(f"{command}.out").unlink()
    with in_copies():
        assert cli.main(["compare", "wandering.py:cost", "--memory", *FEW]) == 0
        found = codipy.study("wandering.py:cost", strategies="primal", repeat=1, save="in python")
    assert found.agree and Study.load(home / "in python").rows
    os.chdir(home)


@pytest.mark.usefixtures("forked")
def test_what_is_wrong_with_the_result_is_one_line(file, capsys):
    Path("wandering.py").write_text(WANDERING)
    assert run("wandering.py:pair", *FEW) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", "TypeError: pair must return one real number, got tuple: return one number\n")


@pytest.mark.parametrize("words", [[], ["--predict"], ["--passes"]])
@pytest.mark.parametrize("wrong", ["int('a')", "[1.0] + 1"])
def test_what_the_file_raises_has_its_line(words, wrong, file, capsys):
    """Words of the command that fit nothing are a line, of the same types."""
    Path(file).write_text(f"def cost(p):\n    return p[0]\n\n\ndef x0(n):\n    return {wrong}\n")
    assert run(f"{file}:cost", "--sizes", "3", *words) == 2
    assert 'model.py", line 6, in x0' in capsys.readouterr().err
    Path(file).write_text("def cost(p):\n    return p[0]\n\n\ndef x0(n):\n    return [1.0] * n\n")
    assert run(f"{file}:cost", "--sizes", "3", "--strategy", "simple", "--granularity", "statement", *words) == 2
    assert capsys.readouterr().err.startswith("codipy study: strategy 'simple' records operations only")


def test_a_prediction_of_several_sizes_says_what_fits(file, capsys):
    few = ("--predict", "--strategy", "jacobian", "--strategy", "primal", "--granularity", "statement")
    assert run(f"{file}:cost", "--sizes", "4,1e4", *few, "--budget", "1MB") == 0
    assert capsys.readouterr().out.count(" of 2 fit 1.00 MB") == 2
    assert run(f"{file}:cost", "--sizes", "4,1e4", *few, "--budget", "1kB") == 1
    assert "0 of 2 fit 1.00 KB." in capsys.readouterr().out
    assert run(f"{file}:cost", "--sizes", "4", "--budget", "1kB") == 2
    assert "codipy study: --budget is for --predict" in capsys.readouterr().err
