# SPDX-License-Identifier: Apache-2.0
"""Renders the table as the reference page of the documentation: `python -m codipy.operations.reference FILE`."""

import sys
from pathlib import Path

from .table import PASSIVE, TABLE

__all__ = ["render"]

SYMBOLS = {
    "add": "x + y", "sub": "x - y", "mul": "x * y", "truediv": "x / y", "pow": "x ** y", "neg": "-x", "pos": "+x",
    "abs": "abs(x)", "mod": "x % y", "floordiv": "x // y", "eq": "x == y", "ne": "x != y", "lt": "x < y",
    "le": "x <= y", "gt": "x > y", "ge": "x >= y",
}  # fmt: skip

HEAD = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
# Operations

What codipy differentiates, made from `codipy/operations/table.py` by `python -m codipy.operations.reference`.

Arguments are `x`, `y`, `z`, the value is `w`. The value that is recorded is the value that Python's function gives, to
the last bit, and the exceptions are Python's too. Rows that Python does not have follow NumPy or SciPy and raise
nothing that those do not: `digamma`, `expit`, `logaddexp`, `maximum`, `minimum`, `fmax`, `fmin`.
Integers are taken as floats: `log(10**400)` is an OverflowError here.

`pick(c, a, b)` is a where c holds, else b; `sign(x)` is -1, 0 or 1; `ratio(x, y)` is x / y, and 0 where y is 0;
`difference(x, y)` is x - y, and 0 where both are equal. What ends in `_slope`, `_x`, `_y`, `_xx`, `_xy` or `_yy` is the
derivative of the function named before, written so that nothing cancels or overflows: `codipy/operations/helpers.py`.

## Differentiable operations
"""

PASSIVE_HEAD = """
## Passive results

Their derivative is zero wherever it exists, so what they return is a plain number and nothing is recorded.
"""


def _code(*texts):
    """The texts as code, with the bar escaped that would end a cell."""
    return ", ".join("`{}`".format(text.replace("|", "\\|")) for text in texts if text)


def _table(columns, rows):
    """A Markdown table."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _python(row):
    """The spellings in Python itself: the operator and the function of `math`."""
    module, _, name = row.python.rpartition(".")
    symbol = SYMBOLS[name] if module == "operator" else f"{name}(x)" if module == "builtins" else ""
    return _code(symbol, row.math_name and f"math.{row.math_name}")


def _numpy(row):
    return [f"np.{name}" for name in row.numpy]


def render():
    """Return the page as Markdown."""
    rows = [
        [
            _code(row.name), _python(row), _code(*_numpy(row), row.scipy and f"scipy.special.{row.scipy}"),
            _code(row.value), "<br>".join(map(_code, row.partials)), "<br>".join(map(_code, row.second)), row.kink,
        ]
        for row in TABLE
    ]  # fmt: skip
    second = "second: xx, xy, yy, xz, yz, zz"
    columns = ["name", "Python", "NumPy, SciPy", "value w", "partials", second, "where there is a kink"]
    passive = [[_code(row.name), _python(row), _code(*_numpy(row))] for row in PASSIVE]
    return HEAD + "\n" + _table(columns, rows) + PASSIVE_HEAD + "\n" + _table(["name", "Python", "NumPy"], passive)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render(), encoding="utf-8")
