# SPDX-License-Identifier: Apache-2.0
"""Writes the table as C: one `switch` for each of value, partials and second partials, and its Cython declarations.

A `switch` on a literal code folds to the one expression, so operators and interpreters share the text.
Rejected: a table of function pointers (an indirect call for each operation, and nothing to fold).
`array_loops.c` holds the same expressions as loops over arrays; there a `switch` has whole loops for its cases.
`formulas.h` holds those that loops are compiled from at run time. All of it goes below `build/`: what stands beside
`table.py` is written by hand.
"""

import re
from pathlib import Path

from .formulas import Formulas
from .table import BY_NAME, TABLE

__all__ = ["header", "declarations", "array_header", "array_loops", "formulas", "write"]

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

# Partials that need another transcendental function of the arguments: NumPy's loop of the first row runs over the
# second expression, the third is the partial in its result `e`. A scalar call for each element would not vectorise.
# Without a function: the partial written so that it vectorises, where the table's text calls hypot().
AUXILIARY = {
    "expm1": [("exp", "x", "pick(w > -0.5, w + 1, e)")],
    "sin": [("cos", "x", "e")],
    "cos": [("sin", "x", "-e")],
    "sinh": [("cosh", "x", "e")],
    "cosh": [("sinh", "x", "e")],
    "asinh": [(None, "", "pick(fabs(x) > 1e150, 1 / fabs(x), 1 / sqrt(1 + x * x))")],
    "atan2": [
        (None, "", f"pick((x == 0) & (y == 0), 0, pick(fabs(x) > fabs(y), {over_x}, {over_y}))")
        for over_x, over_y in (
            ("y / x / (x + y * (y / x))", "1 / (y + x * (x / y))"),
            ("-1 / (x + y * (y / x))", "-x / y / (y + x * (x / y))"),
        )
    ],
    "tanh": [("exp", "-2 * fabs(x)", "4 * e / ((1 + e) * (1 + e))")],
    "erf": [("exp", "-x * x", "TWO_OVER_SQRT_PI * e")],
    "erfc": [("exp", "-x * x", "-TWO_OVER_SQRT_PI * e")],
    "expit": [("exp", "-fabs(x)", "e / ((1 + e) * (1 + e))")],
    "logaddexp": [
        ("exp", "-fabs(difference(x, y))", "pick(x < y, e / (1 + e), 1 / (1 + e))"),
        ("exp", "-fabs(difference(x, y))", "pick(y < x, e / (1 + e), 1 / (1 + e))"),
    ],
}
# Second partials written so that they vectorise, from the first partials `p` and `q` by x and y, where the table's text
# calls a function.
SECOND = {
    "expm1": ("p",), "tanh": ("-2 * w * p",), "asinh": ("-x * p * p * p",), "atan2": ("2 * p * q", "(q - p) * (q + p)",
    "-2 * p * q"), "erf": ("-2 * x * p",), "erfc": ("-2 * x * p",),
}  # fmt: skip
# Rows whose value is rounded correctly, so that one loop is as good as another; all others run NumPy's or SciPy's loop.
EXACT = {
    "add", "subtract", "multiply", "divide", "negative", "positive", "identity", "absolute", "fabs", "square",
    "reciprocal", "fma", "sqrt",
}  # fmt: skip
# Rows whose loops do so little that memory limits them: two steps run as one loop.
PAIRED = ("add", "subtract", "multiply")
WRITTEN = "written by codipy/operations/codegen.py at build time: edit table.py."
ARRAY_HEADER = f"""\
/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of each operation, and the loops of array_loops.c, {WRITTEN} */
#ifndef CODIPY_OPERATIONS_ARRAY_LOOPS_H
#define CODIPY_OPERATIONS_ARRAY_LOOPS_H
#include "codipy/operations/kernels.h"
#include <stddef.h>
"""
ARRAY_LOOPS = f"""\
/* SPDX-License-Identifier: Apache-2.0 */
/* The operations table as loops over arrays, {WRITTEN} */
#include "codipy/operations/array_loops.h"
#include "codipy/operations/clones.h"

#define pick(condition, yes, no) ((condition) ? (yes) : (no))
#define EACH for (ptrdiff_t i = 0; i < n; i++)
"""
POINTERS = "const double *__restrict xs, const double *__restrict ys, const double *__restrict zs"


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
    cases = [f"    case {code_name(row)}: {_statements(name, row)}" for row in TABLE]
    unused = [word for word in "xyzw" if f"double {word}" in parameters and word not in _words(" ".join(cases))]
    lines = [f"OP_INLINE {result} {name}({parameters})", "{"]
    lines += [f"    (void){word};" for word in unused]
    lines += ["    switch (code) {", *cases]
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
        '#include "codipy/operations/helpers.h"',
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
        "/* One bit for each argument through which a derivative flows; whether a second partial is anything but 0. */",
        f"static const unsigned char op_active[OP_COUNT] = {{{', '.join(map(str, _active_masks()))}}};",
        f"static const unsigned char op_curved[OP_COUNT] = {{{', '.join(map(str, _curved()))}}};",
        "/* Whether a zero partial lets nothing pass: 0 no, 1 where the other factor is passive, 2 always. */",
        f"static const unsigned char op_sifts[OP_COUNT] = {{{', '.join(map(str, _sifts()))}}};",
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
        "    const unsigned char op_active[]",
        "    const unsigned char op_curved[]",
        "    const unsigned char op_sifts[]",
    ]
    for name, (result, parameters, arguments) in SIGNATURES.items():
        parameters = parameters.replace("double *", "double* ")
        for suffix in ("", "_any") if arguments else ("",):
            lines.append(f"    {result} {name}{suffix}({parameters}) noexcept")
    return "\n".join([*lines, ""])


def _words(expression):
    """The arguments that an expression reads."""
    return [word for word in "xyzwe" if re.search(rf"\b{word}\b", expression)]


def _loads(expression):
    """The declarations of what an expression reads at one place of the arrays."""
    return "".join(f"const double {word} = {word}s[i]; " for word in _words(expression))


def _partial(row, argument):
    """(code of the function that runs first or -1, its argument, the partial)."""
    if row.name not in AUXILIARY:
        return -1, "", row.partials[argument]
    name, expression, partial = AUXILIARY[row.name][argument]
    return next((other.code for other in TABLE if other.name == name), -1), expression, partial


def _is_active(row, argument):
    """Whether a derivative can flow through an argument at all."""
    return row.partials[argument] != "0" and argument not in row.constant


def _active_masks():
    return [sum(1 << k for k in range(row.arity) if _is_active(row, k)) for row in TABLE]


def _curved():
    return [int(set(row.second) != {"0"}) for row in TABLE]


def _sifts():
    return [("", "passive", "always").index(row.sifts) for row in TABLE]


def _needs(row, argument):
    """What the partial of an argument reads, as bits: x, y, z, w."""
    words = _words(" ".join(_partial(row, argument)[1:]))
    return sum(1 << "xyzw".index(word) for word in words if word != "e")


def _is_prepared(row):
    """Whether the auxiliary function of a partial runs over an expression, not over x."""
    return _partial(row, 0)[1] not in ("", "x")


def _second(row, place):
    """The text of a second partial for loops."""
    return SECOND[row.name][place] if row.name in SECOND else row.second[place]


def _second_kind(row, place):
    """0 where a second partial vanishes, 1 where it is 1, 2 where it is computed."""
    return {"0": 0, "1": 1}.get(row.second[place], 2)


def _second_needs(row, place):
    """What a second partial reads, as bits: x, y, z, w, and the first partials by x and y."""
    if _second_kind(row, place) < 2:
        return 0
    return sum(1 << bit for bit, word in enumerate("xyzwpq") if re.search(rf"\b{word}\b", _second(row, place)))


def _tables():
    """What is known of each row without running it: type, name, entries and comment of arrays."""

    def mask(test):
        return [sum(1 << k for k in range(row.arity) if test(row, k)) for row in TABLE]

    def triples(entry, missing):
        return [
            "{" + ", ".join(str(entry(row, k) if k < row.arity else missing) for k in range(3)) + "}" for row in TABLE
        ]

    def sixes(entry):
        return [
            "{" + ", ".join(str(entry(row, k) if k < len(row.second) else 0) for k in range(6)) + "}" for row in TABLE
        ]

    return [
        ("unsigned char", "tile_arity[OP_COUNT]", [row.arity for row in TABLE], ""),
        (
            "unsigned char", "tile_is_exact[OP_COUNT]", [int(row.name in EXACT) for row in TABLE],
            "Whether the loop of tile_value is the one to run, not NumPy's.",
        ),
        (
            "unsigned char", "tile_is_paired[OP_COUNT]", [int(row.name in PAIRED) for row in TABLE],
            "Whether it may be one step of a pair.",
        ),
        (
            "unsigned char", "tile_active[OP_COUNT]", _active_masks(),
            "One bit for each argument: whether a derivative flows, the partial is 1 or -1, it is -1.",
        ),
        ("unsigned char", "tile_unit[OP_COUNT]", mask(lambda row, k: row.partials[k] in ("1", "-1")), ""),
        ("unsigned char", "tile_minus[OP_COUNT]", mask(lambda row, k: row.partials[k] == "-1"), ""),
        (
            "unsigned char", "tile_sifts[OP_COUNT]", _sifts(),
            "Whether a zero partial lets nothing pass: 0 no, 1 where the other factor is passive, 2 always.",
        ),
        (
            "unsigned char", "tile_needs[OP_COUNT][3]", triples(_needs, 0),
            "What a partial reads: 1 x, 2 y, 4 z, 8 w; the function that must run before it, or -1.",
        ),
        ("signed char", "tile_auxiliary[OP_COUNT][3]", triples(lambda row, k: _partial(row, k)[0], -1), ""),
        (
            "unsigned char", "tile_is_prepared[OP_COUNT]", [int(_is_prepared(row)) for row in TABLE],
            "Whether that function's argument is an expression.",
        ),
        (
            "unsigned char", "tile_partial_is[OP_COUNT][3]",
            triples(lambda row, k: " xyzw".index(row.partials[k]) if row.partials[k] in tuple("xyzw") else 0, 0),
            "A partial that is x, y, z or w itself: 1 to 4, else 0.",
        ),
        (
            "unsigned char", "tile_second_kind[OP_COUNT][6]", sixes(_second_kind),
            "A second partial, xx, xy, yy, xz, yz, zz: 0 it is 0, 1 it is 1, 2 it is computed; it reads "
            "1 x, 2 y, 4 z, 8 w, 16 and 32 the first partials by x and y.",
        ),
        ("unsigned char", "tile_second_needs[OP_COUNT][6]", sixes(_second_needs), ""),
    ]  # fmt: skip


def _pull(row, argument):
    """The cases of one partial: assign what flows through it or add it, or its negative. Nothing flows from 0.

    Where the row sifts there are four more, by which nothing flows through 0 either.
    """
    partial = in_c(_partial(row, argument)[2])
    unit, flow, negated = partial in ("1.0", "-1.0"), "gs[i]", int(partial == "-1.0")
    for sifted in (0, 1) if row.sifts == "passive" else (int(row.sifts == "always"),):
        loads = ""
        if not unit:
            loads = _loads(partial) + f"const double g = gs[i], p = {partial}, f = g * p; "
            flow = "((g != 0) & (p != 0) ? f : 0.0)" if sifted else "(g != 0 ? f : 0.0)"
        for mode, sign in enumerate(("= ", "+= ", "= -", "-= ")):
            case = f"({code_name(row)} * 3 + {argument}) * 8 + {mode ^ 2 * negated | 4 * sifted}"
            yield f"    case {case}: EACH {{ {loads}out[i] {sign}{flow}; }} return;"


def _seconds():
    """The cases of second partials: each times an adjoint, of which nothing flows where that is zero."""
    for row in TABLE:
        for place in range(len(row.second)):
            if _second_kind(row, place) == 2:
                text = in_c(_second(row, place))
                words = [word for word in "xyzwpq" if re.search(rf"\b{word}\b", text)]
                loads = "".join(f"const double {word} = {word}s[i]; " for word in words)
                body = f"const double a = as[i], h = {text}, f = a * h; out[i] = (a != 0 ? f : 0.0);"
                yield f"    case {code_name(row)} * 6 + {place}: EACH {{ {loads}{body} }} return;"


def _pairs():
    """The loops of two steps in one, the first of which nothing else reads: half the stores, which limit such loops."""
    for inner in PAIRED:
        for outer in PAIRED:
            for side in (0, 1):
                arguments = {ord("xy"[side]): f"({BY_NAME[inner].value})", ord("yx"[side]): "z"}
                value = BY_NAME[outer].value.translate(arguments)
                case = f"({code_name(BY_NAME[inner])} * OP_COUNT + {code_name(BY_NAME[outer])}) * 2 + {side}"
                yield f"    case {case}: EACH {{ {_loads(value)}ws[i] = {value}; }} return;"


# What the loops over arrays do, by name: (comment, parameters).
LOOPS = {
    "tile_value": ("ws = the value of an operation.", f"int code, ptrdiff_t n, {POINTERS}, double *__restrict ws"),
    "tile_pair": (
        "ws = two steps: the outer one takes the inner one's value as argument `side`, and z as the other.",
        f"int inner, int outer, int side, ptrdiff_t n,\n    {POINTERS}, double *__restrict ws",
    ),
    "tile_argument": (
        "es = the argument of the auxiliary function of a partial, where that is not x.",
        f"int code, ptrdiff_t n, {POINTERS}, double *__restrict es",
    ),
    "tile_pull": (
        "out =, +=, = -, -= (mode 0 to 3; 4 more where it sifts) g times a partial.",
        f"int code, int argument, int mode, ptrdiff_t n,\n    {POINTERS},\n"
        "    const double *__restrict ws, const double *__restrict es, const double *__restrict gs, "
        "double *__restrict out",
    ),
    "tile_second": (
        "out = as times a second partial, by its place; ps and qs are the first partials by x and y.",
        f"int code, int place, ptrdiff_t n,\n    {POINTERS},\n"
        "    const double *__restrict ws, const double *__restrict ps, const double *__restrict qs, "
        "const double *__restrict as,\n    double *__restrict out",
    ),
}


def array_header():
    """Return the text of `array_loops.h`."""
    lines = [ARRAY_HEADER]
    for kind, name, _, comment in _tables():
        lines += [f"/* {comment} */"] if comment else []
        lines += [f"extern const {kind} {name};"]
    for name, (comment, parameters) in LOOPS.items():
        lines += ["", f"/* {comment} */", f"void {name}({parameters});"]
    return "\n".join([*lines, "#endif", ""])


def _loop(name, switch, cases):
    """The text of one function over arrays."""
    unused = [f"(void){word}s; " for word in "xyz" if f" {word}s[i]" not in "".join(cases)]
    head = ["", "TILE_CLONES", f"void {name}({LOOPS[name][1]})", "{"]
    head += [f"    {''.join(unused).strip()}"] if unused else []
    return [*head, f"    switch ({switch}) {{", *cases, "    }", "}"]


def array_loops():
    """Return the text of `array_loops.c`."""
    lines = [ARRAY_LOOPS, *(f"const {kind} {name} = {{{', '.join(map(str, of))}}};" for kind, name, of, _ in _tables())]
    values = [
        f"    case {code_name(row)}: EACH {{ {_loads(row.value)}ws[i] = {in_c(row.value)}; }} return;" for row in TABLE
    ]
    lines += _loop("tile_value", "code", values)
    lines += _loop("tile_pair", "(inner * OP_COUNT + outer) * 2 + side", list(_pairs()))
    prepared = []
    for row in filter(_is_prepared, TABLE):
        expression = _partial(row, 0)[1]
        body = f"EACH {{ {_loads(expression)}es[i] = {in_c(expression)}; }} return;"
        prepared += [f"    case {code_name(row)}: {body}"]
    lines += _loop("tile_argument", "code", prepared)
    pulls = [case for row in TABLE for k in range(row.arity) if _is_active(row, k) for case in _pull(row, k)]
    lines += [
        "",
        "/* Floating-point flags are nobody's concern in a partial, and to keep them would cost the vector loops: a",
        "   product that a zero g throws away must not be computed then. */",
        "#if defined(__GNUC__) && !defined(__clang__)",
        '#pragma GCC optimize("no-trapping-math")',
        "#endif",
        *_loop("tile_pull", "(code * 3 + argument) * 8 + mode", pulls)[1:],
        *_loop("tile_second", "code * 6 + place", list(_seconds())),
    ]
    return "\n".join([*lines, ""])


def formulas():
    """Return the text of `formulas.h`."""
    known = Formulas()
    values = [known.of(row.value) if row.name in EXACT else "" for row in TABLE]
    prepared = [known.of(_partial(row, 0)[1]) if _is_prepared(row) else "" for row in TABLE]
    partials = [[known.of(_partial(row, k)[2]) if k < row.arity else "" for k in range(3)] for row in TABLE]
    numbers = ", ".join(map(repr, known.numbers))

    def strings(texts):
        return "{" + ", ".join(f'"{text}"' for text in texts) + "}"

    return f"""\
/* SPDX-License-Identifier: Apache-2.0 */
/* The operations table as formulas, written by codipy/operations/codegen.py at build time: formulas.py says how to read
   them; an empty one means that there is none. */
#ifndef CODIPY_OPERATIONS_FORMULAS_H
#define CODIPY_OPERATIONS_FORMULAS_H
#include "codipy/operations/kernels.h"

enum {{ FORMULA_ZERO, FORMULA_SIGN_BIT, FORMULA_NUMBERS = {len(known.numbers)} }};

static const double formula_numbers[FORMULA_NUMBERS] = {{{numbers}}};
/* Of values that are rounded correctly. */
static const char *const formula_value[OP_COUNT] = {strings(values)};
/* Of the argument of the function that runs before a partial. */
static const char *const formula_argument[OP_COUNT] = {strings(prepared)};
static const char *const formula_partial[OP_COUNT][3] = {{{", ".join(map(strings, partials))}}};
#endif
"""


def write(directory):
    """Write all of it into `directory`, each file only where its text changed.

    An untouched file keeps its time stamp, so that a build compiles nothing again.
    """
    texts = {
        "kernels.h": header(), "kernels.pxd": declarations(), "formulas.h": formulas(),
        "array_loops.h": array_header(), "array_loops.c": array_loops(),
    }  # fmt: skip
    for name, text in texts.items():
        path = Path(directory) / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
