# SPDX-License-Identifier: Apache-2.0
"""`codipy.predict`: what each strategy's tape then takes, for the examples too; budgets, text, JSON and the command."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.sparse import diags_array
from scipy.sparse.linalg import spsolve

import codipy
from codipy import cli
from codipy.errors import TapeError
from codipy.laboratory.prediction import bytes_of
from codipy.tape.strategies.table import GRANULARITIES, STRATEGIES
from codipy.tools.comparison.measuring import StatefulError
from codipy.tools.runs.problem import Problem
from tests.covering import in_turn
from tests.laboratory.counted import OBJECTS, differences, unlike
from tests.strategies import COMPARED, VARIANTS, each_pair
from tests.test_examples import load


def burgers(u, steps=8):
    for _ in range(steps):
        new = u.copy()
        new[1:] = u[1:] - 0.1 * u[1:] * (u[1:] - u[:-1])
        u = new
    return np.sum(u**2)


def product(x):
    return x[0] * x[1] + np.sin(x[0])


def demand_what_tapes_take(f, x, sizes=(4, None)):
    """Every row says what a tape then takes that a driver of functions of one number records on and sweeps."""
    rows = iter(codipy.predict(f, x, chunk_sizes=sizes).rows)
    problem = Problem(f, (x,))
    for strategy, granularity in COMPARED:
        for size in sizes:
            row, tape = next(rows), codipy.Tape(strategy, granularity, size)
            assert (row.strategy, row.granularity, row.chunk_size) == (strategy, granularity, size)
            forward = strategy == "forward"
            kept = problem.record(tape, np.ones(problem.point.size) if forward else None)
            assert list(unlike(row.statistics, tape.statistics())) == []
            if not forward:
                problem.pull(tape, kept[1], kept[0])
            total, objects = tape.statistics().total.used, row.arrays and tape.statistics()[OBJECTS].memory.used
            assert row.statements == tape.statements
            assert row.used - total == (row.statistics[OBJECTS].memory.used - objects if row.arrays else 0)
            del kept
    assert next(rows, None) is None


@pytest.mark.parametrize(("name", "function"), [
    ("adaptive_quadrature", "integral"), ("lynx_hare", "misfit"), ("newton_solver", "eccentric_anomaly")])  # fmt: skip
def test_examples(name, function):
    example = load(name)
    demand_what_tapes_take(getattr(example, function), example.x0)


def test_example_of_arrays():
    example = load("option_greeks")
    normals = np.random.default_rng(1).standard_normal(400)
    demand_what_tapes_take(lambda x: example.batch_price(x, normals), example.x0)


def test_functions():
    demand_what_tapes_take(product, [2.0, 3.0])


def test_every_small_chunk():
    def numbers_and_arrays(x):
        y = x[0]
        for number in x:
            y = y * number + 1.5 * np.sin(number) * x[3] - number / x[2]
        u = np.array(x) * y
        u[1:3] = y
        return np.sum(np.exp(u) @ np.ones((len(x), 2))) + u[2]

    demand_what_tapes_take(numbers_and_arrays, [0.1 * k for k in range(1, 12)], range(1, 9))
    demand_what_tapes_take(burgers, np.linspace(0.0, 1.0, 9), range(1, 9))
    demand_what_tapes_take(burgers, np.linspace(0.0, 1.0, 700))
    demand_what_tapes_take(lambda x: 2.0 if x > 0.0 else x, 1.0)  # depends on nothing


def spectral(u):
    v = np.fft.fft(u * (1.0 + 0.5j))
    for _ in range(5):
        v = v * np.exp(-1j * np.arange(u.size)) + 0.1 * np.fft.fft(np.abs(np.fft.ifft(v)) ** 2)
    return np.sum(np.abs(v) ** 2)


def elements(c):
    matrix = diags_array([c[:-1] + c[1:], -c[1:-1], -c[1:-1]], offsets=[0, 1, -1], format="csc")
    return np.sum(spsolve(matrix, np.ones(c.size - 1)) ** 2)


def area(p):
    return quad(lambda t: np.exp(-p[0] * t) * p[1], p[1], 2.0)[0]


def of_a_closure(x):
    """The record of the root keeps a closure, and so the number that `a` is when the function is over."""
    a = x[0] * x[1]
    a = a + brentq(lambda t: t * t * t + t - 1.0 - 0.1 * a, 0.0, 3.0)
    return np.sum(x * x) * 0.1 + a + np.sum(x) * 0.01


@pytest.mark.parametrize("f", [spectral, elements, area, of_a_closure], ids=lambda f: f.__name__)
def test_complex_numbers_and_scipy(f):
    demand_what_tapes_take(f, np.linspace(0.5, 1.5, 24))


@each_pair()
def test_identifiers_of_a_variable_that_a_record_keeps(variant):
    assert differences(codipy.rebind(of_a_closure), [np.linspace(0.5, 1.5, 24)], variant) == []


def test_results_of_any_form():
    """As a driver of such functions records them: every leaf of the result is an output."""

    def f(x, scale):
        return {"state": np.sin(x) * scale, "energy": np.sum(x * x)}

    x = np.linspace(0.0, 1.0, 50)
    for row in codipy.predict(f, x, 2.0, granularities="statement").rows:
        tape = codipy.Tape(row.strategy)
        with tape:
            u, s = tape.register_input(x), tape.register_input(2.0)
            if row.strategy == "forward":
                u.tangent, s.tangent = np.ones(50), 1.0
            result = codipy.rebind(f)(u, s)
            outputs = [tape.register_output(y.copy() if type(y) is codipy.Array else y) for y in result.values()]
        assert list(unlike(row.statistics, tape.statistics())) == []
        del outputs


@pytest.mark.parametrize("width", [1, 4])
def test_tangents_of_forward_are_predicted_for_each_direction(width):
    def f(x):
        return (np.sin(x) * x).sum()

    x = np.linspace(0.0, 1.0, 50)
    for row in codipy.predict(f, x, strategies="forward", width=width, budget=1200).rows:
        tape, problem = codipy.Tape("forward", row.granularity, width=width), Problem(f, (x,))
        kept = problem.record(tape, np.ones((50, width)))
        found = tape.statistics()
        assert (row.used, row.allocated) == found.total
        assert row.adjoint_bytes == found["adjoint vector"].memory.used > 0
        assert row.fits == (found.total.allocated <= 1200)
        del kept


def test_what_fits():
    found = codipy.predict(burgers, np.linspace(0.0, 1.0, 1000), budget="300 KiB")
    assert found.budget == 307200
    assert {row.fits for row in found.rows} == {True, False}
    for row in found.rows:
        assert row.fits == (row.allocated <= 307200)
    assert [row.allocated for row in found.fitting] == sorted(row.allocated for row in found.rows if row.fits)
    assert all(row.fits is None for row in codipy.predict(product, [2.0, 3.0]).rows)
    assert codipy.predict(product, [2.0, 3.0], budget=1).fitting == []
    narrow = codipy.predict(burgers, np.linspace(0.0, 1.0, 1000), strategies="primal")
    wide = codipy.predict(burgers, np.linspace(0.0, 1.0, 1000), strategies="primal", width=4)
    assert [row.adjoint_bytes for row in wide.rows] == [4 * row.adjoint_bytes for row in narrow.rows]


@pytest.mark.parametrize(("text", "expected"), [
    (100, 100), ("100", 100), ("2 GiB", 2 << 30), ("2gb", 2 << 30), ("1.5 k", 1536), (" 3 MB ", 3 << 20), ("7 B", 7),
    ("1TiB", 1 << 40)])  # fmt: skip
def test_bytes(text, expected):
    assert bytes_of(text) == expected


@pytest.mark.parametrize("text", ["", "GB", "-1", -1, 1.5, True, None, "2 GiBs", "1e3", "2 EB"])
def test_what_are_no_bytes(text):
    with pytest.raises(ValueError, match="number of bytes is expected"):
        bytes_of(text)


def test_the_table_says_what_the_rows_hold():
    found = codipy.predict(product, [2.0, 3.0], budget=2500)
    text = str(found)
    assert text.startswith("product: 2 numbers; bytes of a recording and of a sweep in 1 direction")
    assert f"{len(found.fitting)} of {len(found.rows)} fit 2.44 KB, the smallest is" in text
    names = (*STRATEGIES, "forward")
    lines = [line.split() for line in found.table("markdown").replace("|", "").splitlines()]
    lines = [line for line in lines if line[0] in names]
    assert [(line[0], line[1], line[2]) for line in lines] == [
        (row.strategy, row.granularity, str(row.statements)) for row in found.rows]  # fmt: skip
    assert found.table("markdown").startswith("| strategy | granularity |")
    assert "chunk" in codipy.predict(product, [2.0, 3.0], chunk_sizes=[4, None]).table()
    assert json.loads(found.to_json()) == found.to_dict()
    assert found.to_dict()["rows"][0]["sections"]["total"]["used"] == found.rows[0].statistics.total.used


def test_choices():
    chosen = {"strategies": ["primal", "jacobian"], "granularities": "operation", "chunk_sizes": 4}
    found = codipy.predict(product, [2.0, 3.0], **chosen)
    assert [(row.strategy, row.granularity, row.chunk_size) for row in found.rows] == [
        ("primal", "operation", 4), ("jacobian", "operation", 4)]  # fmt: skip
    steps = []
    codipy.predict(product, [2.0, 3.0], progress=lambda *step: steps.append(step))
    assert steps == [(k + 1, len(COMPARED)) for k in range(len(COMPARED))]
    both = {"strategies": "simple", "granularities": GRANULARITIES[0]}
    for wrong in (both, {"strategies": "best"}, {"chunk_sizes": 0}, {"chunk_sizes": []}, {"width": 0}, {"width": True},
                  {"budget": "much"}):  # fmt: skip
        with pytest.raises(ValueError):
            codipy.predict(product, [2.0, 3.0], **wrong)
    with pytest.raises(TypeError, match="argument 0"):
        codipy.predict(product, "no point")


def test_a_function_that_sweeps_its_own_recording_is_refused():
    def f(x):
        y = x * x
        tape = codipy.active_tape()
        if tape is not None:
            tape.register_output(y)
            y.gradient = 1.0
            tape.evaluate()
        return y

    def caught(x):
        try:
            return f(x)
        except Exception:
            return x

    for refused in (f, caught):
        with pytest.raises(TapeError, match="counted and not kept"):
            codipy.predict(refused, 2.0, strategies="jacobian")


FILE = """
x0 = [1.0, 2.0, 3.0]

def cost(x):
    return sum(number * number for number in x)

def fails(x):
    return [][len(x)]
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    path = tmp_path / "model.py"
    path.write_text(FILE)
    return path


def test_the_command(file, tmp_path, capsys):
    assert cli.main(["predict", f"{file}:cost", "--json", str(tmp_path / "a.json"), "--chunk-size", "4"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and len([line for line in out.splitlines() if line.startswith(STRATEGIES)]) == len(VARIANTS)
    found = json.loads((tmp_path / "a.json").read_text())
    tape = codipy.Tape("jacobian", chunk_size=4)
    with tape:
        x = [tape.register_input(v) for v in (1.0, 2.0, 3.0)]
        cost = codipy.rebind(lambda *x: sum(number * number for number in x))  # 3.12 adds roundings
        y = tape.register_output(cost(*x))
    y.gradient = 1.0
    tape.evaluate()
    row = next(row for row in found["rows"] if (row["strategy"], row["granularity"]) == ("jacobian", "statement"))
    assert (row["used"], row["allocated"]) == tuple(tape.statistics().total)


def test_the_budget_of_the_command(file, capsys):
    assert cli.main(["predict", f"{file}:cost", "--budget", "1 MB"]) == 0
    assert cli.main(["predict", f"{file}:cost", "--budget", "10"]) == 1
    assert "0 of 13 fit 10.00 B." in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["predict", f"{file}:cost", "--budget", "much"])
    assert "a number of bytes is expected" in capsys.readouterr().err
    assert cli.main(["predict", f"{file}:fails"]) == 2
    assert "IndexError" in capsys.readouterr().err


def test_functions_that_do_not_return_the_same_twice_are_refused():
    """Each run would count another recording."""
    calls = []

    def counts(x):
        calls.append(x)
        return x[0] * len(calls)

    def several(x):
        return {"a": np.sum(x), "b": x[0] * np.random.default_rng().random()}

    for refused in (counts, several):
        with pytest.raises(StatefulError, match=f"{refused.__name__} returns .* when it is called again"):
            codipy.predict(refused, np.array([1.0, 2.0]))
    assert len(codipy.predict(lambda x: {"a": x * np.nan, "b": 2.0}, 1.0).rows) == len(COMPARED)


def test_each_part_of_a_table_that_folds_tells_chunk_sizes_apart(monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    found = codipy.predict(product, [2.0, 3.0], strategies="primal", granularities="operation", chunk_sizes=[4, 9],
                           budget="1 MB")
    parts = [part.splitlines() for part in found.table().split("\n\n")]
    assert len(parts) > 1 and all(part[2:][k].split()[2] == size for part in parts for k, size in enumerate("49"))
    assert max(map(len, str(found).splitlines())) <= 50
    assert ", operation, chunks of " in " ".join(str(found).splitlines()[-2:])


def test_what_is_said_beside_a_table_of_latex_is_a_comment():
    text = codipy.predict(product, [2.0, 3.0], strategies="primal", budget=1000).text("latex")
    before, _, rest = text.partition("\\begin{table}")
    after = rest.partition("\\end{table}")[2]
    lines = [line for line in (before + after).splitlines() if line]
    assert len(lines) == 2 and all(line.startswith("% ") for line in lines)


def test_the_sizes_of_the_command(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    path = tmp_path / "sized.py"
    path.write_text("import numpy as np\ndef f(x, steps=2):\n    for _ in range(steps):\n        x = x * x\n"
                    "    return np.sum(x)\ndef x0(n):\n    return np.ones(n)\n")
    few = f"{path}:f", "--strategy", "primal", "--granularity", "operation"
    for words, place, numbers, statements in (
            (["--size", "1e2"], "x0(100) of sized.py", 100, 6),
            (["--size", "5", "--steps", "7"], "x0(5) of sized.py, 7 steps", 5, 11)):
        assert cli.main(["predict", *few, *words, "--json", str(tmp_path / "a.json")]) == 0
        found = json.loads((tmp_path / "a.json").read_text())
        assert (found["point"], found["numbers"]) == (place, numbers)
        assert found["rows"][0]["statements"] == statements and found["function"] == "f"
    capsys.readouterr()
    for words, said in ((["--size", "5", "--x0", "[1.0]"], "exclude one another"),
                        ([], "say which, --size 10"),
                        (["--x0", "[1.0]", "--steps", "3"], "nothing takes the number of steps")):
        target = f"{path}:x0" if "--steps" in words else few[0]
        assert cli.main(["predict", target, *words]) == 2
        assert said in " ".join(capsys.readouterr().err.split())
    for wrong in ("0", "1,2", "x"):
        with pytest.raises(SystemExit):
            cli.main(["predict", *few, "--size", wrong])


def matrix(n, k=0.0):
    return diags_array([np.full(n, 2.0 + k), np.full(n - 1, -1.0)], offsets=[0, 1], format="csr")


def in_a_local(u):
    a = matrix(u.size)
    return ((a @ u) ** 2).sum()


def several(u):
    a, b = matrix(u.size), matrix(u.size, 1.0)
    return ((a @ (b @ u)) * (a @ u)).sum()


def replaced(u):
    for k in range(5):
        a = matrix(u.size, k)
        u = a @ u * 0.2
    return u.sum()


def deleted(u):
    a = matrix(u.size)
    v = a @ u
    del a
    return (v * v).sum()


def in_a_list(u):
    known = [matrix(u.size, k) for k in range(12)]
    for a in known:
        u = np.sin(a @ u)
    return u.sum()


def in_an_object(u):
    class Model:
        def __init__(self):
            self.a = matrix(u.size)

    model = Model()
    return ((model.a @ u) * (model.a.T @ u)).sum()


def by_a_closure(u):
    a = matrix(u.size)

    def product(v):
        return a @ v

    return (product(u) * product(np.sin(u))).sum()


OUTSIDE = matrix(300)


def from_outside(u):
    b = OUTSIDE
    return ((b @ u) ** 2).sum()


@pytest.mark.parametrize(("variant", "f"), in_turn(VARIANTS, [
    in_a_local, several, replaced, deleted, in_a_list, in_an_object, by_a_closure, from_outside], others=3))
def test_what_a_local_still_has(f, variant):
    """On a tape it is the tape's when the function is over, and while it counts somebody else's."""
    u = np.linspace(0.1, 1.0, 300)
    (row,) = codipy.predict(f, u, strategies=variant[0], granularities=variant[1]).rows
    tape = codipy.Tape(*variant)
    with tape:
        x = tape.register_input(u)
        y = tape.register_output(codipy.rebind(f)(x))
    found = tape.statistics()
    assert row.statistics["array values"] == found["array values"]
    assert row.statistics["array statements"].memory.used == pytest.approx(found["array statements"].memory.used,
                                                                           abs=1500)  # unused constants
    del y


FIRST = """
import sys
import numpy as np
import codipy

def f(x):
    from scipy.special import erf, gammaln
    return (erf(x * x) * gammaln(x + 2.0) + x).sum()

which, strategy = sys.argv[1:]
x = np.linspace(1.0, 2.0, 5)

def tape():
    new = codipy.Tape(strategy)
    with new:
        new.register_output(f(new.register_input(x)))
    return new.statements

def predict():
    return codipy.predict(f, x, strategies=strategy).rows[0].statements

def profile():
    return sum(line.sums.statements for line in codipy.profile(f, x, strategy=strategy).lines)

assert "scipy" not in sys.modules
print(globals()[which](), tape(), predict(), profile())
"""


@pytest.mark.parametrize(("which", "strategy"), list(zip(2 * ["tape", "predict", "profile"], STRATEGIES)))
def test_a_first_recording_is_as_the_next(which, strategy, tmp_path):
    """In a fresh process: the function imports ufuncs that nobody knew, and calls them of what waits."""
    path = tmp_path / "first.py"
    path.write_text(FIRST)
    told = subprocess.run([sys.executable, path, which, strategy], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(Path(codipy.__file__).parents[1])})
    assert len(set(told.stdout.split())) == 1, told.stdout
