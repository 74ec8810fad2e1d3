# SPDX-License-Identifier: Apache-2.0
"""The short way from `__array_function__` to the tape: primitives and movements whose arguments need no looking into.

What is asked of a call is one table, which the doors make: a Primitive, the places of the arguments that move, or a
word: "seen" is the first argument, "values" give a result that stays plain, "fresh" is a way for passive arguments only.
All else goes the long way, through `codipy.numpy.functions`, and comes to the same.
"""
import numpy as np

cimport numpy as cnp

from codipy.active.arrays.calls cimport call
from codipy.active.arrays.choosing cimport choose_clip, choose_where
from codipy.active.arrays.compute cimport settle
from codipy.active.arrays.joining cimport join
from codipy.active.arrays.packing cimport any_identifier, from_ndarray, gather, identifiers, with_gaps
from codipy.active.arrays.plain cimport is_view_of, plain_of, shown_as, stand_in
from codipy.active.core.base_array cimport BaseArray, is_array
from codipy.active.scalar.real cimport Real
from codipy.tape.activity cimport current, is_passive

from codipy.active.doors import door

cnp.import_array()

cdef object ndarray = np.ndarray      # looked up once

cdef frozenset PLAIN = frozenset({int, float, bool, str, type(None), np.float64, np.int64})
cdef frozenset NUMBERS = frozenset({np.float64, np.float32, np.int64, np.bool_, float, int, bool})
cdef frozenset LOOKED_INTO = frozenset({"out", "dtype", "casting"})     # names that mean more than they say
cdef dict table = None, outs = None       # of `outs` the keys are functions and the items places of `out`
cdef object WHERE = np.where, CLIP = np.clip, DIFF = np.diff
cdef tuple BEHIND = (..., slice(1, None)), BEFORE = (..., slice(None, -1))


cdef object short_way(object func, tuple args, dict kwargs):
    global table, outs
    cdef bint active = False
    if current() == NULL or is_passive():
        return NotImplemented
    if table is None:
        table, outs = door("short"), door("outs")()
    for name in LOOKED_INTO if kwargs else ():
        if name in kwargs:
            if kwargs[name] is not None:
                return NotImplemented
            kwargs = {key: value for key, value in kwargs.items() if key != name}
    if len(args) > 1:
        place = outs.get(func)
        if place is not None and len(args) > <Py_ssize_t>place and args[place] is not None:
            return NotImplemented
    if not kwargs and (func is WHERE or func is CLIP):
        result = choose_where(args) if func is WHERE else choose_clip(args)
        if result is not NotImplemented:
            return result
    if func is DIFF and not kwargs and len(args) == 1 and is_array(args[0]) and (<BaseArray>args[0]).geometry.ndim:
        return args[0][BEHIND] - args[0][BEFORE]
    result = join(func, args, kwargs)
    if result is not NotImplemented:
        return result
    known = table.get(func)
    if known is None:
        return NotImplemented
    for value in kwargs.values():
        if type(value) not in PLAIN and not is_of_numbers(value):
            return NotImplemented
    if type(known) is str and known == "seen":
        return seen(func, args, kwargs)
    if is_passive_call(args):
        return of_values(func, args, kwargs, known)
    if type(known) is tuple:
        return moved(func, <tuple>known, args, kwargs)
    if type(known) is str:
        return NotImplemented
    for x in args:
        if is_array(x):
            active |= is_active(<BaseArray>x)
        elif type(x) is Real:
            active |= (<Real>x).epoch != 0
        elif type(x) not in PLAIN and not is_of_numbers(x) and not is_numeric(x):
            return NotImplemented
    return call(known, args, kwargs) if active else NotImplemented


cdef bint is_passive_call(tuple args) except? True:
    """Whether arguments are Arrays, Reals and plain things of which nothing is active, by position."""
    cdef bint active = False
    for x in args:
        if type(x) in PLAIN:
            if x is True:        # such as overwrite_input, which the long way leaves away
                return False
        elif not is_of_numbers(x) and not has_active(x, &active) or active:
            return False
    return True


cdef object of_values(object func, tuple args, dict kwargs, object known):
    """NumPy's function of the values, where nothing is active; its result can be filled, as that of the long way.

    The long way has all else: errors, views, results in tuples, and products of what shares its values here alone.
    """
    cdef list values = []
    cdef bint plain = type(known) is str and known == "values", multiplies = not plain and type(known) is not tuple
    if "overwrite_input" in kwargs:
        return NotImplemented
    if type(func) is tuple:
        func = getattr(func[0], func[1])
    for x in args:
        if type(x) in PLAIN or is_of_numbers(x):
            values.append(x)
            continue
        if multiplies and (type(x) is list or type(x) is tuple):
            return NotImplemented
        if multiplies and is_array(x):
            for y in args[:len(values)]:
                if is_array(y) and shares_values(<BaseArray>x, <BaseArray>y):
                    return NotImplemented
        values.append(values_of(x))
    if plain:
        return func(*values, **kwargs)
    try:
        found = func(*values, **kwargs)
    except Exception:
        return NotImplemented
    if type(found) is not ndarray:
        return found if type(found) in NUMBERS else NotImplemented
    if cnp.PyArray_BASE(<cnp.ndarray>found) != NULL or not cnp.PyArray_CHKFLAGS(
            <cnp.ndarray>found, cnp.NPY_ARRAY_OWNDATA | cnp.NPY_ARRAY_WRITEABLE):
        return NotImplemented
    for x in values:
        if x is found:
            return NotImplemented
    if cnp.PyArray_TYPE(<cnp.ndarray>found) not in (cnp.NPY_DOUBLE, cnp.NPY_FLOAT):
        return found if cnp.PyArray_TYPE(<cnp.ndarray>found) in (cnp.NPY_BOOL, cnp.NPY_INTP) else NotImplemented
    return with_gaps(<cnp.ndarray>found)


cdef bint shares_values(BaseArray a, BaseArray b) except? True:
    """Whether two variables have the same memory here, though they may have none in common in the plain run."""
    settle(a)
    settle(b)
    return a.storage is not b.storage and a.storage.buffer is b.storage.buffer


cdef object seen(object func, tuple args, dict kwargs):
    """What NumPy gives views of its stand-in for, as views of the Array; all else goes the long way."""
    cdef BaseArray a
    if len(args) == 0 or not is_array(args[0]) or not is_active(<BaseArray>args[0]):
        return NotImplemented
    for x in args[1:]:
        if type(x) not in PLAIN and not is_of_numbers(x):
            return NotImplemented
    a = args[0]
    plain = stand_in(a)
    found = func(plain, *args[1:], **kwargs)
    if type(found) is ndarray:
        return shown_as(a, plain, found) if is_view_of(found, plain) else NotImplemented
    if type(found) is not list and type(found) is not tuple:
        return NotImplemented
    for part in found:
        if type(part) is not ndarray or not is_view_of(part, plain):
            return NotImplemented
    return type(found)([shown_as(a, plain, part) for part in found])


cdef bint is_active(BaseArray a) noexcept:
    if a.pending is not None:
        return a.pending.active
    return any_identifier(a) if a.storage.identifiers != NULL else a.storage.block is not None


cdef bint is_numeric(object x) noexcept:
    """Whether x is an ndarray of real numbers: complex ones make a result that no Array is."""
    return (type(x) is ndarray and cnp.PyArray_TYPE(<cnp.ndarray>x) != cnp.NPY_OBJECT
            and not cnp.PyArray_ISCOMPLEX(<cnp.ndarray>x))


cdef bint is_of_numbers(object x):
    """Whether x is a tuple of plain things, such as axes."""
    if type(x) is not tuple:
        return False
    for item in <tuple>x:
        if type(item) not in PLAIN:
            return False
    return True


cdef object moved(object func, tuple places, tuple args, dict kwargs):
    """A movement: the function of the values, and of the identifiers of what moves."""
    cdef list values = list(args), numbers = None
    cdef Py_ssize_t k
    cdef bint active = False
    cdef set names = places[1]
    if not names.isdisjoint(kwargs):
        return NotImplemented
    for k in range(len(args)):
        x = args[k]
        if k in <tuple>places[0]:
            if not has_active(x, &active):
                return NotImplemented
        elif type(x) not in PLAIN and not is_of_numbers(x) and not is_numeric(x):
            return NotImplemented
    if not active:
        return NotImplemented
    numbers = list(args)
    for k in <tuple>places[0]:
        if k < len(args):        # identifiers first: that computes what is pending
            numbers[k] = numbers_of(args[k])
            values[k] = values_of(args[k])
    found = func(*values, **kwargs)
    if type(found) is not ndarray or cnp.PyArray_TYPE(<cnp.ndarray>found) not in (cnp.NPY_DOUBLE, cnp.NPY_FLOAT):
        return NotImplemented
    result = gather(found, func(*numbers, **kwargs))
    return result if is_array(result) else from_ndarray(found)


cdef bint has_active(object x, bint* active) except? True:
    """Whether x is a tree of what moves; and whether something in it is active."""
    if is_array(x):
        active[0] |= is_active(<BaseArray>x)
    elif type(x) is Real:
        active[0] |= (<Real>x).epoch != 0
    elif type(x) is list or type(x) is tuple:
        for item in x:
            if not has_active(item, active):
                return False
    else:
        return type(x) is float or type(x) is int or is_numeric(x)
    return True


cdef object values_of(object x):
    if type(x) is list or type(x) is tuple:
        return [values_of(item) for item in x]
    return plain_of(x)


cdef object numbers_of(object x):
    """Identifiers instead of elements."""
    if type(x) is list or type(x) is tuple:
        return [numbers_of(item) for item in x]
    if is_array(x) or type(x) is Real:
        return identifiers(x)
    return np.zeros((<object>x).shape, np.int32) if type(x) is ndarray else 0
