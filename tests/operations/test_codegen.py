# SPDX-License-Identifier: Apache-2.0
"""The generated header: complete, written only when it changes, and folded to one expression by a literal code."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from codipy.operations import TABLE
from codipy.operations.codegen import array_header, array_loops, code_name, declarations, formulas, header, in_c, write

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 / x", "1.0 / x"),
        ("0.5 / fabs(w)", "0.5 / fabs(w)"),
        ("log2(x)", "log2(x)"),
        ("1 / (x * LN2)", "1.0 / (x * LN2)"),
        ("-2 * w", "-2.0 * w"),
        ("1e-3 * x", "1e-3 * x"),
    ],
)
def test_integers_become_doubles(text, expected):
    assert in_c(text) == expected


def test_every_row_is_in_every_switch():
    text = header()
    for row in TABLE:
        assert text.count(f"case {code_name(row)}:") == 5
        assert re.search(rf"^    {code_name(row)} = {row.code},$", text, re.MULTILINE)
        assert re.search(rf"^        {code_name(row)}$", declarations(), re.MULTILINE)


def test_unchanged_text_is_not_written_again(tmp_path):
    write(tmp_path)
    paths = [tmp_path / "kernels.h", tmp_path / "kernels.pxd"]
    for path in paths:
        os.utime(path, (1, 1))
    write(tmp_path)
    assert [path.stat().st_mtime for path in paths] == [1, 1]
    paths[0].write_text("old", encoding="utf-8")
    write(tmp_path)
    assert paths[0].read_text(encoding="utf-8") == header()
    assert paths[1].stat().st_mtime == 1


def test_what_was_generated_is_current():
    folder = ROOT / "build" / "generated" / "codipy" / "operations"
    texts = {"kernels.h": header(), "kernels.pxd": declarations(), "formulas.h": formulas()}
    texts |= {"array_loops.h": array_header(), "array_loops.c": array_loops()}
    for name, text in texts.items():
        assert (folder / name).read_text(encoding="utf-8") == text, "build again"


def instructions(compiler, folder, body, result="double"):
    """What the compiler makes of one function `f`, labels and directives left out."""
    source = folder / "f.c"
    function = f"{result} f(double x, double y, double *p) {{ {body} }}"
    source.write_text(f'#include "codipy/operations/kernels.h"\n{function}\n', encoding="utf-8")
    flags = ["-O2", "-ffp-contract=off", "-fno-math-errno", "-Wall", "-Werror", "-S"]
    places = ["-I", str(ROOT), "-I", str(ROOT / "build" / "generated")]
    command = [*compiler.split(), *flags, *places, str(source), "-o", str(folder / "f.s")]
    subprocess.run(command, check=True, capture_output=True)
    lines = re.split(r"\n_?f:", (folder / "f.s").read_text(encoding="utf-8"))[1].splitlines()
    return [line for line in lines if re.match(r"\s+[a-z]", line)]


@pytest.mark.release
@pytest.mark.parametrize(
    ("kernel", "by_hand", "result"),
    [
        ("return op_value(OP_MULTIPLY, x, y, 0);", "return x * y;", "double"),
        ("return op_value(OP_ATAN2, x, y, 0);", "return atan2(x, y);", "double"),
        ("return op_partial(OP_MULTIPLY, 1, x, y, 0, 0);", "return x;", "double"),
        ("return op_arity(OP_FMA);", "return 3;", "int"),
        ("op_partials(OP_SUBTRACT, x, y, 0, 0, p);", "p[0] = 1; p[1] = -1;", "void"),
        ("op_partials(OP_MULTIPLY, x, y, 0, 0, p);", "p[0] = y; p[1] = x;", "void"),
    ],
)
def test_a_literal_code_folds(tmp_path, kernel, by_hand, result):
    compiler = os.environ.get("CC") or shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler")
    assert instructions(compiler, tmp_path, kernel, result) == instructions(compiler, tmp_path, by_hand, result)
