# SPDX-License-Identifier: Apache-2.0
"""The active array."""
import operator
import sys

import numpy as np

from cpython.buffer cimport PyObject_GetBuffer
from cpython.long cimport PyLong_CheckExact
from cpython.object cimport PyObject, PyTypeObject
cimport cython

from codipy.active.arrays.compute cimport materialise, settle
from codipy.active.arrays.conversion cimport (
    asks_for_product, as_type, converted, copied, demand_passive, instead_of_asarray, nested_lists,
    of_python)
from codipy.active.arrays.packing cimport any_identifier, from_ndarray
from codipy.active.arrays.plain cimport ndarray_of
from codipy.active.arrays.protocol cimport short_way
from codipy.active.arrays.reductions cimport add_reduce, add_reduce_as_asked
from codipy.active.arrays.views cimport as_view
from codipy.active.core.base_array cimport EMPTY, BaseArray, array_type, is_single, new_view
from codipy.active.identified cimport identifiers_of
from codipy.active.inputs cimport get_gradient, get_tangent, set_gradient, set_tangent
from codipy.active.items cimport get_item, item_at, set_item
from codipy.active.operators cimport (
    apply1, apply2, apply_row, both, compared, floor_divide, in_place, matmul, power, times, written)
from codipy.active.scalar.expression cimport codipy_is_temporary
from codipy.active.storage.view cimport shape_tuple
from codipy.operations.kernels cimport (
    OP_ABSOLUTE, OP_ADD, OP_DIVIDE, OP_MOD, OP_MULTIPLY, OP_NEGATIVE, OP_POSITIVE, OP_SUBTRACT)
from codipy.tape.activity cimport current, is_passive
from codipy.tape.provenance.watching cimport watcher

from codipy.active.doors import door, method as ndarray_method
from codipy.active.messages.callers import in_rebound_code, is_storing
from codipy.errors import TapeError
from codipy.active.recordings.recognised import note_taken
from codipy.active.scalar.kinds import ClassOf, matched_as_ndarray
from codipy.tape.signatures import Signature

cdef extern from "Python.h":
    void PyType_Modified(PyTypeObject*)

cdef object SUM = np.sum, MEAN = np.mean, ADD = np.add, MATMUL = np.matmul


cdef bint shows_memory(Array a):
    """Whether C code may read the values: nothing is active, and no sparse matrix asks, which wants to be refused."""
    if a.is_active and not is_passive():
        return False
    return current() == NULL or not asks_for_product(sys._getframe())


cdef bint stands_for_plain(Array a):
    """Whether who asks for the values may be a library that in the plain run gets the user's array."""
    return a.pending is None and current() != NULL and in_rebound_code()


cdef object of_memory(Array a, str name):
    """What a library reads the values by."""
    demand_passive(a, f"{name} of an active Array", f"take codipy.value(x).{name}")
    values = show_to_library(a, np.array(a.value) if name == "ctypes" else a.value)
    if name == "ctypes" and stands_for_plain(a):
        from codipy.active.arrays.shown import keep
        keep(values)
    return getattr(values, name)


cdef bint is_own_type(Array a, tuple args, dict kwargs):
    """Whether a view is asked for as what the array is already."""
    given = dict(zip(("dtype", "type"), args)) | kwargs
    kinds = (Array, np.ndarray)
    if "dtype" in given and given["dtype"] not in kinds:      # None, too, which is float64
        given["dtype"] = Array if np.dtype(given["dtype"]) == a.dtype else given["dtype"]
    return given.keys() <= {"dtype", "type"} and all([x is Array or x == np.ndarray for x in given.values()])


cdef object show_to_library(Array a, object values):
    """What a library gets that asked for the values of an array, of which these are a copy."""
    if not stands_for_plain(a):
        return values
    from codipy.active.arrays.shown import show
    return show(a, values)


@cython.final
@cython.no_gc
@cython.c_api_binop_methods(True)
cdef class Array(BaseArray):
    """Array(value)
    --

    A NumPy array that a tape can follow.

    Behaves as an ``ndarray`` of float64 or float32: indexing, views, writes, operators, NumPy's functions. It is none,
    so that what would lose a derivative fails.

    Parameters
    ----------
    value : array_like
        Real numbers, copied; Reals and Arrays among them, in nested lists, stay active. At most 8 dimensions. float32
        stays float32, all else becomes float64.

    Raises
    ------
    TypeError
        Of what holds no real numbers.
    ActiveError
        Of an array of more dimensions.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> tape = codipy.Tape()
    >>> with tape:
    ...     x = tape.register_input(np.array([1.0, 2.0, 3.0]))
    ...     y = x[1:] * x[:-1]
    ...     y[0] = 5.0
    ...     s = tape.register_output(y[0] + y[1])
    >>> s.gradient = 1.0
    >>> tape.evaluate()
    >>> x.gradient
    array([0., 3., 2.])
    """
    __signature__ = Signature()
    __array_priority__ = 1000.0
    __hash__ = None
    def __init__(self, value=()):
        cdef BaseArray source
        if self.storage is not EMPTY or self.pending is not None:
            raise TypeError("an Array is initialised once")
        source = converted(value)
        self.storage, self.geometry = source.storage, source.geometry

    # ---- Value and derivative ----

    @property
    def value(self):
        """ndarray: the plain values, not writable; it does not change when the Array is written to."""
        settle(self)
        return ndarray_of(self) if watcher is None else watcher.plain(self, ndarray_of(self))

    @property
    def is_active(self):
        """bool: whether an element depends on a registered input."""
        if self.pending is not None:
            return bool(self.pending.active)
        if self.storage.identifiers != NULL:
            return any_identifier(self)
        return self.storage.block is not None

    @property
    def identifier(self):
        """ndarray of int32: of its shape, what names each element's slot in adjoint vectors; see ``Adjoints.at``.

        0 where nothing is active. Nobody else gets the slots before the tape is reset. Reals that are taken from the
        array, ``a[1]``, have these too, but with the strategies 'primal-reuse' and 'forward', where they are copies.
        """
        return identifiers_of(self)

    @property
    def gradient(self):
        """ndarray of float64: the adjoints in the tape's own vector; of an input those of what was registered."""
        return get_gradient(self)

    @gradient.setter
    def gradient(self, seed):
        set_gradient(self, seed)

    @property
    def tangent(self):
        """ndarray: the derivatives of the elements along the seeds of a tape of strategy 'forward', with more directions than
        one along a last axis; set it to seed an input that nothing has read yet."""
        return get_tangent(self)

    @tangent.setter
    def tangent(self, seed):
        set_tangent(self, seed)

    # ---- Shape ----

    @property
    def shape(self):
        """tuple of int"""
        return shape_tuple(&self.geometry)

    @shape.setter
    def shape(self, shape):
        cdef Array other = self.reshape(shape)
        if other.storage is not self.storage:
            raise AttributeError("incompatible shape for in-place modification: use reshape()")
        self.geometry = other.geometry

    @property
    def ndim(self):
        """int"""
        return self.geometry.ndim

    @property
    def size(self):
        """int"""
        return self.geometry.size

    @property
    def dtype(self):
        """numpy.dtype"""
        return np.dtype(np.float32 if is_single(self) else np.float64)

    @property
    def itemsize(self):
        """int: bytes of an element's value in `value`"""
        return 4 if is_single(self) else 8

    @property
    def nbytes(self):
        """int: bytes of the values shown, in `value`"""
        return self.itemsize * self.geometry.size

    @property
    def strides(self):
        """tuple of int: in bytes"""
        return tuple([self.itemsize * self.geometry.strides[k] for k in range(self.geometry.ndim)])

    @property
    def flags(self):
        """Flags: as ``ndarray.flags``; ``x.flags.writeable = False`` forbids writing through this variable"""
        materialise(self)
        return door("flags")(self)

    def setflags(self, write=None, align=None, uic=None):
        """As ``ndarray.setflags``."""
        if align is not None and not align or uic:
            raise ValueError("an Array is aligned, and no copy of another that it writes back to")
        if write is not None:
            if write and self.owner is not None and self.owner.readonly:
                raise ValueError("cannot set WRITEABLE flag to True of this array")
            self.readonly = not write

    def _write_as(self, Array other):
        """May be written where `other` may, whatever became of the base since."""
        self.readonly = other.readonly

    @property
    def base(self):
        """Array or None: the one whose elements these are; None of an Array with elements of its own"""
        return self.owner

    @property
    def device(self):
        """str: "cpu" """
        return "cpu"

    @property
    def T(self):
        """The transpose, a view."""
        return self.transpose()

    @property
    def mT(self):
        """The transpose of the last two dimensions, a view."""
        if self.geometry.ndim < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        return self.swapaxes(-1, -2)

    @property
    def real(self):
        """The Array itself."""
        return self

    @real.setter
    def real(self, value):
        self[...] = value

    @property
    def imag(self):
        """Zeros, read-only."""
        zeros = from_ndarray(np.zeros(self.shape, self.dtype, "F" if self.flags.fnc else "C"))
        zeros.readonly = True
        return zeros

    def __len__(self):
        if self.geometry.ndim == 0:
            raise TypeError("len() of unsized object")
        return self.geometry.shape[0]

    def reshape(self, *shape, order="C", copy=None):
        """As ``ndarray.reshape``: a view where that is possible, and asked for."""
        if len(shape) == 1 and not PyLong_CheckExact(shape[0]):
            shape = shape[0]
        if copy is not None:
            return as_view(self, "reshape", (shape,), {"order": order, "copy": copy})
        return as_view(self, "reshape", (shape,), {"order": order})

    def ravel(self, order="C"):
        """As ``ndarray.ravel``: a view where that is possible."""
        return as_view(self, "ravel", (order,), {})

    def flatten(self, order="C"):
        """As ``ndarray.flatten``: a copy."""
        return as_view(self, "flatten", (order,), {})

    def transpose(self, *axes):
        """As ``ndarray.transpose``: a view."""
        return as_view(self, "transpose", axes, {})

    def swapaxes(self, axis1, axis2):
        """As ``ndarray.swapaxes``: a view."""
        return as_view(self, "swapaxes", (axis1, axis2), {})

    def squeeze(self, axis=None):
        """As ``ndarray.squeeze``: a view."""
        return as_view(self, "squeeze", (axis,), {})

    def diagonal(self, offset=0, axis1=0, axis2=1):
        """As ``ndarray.diagonal``: a read-only view."""
        return as_view(self, "diagonal", (offset, axis1, axis2), {})

    def view(self, *args, **kwargs):
        """A second Array on the same elements, or pairs of them as complex numbers; others see passive values alone."""
        if (args or kwargs) and not is_own_type(self, args, kwargs):
            found = door("complexes")().of_parts(self, *args, **kwargs)
            if found is not None:
                return found
            if self.is_active:
                raise TypeError("an active Array has no views of another dtype or type: take codipy.value(x).view(...)")
            return show_to_library(self, np.array(self.value)).view(*args, **kwargs)
        materialise(self)
        return new_view(self, &self.geometry)

    def copy(self, order="C"):
        """A copy: values and identifiers are shared until one of the two is written to."""
        return copied(self, order)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce__(self):
        demand_passive(self, "pickling of an active Array", "pickle codipy.value(x)")
        return Array, (np.array(self.value),)

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """As ``ndarray.astype``: float64 and float32 stay active; integers and booleans are plain values."""
        return as_type(self, dtype, order, casting, subok, copy)

    # ---- Elements ----

    def __getitem__(self, index):
        return get_item(self, index)

    def __setitem__(self, index, value):
        if self.readonly:
            raise ValueError("assignment destination is read-only")      # whatever is wrong with the index
        set_item(self, index, value)

    def __delitem__(self, index):
        raise ValueError("cannot delete array elements")

    def __iter__(self):
        if self.geometry.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self)))

    def __contains__(self, item):
        return item in self.value

    def item(self, *args):
        """As ``ndarray.item``: one element, a Real that stands for a float of Python."""
        return of_python(item_at(self, args))

    def tolist(self):
        """Nested lists of Reals, of floats where nothing is active."""
        return nested_lists(self)

    def fill(self, value):
        """Write one value into all elements."""
        from codipy.active.arrays.flat import one_number       # not with `import codipy`
        self[...] = one_number(value, np.empty(()).fill)

    @property
    def flat(self):
        """The elements in C order; ``a.flat[i]`` and ``a.flat[i] = v`` work."""
        return door("flat")(self)

    @flat.setter
    def flat(self, value):
        if type(value) is Array and self.flags.f_contiguous and not value.flags.f_contiguous:
            value = value.copy()     # as NumPy, which so sees no longer that they overlap
        door("flat")(self)[:] = value

    # ---- Arithmetic ----

    def __add__(x, y):
        return apply2(OP_ADD, <PyObject*>x, <PyObject*>y)

    def __sub__(x, y):
        return apply2(OP_SUBTRACT, <PyObject*>x, <PyObject*>y)

    def __mul__(x, y):
        return times(<PyObject*>x, <PyObject*>y)

    def __truediv__(x, y):
        return apply2(OP_DIVIDE, <PyObject*>x, <PyObject*>y)

    def __mod__(x, y):
        return apply2(OP_MOD, <PyObject*>x, <PyObject*>y)

    def __pow__(x, y, modulus):
        if modulus is not None:
            raise TypeError("pow() of an Array takes two arguments")
        return power(<PyObject*>x, <PyObject*>y)

    def __floordiv__(x, y):
        return floor_divide(<PyObject*>x, <PyObject*>y)

    def __divmod__(x, y):
        return both(<PyObject*>x, <PyObject*>y)

    def __matmul__(x, y):
        return matmul(x, y)

    def __neg__(self):
        return apply1(OP_NEGATIVE, <PyObject*>self)

    def __pos__(self):
        return apply1(OP_POSITIVE, <PyObject*>self)

    def __abs__(self):
        return apply1(OP_ABSOLUTE, <PyObject*>self)

    def __iadd__(self, other):
        return in_place(OP_ADD, self, <PyObject*>other)

    def __isub__(self, other):
        return in_place(OP_SUBTRACT, self, <PyObject*>other)

    def __imul__(self, other):
        return in_place(OP_MULTIPLY, self, <PyObject*>other)

    def __itruediv__(self, other):
        return in_place(OP_DIVIDE, self, <PyObject*>other)

    def __imod__(self, other):
        return in_place(OP_MOD, self, <PyObject*>other)

    def __ipow__(self, other):
        return written(self, operator.pow, other)

    def __ifloordiv__(self, other):
        return written(self, operator.floordiv, other)

    def __imatmul__(self, other):
        return written(self, operator.matmul, other)

    # ---- Passive results ----

    def __richcmp__(self, other, int op):
        return compared(self, other, op)

    def __bool__(self):
        return bool(self.value)

    def __int__(self):
        return int(self.value)

    # ---- Leaving ----

    def __float__(self):
        if self.geometry.size != 1 or self.geometry.ndim:
            raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
        return float(self.item())

    def __complex__(self):
        return complex(float(self))

    def __index__(self):
        raise TypeError("an Array is no integer: take codipy.value(x).astype(int)")

    def __array__(self, dtype=None, copy=None):
        if current() != NULL and asks_for_product(sys._getframe()):
            box = np.empty((), dtype=object)        # a sparse matrix then leaves `matrix @ x` to x
            box[()] = self
            return box
        if self.is_active and current() != NULL and is_storing(sys._getframe()):
            try:
                return door("boxed")(self)      # into an array of objects; one of numbers asks each Real for a float
            except TapeError:
                pass                            # of another recording
        if dtype is not None and np.dtype(dtype).kind in "iub":
            return self.astype(dtype)       # a step function, whose result has no derivative to lose
        demand_passive(self, "np.asarray() of an active Array, or a function that calls it,",
                       instead_of_asarray(sys._getframe(), dtype))
        values = np.array(self.value, dtype=dtype)
        return values if copy is True else show_to_library(self, values)

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        # Read-only, or a copy: the memory may be shared with other Arrays.
        if not shows_memory(self):
            raise BufferError("the memory of an active Array would lose its derivative: take codipy.value(x)")
        settle(self)
        values = show_to_library(self, np.array(self.value)) if stands_for_plain(self) else ndarray_of(self)
        PyObject_GetBuffer(values, buffer, flags)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        # What is called all the time goes straight to the table; the doors are Python.
        if not kwargs and method == "__call__":
            result = apply_row(ufunc, inputs, <PyObject*>self)
            if result is NotImplemented and ufunc is MATMUL:
                result = short_way(ufunc, inputs, kwargs)
            if result is not NotImplemented:
                return result
        elif method == "reduce" and ufunc is not ADD:
            result = short_way((ufunc, method), inputs, kwargs)
            if result is not NotImplemented:
                return result
        return door("ufunc")(ufunc, method, inputs, kwargs)

    def sum(self, axis=None, dtype=None, out=None, keepdims=False, *args, **kwargs):
        """As ``ndarray.sum``."""
        if dtype is not None or out is not None or args or kwargs:
            return ndarray_method("sum")(self, axis, dtype, out, keepdims, *args, **kwargs)
        return add_reduce(self, axis, keepdims, False, codipy_is_temporary(<PyObject*>self))

    def mean(self, axis=None, dtype=None, out=None, keepdims=False, **kwargs):
        """As ``ndarray.mean``."""
        if dtype is not None or out is not None or kwargs:
            return ndarray_method("mean")(self, axis, dtype, out, keepdims, **kwargs)
        return add_reduce(self, axis, keepdims, True, codipy_is_temporary(<PyObject*>self))

    def __array_function__(self, func, types, args, kwargs):
        for kind in types:
            if kind is not Array and getattr(kind, "is_complex_variable", False) is True:
                return NotImplemented       # a ComplexArray knows what to do with an Array
        if func is SUM or func is MEAN:
            result = add_reduce_as_asked(args, kwargs, func is MEAN, 0)
        else:
            result = short_way(func, args, kwargs)
        if result is not NotImplemented:
            return result
        return door("function")(func, types, args, kwargs)

    # NumPy 2.0 asks the class for these two.
    def __dlpack__(self, **kwargs):
        return of_memory(self, "__dlpack__")(**kwargs)

    def __dlpack_device__(self):
        return of_memory(self, "__dlpack_device__")()

    def __getattr__(self, str name):
        if name in ("ctypes", "data", "tobytes", "tofile", "dump", "dumps"):
            return of_memory(self, name)
        if name == "tangent":
            return get_tangent(self)      # which has said why there is none
        if name == "__array_interface__" and shows_memory(self):
            return self.value.__array_interface__
        function = None if name.startswith("_") and name != "__array_namespace__" else ndarray_method(name)
        if function is None:
            raise AttributeError(f"'Array' object has no attribute {name!r}")
        install(door("methods"))
        return function.__get__(self)

    def __repr__(self):
        if in_rebound_code():
            note_taken()
            return repr(self.value)
        text = repr(self.value).replace("array(", "Array(", 1)
        return f"{text[:len(text) - 1]}, active)" if self.is_active else text

    def _repr_html_(self):
        from codipy.active.html import array_html      # notebooks alone ask for it
        return array_html(self.value, self.is_active)

    def __str__(self):
        note_taken()
        return str(self.value)

    def __format__(self, spec):
        note_taken()
        return format(self[()], spec) if self.geometry.ndim == 0 else format(self.value, spec)


cdef int install(dict methods) except -1:
    """Let the class have them: an attribute that it has not costs as much as a product of two small matrices."""
    for name, function in methods.items():
        (<dict>(<PyTypeObject*>Array).tp_dict).setdefault(name, function)
    PyType_Modified(<PyTypeObject*>Array)
    return 0


array_type = <PyTypeObject*>Array
(<dict>(<PyTypeObject*>Array).tp_dict)["__class__"] = ClassOf()
matched_as_ndarray(Array)
