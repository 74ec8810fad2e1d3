# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions that make arrays: Arrays while a tape records on this thread, plain ndarrays else.

An ndarray cannot record what is written into it, so what a program allocates has to be an Array from the beginning;
it is passive until something active is written. Only float64 and float32 are: integers, flags, objects stay ndarrays.

``asarray(x)`` of an ndarray is x itself, also while recording: a copy would no longer alias x, and writing something
active into a plain ndarray raises anyhow.
"""

from __future__ import annotations

import functools
import itertools
import operator

import numpy as np

from codipy.active import Real
from codipy.active.array import (
    Array,
    filled,
    from_ndarray,
    gather,
    identifiers,
    is_complex_variable,
    nested_numbers,
    plain,
)
from codipy.active.doors import door
from codipy.active.scalar.given import method_of
from codipy.active.scalar.kinds import converted
from codipy.errors import ActiveError
from codipy.numpy.arguments import PLAIN, copied, each, fillable, is_of_objects, sees_objects
from codipy.numpy.views import Shown
from codipy.tape import active_tape

__all__ = [
    "arange", "array", "array_of_objects", "as_numbers", "asanyarray", "asarray", "asarray_chkfinite",
    "ascontiguousarray", "asfortranarray", "copy", "empty", "empty_like", "eye", "fresh", "fromiter", "full",
    "full_like", "geomspace", "given", "holds_movable", "identity", "linspace", "logspace", "objects_as_type",
    "of_objects", "ones", "ones_like", "require", "tri", "zeros", "zeros_like",
]  # fmt: skip

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
_MOVABLE = {Real, Array}


def move_also(*kinds):
    """Let `array` and its like take variables of further classes: those of complex numbers."""
    _MOVABLE.update(kinds)


def _is_of_complex(tree, dtype):
    """Whether variables of complex numbers are among the leaves, or a complex array is asked for."""
    if dtype is not None and np.dtype(dtype).kind == "c":
        return True
    if isinstance(tree, (list, tuple)):
        return any(_is_of_complex(leaf, None) for leaf in tree)
    if isinstance(tree, np.ndarray) and tree.dtype == object:
        return any(_is_of_complex(leaf, None) for leaf in tree.flat)
    return type(tree) not in (Real, Array) and (type(tree) in _MOVABLE or np.iscomplexobj(tree))


def fresh(array):
    """A new ndarray as a program would have it: an Array if it is of floats and a tape records.

    Parameters
    ----------
    array : object
        What a function of NumPy returned. It must own its data.

    Returns
    -------
    object
        An Array, or `array` itself.
    """
    if active_tape() is not None and type(array) is np.ndarray and array.dtype in _FLOATS:
        return from_ndarray(array) if array.flags.owndata else Array(array)
    return fillable(array) if type(array) is np.ndarray and array.dtype.kind == "c" else array


def _creates(function):
    """A function of NumPy whose result shares no data with its arguments, as one of this module."""

    @functools.wraps(function, updated=())
    def create(*args, **kwargs):
        return fresh(function(*args, **kwargs))

    return create


def _fills(function, number):
    """The same for a function that puts one number everywhere: in memory that serves again, if asked simply."""
    general = _creates(function)

    @functools.wraps(function, updated=())
    def create(*args, **kwargs):
        if len(args) == 1 and not kwargs and active_tape() is not None:
            made = filled(args[0], number)
            if made is not None:
                return made
        return general(*args, **kwargs)

    return create


zeros, ones, empty = _fills(np.zeros, 0.0), _fills(np.ones, 1.0), _fills(np.empty, None)
eye, identity, tri = _creates(np.eye), _creates(np.identity), _creates(np.tri)


def _creates_like(function):
    """The same of a function whose first argument says what the result is like, which a list may be."""
    general = _creates(function)

    @functools.wraps(function, updated=())
    def create(like, *args, **kwargs):
        return general(_leaves(_number, like) if type(like) in (list, tuple) else like, *args, **kwargs)

    return create


zeros_like, ones_like, empty_like = map(_creates_like, (np.zeros_like, np.ones_like, np.empty_like))
_geomspace = _creates(np.geomspace)


def _is_movable(x):
    return type(x) in _MOVABLE


def holds_movable(tree):
    """Whether a Real or an Array is among the leaves of nested lists and tuples, or of an array of objects."""
    if type(tree) in (list, tuple):
        for leaf in tree:
            kind = type(leaf)
            if kind in _MOVABLE or (kind not in (float, int) and holds_movable(leaf)):
                return True
        return False
    if isinstance(tree, np.ndarray):
        return tree.dtype == object and any(map(_is_movable, tree.flat))
    return _is_movable(tree) or (isinstance(tree, (list, tuple)) and any(map(holds_movable, tree)))


def _leaves(function, tree):
    if isinstance(tree, (list, tuple)):
        return [_leaves(function, leaf) for leaf in tree]
    if isinstance(tree, np.ndarray) and tree.dtype == object:
        return each(function, tree)
    return function(tree)


class _Whole:
    """An array or a complex number that NumPy does not look into."""

    def __init__(self, found):
        self.found = found


def array_of_objects(function, tree, *args, **kwargs):
    """What NumPy makes of a tree of which it makes objects.

    A number is one as it is, an array is its numbers, or one of the objects where others are of another shape.

    Parameters
    ----------
    function : callable
        `numpy.array` or its like.
    tree : object
        Lists of numbers and arrays.
    *args, **kwargs
        What it is called with beside the tree and the dtype.
    """
    shown = {}  # by the address of its values, an array of variables and these

    def values_of(x):
        if type(x) is not Array and not (is_complex_variable(x) and hasattr(x, "__len__")):
            return None if is_complex_variable(x) else x
        values = np.asarray(x.value)
        shown[id(values)] = x, values
        return values

    made = function(_leaves_of_lists(values_of, tree), object, *args, **kwargs)
    whole = {id(shown[id(item)][0]) for item in made.flat if id(item) in shown}

    def leaf(x):
        if id(x) in whole:
            return _Whole(x)
        if type(x) is Array:
            return door("boxed")(x)
        if is_complex_variable(x):
            return x.astype(object) if hasattr(x, "__len__") else _Whole(x)  # which NumPy asks for an array
        return x

    made = function(_leaves_of_lists(leaf, tree), object, *args, **kwargs)
    for index in np.ndindex(made.shape):
        if type(made[index]) is _Whole:
            made[index] = made[index].found
    return made


def _leaves_of_lists(function, tree):
    if not isinstance(tree, (list, tuple)):
        return function(tree)
    leaves = [_leaves_of_lists(function, leaf) for leaf in tree]
    if all(map(operator.is_, leaves, tree)):
        return tree  # which can be an object of its own
    return type(tree)(*leaves) if hasattr(tree, "_fields") else type(tree)(leaves)


def _flat_identifiers(tree):
    """The identifiers of all leaves, of whatever shapes."""
    if isinstance(tree, (list, tuple)):
        return [k for leaf in tree for k in _flat_identifiers(leaf)]
    return np.ravel(identifiers(tree)).tolist()


def _of_movables(function, tree, dtype, *args, **kwargs):
    """An array of a tree that holds Reals or Arrays: the same call on values and on identifiers."""
    if dtype is not None and np.dtype(dtype).kind == "V" and np.any(_flat_identifiers(tree)):
        raise ActiveError("a structured array cannot be active: keep one array for each field")
    kwargs.pop("like", None)
    values = function(_leaves(plain, tree), dtype, *args, **kwargs)
    if values.dtype == object:
        return array_of_objects(function, tree, *args, **kwargs)
    if values.dtype.kind != "f":
        return values  # integers and flags have no derivative, and text has none either
    moved = gather(values, np.array(_leaves(identifiers, tree), dtype=np.int32).reshape(values.shape))
    return moved if type(moved) is Array else fresh(values)


def array(object, dtype=None, *, copy=True, order="K", subok=False, ndmin=0, like=None, **deepest):
    """``numpy.array``; of Reals and Arrays in nested lists an Array that depends on what they depend on."""
    if deepest and np.array(_leaves(_number, object), dtype, **deepest).dtype == np.object_:  # ndmax, from NumPy 2.4 on
        return np.array(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, **deepest)
    if type(object) is list and dtype is None and order == "K" and ndmin == 0 and copy is not False:
        made = nested_numbers(object)
        if made is not None:
            return made
    if type(copy) is np._CopyMode:  # as libraries say it that know NumPy 1 too
        copy = {"ALWAYS": True, "IF_NEEDED": None, "NEVER": False}[copy.name]
    object = _given(object, dtype)
    if holds_movable(object):
        return _converted(np.array, object, dtype, copy=copy, order=order, ndmin=ndmin)
    made = np.array(object, dtype, copy=copy, order=order, subok=subok, ndmin=ndmin, like=like)
    return fresh(made) if copy or _is_new(made, object) else made


def _converted(function, x, dtype, *args, **kwargs):
    """`function`, which copies where it must, of what holds Reals or Arrays: a view where NumPy gives one."""
    if isinstance(x, np.ndarray) and (sees_objects(x) if dtype is None else np.dtype(dtype) == object):
        return function(x, dtype, *args, **kwargs)  # of objects as they are, which others may have
    if isinstance(x, np.ndarray) and dtype is None:
        x = x.tolist()
    if _is_of_complex(x, dtype):
        return door("complexes")().array(function, x, dtype, *args, **kwargs)
    if type(x) is not Array:
        if kwargs.get("copy") is False:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return _of_movables(function, x, dtype, *args, **kwargs)
    shown = Shown()
    values = function(shown.tree(x), dtype, *args, **kwargs)
    view = shown.view(values)
    if view is not None:
        return view
    if values.dtype.kind != "f":
        return x.astype(values.dtype)  # or the reason why not
    order = "C" if values.flags.c_contiguous else "F" if values.flags.f_contiguous else "K"
    made = x.copy(order) if values.dtype == x.dtype else x.astype(values.dtype).copy(order)
    return made if made.ndim == values.ndim else made.reshape(values.shape)


def _given(x, dtype):
    """The Array that an ``__array__`` of the user's gives, or the ndarray; `x` itself if it has none."""
    if isinstance(x, np.ndarray) or type(x) in _MOVABLE:
        return x
    method = getattr(type(x), "__codipy_array__", method_of(x, "__array__"))
    if method is None:
        return x
    made = method(x) if dtype is None else method(x, dtype)
    return made if type(made) in _MOVABLE or isinstance(made, np.ndarray) else x


def _is_new(made, source):
    """Whether an ndarray made from `source` shares no data with it, as far as one can know."""
    if isinstance(source, np.ndarray):
        return not np.may_share_memory(made, source)
    return isinstance(source, (list, tuple, range, int, float, np.generic))  # anything else may lend its data


def _converts(function):
    """A function of NumPy that returns its argument where it can, as one of this module."""

    @functools.wraps(function, updated=())
    def convert(a, dtype=None, *args, **kwargs):
        a = _given(a, dtype)
        if holds_movable(a):
            return _converted(function, a, dtype, *args, **kwargs)
        made = function(a, dtype, *args, **kwargs)
        return fresh(made) if _is_new(made, a) else made

    return convert


asarray, asanyarray = _converts(np.asarray), _converts(np.asanyarray)
_require = _converts(np.require)
ascontiguousarray, asfortranarray = _converts(np.ascontiguousarray), _converts(np.asfortranarray)


def as_numbers(x, dtype=None):
    """`asarray` for rules, to which an array of objects that are all numbers is an array of numbers."""
    if isinstance(x, np.ndarray) and x.dtype == object and holds_movable(x) and not is_of_objects(x):
        x = x.tolist()
    return asarray(x, dtype)


def given(x):
    """What NumPy computes with for an object that is no array, by its ``__array__``; `x` itself where it has none."""
    if isinstance(x, (np.ndarray, np.generic)) or not hasattr(type(x), "__array__"):
        return x
    made = asarray(x)
    return made if made.dtype.kind in "fiub" else x


def of_objects(x):
    """The numbers that NumPy makes of an array of objects where it needs some: an Array, if there is a variable."""
    return asarray(x, float) if holds_movable(x) else x.astype(float)


def objects_as_type(x, dtype, order="K", casting="unsafe", subok=True, copy=True):
    """``x.astype(...)`` of an array of objects with a variable among them."""
    if np.dtype(dtype) == object:
        return x.astype(dtype, order, casting, subok, copy)
    np.empty(0, object).astype(dtype, order, casting)  # or what NumPy raises
    return array(x, dtype, order=order)


@functools.wraps(np.require, updated=())
def require(a, dtype=None, requirements=None, **kwargs):
    if not requirements or not holds_movable(a):
        return _require(a, dtype, requirements, **kwargs)
    # Whether an Array owns its data is its own affair: a stand-in never does.
    wanted = {text.upper() for text in requirements}
    made = _require(a, dtype, wanted - {"O", "OWNDATA"}, **kwargs)
    if not wanted & {"O", "OWNDATA"} or made.flags.owndata:
        return made
    names = "".join(wanted - {"O", "OWNDATA", "W", "WRITEABLE", "A", "ALIGNED", "E", "ENSUREARRAY"})
    return made.copy(names[:1] or "A")


@functools.wraps(np.asarray_chkfinite, updated=())
def asarray_chkfinite(a, dtype=None, order=None):
    np.asarray_chkfinite(_leaves(plain, a), dtype, order)
    return asarray(a, dtype, order)


@functools.wraps(np.copy, updated=())
def copy(a, order="K", subok=False):
    return array(a, order=order, subok=subok)


def _number(x):
    return x.value if is_complex_variable(x) else plain(x)


@functools.wraps(np.fromiter, updated=())
def fromiter(iter, dtype, count=-1, *, like=None):
    if np.dtype(dtype) == np.object_:
        return np.fromiter(iter, dtype, count)  # each as it is
    items = [x if type(x) in PLAIN or type(x) is Real else copied(x)
             for x in (iter if count < 0 else itertools.islice(iter, count))]
    if not holds_movable(items):
        return fresh(np.fromiter(items, dtype, count, like=like))
    values = np.fromiter(_leaves(_number, items), dtype, count)  # raises what NumPy does: too few, or no numbers
    if values.ndim == 1:  # items of one element are numbers to NumPy, up to 2.3
        items = [x.reshape(-1)[0] if type(x) is Array else x for x in items]
    if values.dtype.kind != "c":  # NumPy has warned
        items = [x.real if np.iscomplexobj(_number(x)) else x for x in items]
    return array(items, values.dtype)


@functools.wraps(np.full, updated=())
def full(shape, fill_value, dtype=None, *args, **kwargs):
    if type(kwargs.get("like")) is Array:
        kwargs["like"] = None  # it says that the result is an Array, which it is
    if _is_of_complex(fill_value, dtype) and holds_movable(fill_value):
        return door("complexes")().full(np.full, shape, fill_value, dtype, *args, **kwargs)
    return _filled(np.full(shape, _leaves(plain, fill_value), dtype, *args, **kwargs), fill_value)


@functools.wraps(np.full_like, updated=())
def full_like(a, fill_value, *args, **kwargs):
    a = _leaves(_number, a) if type(a) in (list, tuple) else plain(a)
    if holds_movable(fill_value) and (
        _is_of_complex(fill_value, None) or np.empty_like(a, *args, **kwargs).dtype.kind == "c"
    ):
        return door("complexes")().full(np.full_like, a, fill_value, *args, **kwargs)
    return _filled(np.full_like(a, _leaves(plain, fill_value), *args, **kwargs), fill_value)


def _filled(values, fill_value):
    """An array whose values were broadcast from `fill_value`, with the identifiers broadcast likewise."""
    if not holds_movable(fill_value) or values.dtype.kind not in "fO":
        return fresh(values)
    if not _is_movable(fill_value):
        fill_value = array(fill_value)
    if values.dtype == object:
        values[...] = door("as objects")(fill_value)
        return values
    is_boxed = isinstance(fill_value, np.ndarray) and fill_value.dtype == object  # numbers beside a fraction, say
    numbers = each(identifiers, fill_value).astype(np.int32) if is_boxed else identifiers(fill_value)
    moved = gather(values, np.array(np.broadcast_to(numbers, values.shape)))
    return moved if type(moved) is Array else fresh(values)


@functools.wraps(np.linspace, updated=())
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0, **kwargs):
    if sees_objects(start) or sees_objects(stop):
        start, stop = map(door("as objects"), (start, stop))
        return np.linspace(start, stop, num, endpoint, retstep, dtype, axis, **kwargs)
    if any(type(x) in _MOVABLE or isinstance(x, (list, tuple)) for x in (start, stop)) and (
        any(_is_of_complex(x, None) for x in (start, stop)) or dtype is not None and np.dtype(dtype).kind == "c"
    ):
        options = {"num": num, "endpoint": endpoint, "retstep": retstep, "axis": axis, "dtype": dtype}
        return door("complexes")().array_function(np.linspace, (), (start, stop), options)
    start, stop = _gathered(start), _gathered(stop)
    if np.ndim(_plain(start)) or np.ndim(_plain(stop)):
        kind = np.linspace(_plain(start), _plain(stop), 0).dtype  # a float of Python's is as precise as the array
        if type(start) is Real:
            start = full(np.shape(_plain(stop)), start, kind)
        elif type(stop) is Real:
            stop = full(np.shape(_plain(start)), stop, kind)
    if type(start) is not Real and type(stop) is not Real:
        made = np.linspace(start, stop, num, endpoint, retstep, dtype, axis, **kwargs)
        return (fresh(made[0]), made[1]) if retstep else fresh(made)
    values, step = np.linspace(_plain(start), _plain(stop), num, endpoint, True, dtype, axis, **kwargs)
    if values.dtype.kind not in "fO":
        return (values, step) if retstep else values
    # NumPy's own operations in NumPy's order, so that the values are the same bit for bit.
    count = operator.index(num)
    parts = count - 1 if endpoint else count
    inner = np.linspace(_plain(start), _plain(stop), 0).dtype
    steps = fresh(np.arange(count, dtype=inner))
    length = _in(stop, inner) - _in(start, inner)
    made, step = steps * length, np.nan
    if parts > 0:
        step = length / parts
        made = steps / parts * length if _plain(step) == 0.0 else steps * step
    made = made + _in(start, inner)
    if endpoint and count > 1:
        made[-1] = stop
    made = made.astype(values.dtype, copy=False)
    return (made, step) if retstep else made


def _in(x, dtype):
    return converted(x, dtype.type) if type(x) is Real else dtype.type(x)


@functools.wraps(np.logspace, updated=())
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, **kwargs):
    if any(map(sees_objects, (start, stop, base))):
        start, stop, base = map(door("as objects"), (start, stop, base))
        return np.logspace(start, stop, num, endpoint, base, dtype, **kwargs)
    start, stop, base = map(_gathered, (start, stop, base))
    if not any(type(x) is Real for x in (start, stop, base)):
        return fresh(np.logspace(start, stop, num, endpoint, base, dtype, **kwargs))
    if np.ndim(base):  # NumPy gives an array of bases the axis of the grid
        ndim = max(map(np.ndim, (start, stop, base)))
        start, stop, base = (array(x, ndmin=ndim) for x in (start, stop, base))
        base = np.expand_dims(base, kwargs.get("axis", 0))
    made = np.power(base, linspace(start, stop, num, endpoint, **kwargs))
    return made if dtype is None else made.astype(dtype)


@functools.wraps(np.geomspace, updated=())
def geomspace(start, stop, *args, **kwargs):
    return _geomspace(_gathered(start), _gathered(stop), *args, **kwargs)


@functools.wraps(np.arange, updated=())
def arange(*args, **kwargs):
    args, kwargs = tuple(map(_without_axes, args)), {name: _without_axes(x) for name, x in kwargs.items()}
    if not any(type(x) is Real for x in (*args, *kwargs.values())):
        return fresh(np.arange(*args, **kwargs))
    values = np.arange(*map(_plain, args), **{name: _plain(x) for name, x in kwargs.items()})
    if values.dtype == np.complex128:
        return arange(*args, **kwargs | {"dtype": float}).astype(complex)
    if values.dtype.kind not in "fO" or values.size == 0:
        return values
    given = dict(zip(("start", "stop", "step"), args)) | kwargs
    start = 0.0 if given.get("stop") is None else given.get("start", 0.0)  # the first one alone says where it ends
    step = 1.0 if given.get("step") is None else given["step"]
    if not (_is_movable(start) or _is_movable(step)):
        return fresh(values)
    # NumPy computes the first two elements, and goes on by their difference.
    if values.dtype != np.float64:
        raise ActiveError(f"np.arange: dtype={values.dtype} would lose the derivative: leave it away")
    return fresh(np.arange(float(values.size))) * (start + step - start) + start


def _without_axes(x):
    """The number that an array without axes holds; anything else as it is."""
    return x[()] if type(x) is Array and not x.ndim else x


def _gathered(x):
    """The Array of a list of active numbers; anything else as it is."""
    return array(x) if type(x) in (list, tuple) and holds_movable(x) else x


def _plain(x):
    return x.value if type(x) is Real else x
