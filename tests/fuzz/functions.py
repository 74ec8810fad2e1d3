# SPDX-License-Identifier: Apache-2.0
"""Random calls of NumPy's functions, ufuncs, their methods and those of arrays: `python -m tests.fuzz --calls`.

Whatever NumPy lets others override is called, with operands of many shapes and layouts and with arguments by name that
its signature has. A call that the plain run raises at is another one. What counts is bits, dtype, shape, layout, what
shares memory, what may be written to, what is written, and the gradient, beside central differences of the plain run.
"""

import inspect
import linecache
import random
import re
from dataclasses import dataclass
from functools import cache, reduce

import numpy as np

import codipy
from codipy.errors import ActiveError, TapeError
from codipy.numpy.arguments import parameters
from codipy.numpy.functions import SETS
from tests.fuzz.judge import Finding, quietly

KINDS = ("real", "complex", "single")
_SIZE = 24  # elements of v, of which the operands are parts
_MADE = {
    "real": "x * 1.0",
    "complex": "x * (1.0 + 0.3j) + 0.1j * x * x",
    "single": "(x * 1.0).astype(np.float32)",
}

_ACTIVE = """v[:4] v[3:6] v[:6][::-1] v[::5] v[:12].reshape(3,4) v[:12].reshape(3,4).T v[:24].reshape(2,3,4) v[:0] v[5]
    v[:9].reshape(3,3) v[:9].reshape(3,3)[::-1] v[:12].reshape(4,3)[:,::-1] v[:4].reshape(1,4) v[:4].reshape(4,1) v[:1]
    v[:0].reshape(0,3) v[:1].reshape(1,1) v[:12].reshape(3,4)[::2,1::2] v[4:5].reshape(()) v[:24].reshape(2,3,4).T
    np.asfortranarray(v[:12].reshape(3,4)) v[:24].reshape(2,3,4).transpose(1,2,0) v[:16].reshape(4,4)
    (v[:9].reshape(3,3)+3*np.eye(3)) v[:8].astype(np.float32) v[:9].reshape(3,3).astype(np.float32) np.repeat(v[:3],2)
    np.sort(v)[:6] np.broadcast_to(v[:3],(2,3))""".split()
_LISTS = "[v[1],v[2],v[3]] [v[0],1.5,2] [v[:3],v[3:6]] (v[1],v[2]) [[v[0],v[1]],[v[2],v[3]]]".split()
_PASSIVE = """np.arange(4.) np.arange(3) 2.5 2 np.eye(3) np.arange(12.).reshape(3,4) [0.5,1.5,2.5] np.float32(1.5) None
    np.array([True,False,True,True]) np.array([0,2,1]) np.array(1.5) np.ones((3,1)) 1+2j np.arange(3)*1j""".split()

# What an argument of a name is given, beside operands.
_NAMED = {
    name: choices.split()
    for name, choices in {
        "axis": "0 -1 1 None (0,1) (0,-1) 2 (0,) ()",
        "axes": "None (1,0) 0 (0,1) ([0],[1]) 1 (-2,-1)",
        "axis1": "0 1",
        "axis2": "1 0 2",
        "axisa": "-1 0",
        "axisb": "-1 0",
        "axisc": "-1 0",
        "keepdims": "True False",
        "dtype": "None np.float32 float np.float64 complex",
        "where": "True m",
        "out": "None OUT",
        "order": "'C' 'F' 'K' 'A'",
        "initial": "0.0 1.0 -5 v[7] 2 v[6:7].reshape(())",
        "ddof": "0 1 v[2]",
        "correction": "0 1",
        "mean": "np._NoValue v[2]",
        "n": "None 1 2 3 5",
        "s": "None (3,3)",
        "norm": "None 'ortho' 'forward'",
        "k": "0 1 -1",
        "offset": "0 1",
        "shift": "1 -2 (1,2)",
        "repeats": "2 [1,2,1,0] np.array([2,1,1])",
        "reps": "2 (2,1)",
        "shape": "(3,4) (2,2) (4,) (2,3,4)",
        "newshape": "(-1,) (2,-1)",
        "new_shape": "(5,) (2,3)",
        "decimals": "0 1",
        "kind": "'stable' None",
        "kth": "1 0 -1",
        "q": "30 [10,50.] 0.4 [.1,.9] v[2]",
        "method": "'linear' 'lower' 'hazen'",
        "mode": "'raise' 'wrap' 'clip' 'full' 'same' 'valid' 'constant' 'edge' 'reflect' 'reduced' 'mean'",
        "indices": "[0,1] 1 np.array([[0,1],[1,0]]) np.array([2,0]) [-1]",
        "ind": "[0,1] 1 np.array([2,0])",
        "indices_or_sections": "2 3 [1,2]",
        "pad_width": "1 (1,2) ((1,0),(0,2))",
        "deg": "1 2 [1,2] [0,1]",
        "N": "3 None",
        "M": "3 None",
        "m": "1 2",
        "cnt": "1 2",
        "pow": "2 3",
        "dx": "0.5 v[8]+2",
        "edge_order": "1 2",
        "varargs": "0.5 v[2] np.arange(3.) 2",
        "rowvar": "True False",
        "bias": "True False",
        "aweights": "None w",
        "fweights": "None np.array([1,2,1,3])",
        "ord": "None 1 2 np.inf 'fro' 'nuc' -1 3",
        "UPLO": "'L' 'U'",
        "compute_uv": "True False",
        "full_matrices": "True False",
        "hermitian": "False",
        "rcond": "None 1e-10",
        "obj": "1 [0,2] -1 slice(0,2)",
        "start": "0 1 v[2]",
        "stop": "3 v[9]+4",
        "num": "4",
        "endpoint": "True False",
        "base": "10.0 v[2]",
        "retstep": "True False",
        "fill_value": "1.5 v[3] v[:4]",
        "copy": "True False None",
        "subok": "True False",
        "side": "'left' 'right'",
        "right": "True v[2] None",
        "left": "v[3] None",
        "period": "None 2.0 v[3]",
        "indexing": "'ij' 'xy'",
        "sparse": "True False",
        "return_index": "True False",
        "return_indices": "True False",
        "return_inverse": "True False",
        "return_counts": "True False",
        "equal_nan": "True False",
        "full": "True False",
        "cov": "True False 'unscaled'",
        "assume_unique": "False True",
        "sorted": "True False",
        "suppress_small": "True False",
        "max_line_width": "None 40",
        "invert": "True False",
        "optimize": "True False",
        "trim": "'fb' 'f'",
        "source": "0 (0,1)",
        "destination": "-1 (-1,0)",
        "discont": "None 2.0",
        "bins": "3 [0,.5,1,2] 'auto' np.arange(4.) v[:3]",
        "range": "None (0.,2.) (0,v[2])",
        "density": "None False True",
        "weights": "None w v[:4]",
        "minlength": "0 5",
        "prepend": "np._NoValue v[2]",
        "append": "np._NoValue v[4]",
        "to_end": "None v[2]",
        "to_begin": "None v[3]",
        "subscripts": "'i,i->' 'ij->ji' 'ij,jk->ik' 'ii->i' 'ij->j' 'i,j' 'ij->' 'ii' '...i->...'",
        "casting": "'same_kind' 'unsafe'",
        "overwrite_input": "False",  # codipy leaves the argument as it is
        "max": "None 0.8 v[2] v[:4]",
        "min": "0.3 None v[3]",
        "a_min": "0.3 v[2] None",
        "a_max": "0.9 v[3] None",
        "nan": "0.0 v[2]",
        "include_initial": "True False",
        "tol": "100 0.5",
        "decreasing": "False True",
        "increasing": "True False",
        "returned": "True False",
        "func1d": "np.sum np.cumsum (lambda/r:r*r[0])",
        "func": "np.sum np.max",
        "condlist": "[m]",
        "funclist": "[(lambda/t:t*2),0.5]",
        "choicelist": "[v[:12].reshape(3,4)] [v[:4]] [v[:3]]",
        "default": "0 v[3]",
        "condition": "m [True,False,True]",
        "choices": "[v[:3],v[3:6],v[6:9]]",
        "mask": "m",
        "reflect_type": "'even' 'odd'",
        "window_shape": "2 (2,2)",
        "end_values": "0 v[2]",
        "constant_values": "0 v[3]",
        "stat_length": "None 2",
        "value": "1.5 v[3] 2 np.float32(1.5)",
        "lbnd": "0 v[2]",
        "scl": "1 2.0 v[3]",
        "tensor": "True False",
        "ndmin": "0 2",
        "val": "1.5 v[2] v[:3]",
        "requirements": "'C' 'F' ['O','W'] None",
        "args": "0 -1 1 (0,)",
        "arrays": "[ACTIVE,ACTIVE] [ACTIVE] (ACTIVE,PASSIVE)",
        "tup": "[ACTIVE,ACTIVE] [ACTIVE,PASSIVE] v[:12].reshape(3,4)",
        "ary_list": "[ACTIVE,ACTIVE]",
    }.items()
}
# An option that is yes or no is given nothing else.
_FLAGS = {name for name, choices in _NAMED.items() if set(choices) <= {"True", "False", "None", "np._NoValue"}}
_NOT_GIVEN = {"like", "device", "subok", "sorter", "stable"}  # need objects of other kinds, or change nothing
_PROPERTIES = "T mT real imag flat[1:3] flat[0] shape size ndim dtype nbytes itemsize".split()
# They make files or bytes, or set what memory is.
_NOT_CALLED = "tofile dump dumps tobytes byteswap setfield setflags to_device getfield resize".split()
# They read files, or memory that nobody wrote.
_UNREAD = "frombuffer fromfile genfromtxt loadtxt empty empty_like".split()
_MODULES = "lib.scimath polynomial.polynomial polynomial.chebyshev polynomial.legendre polynomial.hermite".split()
_METHODS = "reduce accumulate reduceat outer".split()
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
        if _found(name) is not None and name not in _UNREAD:
            found[f"np.{name}"] = _found(name), "function"
    for module in _MODULES:
        for name, function in vars(_found(module)).items():
            if inspect.isfunction(function) and not name.startswith("_"):
                found[f"np.{module}.{name}"] = function, "function"
    for name in dir(np.ndarray):
        method = getattr(np.ndarray, name)
        if not name.startswith("_") and callable(method) and name not in _NOT_CALLED:
            found[f".{name}"] = getattr(np, name, method), "method"
    for name, ufunc in vars(np).items():
        if isinstance(ufunc, np.ufunc) and name == ufunc.__name__:
            found[f"np.{name}"] = ufunc, "ufunc"
            if ufunc.nin == 2 and ufunc.signature is None:
                found |= {f"np.{name}.{method}": (ufunc, method) for method in _METHODS}
    return found | {f".{name}": (None, "property") for name in _PROPERTIES}


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
        module = {"np": np, "__name__": "call", **{name: value.copy() for name, value in self.names.items()}}
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
        return self.pick(_LISTS if lists and self.chance(0.15) else _ACTIVE)

    def operand(self):
        return self.active() if self.chance(0.75) else self.pick(_PASSIVE)

    def named(self, name):
        """What an argument is given."""
        if name == "axis" and self.function.endswith("space"):  # NumPy takes a tuple of one by accident
            return self.pick(("0", "-1"))
        fixed = name in ("axis", "out", "dtype", "where", "order") or name in _FLAGS
        if name not in _NAMED or not fixed and self.chance(0.08):
            return self.operand()
        text = self.pick(_NAMED[name]).replace("lambda/", "lambda ")
        while "ACTIVE" in text:
            text = text.replace("ACTIVE", self.active(), 1)
        return text.replace("PASSIVE", self.pick(_PASSIVE))

    def some(self, **chances):
        """Arguments by name, each with its chance."""
        return {name: self.named(name) for name, chance in chances.items() if self.chance(chance)}

    def call(self):
        """The text of a call; `OUT` stands where a result is to be written."""
        self.function = name = self.pick(list(_targets()))
        function, way = _targets()[name]
        if way == "property":
            return self.active(lists=False) + name
        if way == "ufunc":
            given = [self.operand() for _ in range(function.nin)]
            named = self.some(out=0.4, where=0.2, dtype=0.1, order=0.2)
            named |= {"out": "OUT"} if named.get("where") == "m" else {}  # else elements have no value
        elif way in _METHODS:
            given = [self.active()]
            given += [self.pick(("[0,1]", "[0,2,1]", "[1]"))] if way == "reduceat" else []
            given += [self.operand()] if way == "outer" else []
            named = {} if way == "outer" else self.some(axis=0.6, dtype=0.15, out=0.3)
            named |= self.some(keepdims=0.3, initial=0.3, where=0.3) if way == "reduce" else {}
        else:
            given, named = self.arguments(parameters(function).all[way == "method" :], way)
        front = self.active(lists=False) if way == "method" else ""
        return f"{front}{name}({', '.join([*given, *(f'{key}={text}' for key, text in named.items())])})"

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
            elif p.default is p.empty or p.name not in _NOT_GIVEN and self.chance(0.3):
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


def _of_objects(y):
    return isinstance(y, np.ndarray) and y.dtype.hasobject


def write_call(seed, kind):
    """A call that NumPy answers, with operands of a kind."""
    w = _Writer(f"{seed}:{kind}")
    rng = np.random.default_rng(w.random.randrange(2**32))
    while True:
        text = w.call()
        shape = w.pick(((3, 4), (4,), (3, 3), (3,), (2, 3, 4), (6,)))
        x = rng.uniform(0.2, 1.8, _SIZE) * np.where(rng.random(_SIZE) < 0.15, -1.0, 1.0)
        call = Call("", {"m": rng.random(shape) < 0.6, "w": rng.uniform(0.2, 1.0, 4)}, x, w.function)
        try:
            call.source = _SCRIPT.format(made=_MADE[kind], out=None, call=text.replace("OUT", "None"))
            found = quietly(call.compiled(), x.copy())[2]
            if "OUT" in text:
                out = w.out(found) if isinstance(found, (np.ndarray, np.generic)) else None
                call.source = _SCRIPT.format(made=_MADE[kind], out=out, call=text.replace("OUT", "o"))
                found = quietly(call.compiled(), x.copy())[2]
        except Exception:
            continue
        if all(isinstance(y, _COMPARED) and not _of_objects(y) for y in _leaves(found)):
            return call


_COMPARED = (np.ndarray, np.generic, float, int, complex, bool, type(None), str, np.dtype)


def _leaves(found):
    return [y for part in found for y in _leaves(part)] if isinstance(found, (list, tuple)) else [found]


# What codipy says that it cannot do, in errors of NumPy's kinds.
_SAID = re.compile(
    "no derivative (exists|by it)|use full_matrices=False|a complex number is no float, nor does it go into"
    "|^out= has shape"
)


def judge_call(call):
    """The first thing that is wrong with a call, or None."""
    try:
        return _judge(call)
    except (ActiveError, TapeError) as error:
        return Finding("refused", f"{type(error).__name__}: {error}")
    except Exception as error:
        known = isinstance(error, (np.linalg.LinAlgError, TypeError, ValueError)) and _SAID.search(str(error))
        return Finding("refused" if known else type(error).__name__, f"{type(error).__name__}: {error}")


def _judge(call):
    v, o, r = quietly(call.compiled(), call.x.copy())
    expected = [v, *_leaves(o), *_leaves(r)]
    rebound = codipy.rebind(call.compiled())
    with codipy.Tape() as tape:
        x = tape.register_input(codipy.Array(call.x.copy()))
        first, *others = quietly(rebound, x)
        results = [first, *(y for part in others for y in _leaves(part))]
        if len(results) != len(expected):
            return Finding("number", f"{len(results)} results, plain {len(expected)}")
        for y, plain in zip(results, expected):
            finding = _compared(y, plain, first, v)
            if finding:
                return finding
    return _differentiated(call, expected)


def _compared(y, plain, first, v):
    """A result beside the plain run's: as a value, and as an array that lies in memory."""
    if not isinstance(plain, (np.ndarray, np.generic, float, complex)):
        return None if type(codipy.value(y)) is type(plain) else Finding("type", f"{y!r}, plain {plain!r}")
    value = codipy.value(y)
    bits, right = np.asarray(value), np.asarray(plain)
    if isinstance(value, np.ndarray) != isinstance(plain, np.ndarray) or bits.dtype != right.dtype:
        return Finding("type", f"{type(value)} of {bits.dtype}, plain {type(plain)} of {right.dtype}")
    if bits.shape != right.shape:
        return Finding("shape", f"{bits.shape}, plain {right.shape}")
    if not np.array_equal(bits, right, equal_nan=right.dtype.kind in "fc"):
        return Finding("value", f"{value!r}, plain {plain!r}")
    if not isinstance(plain, np.ndarray) or not plain.size or isinstance(y, np.ndarray):
        shown = isinstance(plain, np.ndarray) and plain.dtype.kind in "fc" and np.shares_memory(plain, v)
        return Finding("memory", "a plain array, where NumPy's shows v") if shown and plain.size else None
    if np.shares_memory(y, first) != np.shares_memory(plain, v):
        return Finding("memory", f"shares v's: {np.shares_memory(y, first)}, plain {np.shares_memory(plain, v)}")
    if y.flags.writeable != plain.flags.writeable:
        return Finding("writeable", f"{y.flags.writeable}, plain {plain.flags.writeable}")
    laid_out = y.flags.c_contiguous, y.flags.f_contiguous
    if laid_out != (plain.flags.c_contiguous, plain.flags.f_contiguous):
        return Finding("layout", f"strides {y.strides}, plain {plain.strides}")
    return None


def _differentiated(call, expected):
    """The gradient and a tangent, beside differences of the call in double precision."""
    rng = np.random.default_rng(len(call.source))
    weights = [rng.normal(size=np.shape(y)) if np.asarray(y).dtype.kind in "fc" else None for y in expected]

    compiled = call.compiled()

    def total(x, f=compiled):
        v, o, r = f(x)
        found = 0.0
        for y, weight in zip([v, *_leaves(o), *_leaves(r)], weights):
            if weight is not None and np.iscomplexobj(y):
                found = found + np.sum(y.real * weight) - np.sum(y.imag * weight[..., ::-1] if weight.ndim else y.imag)
            elif weight is not None:
                found = found + np.sum(y * weight)
        return found

    exact = Call(call.doubled, call.names, call.x, call.function).compiled()
    direction = rng.uniform(-1.0, 1.0, _SIZE)
    try:
        here = quietly(total, call.x.copy(), exact)
    except ValueError:
        return None  # results of other shapes: what is equal in single precision may differ in double
    if not np.isfinite(here):
        return None
    gradient = quietly(codipy.grad(total), call.x.copy())
    along, scale = float(np.sum(gradient * direction)), 1.0 + float(np.sum(np.abs(gradient)))
    if scale > 1e10:
        return None  # of a singular matrix, say: nothing has digits to compare
    if not np.isfinite(along):
        return None if not np.isfinite(quietly(total, call.x.copy())) else Finding("gradient", f"{gradient!r}")
    moved = float(quietly(codipy.jvp, total, (call.x.copy(),), (direction,))[1])
    if not abs(moved - along) <= (1e-9 if call.source == call.doubled else 1e-4) * scale:
        return Finding("tangent", f"{moved!r} along a direction, by the gradient {along!r}")
    try:
        slopes = [(quietly(total, call.x + h * direction, exact) - here) / h for h in (1e-6, -1e-6)]
    except Exception:
        return None  # beside this point the call is another one
    single = call.source != call.doubled
    if single and not np.isclose(here, float(quietly(total, call.x.copy())), rtol=1e-3, atol=1e-3):
        return None  # rounding took it another way
    lost = 1e-9 * abs(here)  # digits that differences lose
    middle, apart = 0.5 * sum(slopes), abs(slopes[0] - slopes[1]) + lost
    scale += abs(middle)
    if apart <= 1e-3 * scale and not abs(middle - along) <= (0.02 if single else 1e-5) * scale + apart:
        return Finding("gradient", f"{along!r} along a direction, expected {middle!r}")
    return None
