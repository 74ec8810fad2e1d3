# SPDX-License-Identifier: Apache-2.0
"""A stream of typed items in chunks, nested in others: reserve, push, position, reset."""

cimport cython
from libc.string cimport memcpy, memset
from cpython.ref cimport PyObject

from bisect import bisect_right
from operator import itemgetter

import numpy as np

from codipy.data cimport pool
from codipy.data.chunk cimport Block, Chunk, chunk_capacity, install, is_viewed, new_block
from codipy.data.counted cimport Counted
from codipy.data.position cimport Place, Position, compare_places, new_position
from codipy.data.arguments import field_arrays, field_bytes, valid_chunk_size, valid_dtypes, valid_name
from codipy.errors import TapeError

cdef long long last_serial = 0


@cython.final
@cython.no_gc   # a cycle would need a stream inside itself, which the constructor refuses
cdef class Stream:
    """Stream(name, dtypes, chunk_size=None, nested=None)
    --

    A sequence of items in chunks; an item has one to four fields, parallel arrays in the chunk.

    Parameters
    ----------
    name : str
        What the items are, for statistics and messages.
    dtypes : sequence of dtype-like
        One NumPy dtype per field, of fixed size and without Python objects.
    chunk_size : int, optional
        Items per chunk. A reservation of more makes a chunk of its own size. None: the first chunk has 1 KB, each
        later one twice the bytes, up to 16 MB.
    nested : Stream, optional
        The stream inside this one. It must be empty and not yet be nested in another.
    """

    def __cinit__(self, name, dtypes, chunk_size=None, nested=None):
        global last_serial
        cdef Stream inner
        cdef int i
        self.name = valid_name(name)
        self.dtypes = valid_dtypes(dtypes)
        self.field_count = <int>len(self.dtypes)
        for i in range(self.field_count):
            self.sizes[i] = self.dtypes[i].itemsize
            self.item_bytes += self.sizes[i]
        self.fixed = valid_chunk_size(chunk_size)
        if nested is not None:
            if not isinstance(nested, Stream):
                raise TypeError(f"nested must be a Stream, not {type(nested).__name__}")
            inner = nested
            if inner.outer != NULL:
                raise ValueError(f"nested: {inner.name!r} is nested in another stream already: make a new one")
            if inner.locks or any([item for _, item in inner.position().to_tuple()]):
                raise ValueError(f"nested: {inner.name!r} is in use: nest streams before recording")
        self.rollbacks = []
        last_serial += 1
        self.serial = last_serial
        self.depth = 1
        if nested is not None:   # nothing fails from here
            self.nested = inner
            inner.outer = <void*>self
            self.depth = inner.depth + 1
            while inner is not None:
                inner.forget()   # its table of starts is as wide as the nest was deep
                inner.level += 1
                inner.depth = self.depth
                inner = inner.nested

    def __dealloc__(self):
        cdef Stream inner = self.nested
        self.forget()
        if inner is not None and inner.outer == <void*>self:
            inner.outer = NULL
        else:
            inner = None
        while inner is not None:
            # Somebody kept a nested stream: it goes on alone and empty, since its starts named this one.
            inner.forget()
            inner.level -= 1
            inner.depth -= 1
            inner = inner.nested

    cdef int open_chunk(self, Py_ssize_t n) except -1:
        cdef Stream root = self.root(), stream
        cdef Py_ssize_t target = self.table.current, capacity, nbytes = 0
        cdef Chunk* chunk
        cdef Block block
        if root.locks:
            raise TapeError("a sweep is reading this tape; record after it ends")
        if self.counted is not None:
            return self.count_on(n)
        try:
            # An open chunk without items is used again, so that every chunk but the current one has some.
            if self.cursor.used > 0:
                target += 1
            self.make_room(target)
            chunk = &self.table.chunks[target]
            if chunk.block == NULL or chunk.capacity < n or is_viewed(chunk):
                capacity = chunk_capacity(n, target, self.fixed, self.sizes, self.field_count, &nbytes)
                block = new_block(nbytes)
                install(chunk, <PyObject*>block, capacity, self.sizes, self.field_count)
        except MemoryError:
            root.give_back()
            raise
        # From here nothing fails. The joint place is that of all streams, the outer ones too: CoDiPack knows
        # only the inner ones' and has to find the outer bounds of a region during the sweep.
        stream = root
        while target > 0 and stream is not None:   # the first chunk starts at the origin, whenever it is opened
            self.table.starts[target * self.depth + stream.level] = stream.place()
            stream = stream.nested
        self.table.chunks[self.table.current].used = self.cursor.used
        self.table.count = max(self.table.count, target + 1)
        chunk.limit = chunk.capacity
        self.enter(target, 0)
        return 0

    cdef int count_on(self, Py_ssize_t n) except -1:
        """Room for n items where nothing is kept: in the one chunk that there is, over what was pushed before."""
        cdef Py_ssize_t nbytes = 0, capacity
        cdef Chunk* chunk
        cdef Block block
        self.make_room(0)
        chunk = &self.table.chunks[0]
        if chunk.capacity < n:
            capacity = chunk_capacity(n, 0, 0, self.sizes, self.field_count, &nbytes)
            block = new_block(nbytes)
            self.counted.add(self.cursor.used)
            self.cursor.used = 0
            install(chunk, <PyObject*>block, capacity, self.sizes, self.field_count)
            self.table.count = 1
        self.counted.add(self.cursor.used)
        self.cursor.used = 0
        chunk.limit = min(chunk.capacity, self.counted.open(n, self.sizes, self.field_count))
        self.enter(0, 0)
        return 0

    def count_only(self, chunk_sizes=()):
        """
        Keep nothing from now on: count the items, and the chunks that they would take.

        Parameters
        ----------
        chunk_sizes : sequence of int or None
            For which sizes the chunks are counted, beside the stream's own.
        """
        if self.table.count or self.counted is not None:
            raise TapeError(f"{self.name!r} has items: a stream counts from its beginning")
        sizes = [self.chunk_size, *[valid_chunk_size(size) for size in chunk_sizes]]
        self.counted = Counted([size or 0 for size in sizes])

    cdef int make_room(self, Py_ssize_t chunk) except -1:
        cdef Py_ssize_t old = self.table.room, room, width = self.depth * sizeof(Place)
        cdef Place* starts
        cdef Chunk* chunks
        if chunk < old:
            return 0
        # Both new tables before either old one is touched: a failure leaves nothing to undo.
        room = max(<Py_ssize_t>4, 2 * old)
        starts = <Place*>pool.resize(NULL, 0, room * width)
        try:
            chunks = <Chunk*>pool.resize(NULL, 0, room * sizeof(Chunk))
        except MemoryError:
            pool.discard(starts, room * width)
            raise
        if old:
            memcpy(starts, self.table.starts, old * width)
            memcpy(chunks, self.table.chunks, old * sizeof(Chunk))
            pool.discard(self.table.starts, old * width)
            pool.discard(self.table.chunks, old * sizeof(Chunk))
        self.table.starts = starts
        self.table.chunks = chunks
        self.table.room = room
        return 0

    cdef void enter(self, Py_ssize_t chunk, Py_ssize_t used) noexcept:
        cdef Chunk* entered = &self.table.chunks[chunk]
        self.table.current = chunk
        self.cursor.fields = entered.fields
        self.cursor.used = used
        self.cursor.limit = entered.limit
        self.reserved = 0

    cdef void give_back(self) noexcept:
        # After a failed reservation: those of the same statement made before it are void, and a chunk opened for
        # one of them is left again, so that positions, regions and statistics are as before the statement.
        cdef Stream stream = self
        cdef Py_ssize_t current
        while stream is not None:
            current = stream.table.current
            if stream.cursor.used == 0 and current > 0:
                stream.enter(current - 1, stream.table.chunks[current - 1].used)
            stream.reserved = 0
            stream = stream.nested

    cdef Stream root(self):
        cdef Stream stream = self
        while stream.outer != NULL:
            stream = <Stream>stream.outer
        return stream

    cdef Place place(self) noexcept:
        cdef Place place
        if self.counted is not None:
            return self.counted.place(self.cursor.used)
        place.chunk = self.table.current
        place.item = self.cursor.used
        if place.item == 0 and place.chunk > 0:
            place.chunk -= 1
            place.item = self.table.chunks[place.chunk].used
        return place

    cpdef Position position(self):
        """Return the joint place of all streams of the nest, where the next statement will begin."""
        cdef Stream root = self.root(), stream = root
        cdef Position position = new_position(root.depth, root.serial, root.generation)
        while stream is not None:
            position.places[stream.level] = stream.place()
            stream = stream.nested
        return position

    cpdef int check_position(self, Position position) except -1:
        """Raise `TapeError` unless the position is one of this nest and lies in what is recorded now."""
        cdef Stream root = self.root(), stream = root
        cdef Place now
        cdef int order = 0
        if position is None:
            raise TypeError("position must be a Position, not None")
        if position.nest != root.serial or position.depth != root.depth:
            raise TapeError("the position is of another tape: use one that this tape's position() returned")
        if is_dropped(position, root):
            raise TapeError("the position is from before a reset and what lay there is gone: take a new one after it")
        while stream is not None and order == 0:
            now = stream.place()
            order = compare_places(&position.places[stream.level], &now, 1)
            stream = stream.nested
        if order > 0:
            raise TapeError("the position lies behind the end of the tape: take it with position()")
        return 0

    cpdef int reset_to(self, Position position) except -1:
        """Drop what was recorded after the position; chunks are kept, views of what is dropped keep their values."""
        cdef Stream root = self.root(), stream
        root.demand_kept()
        if root.locks:
            raise TapeError("a sweep is reading this tape; reset after it ends")
        root.check_position(position)
        # Everything that allocates comes before the first change.
        cdef list kept = [entry for entry in root.rollbacks if position.compare(entry[1]) > 0]
        kept.append((root.generation + 1, position))
        root.rollbacks = kept
        root.generation += 1
        stream = root
        while stream is not None:
            stream.roll_back(position.places[stream.level])
            stream = stream.nested
        return 0

    cpdef int reset(self) except -1:
        """Drop the recording; chunks are kept, and views of what is dropped keep their values."""
        cdef Stream root = self.root(), stream = root
        root.demand_kept()
        if root.locks:
            raise TapeError("a sweep is reading this tape; reset after it ends")
        root.generation += 1
        root.emptied = root.generation
        root.rollbacks.clear()
        while stream is not None:
            stream.roll_back(Place(0, 0))
            stream = stream.nested
        return 0

    cpdef int reset_hard(self) except -1:
        """Drop the recording and give all chunks to the pool; views that are still alive keep theirs."""
        cdef Stream stream = self.root()
        stream.reset()
        while stream is not None:
            stream.forget()
            stream = stream.nested
        return 0

    cdef void roll_back(self, Place place) noexcept:
        cdef Chunk* chunk
        self.reserved = 0
        if self.table.count == 0 or (place.chunk == self.table.current and place.item == self.cursor.used):
            return
        chunk = &self.table.chunks[place.chunk]
        if not is_viewed(chunk):
            chunk.limit = chunk.capacity
        elif place.item > 0:
            chunk.limit = place.item   # sealed: writing on would change what a view shows
        else:
            install(chunk, NULL, 0, self.sizes, self.field_count)
        self.enter(place.chunk, place.item)

    cdef void forget(self) noexcept:
        cdef Py_ssize_t c
        for c in range(self.table.count):
            install(&self.table.chunks[c], NULL, 0, self.sizes, self.field_count)
        if self.table.room:
            pool.discard(self.table.starts, self.table.room * self.depth * sizeof(Place))
            pool.discard(self.table.chunks, self.table.room * sizeof(Chunk))
        memset(&self.table, 0, sizeof(Table))
        memset(&self.cursor, 0, sizeof(Cursor))
        self.reserved = 0

    cpdef int lock(self) except -1:
        """Make every reservation and reset of the nest fail until `unlock`; may be called several times."""
        cdef Stream stream = self.root()
        stream.demand_kept()
        stream.locks += 1
        while stream is not None:
            stream.cursor.limit = 0
            stream.reserved = 0
            stream = stream.nested
        return 0

    cdef int demand_kept(self) except -1:
        if self.counted is not None:
            raise TapeError("this stream counts its items and keeps none: there is nothing to read, nor to return to")
        return 0

    cpdef int unlock(self) except -1:
        """Undo one `lock`."""
        cdef Stream stream = self.root()
        if not stream.locks:
            raise TapeError("unlock without lock: the tape is not locked")
        stream.locks -= 1
        if stream.locks:
            return 0
        while stream is not None:
            if stream.table.count:
                stream.cursor.limit = stream.table.chunks[stream.table.current].limit
            stream = stream.nested
        return 0

    @property
    def chunk_size(self):
        """Items per chunk, or None when chunks grow."""
        return self.fixed or None

    @property
    def locked(self):
        """True while a sweep reads the nest."""
        return self.root().locks > 0

    @property
    def items(self):
        """Items recorded."""
        cdef Py_ssize_t c, total = self.cursor.used
        if self.counted is not None:
            return self.counted.items + total
        for c in range(self.table.current):
            total += self.table.chunks[c].used
        return total

    @property
    def chunks(self):
        """Chunks that hold items."""
        cdef Place place = self.place()
        return place.chunk + 1 if place.item else 0

    @property
    def chunks_allocated(self):
        """Chunks that have memory: those that hold items and those kept for the next recording."""
        if self.counted is not None:
            return self.counted_chunks(0)[0]
        return sum([self.table.chunks[c].block != NULL for c in range(self.table.count)])

    @property
    def bytes_used(self):
        """Bytes of the items recorded."""
        return self.items * self.item_bytes

    @property
    def bytes_allocated(self):
        """Bytes of all chunks that have memory, padding between fields included."""
        if self.counted is not None:
            return self.counted_chunks(0)[2]
        return sum([(<Block>self.table.chunks[c].block).nbytes
                    for c in range(self.table.count) if self.table.chunks[c].block != NULL])

    @property
    def bytes_tables(self):
        """Bytes of the tables that describe the chunks, beside `bytes_allocated`."""
        return self.table.room * (sizeof(Chunk) + self.depth * sizeof(Place))

    def counted_chunks(self, Py_ssize_t k):
        """
        What a stream that counts would have.

        Parameters
        ----------
        k : int
            0: with chunks of the stream's own size, else of number ``k - 1`` of those given to `count_only`.

        Returns
        -------
        tuple of int
            How many chunks there would be, how many of them would hold items, and the bytes of all.
        """
        if self.counted is None:
            raise TapeError(f"{self.name!r} keeps its items: read chunks and bytes_allocated")
        return self.counted.chunks(k, self.cursor.used)

    def __repr__(self):
        return f"Stream({self.name!r}, items={self.items}, chunks={self.chunks}, level={self.level})"

    def __reduce__(self):
        raise TypeError("a Stream cannot be pickled: pickle copies of its chunk_views")

    def chunk_views(self, Py_ssize_t i):
        """Return what chunk `i` holds.

        Parameters
        ----------
        i : int
            0 or more, less than `chunks`.

        Returns
        -------
        tuple of ndarray
            One read-only array per field, without a copy. They keep memory and values whatever the stream does.
        """
        cdef Py_ssize_t used
        cdef int k
        self.demand_kept()
        if not 0 <= i < self.chunks:
            raise IndexError(f"i must be 0 or more and less than the {self.chunks} chunks that hold items, not {i}")
        cdef Chunk* chunk = &self.table.chunks[i]
        used = self.cursor.used if i == self.table.current else chunk.used
        block = <object>chunk.block
        return tuple([np.ndarray(used, self.dtypes[k], buffer=block, offset=chunk.fields[k] - chunk.fields[0])
                      for k in range(self.field_count)])

    def extend(self, *arrays):
        """Append items in bulk, contiguously: one array-like per field, all of one length, of types that cast safely."""
        cdef Py_ssize_t length
        cdef int k
        copies = field_arrays(arrays, self.dtypes, self.name)
        length = len(copies[0])
        self.reserve(length)
        for k in range(self.field_count):
            memcpy(self.cursor.fields[k] + self.cursor.used * self.sizes[k],
                   <char*><size_t>copies[k].ctypes.data, length * self.sizes[k])
        self.cursor.used += length
        self.reserved = 0

    def py_reserve(self, Py_ssize_t n):
        """Make room for `n` items, for tests; `py_push` then takes up to `n`."""
        if n < 0:
            raise ValueError(f"n must be 0 or more, not {n}")
        self.reserve(n)
        self.mark = self.cursor.used
        self.reserved = n

    def py_push(self, *fields):
        """Push one item into the room of the last `py_reserve`, for tests; unlike C's push it checks."""
        cdef const char* data
        cdef int k
        values = field_bytes(fields, self.dtypes, self.name)
        if self.reserved_left < 1:
            raise TapeError(f"no room reserved in {self.name!r}: call py_reserve first")
        for k in range(self.field_count):
            data = values[k]
            memcpy(self.cursor.fields[k] + self.cursor.used * self.sizes[k], data, self.sizes[k])
        self.cursor.used += 1

    @property
    def pushed(self):
        """Items pushed since the last `py_reserve`."""
        return self.cursor.used - self.mark if self.reserved else 0

    @property
    def reserved_left(self):
        """Items that may still be pushed before the next `py_reserve`."""
        return self.reserved - self.pushed

    def _set_used(self, Py_ssize_t used):
        # For tests of _check: breaks the stream.
        self.cursor.used = used

    def _check(self):
        """Verify every invariant of the nest; raise `CorruptTape` with the state."""
        from codipy.data.check import check_nest  # it needs this module: importing it above would go in a circle
        check_nest(self.root())


cdef bint is_dropped(Position position, Stream root) except? True:
    # The rollbacks kept are those that no later one undercut: the first after the position was taken is the lowest.
    if position.generation < root.emptied:
        return not position.is_beginning()
    later = bisect_right(root.rollbacks, position.generation, key=itemgetter(0)) if root.rollbacks else 0
    return later < len(root.rollbacks) and position.compare(root.rollbacks[later][1]) > 0
