# SPDX-License-Identifier: Apache-2.0
"""Views, copies, flags and layout: every function of NumPy and every method of ndarray, on plain arrays and on Arrays.

Nobody lists functions: NumPy's namespaces are walked, and each function is called with the arguments of the case tables
and with all that fits of a pool. What NumPy itself refuses says nothing. What codipy refuses is no deviation.
"""

import copy
import functools
import inspect
import itertools
import warnings
from zlib import crc32

import numpy as np
import pytest
from numpy.lib.array_utils import byte_bounds

import codipy
import codipy.numpy
from codipy.active.array import Array
from tests.numpy import cases_ufuncs
from tests.numpy.cases_movement import CASES as MOVEMENT
from tests.numpy.cases_movement import PASSIVE
from tests.numpy.cases_rules import CASES as RULES
from tests.numpy.table import INPUTS, PLAIN, names_in
from tests.numpy.test_methods import CASES as METHODS

NAMESPACES = ["", "linalg", "fft", "emath", "lib.stride_tricks", "lib.array_utils"]
KINDS = ["active", "mixed", "passive", "single", "frozen"]
OF_CASES = [text for cases in (MOVEMENT, RULES, PASSIVE, METHODS) for texts in cases.values() for text in texts]
OF_CASES += cases_ufuncs.CALLS + cases_ufuncs.METHODS
# Functions that print, read files, change settings, or leave what memory held; `bmat` gives None for an Array.
LEFT_OUT = {
    "bmat", "empty", "empty_like", "frombuffer", "fromfile", "fromregex", "genfromtxt", "getbufsize", "info",
    "load", "loadtxt", "memmap", "printoptions", "save", "savetxt", "savez", "savez_compressed", "set_printoptions",
    "setbufsize", "seterr", "seterrcall", "show_config", "show_runtime", "test", "vectorize",
}  # fmt: skip
# Arrays of all layouts, and the arguments that may follow.
ARRAYS = ["x", "m", "m.T", "x[::2]", "m[:, ::-1]", "b", "q", "o", "e.T", "m[:, 1:3].T", "t.transpose(1, 2, 0)"]
OPTIONS = ["", "1", "0", "(2, 2)", "k", "-1", "0, 1", "(0, 1)", "None", "float", "'F'", "'O'", "'W'", "order='F'",
           "order='A'", "copy=False", "x", "[0, 1]", "(3, 4), (8, 8)", "(2, 3, 4)", "axis=0", "float, 'F'",
           "(2, 3), writeable=True"]  # fmt: skip
OF_UFUNCS = ["", "order='F'", "x", "1.0"]
MORE = [
    "np.{}(m, n)", "np.{}(m.T, n.T)", "np.{}((x, y))", "np.{}([m, n], 1)", "np.{}([m.T, n.T])", "np.{}(q, v)",
    "np.{}(q, h)", "np.{}(b, m)", "np.{}(x, y, copy=False)", "np.{}('ii->i', q)", "np.{}('ij->ji', m)",
    "np.{}('iij->ji', t[:, :2])", "np.{}('...', m)", "np.{}(m, [0, 1], [1, 0])", "np.{}('i,i->i', x, y)",
    "np.{}(mask, m, n)", "np.{}(np.sum, 0, m)", "np.{}(x, n=0)", "np.{}(m[:, :1], m[:1])",
]  # fmt: skip
CONSTANTS = {name: value for name, value in PLAIN.items() if name != "np"}  # some calls write into what they get
# Where Arrays differ, and why that is harmless.
KNOWN = {
    "np.tile([m, n], 1)": "a list with Arrays is an Array for codipy.numpy, whose copy owns its elements",
    "np.histogram2d(x[::2], k)": "the edges of whole numbers beside float32 are float64 in NumPy",
    "np.histogram2d(x[::2], (2, 3, 4))": "likewise",
    "np.histogram_bin_edges(e.T, )": "the edges of no samples are passive, and an Array of another precision",
    "np.histogram_bin_edges(e.T, 1)": "likewise",
}
# One of so many calls of the pool is made in a run of the suite, others for each kind.
SHARE = 10


@functools.cache
def shares():
    """The texts of the pool, in so many parts."""
    found = [[] for _ in range(SHARE)]
    for text in texts_of_pool():
        found[crc32(text.encode()) % SHARE].append(text)
    return found


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Methods such as ``tofile("F")`` write files into a folder of the test's own."""
    monkeypatch.chdir(tmp_path)


def functions():
    """The names below `np.` of everything that can be called, and whether it is a ufunc."""
    for space in NAMESPACES:
        module = np
        for part in space.split(".") if space else ():
            module = getattr(module, part)
        for name in sorted(dir(module)):
            value = getattr(module, name)
            if name[0] != "_" and callable(value) and not inspect.isclass(value) and name not in LEFT_OUT:
                yield f"{space}.{name}" if space else name, isinstance(value, np.ufunc)


def texts_of_pool():
    """Calls of all functions and methods, with more arguments than most of them take."""
    for name, is_ufunc in functions():
        for array, options in itertools.product(ARRAYS, OF_UFUNCS if is_ufunc else OPTIONS):
            yield f"np.{name}({array}, {options})"
        yield from (text.format(name) for text in MORE)
    for name, value in inspect.getmembers(np.ndarray):
        for array, options in itertools.product(ARRAYS if name[0] != "_" else [], OPTIONS if callable(value) else [""]):
            yield f"({array}).{name}({options})" if callable(value) else f"({array}).{name}"


def leaves(tree):
    if isinstance(tree, (list, tuple)):
        return [leaf for item in tree for leaf in leaves(item)]
    return [tree]


def is_array(x):
    return type(x) is Array or isinstance(x, np.ndarray) and x.dtype.kind == "f"


def value_of(x):
    return np.array(codipy.value(x))


def layout(x):
    """The order of the strides, and which are none: axes of one element have no place in it."""
    steps = [(abs(step), -k, np.sign(step)) for k, (n, step) in enumerate(zip(x.shape, x.strides)) if n > 1]
    return [(-k, sign) for _, k, sign in sorted(steps)] if x.size else None


def base_of(x):
    """The array that a view is of in the end: NumPy's tricks with strides put objects of their own between."""
    found = None
    while (x := getattr(x, "base", None)) is not None:
        found = x
    return found


class Run:
    """One call on plain arrays or on Arrays, and what can be seen of its results."""

    def __init__(self, text, args, namespace):
        self.args = args
        with np.errstate(all="ignore"):
            result = eval(text, {**copy.deepcopy(CONSTANTS), "np": namespace, **args})
        self.results = [x for x in leaves(result) if is_array(x)]
        self.has_objects = any(isinstance(x, np.ndarray) and x.dtype == object for x in leaves(result))

    def arrays(self):
        return [x for x in self.args.values() if is_array(x)]

    def leaves_memory(self):
        """Whether a result shows more than the memory of its base, as NumPy's `as_strided` lets it."""
        shown = [(x, base_of(x)) for x in self.results if isinstance(base_of(x), np.ndarray)]
        bounds = [(*byte_bounds(x), *byte_bounds(base)) for x, base in shown if x.size]
        return any(low < first or high > last for low, high, first, last in bounds)

    def sharing(self):
        everything = [*self.results, *self.arrays()]
        return [np.shares_memory(x, y) for x in self.results for y in everything]

    def identity(self):
        everything = [*self.results, *self.arrays()]
        return [[x is y, base_of(x) is y] for x in self.results for y in everything]

    def flags(self):
        return [[bool(x.flags[key]) for key in ("W", "O", "C", "F")] + [x.base is None] for x in self.results]

    def layouts(self):
        return [(x.shape, x.dtype, layout(x)) for x in self.results]

    def values(self):
        return [value_of(x) for x in (*self.results, *self.arrays())]

    def written(self):
        """What writes into all results and arguments do, one after another: values of all, or the kind of error."""
        seen = []
        for k, target in enumerate([*self.results, *self.arrays()]):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    target[...] = 10.0 * k + np.arange(target.size).reshape(target.shape)
            except (ValueError, TypeError) as error:
                seen.append(f"{type(error).__name__}: {error}")
                if "more than once" in str(error):  # refused where NumPy writes: a raise, not a difference
                    break
            seen.append(self.values())
        return seen


def same(one, two):
    """Whether the values are; of errors only that there is one."""
    if isinstance(one, str) or isinstance(two, str):
        return isinstance(one, str) and (isinstance(two, str) or "more than once" in one)
    return all(np.array_equal(x, y, equal_nan=True) for x, y in zip(one, two, strict=True))


def arguments(names, kind, tape=None):
    """The arguments by name: plain ones, or Arrays if there is a tape."""
    found = {}
    for name in names:
        x = INPUTS[name] if name == "r" else INPUTS[name].astype(np.float32 if kind == "single" else np.float64)
        if tape is None:
            found[name] = x if name != "r" else x if kind == "single" else np.float64(x)
        elif kind == "passive":
            found[name] = np.float64(x) if name == "r" else Array(x)
        else:
            found[name] = tape.register_input(x if name == "r" else Array(x))
        if kind == "mixed" and tape is not None and name != "r" and x.ndim:
            found[name] = found[name].copy()
            for index in list(np.ndindex(x.shape))[:2]:
                found[name][index] = found[name][index] * 1.0
        if kind == "frozen" and name != "r":
            found[name].flags.writeable = False
    return found


def deviations(text, kind):
    """What differs between a call on plain arrays and on Arrays: texts, "refused", or None for what is no call."""
    names = names_in(text)
    if "np.fft." in text and any(np.size(INPUTS[name]) == 0 for name in names):
        return None  # NumPy's transforms of no elements show memory that nobody initialised
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = Run(text, arguments(names, kind), np)
    except Exception as error:
        if kind != "frozen" or "read-only" not in str(error):
            return None
        expected = None  # NumPy refuses to write
    if expected and (not expected.results or any(x.ndim > 8 for x in expected.results) or expected.leaves_memory()):
        return None  # nothing to see
    tape = codipy.Tape()
    with tape, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args = arguments(names, kind, tape)
        try:
            found = Run(text, args, codipy.numpy)
        except (TypeError, ValueError, BufferError):
            return expected and "refused"
        if expected is None:
            return [f"{text}: written although read-only"]
        if found.has_objects or any(isinstance(x, np.ndarray) and not x.flags.writeable for x in found.results):
            return "refused"  # a plain array that only shows values: a write into it raises
        if len(found.results) != len(expected.results):
            return [f"{text}: {len(found.results)} arrays for {len(expected.results)}"]
        wrong = []
        for what in ("values", "sharing", "identity", "flags", "layouts"):
            one, two = getattr(found, what)(), getattr(expected, what)()
            if not same(one, two) if what == "values" else one != two:
                wrong.append(f"{text}: {what} {one} for {two}")
        one, two = found.written(), expected.written()
        if not all(map(same, one, two)):
            wrong.append(f"{text}: written {one} for {two}")
    return None if wrong and shows_memory(text, names, kind) else wrong


def shows_memory(text, names, kind):
    """Whether NumPy's own results are others each time: what nobody initialised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, two = (Run(text, arguments(names, kind), np).values() for _ in range(2))
    return not same(one, two)


@pytest.mark.parametrize("kind", KINDS)
def test_the_calls_of_the_tables(kind):
    found = {text: deviations(text, kind) for text in OF_CASES}
    wrong = [line for lines in found.values() if isinstance(lines, list) for line in lines]
    assert not wrong, "\n".join(wrong)
    assert sum(isinstance(lines, list) for lines in found.values()) > 600


@pytest.mark.parametrize("kind", KINDS)
def test_all_functions_and_methods(kind):
    found = {text: deviations(text, kind) for text in shares()[-KINDS.index(kind)] if text not in KNOWN}
    wrong = [line for lines in found.values() if isinstance(lines, list) for line in lines]
    assert not wrong, "\n".join(wrong)
    compared = sum(isinstance(lines, list) for lines in found.values())
    assert compared > 8000 / SHARE
    assert sum(lines == "refused" for lines in found.values()) < compared / 8
