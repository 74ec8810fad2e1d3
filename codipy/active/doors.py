# SPDX-License-Identifier: Apache-2.0
"""Where NumPy's protocols, operators and conversions lead that are not computed here.

It is a table that a layer above makes, `codipy.numpy.doors`, when the first array asks. So nothing in this folder
imports what is above it.
"""

__all__ = ["door", "find_later", "method"]

_FOUND: dict = {}
_finders: list = []  # until it is called


def find_later(finder):
    """Call `finder` when the first door is asked for: it returns the table."""
    _finders[:] = [finder]


def door(name):
    """What stands in the table by a name, see `codipy.numpy.doors`."""
    if _finders:
        _FOUND.update(*(finder() for finder in _finders))
        _finders.clear()
    return _FOUND[name]


def method(name):
    """A method of ndarray as a function of an Array, or None."""
    return door("methods").get(name)
