# SPDX-License-Identifier: Apache-2.0
"""``array.flags``: what NumPy says of a plain array that is laid out likewise; whether it may be written to."""

from codipy.active.arrays.plain import stand_in

__all__ = ["Flags"]

_SHORT = {
    "C": "c_contiguous", "F": "f_contiguous", "O": "owndata", "W": "writeable", "A": "aligned", "X": "writebackifcopy",
    "CA": "carray", "FA": "farray", "B": "behaved", "CONTIGUOUS": "contiguous", "FORTRAN": "fortran",
}  # fmt: skip


class Flags:
    """The flags of an Array, by attribute and by item as ``ndarray.flags``.

    Parameters
    ----------
    array : Array
        Whose flags they are, also later: they are live, as NumPy's.
    """

    __slots__ = ("_array",)

    def __init__(self, array):
        object.__setattr__(self, "_array", array)

    def __getattr__(self, name):
        if name == "owndata":
            return self._array.base is None
        return getattr(stand_in(self._array).flags, name)

    def __setattr__(self, name, value):
        if name not in ("writeable", "aligned", "writebackifcopy"):
            raise AttributeError(f"attribute {name!r} of flags cannot be written to")
        self._array.setflags(**{{"writeable": "write", "aligned": "align", "writebackifcopy": "uic"}[name]: value})

    def __getitem__(self, key):
        stand_in(self._array).flags[key]  # raises KeyError for what is no flag
        return getattr(self, _SHORT.get(key, key.lower()))

    def __setitem__(self, key, value):
        self[key]
        setattr(self, _SHORT.get(key, key.lower()), value)

    def __hash__(self):
        raise TypeError("unhashable type: 'Flags'")

    def __eq__(self, other):
        return isinstance(other, Flags) and str(self) == str(other)

    def __repr__(self):
        lines = str(stand_in(self._array).flags).splitlines()
        return "".join(f"  OWNDATA : {self.owndata}\n" if "OWNDATA" in line else f"{line}\n" for line in lines)
