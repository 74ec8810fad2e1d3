# SPDX-License-Identifier: Apache-2.0
"""What each pass saves: the rows say what is on the tapes, and the command prints them."""

import sys
from pathlib import Path

import pytest

from codipy import cli
from codipy.laboratory import passes
from codipy.laboratory.passing import PassedRow
from tests.strategies import VARIANTS, each_pair

FILE = """
import math

def cost(x):
    total = 0.0
    for number in x:
        unused = math.exp(number) * number
        total = total + number * number + number * total
    return total

cost.x0 = lambda n: [1.0 / (k + 1) for k in range(n)]
"""


def chain(x):
    y = x
    for _ in range(500):
        math_free = y * 0.5
        y = y * 0.999 + math_free * y - y * y * 0.5 + 0.0 * (y * 3.0)
    return y


@each_pair()
def test_rows_say_what_is_on_the_tape(variant):
    found = passes(chain, 0.5, strategies=variant[0], granularities=variant[1], repeat=2)
    rows = {row.after: row for row in found.rows}
    assert list(rows) == ["none", "dead", "equal", "merge", "renumber", "all"]
    assert all(isinstance(row, PassedRow) and row.seconds > 0.0 for row in found.rows)
    assert rows["none"].stored == variant[0] and rows["none"].faster.median == 1.0
    assert rows["all"].arguments <= min(row.arguments for row in found.rows)
    assert rows["all"].recorded + rows["all"].adjoint_bytes <= rows["none"].recorded + rows["none"].adjoint_bytes
    if variant == ("jacobian", "statement"):
        assert rows["merge"].arguments < 0.6 * rows["none"].arguments
    text = str(found)
    assert "chain: 1 numbers" in text and "sweep faster" in text


def test_every_way_that_can_be_swept_is_a_row():
    found = passes(lambda x: x * x, 3.0, repeat=1)
    assert [(row.strategy, row.granularity) for row in found.rows[::6]] == VARIANTS
    with pytest.raises(ValueError, match="repeat must be an int of at least 1"):
        passes(lambda x: x * x, 3.0, repeat=0)
    with pytest.raises(ValueError, match="forward"):
        passes(lambda x: x * x, 3.0, strategies="forward")


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("model.py").write_text(FILE)
    return "model.py"


def test_the_command_prints_a_table_for_each_point(file, capsys):
    words = ["study", f"{file}:cost", "--passes", "--sizes", "3,30", "--strategy", "jacobian", "--repeat", "2"]
    assert cli.main(words) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.count("what each pass over the recording saves") == 2
    assert max(map(len, out.splitlines())) <= 80
    assert not Path("cost-study").exists()
    assert cli.main([*words, "--format", "markdown"]) == 0
    assert "| jacobian | statement | merge |" in capsys.readouterr().out


@pytest.mark.parametrize("words, said", [(["--predict"], "one of the two"), (["--save", "x"], "keeps no study"),
                                         (["--width", "2"], "one direction"), (["--strategy", "forward"], "forward")])
def test_what_does_not_go_with_it_is_refused(file, capsys, words, said):
    assert cli.main(["study", f"{file}:cost", "--passes", "--sizes", "3", *words]) == 2
    assert said in capsys.readouterr().err
