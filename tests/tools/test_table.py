# SPDX-License-Identifier: Apache-2.0
"""Tables fold where a line is narrow, and each part tells the rows apart."""

import pytest

from codipy.tools.console.table import table

HEADER = ["strategy", "granularity", "pass", "stored as", "statements", "sweep faster"]
ROWS = [["primal-reuse", "operation", name, "jacobian-reuse", str(number), "1.00 ± 0.00"]
        for number, name in enumerate(["none", "dead", "equal", "merge", "renumber", "all"])]


def parts_of(lines):
    """The parts of a folded table, each a list of its lines."""
    return [part.splitlines() for part in "\n".join(lines).split("\n\n")]


@pytest.mark.parametrize("width", [20, 30, 40, 50, 60, 70, 80, 100])
def test_no_line_is_longer_than_asked_for_and_every_cell_is_there(width):
    lines = table(HEADER, ROWS, 4, width)
    assert max(map(len, lines)) <= width
    words = "\n".join(lines)
    assert all(cell in words for cell in [*HEADER, *(cell for row in ROWS for cell in row)])


@pytest.mark.parametrize("width", [20, 40, 60])
def test_rows_have_numbers_where_texts_leave_no_room(width):
    parts = parts_of(table(HEADER, ROWS, 4, width))
    assert len(parts) > 1
    for head, _, *rows in parts:
        assert head.split()[0] == "row" and [row.split()[0] for row in rows] == ["1", "2", "3", "4", "5", "6"]


def test_rows_have_their_texts_where_these_leave_room():
    for head, _, *rows in parts_of(table(HEADER, ROWS, 4, 74)):
        assert head.startswith("strategy") and all(row.startswith("primal-reuse") for row in rows)


def test_texts_are_to_the_left_and_numbers_to_the_right():
    rows = [["x", "10"], ["longer", "5"]]
    assert table(["name", "n"], rows, 1) == ["name     n", "------  --", "x       10", "longer   5"]
    assert table(["name", "n"], rows, 1, 9) == ["row  name", "---  ------", "  1  x", "  2  longer", "",
                                                "row   n", "---  --", "  1  10", "  2   5"]
