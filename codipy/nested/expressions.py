# SPDX-License-Identifier: Apache-2.0
"""Expressions of the table's operations as Python functions: their value, and their sweeps back and forward.

Each is written out once and kept: leaves `u0`, `u1`, ..., a register `r` for each step, and flows `f`. Texts of
partials are the table's, with the registers in the place of `x`, `y`, `z` and `w`.
"""

from __future__ import annotations

import ast
import collections
import functools
import re
from pathlib import Path

import numpy as np

from codipy.active.array import plain
from codipy.nested.formulas import NAMES, PARTIALS, VALUES, rounded
from codipy.operations import TABLE

__all__ = ["Expression"]


class Expression:
    """An expression of steps.

    Parameters
    ----------
    leaves : int
        How many operands it has.
    steps : sequence of (int, bool, sequence of int)
        Operation code, whether its value is rounded to float32, and its registers: first the leaves, then one for each
        step.
    of_numbers : bool
        Whether it is that of a scalar statement, where a partial of zero passes nothing on, whatever the flow is.

    Attributes
    ----------
    value : callable
        ``value(*operands)``.
    """

    def __init__(self, leaves, steps, of_numbers=False):
        self._leaves, self._steps, self._sweeps, self._of_numbers = leaves, steps, {}, of_numbers
        self.value = _function(self._operands(), self._values(), self._name(-1))

    def pull(self, wanted, gated):
        """``pull(bar, *operands)``, which returns the shares of the operands; None for those that get nothing.

        Parameters
        ----------
        wanted : tuple of bool
            For each operand whether it depends on what is differentiated by.
        gated : bool
            Whether a zero flow passes nothing on, whatever the partial is.
        """
        key = "pull", wanted, gated
        if key not in self._sweeps:
            self._sweeps[key] = self._pull(wanted, gated)
        return self._sweeps[key]

    def push(self, wanted, gated):
        """``push(*tangents, *operands)``, which returns the tangent of the value; None where it is zero."""
        key = "push", wanted, gated
        if key not in self._sweeps:
            self._sweeps[key] = self._push(wanted, gated)
        return self._sweeps[key]

    # ---- Text ----

    def _name(self, register):
        register %= self._leaves + len(self._steps)
        return f"u{register}" if register < self._leaves else f"r{register - self._leaves}"

    def _operands(self):
        return [f"u{k}" for k in range(self._leaves)]

    def _values(self):
        """Pairs of a register and its text."""
        found = []
        for place, (code, is_single, sources) in enumerate(self._steps):
            operands = [self._name(k) for k in sources]
            text = _VALUES.get(TABLE[code].name, f"V[{code}]({', '.join(operands)})").format(*operands)
            found.append((f"r{place}", f"rounded({text})" if is_single else text))
        return found

    def _reached(self, wanted):
        reached = list(wanted)
        for _, _, sources in self._steps:
            reached.append(any(reached[k] for k in sources))
        return reached

    def _share(self, flow, place, k, reached, gated):
        """The text of a flow times the partial in operand number `k` of a step; None where that is zero."""
        code, _, sources = self._steps[place]
        row = TABLE[code]
        text = PARTIALS[code][k]
        if text in _NUMBERS:
            return {"0": None, "1": flow, "-1": f"-{flow}"}[text]
        names = dict(zip("xyz", map(self._name, sources)), w=f"r{place}")
        partial = ast.unparse(_Renamed(names).visit(ast.parse(text, mode="eval")))
        if not gated:
            return f"{flow} * ({partial})"
        sifts = row.sifts == "always" or row.sifts == "passive" and sum(reached[other] for other in sources) == 1
        return f"gated({flow}, {partial}, {self._of_numbers or sifts})"

    def _pull(self, wanted, gated):
        reached, first, last = self._reached(wanted), self._leaves, self._leaves + len(self._steps) - 1
        lines, flows = self._values(), {last: ["bar"]}
        for place in range(len(self._steps) - 1, -1, -1):
            if first + place not in flows or not reached[first + place]:
                continue
            lines.append((f"f{first + place}", " + ".join(flows[first + place])))
            for k, source in enumerate(self._steps[place][2]):
                share = self._share(f"f{first + place}", place, k, reached, gated) if reached[source] else None
                if share is not None:
                    flows.setdefault(source, []).append(share)
        shares = [" + ".join(flows[k]) if k in flows and wanted[k] else "None" for k in range(first)]
        return _function(["bar", *self._operands()], lines, f"{', '.join(shares)},")

    def _push(self, wanted, gated):
        reached, first, last = self._reached(wanted), self._leaves, self._leaves + len(self._steps) - 1
        lines, begun = self._values(), {k for k in range(first) if wanted[k]}
        for place, (_, _, sources) in enumerate(self._steps):
            shares = [self._share(f"f{source}", place, k, reached, gated) for k, source in enumerate(sources)
                      if source in begun]
            shares = [share for share in shares if share is not None]
            if shares:
                lines.append((f"f{first + place}", " + ".join(shares)))
                begun.add(first + place)
        tangents = [f"f{k}" for k in range(first)]
        return _function([*tangents, *self._operands()], lines, f"f{last}" if last in begun else "None")


_NUMBERS = {"0", "1", "-1"}
# What Python's operators write in fewer steps; the same operations.
_VALUES = {
    "add": "{0} + {1}", "subtract": "{0} - {1}", "multiply": "{0} * {1}", "divide": "{0} / {1}", "negative": "-{0}",
    "positive": "+{0}", "identity": "+{0}", "absolute": "abs({0})",
}  # fmt: skip


class _Renamed(ast.NodeTransformer):
    def __init__(self, names):
        self._names = names

    def visit_Name(self, node):
        return ast.Name(self._names.get(node.id, node.id), node.ctx)


def _gated(flow, partial, sifts):
    """flow * partial, where a zero flow passes nothing, and, if it `sifts`, neither does a partial that is zero.

    Only where the product is none: a flow that is zero here may have a slope.
    """
    share = flow * partial
    nothing = plain(flow) == 0
    if sifts:
        nothing = nothing | (plain(partial) == 0)
    dropped = np.isnan(plain(share)) & nothing
    if not np.ndim(dropped):
        return np.float64(0.0) if dropped else share
    return np.where(dropped, 0.0, share)


_GLOBALS = {**NAMES, "V": VALUES, "rounded": rounded, "gated": _gated}


_FILE = str(Path(__file__).with_name("<expression>"))  # no line of the user's


@functools.cache
def _code(text):
    return compile(text, _FILE, "exec")


def _function(parameters, lines, result):
    """A function of some lines, pairs of a name and a text, which returns a text.

    What is used once stands where it is used, so that operations on arrays become one statement.
    """
    lines, kept = [*lines, ("return", result)], []
    uses = collections.Counter(name for _, text in lines for name in _NAME.findall(text))
    inlined = {}
    for name, text in lines:
        text = _NAME.sub(lambda found: inlined.get(found.group(), found.group()), text)
        if uses[name] == 1 and len(text) < _LONGEST:
            inlined[name] = f"({text})"
        elif uses[name] or name == "return":
            kept.append(f"    {name} {text}\n" if name == "return" else f"    {name} = {text}\n")
    made = {}
    exec(_code(f"def function({', '.join(parameters)}):\n{''.join(kept)}"), _GLOBALS, made)
    return made["function"]


_NAME = re.compile(r"\b[fr][0-9]+\b")
_LONGEST = 2000     # characters: Python's compiler does not nest without end
