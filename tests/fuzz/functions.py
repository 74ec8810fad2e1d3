# SPDX-License-Identifier: Apache-2.0
"""Random calls of NumPy's functions, ufuncs, their methods and those of arrays: `python -m tests.fuzz --calls`.

Whatever NumPy lets others override is called, with operands of many shapes and layouts and with arguments by name that
its signature has; so are operators, indices, draws, and what is made of such arrays. Most calls that the plain run
raises at are another one. `tests.fuzz.called` judges them.
"""

import cmath
import inspect
import linecache
import math
import random
from dataclasses import dataclass
from functools import cache, reduce

import numpy as np
from scipy import special

from codipy.numpy.arguments import parameters
from codipy.numpy.functions import SETS
from tests.fuzz.judge import quietly
from tests.fuzz.words import (
    ACTIVE,
    DRAWS,
    FLAGS,
    INDICES,
    LISTS,
    MADE_OF,
    METHODS,
    MODULES,
    NAMED,
    NOT_CALLED,
    NOT_GIVEN,
    OPERATORS,
    PASSIVE,
    PROPERTIES,
    UNREAD,
)

KINDS = ("real", "complex", "single")
SIZE = 24  # elements of v, of which the operands are parts
_MADE = {
    "real": "x * 1.0",
    "complex": "x * (1.0 + 0.3j) + 0.1j * x * x",
    "single": "(x * 1.0).astype(np.float32)",
}

_FILE = "<call>"
_SCRIPT = """def f(x):
    v = {made}
    o = {out}
    r = {call}
    return v, o, r
"""


@cache
def _targets():
    """What is called, by name: (callable whose signature tells the arguments, how it is called)."""
    found = {}
    for name in sorted({*SETS["differentiable"], *SETS["movement"], *SETS["passive"]}):
        if _found(name) is not None and name not in UNREAD:
            found[f"np.{name}"] = _found(name), "function"
    for module in MODULES:
        for name, function in vars(_found(module)).items():
            if inspect.isfunction(function) and not name.startswith("_"):
                found[f"np.{module}.{name}"] = function, "function"
    for name in dir(np.ndarray):
        method = getattr(np.ndarray, name)
        if not name.startswith("_") and callable(method) and name not in NOT_CALLED:
            found[f".{name}"] = getattr(np, name, method), "method"
    for name, ufunc in vars(np).items():
        if isinstance(ufunc, np.ufunc) and name == ufunc.__name__:
            found[f"np.{name}"] = ufunc, "ufunc"
            if ufunc.nin == 2 and ufunc.signature is None:
                found |= {f"np.{name}.{method}": (ufunc, method) for method in METHODS}
            if ufunc.nin <= 2 and ufunc.nout == 1 and ufunc.signature is None:
                found[f"np.{name}.at"] = ufunc, "at"
    for name, ufunc in vars(special).items():
        # SciPy's code of these three families ends the process for some numbers.
        if isinstance(ufunc, np.ufunc) and not name.startswith(("_", "pro_", "obl_", "mathieu_")):
            found[f"special.{name}"] = ufunc, "ufunc"
    for names, way in ((OPERATORS, "operator"), (DRAWS, "draw"), (MADE_OF, "made")):
        found |= dict.fromkeys(names, (None, way))
    return found | {f".{name}": (None, "property") for name in PROPERTIES}


def _found(name):
    return reduce(lambda where, part: getattr(where, part, None), name.split("."), np)


@dataclass
class Call:
    """A function `f` of the vector `x` as text; the plain run does not raise."""

    source: str
    names: dict  # that it reads
    x: np.ndarray
    function: str

    def compiled(self):
        """`f`, whose lines messages can show."""
        linecache.cache[_FILE] = len(self.source), None, self.source.splitlines(True), _FILE
        module = {"np": np, "special": special, "math": math, "cmath": cmath, "__name__": "call"}
        module |= {name: value.copy() for name, value in self.names.items()}
        exec(compile(self.source, _FILE, "exec", dont_inherit=True), module)
        return module["f"]

    @property
    def doubled(self):
        """The same call without single precision."""
        return self.source.replace("float32", "float64").replace("complex64", "complex128")


class _Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, p):
        return self.random.random() < p

    def pick(self, choices):
        return self.random.choice(choices)

    def active(self, lists=True):
        return self.pick(LISTS if lists and self.chance(0.15) else ACTIVE)

    def operand(self):
        return self.active() if self.chance(0.75) else self.pick(PASSIVE)

    def named(self, name):
        """What an argument is given."""
        if name == "axis" and self.function.endswith("space"):  # NumPy takes a tuple of one by accident
            return self.pick(("0", "-1"))
        fixed = name in ("axis", "out", "dtype", "where", "order") or name in FLAGS
        if name == "deg" and self.function.endswith("angle"):
            return self.pick(("True", "False"))
        if name not in NAMED or not fixed and self.chance(0.08):
            return self.operand()
        text = self.pick(NAMED[name]).replace("lambda/", "lambda ")
        while "ACTIVE" in text:
            text = text.replace("ACTIVE", self.active(), 1)
        return text.replace("PASSIVE", self.pick(PASSIVE))

    def some(self, **chances):
        """Arguments by name, each with its chance."""
        return {name: self.named(name) for name, chance in chances.items() if self.chance(chance)}

    def call(self):
        """The text of a call; `OUT` stands where a result is to be written."""
        self.function = name = self.pick(list(_targets()))
        function, way = _targets()[name]
        if way == "operator":
            return self.with_operator(name)
        if way in ("draw", "made"):
            while "ACTIVE" in name:
                name = name.replace("ACTIVE", self.active(), 1)
            while "OPERAND" in name:
                name = name.replace("OPERAND", self.operand(), 1)
            return name
        if way == "at":
            # NumPy writes where it may not, and into other memory where the operand has more dimensions than places.
            given = [self.pick([text for text in ACTIVE if "broadcast" not in text]), self.pick(INDICES)]
            if function.nin == 2:
                given.append(self.pick(("2.5", "v[5]", "v[:1]", "1", "v[1:3]", "v[:3]", "[v[1]]")))
            return f"{name}({', '.join(given)})"
        if way == "property":
            return self.active(lists=False) + name
        if way == "ufunc":
            given = [self.operand() for _ in range(function.nin)]
            named = self.some(out=0.4, where=0.2, dtype=0.1, order=0.2)
            if name.startswith("special."):  # SciPy's loops write into other memory where there is a mask
                named.pop("where", None)
            named |= {"out": "OUT"} if named.get("where") == "m" else {}  # else elements have no value
        elif way in METHODS:
            given = [self.active()]
            given += [self.pick(("[0,1]", "[0,2,1]", "[1]"))] if way == "reduceat" else []
            given += [self.operand()] if way == "outer" else []
            named = {} if way == "outer" else self.some(axis=0.6, dtype=0.15, out=0.3)
            named |= self.some(keepdims=0.3, initial=0.3, where=0.3) if way == "reduce" else {}
        else:
            given, named = self.arguments(parameters(function).all[way == "method" :], way)
        front = self.active(lists=False) if way == "method" else ""
        return f"{front}{name}({', '.join([*given, *(f'{key}={text}' for key, text in named.items())])})"

    def with_operator(self, name):
        """An operator, also in place, or an index that is read or written to."""
        if name == "[]":
            index = self.pick(INDICES)
            if self.chance(0.5):
                return f"{self.active(lists=False)}[{index}]"
            return f"{self.active(lists=False)}; r[{index}] {self.pick(('', '+', '*'))}= {self.operand()}"
        if name.endswith("="):
            return f"{self.active(lists=False)}; r {name} {self.operand()}"
        sides = [self.active(lists=False), self.operand()]
        self.random.shuffle(sides)
        return f"{sides[0]} {name} {sides[1]}"

    def arguments(self, known, way):
        """Those that a signature needs, and some others."""
        given, named = [], {}
        for p in known:
            if p.kind == p.VAR_POSITIONAL:
                draw = self.operand if way == "function" and p.name not in ("varargs", "args") else self.named
                given += [draw(*(() if draw == self.operand else (p.name,))) for _ in range(self.pick((0, 1, 1, 2)))]
            elif p.kind == p.VAR_KEYWORD:
                named |= self.some(constant_values=0.2, end_values=0.1, keepdims=0.2, where=0.2, initial=0.2)
            elif p.default is p.empty and p.kind != p.KEYWORD_ONLY:
                given.append(self.named(p.name))
            elif p.default is p.empty or p.name not in NOT_GIVEN and self.chance(0.3):
                named[p.name] = self.named(p.name)
        if named.get("where") == "m" and any(p.name in ("a_min", "min") for p in known):  # np.clip's is a ufunc's
            named["out"] = "OUT"
        return given, named

    def out(self, result):
        """Where a result is written: an array of its own in some layout, or a part of `v`, which operands show too."""
        shape, char = result.shape, self.pick("fdFD") if self.chance(0.1) else result.dtype.char
        dtype = f"np.{np.dtype(char).type.__name__}"
        if self.chance(0.25) and char == "d":
            first = self.random.randint(0, 6)
            turned = "[::-1]" if shape and self.chance(0.2) else ""
            return f"v[{first}:{first + result.size}].reshape({shape}){turned}"
        if self.chance(0.25) and shape:
            return f"np.zeros({tuple(2 * n for n in shape)}, {dtype})[{','.join(['::2'] * len(shape))}]"
        if self.chance(0.2) and shape:
            return f"np.zeros({shape}, {dtype})[::-1]"
        if self.chance(0.2):
            return f"np.zeros({(2, *shape)}, {dtype})"
        return f"np.zeros({shape[::-1]}, {dtype}).T"


def of_objects(y):
    return isinstance(y, np.ndarray) and y.dtype.hasobject


def write_call(seed, kind):
    """A call that NumPy answers, with operands of a kind."""
    w = _Writer(f"{seed}:{kind}")
    rng = np.random.default_rng(w.random.randrange(2**32))
    while True:
        text = w.call()
        shape = w.pick(((3, 4), (4,), (3, 3), (3,), (2, 3, 4), (6,)))
        x = rng.uniform(0.2, 1.8, SIZE) * np.where(rng.random(SIZE) < 0.15, -1.0, 1.0)
        if w.chance(0.12):
            x[rng.integers(0, SIZE, 3)] = rng.choice([0.0, -0.0, np.inf, np.nan, 1e-310, 1e300, 1.0, -1.0], 3)
        names = {"m12": rng.random((3, 4)) < 0.6, "m": rng.random(shape) < 0.6, "w": rng.uniform(0.2, 1.0, 4)}
        call = Call("", names, x, w.function)
        try:
            call.source = _SCRIPT.format(made=_MADE[kind], out=None, call=text.replace("OUT", "None"))
            found = quietly(call.compiled(), x.copy())[2]
            if "OUT" in text:
                out = w.out(found) if isinstance(found, (np.ndarray, np.generic)) else None
                call.source = _SCRIPT.format(made=_MADE[kind], out=out, call=text.replace("OUT", "o"))
                found = quietly(call.compiled(), x.copy())[2]
        except Exception:
            if "NotImplemented" not in text and w.chance(0.1) and call.source:
                return call
            continue
        if all(isinstance(y, COMPARED) and not of_objects(y) for y in leaves(found)):
            return call


COMPARED = (np.ndarray, np.generic, float, int, complex, bool, type(None), str, np.dtype)


def leaves(found):
    return [y for part in found for y in leaves(part)] if isinstance(found, (list, tuple)) else [found]
