# SPDX-License-Identifier: Apache-2.0
"""Where NumPy's protocols lead: the doors of codipy.numpy, found when the first array asks."""

__all__ = ["array_of", "door", "flags_of", "flat_of", "method"]

_FOUND: dict = {}


def _find():
    from codipy.active.given import number_of
    from codipy.numpy.allocation import given
    from codipy.numpy.functions import SHORT, array_function
    from codipy.numpy.methods import METHODS
    from codipy.numpy.outside import boxed, compares, in_place, operate
    from codipy.numpy.sparse import times
    from codipy.numpy.ufuncs import PRODUCTS, array_ufunc

    _FOUND.update(ufunc=array_ufunc, function=array_function, methods=METHODS, times=times, given=given)
    _FOUND.update(products=PRODUCTS, short=SHORT, boxed=boxed, number=number_of)
    _FOUND.update(compares=compares, in_place=in_place, operate=operate)


def door(name):
    """The function behind ``__array_ufunc__`` ("ufunc") or ``__array_function__`` ("function"), or behind what
    operators and conversions leave to Python: "times", "given", "operate", "in_place", "compares", "boxed", "number".

    Beside functions there are tables: of ndarray's methods, of the primitives of ufuncs ("products"), and of what
    functions need no door for ("short").
    """
    if not _FOUND:
        _find()
    return _FOUND[name]


def method(name):
    """A method of ndarray as a function of an Array, or None."""
    return door("methods").get(name)


def array_of(x):
    """The 0-dimensional Array of a Real."""
    from codipy.active.array_type import Array

    return Array([x]).reshape(())


def flags_of(array):
    """``array.flags``."""
    from codipy.active.flags import Flags

    return Flags(array)


def flat_of(array):
    """``array.flat``."""
    from codipy.active.flat import Flat

    return Flat(array)
