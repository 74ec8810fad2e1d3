# SPDX-License-Identifier: Apache-2.0
"""What a tape's records keep alive: values of arrays, and Python's objects around them, each once."""
import gc
import sys

from libc.stdint cimport int64_t
from cpython.object cimport PyObject
cimport numpy as cnp

from codipy.data.buffer cimport Buffer
from codipy.data.position cimport Position
from codipy.tape.records.record cimport Record

cdef extern from "Python.h":
    Py_ssize_t Py_REFCNT(PyObject* item) nogil

cnp.import_array()

cdef int64_t walks = 0       # so many were made


cdef class Held:
    """Held(records, constants, counting=None)
    --

    What a list of records and a dictionary of constants, which are counted themselves, keep alive.

    An object belongs to them if all references to it are theirs, as many as are found here. So nothing need be known of
    the kinds of records; what belongs to the process (functions, rules, programs, small numbers) is left out, and a
    closure made for one call is counted. Rejected: a number of bytes for each kind of record, which nobody would
    correct when a record gets another field.

    People ask when memory has run out, so a walk needs next to none, however long the recording is: it remembers only
    those of which not all references were found yet, and a Buffer itself knows the last walk that counted it. But what
    a recording that counts has marked (see `Counting`) stays marked, and is remembered here.

    Parameters
    ----------
    records : list of Record
    constants : dict
    counting : Counting, optional
        What was counted of records that are gone, in the place of a list.

    Attributes
    ----------
    objects, nbytes : int
        How many, and their bytes without the values of arrays.
    owners : int
        How many Buffers and plain arrays have the memory of the values.
    used, allocated : int
        Bytes of the values, and of the memory behind them.
    """

    cdef public Py_ssize_t objects, nbytes, owners, used, allocated
    cdef public dict _found      # by address, of those that are shared: references found; negative once it is counted
    cdef readonly int64_t _walk
    cdef dict _marked            # Buffers that other recordings have marked, by their address
    cdef object _counting

    def __init__(self, list records not None, dict constants not None, counting=None):
        cdef Py_ssize_t i
        self._begin()
        if counting is not None:
            self._go_on(counting)
        else:
            self._count(records)
        self._count(constants)
        self._passed()
        for i in range(len(records)):
            self._follow([records[i]])
            self._passed()
        waiting = list(constants.items())       # from which an array that dies meanwhile may be taken
        while waiting:
            self._follow(list(waiting.pop()))       # no reference is left that is not theirs

    def _begin(self):
        global walks
        self.objects = self.nbytes = self.owners = self.used = self.allocated = 0
        walks += 1
        self._walk = walks
        self._found, self._marked, self._counting = {}, {}, None

    cpdef _passed(self):
        """What is there before the records was counted, or the next record with all that it leads to."""

    def _go_on(self, counting):
        counting.look()
        self.objects, self.nbytes = counting.objects, counting.nbytes
        self.owners, self.used, self.allocated = counting.owners, counting.used, counting.allocated
        self._counting = counting

    cpdef _follow(self, list waiting):
        """Count what these references, which are handed over, lead to."""
        cdef Py_ssize_t references
        while waiting:
            item = waiting.pop()
            if type(item) is Buffer:
                if self._is_first(<Buffer>item):
                    self._count(item)
                    waiting.append((<Buffer>item).array)
            elif item is not None:
                references = Py_REFCNT(<PyObject*>item) - 1      # beside that of `item`
                if self._is_new(item, references):
                    self._count(item)
                    waiting.extend(references_of(item))

    cpdef bint _is_first(self, Buffer buffer) except? True:
        if buffer.walk == self._walk or self._counting is not None and buffer.walk == self._counting.mark:
            return False
        if buffer.walk >= 0:
            buffer.walk = self._walk
            return True
        address = <size_t><PyObject*>buffer
        first = address not in self._marked
        self._marked[address] = buffer
        return first

    cpdef bint _is_new(self, item, Py_ssize_t references) except? True:
        """Whether it is the moment to count it: of what nobody else can have, when the last reference is found."""
        cdef object address = <size_t><PyObject*>item
        cdef Py_ssize_t found = self._found.pop(address, 0)
        cdef bint counted = found < 0, belongs
        found = abs(found) + 1
        # Values that a variable shares with a record are on the tape all the same.
        belongs = found == references or isinstance(item, (cnp.ndarray, Position, Record))
        if found < references:
            self._found[address] = -found if belongs else found
        return belongs and not counted

    cdef int _count(self, item) except -1:
        self.objects += 1
        self.nbytes += sys.getsizeof(item)
        if isinstance(item, cnp.ndarray):
            if cnp.PyArray_CHKFLAGS(<cnp.ndarray>item, cnp.NPY_ARRAY_OWNDATA):
                self.nbytes -= item.nbytes
                self._own(item.nbytes, item.nbytes)
        elif type(item) is Buffer and (<Buffer>item).array is None:
            self._own(item.bytes_used, item.bytes_allocated)
        return 0

    cdef void _own(self, Py_ssize_t used, Py_ssize_t allocated) noexcept:
        self.owners += 1
        self.used += used
        self.allocated += allocated


cdef list references_of(item):
    if isinstance(item, Record):
        return (<Record>item).references()
    if isinstance(item, cnp.ndarray):
        return [item.base, *(item.flat if item.dtype.hasobject else ())]
    return gc.get_referents(item)
