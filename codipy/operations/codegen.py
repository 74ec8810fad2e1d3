# SPDX-License-Identifier: Apache-2.0
"""Writes the table as C: one `switch` for each of value, partials and second partials, and its Cython declarations.

A `switch` on a literal code folds to the one expression, so operators and interpreters share the text.
Rejected: a table of function pointers (an indirect call for each operation, and nothing to fold).
"""

import re
from pathlib import Path

from .table import TABLE

__all__ = ["header", "declarations", "write"]

INCLUDE = "codipy/operations/kernels.h"
ARGUMENTS = "double x, double y, double z"
# With a literal code `op_*` folds; `op_*_any` is the same for codes that are read at run time, compiled once.
SIGNATURES = {
    "op_arity": ("int", "int code", ""),
    "op_value": ("double", f"int code, {ARGUMENTS}", "x, y, z"),
    "op_partial": ("double", f"int code, int argument, {ARGUMENTS}, double w", "argument, x, y, z, w"),
    "op_partials": ("void", f"int code, {ARGUMENTS}, double w, double *p", "x, y, z, w, p"),
    "op_second": ("void", f"int code, {ARGUMENTS}, double w, double *h", "x, y, z, w, h"),
}


def code_name(row):
    """The name of a row's code in C."""
    return f"OP_{row.name.upper()}"


def in_c(expression):
    """The expression with every integer as a double, so that no division is one of integers."""
    words = r"[A-Za-z_]\w*|\d[\d.]*(?:e[+-]?\d+)?"
    return re.sub(words, lambda word: word[0] + ".0" if word[0].isdigit() else word[0], expression)


def _statements(function, row):
    """What `function` does for one row, as the body of its `case`."""
    if function == "op_arity":
        return f"return {row.arity};"
    if function == "op_value":
        return f"return {in_c(row.value)};"
    if function == "op_partial":
        chain = [f"argument == {k} ? {in_c(text)} : " for k, text in enumerate(row.partials[:-1])]
        return f"return {''.join(chain)}{in_c(row.partials[-1])};"
    name, expressions = ("p", row.partials) if function == "op_partials" else ("h", row.second)
    return " ".join(f"{name}[{k}] = {in_c(text)};" for k, text in enumerate(expressions)) + " return;"


def _function(name):
    """The text of one function and, where interpreters call it, of its variant for codes known at run time."""
    result, parameters, arguments = SIGNATURES[name]
    lines = [f"OP_INLINE {result} {name}({parameters})", "{"]
    lines += ["    switch (code) {"]
    lines += [f"    case {code_name(row)}: {_statements(name, row)}" for row in TABLE]
    unknown = {"void": "return;", "int": "return 0;", "double": "return NAN;"}[result]
    lines += ["    }", f"    {unknown}", "}", ""]
    if arguments:
        call = f"{'' if result == 'void' else 'return '}{name}(code, {arguments});"
        lines += [f"static inline {result} {name}_any({parameters})", "{", f"    {call}", "}", ""]
    return lines


def header():
    """Return the text of `kernels.h`."""
    python_value, total = (
        ", ".join(str(int(getattr(row, flag))) for row in TABLE) for flag in ("python_value", "total")
    )
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0 */",
        "/* The operations table as C, written by codipy/operations/codegen.py at build time: edit table.py. */",
        "#ifndef CODIPY_OPERATIONS_KERNELS_H",
        "#define CODIPY_OPERATIONS_KERNELS_H",
        '#include "helpers.h"',
        "",
        "enum {",
        *[f"    {code_name(row)} = {row.code}," for row in TABLE],
        f"    OP_COUNT = {len(TABLE)}",
        "};",
        "",
        "/* Whether the value to record is Python's own even where the C value is finite. */",
        f"static const unsigned char op_python_value[OP_COUNT] = {{{python_value}}};",
        "/* Whether the C value is Python's even where it is not finite. */",
        f"static const unsigned char op_total[OP_COUNT] = {{{total}}};",
        "",
    ]
    for name in SIGNATURES:
        lines += _function(name)
    return "\n".join([*lines, "#undef pick", "#endif", ""])


def declarations():
    """Return the text of `kernels.pxd`."""
    lines = [
        "# SPDX-License-Identifier: Apache-2.0",
        "# What kernels.h offers to Cython, written by codipy/operations/codegen.py at build time: edit table.py.",
        f'cdef extern from "{INCLUDE}" nogil:',
        "    enum:",
        *[f"        {code_name(row)}" for row in TABLE],
        "        OP_COUNT",
        "    const unsigned char op_python_value[]",
        "    const unsigned char op_total[]",
    ]
    for name, (result, parameters, arguments) in SIGNATURES.items():
        parameters = parameters.replace("double *", "double* ")
        for suffix in ("", "_any") if arguments else ("",):
            lines.append(f"    {result} {name}{suffix}({parameters}) noexcept")
    return "\n".join([*lines, ""])


def write(directory):
    """Write `kernels.h` and `kernels.pxd` into `directory`, each only where its text changed.

    An untouched file keeps its time stamp, so that a build compiles nothing again.
    """
    for name, text in (("kernels.h", header()), ("kernels.pxd", declarations())):
        path = Path(directory) / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
