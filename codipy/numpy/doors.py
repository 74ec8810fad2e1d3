# SPDX-License-Identifier: Apache-2.0
"""What Arrays and Reals leave to this layer, by the names that they ask for it: see `codipy.active.doors`."""

from codipy.active.array import Array, from_nested
from codipy.active.arrays.elementwise_door import elementwise
from codipy.active.arrays.flags import Flags
from codipy.active.arrays.flat import Flat
from codipy.active.scalar.given import number_of
from codipy.numpy.allocation import given, of_objects
from codipy.numpy.arguments import fillable
from codipy.numpy.functions import SHORT, array_function
from codipy.numpy.methods import METHODS
from codipy.numpy.order import keep_clip
from codipy.numpy.outputs import outs
from codipy.numpy.outside import answers, as_objects, boxed, compares, in_place, operate
from codipy.numpy.sparse import times
from codipy.numpy.ufuncs import PRODUCTS, array_ufunc

__all__ = ["DOORS"]


def array_of(x):
    """The 0-dimensional Array of a Real."""
    return Array([x]).reshape(())


DOORS = {
    "ufunc": array_ufunc,  # __array_ufunc__
    "function": array_function,  # __array_function__
    "methods": METHODS,  # by name, ndarray's methods as functions
    "products": PRODUCTS,  # by ufunc, primitives
    "clipped": keep_clip,
    "short": SHORT,  # by function, what needs no door
    "outs": outs,  # by function, where `out` stands
    "flags": Flags,
    "flat": Flat,
    "array": array_of,
    # what operators and conversions leave to Python
    "answers": answers, "as objects": as_objects, "boxed": boxed, "compares": compares, "elementwise": elementwise,
    "fillable": fillable, "from_nested": from_nested, "given": given, "in_place": in_place, "number": number_of,
    "of objects": of_objects, "operate": operate, "times": times,
}  # fmt: skip
