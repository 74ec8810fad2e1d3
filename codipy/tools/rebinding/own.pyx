# SPDX-License-Identifier: Apache-2.0
"""``p.value`` in rebuilt code: variables have some attributes that their plain values have not.

In C, since objects of the user's have attributes of these names, too: as a function of Python it took 0.1 us of each.
"""
from codipy.active.array_type import Array
from codipy.active.scalar.real import Real
from codipy.numpy.standins import FURTHER
from codipy.tools.rebinding.attributes import attribute_of

cdef object NUMBER = Real, ARRAY = Array
cdef dict OTHERS = FURTHER


def own_attribute(value, str name):
    """own_attribute(value, name)
    --

    ``value.name``, which of a variable is what its plain value has.

    Parameters
    ----------
    value : object
    name : str

    Returns
    -------
    object

    Raises
    ------
    AttributeError
        Where the plain value has none.
    """
    kind = type(value)
    if kind is NUMBER or kind is ARRAY or kind in OTHERS:
        return attribute_of(value, name)
    return getattr(value, name)
