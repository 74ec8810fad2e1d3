# SPDX-License-Identifier: Apache-2.0
"""Renders what NumPy's functions do with Arrays as a page: `python -m codipy.numpy.reference FILE`."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import numpy as np

from . import creation, movement, passive, refused, registry, special, ufunc_sets, ufuncs, views, writers
from .functions import SETS
from .lists import FUNCTIONS as OF_LISTS
from .lists import LINALG
from .methods import METHODS
from .standard import NAMES, VERSIONS

__all__ = ["render", "standard_refused"]

HEAD = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
# NumPy functions on Arrays

What each overridable function of NumPy does with a `codipy.Array`, made from the tables in `codipy/numpy` by
`python -m codipy.numpy.reference`. Values are NumPy's, to the last bit. There are four sets:

* **differentiable** ({differentiable}): a derivative rule, or made of functions that have one;
* **movement** ({movement}): the same call moves values and identifiers, so that nothing but the movement is recorded;
* **passive** ({passive}): the result has no derivative, or one that is zero wherever it exists; it is a plain value;
* **refused** ({refused}, and all of {modules}): an `ActiveError` that says what to write instead.

Where nothing is active, and inside `codipy.passive()`, all of them run on plain values.

| function | set | convention |
| --- | --- | --- |
"""

WITHOUT_PROTOCOL = """
## Without a protocol

NumPy asks no Array here. In `codipy.numpy` and in rebound code these take what is active; elsewhere they raise for
Arrays and take Reals for objects: functions called with lists ({} of those above), ufuncs and their methods called with
lists, `np.vectorize`, `np.ndenumerate`, `np.broadcast`, `np.r_`, `np.c_`. `np.nditer` raises always: loop over
`np.ndindex(a.shape)`.
"""
STANDARD = """
## Array API standard

`Array.__array_namespace__()` is `codipy.numpy`. All {count} names of the version {version}, with the extensions
`linalg` and `fft`, are there as in NumPy 2.1. {works} take active Arrays, or need none; {refused} refuse them, since
they are of whole or of complex numbers: {names}.
"""

_WRITES = "writes into an Array and is recorded; into a plain array an error"
_VIEW = "a view: writing through it reaches the Array"
_LIKE = "`like=` an Array, or made like one: a passive Array, to be filled"
_CONVENTIONS = {
    "clip": "1 on the closed interval; beyond it the bound has the derivative",
    "where": "only the branch that is taken: an infinite slope in the other is never met",
    "nan_to_num": "0 where a number stands in; that number has the derivative if it is active",
    "intersect1d": "the first of equal elements, in the first argument",
    "union1d": "the first of equal elements",
    "setxor1d": "the first of equal elements",
    "setdiff1d": "the first of equal elements",
    "full_like": "every element is the fill value",
    "full": "every element is the fill value",
    "piecewise": "each function sees an Array of its elements",
    "pad": "copies are movement; `mean`, `median`, `maximum`, `minimum` are those functions, ramps are `linspace`",
    "arange": "linear in start and step; the number of elements is passive",
    "apply_along_axis": "the function sees each row as an Array",
    "apply_over_axes": "the function sees Arrays",
    "astype": "a copy for floats, a plain array for other types",
    "copy": "a new Array on the same elements",
    "imag": "zeros: what is active is real",
    "real_if_close": "the Array: what is active is real",
    "sort_complex": "the elements in order, with imaginary parts of 0",
    "trim_zeros": "the elements that are left",
    "polynomial.polynomial.polygrid2d": "Horner's scheme, step by step as NumPy",
    "polynomial.polynomial.polyval2d": "Horner's scheme, step by step as NumPy",
}
_CONVENTIONS |= dict.fromkeys(writers.FUNCTIONS, _WRITES)
_CONVENTIONS |= dict.fromkeys(views.DATA, _VIEW)
_CONVENTIONS |= {name: _LIKE for name in (*creation.PASSIVE, *creation.MOVEMENT) if name not in _CONVENTIONS}
_CONVENTIONS |= {name: kind for kind, names in passive.KINDS.items() for name in names.split()}
_CONVENTIONS |= {"in1d": "truth"} | refused.FUNCTIONS


def _families():
    """Function -> the family of rules that it has its derivative from."""
    found = {}
    for name, family in registry.FAMILIES.items():
        for table in (getattr(family, "PRIMITIVES", {}), getattr(family, "COMPOSITES", {})):
            found |= dict.fromkeys(table, name)
    return found


def _convention(name, kind, families):
    if name in _CONVENTIONS:
        return _CONVENTIONS[name]
    if kind == "differentiable" and name in families:
        return f"see {families[name]} below"
    if name.startswith("lib.scimath"):
        return "on the real domain; an error beyond it, where the result is complex"
    return "moves " + ", ".join(f"`{x}`" for x in movement.DATA[name].split()) if name in movement.DATA else ""


def _names(names):
    return ", ".join(f"`{name}`" for name in sorted(names))


def _ufuncs():
    """A table of the ufuncs: what each is done with."""
    rows = {
        "operations table": [u.__name__ for u in ufunc_sets.TABLE_NAMES],
        "rules or movement": [*ufuncs.MORE, *ufuncs.GENERALISED.values()],
        "passive": [u.__name__ for u in ufunc_sets.PASSIVE],
        "refused": ufunc_sets.REFUSED,
    }
    methods = {name.split(".")[0] for name in registry.PRIMITIVES if name.endswith(".reduce")}
    yield "\n## Ufuncs\n\n| what | names |\n| --- | --- |\n"
    yield from (f"| {what} | {_names(set(names))} |\n" for what, names in rows.items())
    yield f"\n`reduce`, `accumulate` and `reduceat` have derivatives for {_names(methods)}; `outer` and `at` for all.\n"
    yield "Ufuncs made by `np.frompyfunc` call their Python function with Reals.\n"
    yield f"\nOf `scipy.special` there are the rows of the operations table, and {_names(special.NAMES)}.\n"


def standard_refused():
    """The names of the array API standard that an active Array cannot enter."""
    names = [name for names in NAMES.values() for name in names]
    aliases = {getattr(getattr(np, name, None), "__name__", name): name for name in names if "." not in name}
    return sorted(
        {name for name in names if name in SETS["refused"]}
        | {aliases[ufunc] for ufunc in ufunc_sets.REFUSED if ufunc in aliases}
    )


def _standard():
    """What is there of the array API standard."""
    count = sum(map(len, NAMES.values()))
    without = standard_refused()
    yield STANDARD.format(
        count=count, version=VERSIONS[-1], works=count - len(without), refused=len(without), names=_names(without)
    )
    yield "\n| family | names |\n| --- | --- |\n"
    yield from (f"| {family} | {len(names)} |\n" for family, names in NAMES.items())


def render():
    """Return the page as Markdown."""
    families = _families()
    counts = {kind: len(names) for kind, names in SETS.items()}
    modules = _names(f"numpy.{name}" for name in refused.MODULES)
    page = [HEAD.format(**counts, modules=modules)]
    for name, kind in sorted((name, kind) for kind, names in SETS.items() for name in names):
        page.append(f"| `np.{name}` | {kind} | {_convention(name, kind, families)} |\n")
    page += _ufuncs()
    page.append(WITHOUT_PROTOCOL.format(len(OF_LISTS) + len(LINALG)))
    page += _standard()
    page.append(f"\n## Methods\n\nBeside those of its shape and its elements, an Array has {_names(METHODS)}.\n")
    page.append("\n## Families of rules\n\n| family | conventions |\n| --- | --- |\n")
    used = {families[name] for name in SETS["differentiable"] if name in families}
    page += (f"| {name} | {' '.join(inspect.getdoc(registry.FAMILIES[name]).split())} |\n" for name in sorted(used))
    return "".join(page)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render(), encoding="utf-8")
