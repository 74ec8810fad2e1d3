# SPDX-License-Identifier: Apache-2.0
"""Every invariant of a nest of streams, in one place to read."""

from codipy.data.chunk cimport Block, Chunk, block_bytes
from codipy.data.position cimport Place, Position, compare_places
from codipy.data.stream cimport Stream
from codipy.errors import CorruptTape


cdef int demand(bint holds, Stream stream, str invariant, Py_ssize_t chunk=-1) except -1:
    if holds:
        return 0
    where = f" chunk {chunk}" if chunk >= 0 else ""
    raise CorruptTape(
        f"stream {stream.name!r}{where}: {invariant} is broken; level {stream.level} of {stream.depth}, current chunk "
        f"{stream.table.current} of {stream.table.count}, used {stream.cursor.used}, limit {stream.cursor.limit}"
    )


def check_nest(Stream root not None):
    """Verify every invariant of the nest of `root`; raise `CorruptTape` with the state of the broken stream."""
    cdef Position now = root.position()
    cdef Position end
    cdef Stream stream = root, inner
    cdef Py_ssize_t level = 0, last = -1
    demand(root.outer == NULL, root, "the root has no outer stream")
    while stream is not None:
        demand(stream.level == level and stream.depth == root.depth, stream, "level and depth are the nest's")
        inner = stream.nested
        demand(inner is None or inner.outer == <void*>stream, stream, "the nested stream points back")
        check_stream(stream, now, root.locks > 0)
        stream = inner
        level += 1
    demand(level == root.depth, root, "the nest has `depth` streams")
    for entry in root.rollbacks:
        end = entry[1]
        demand(last < entry[0] <= root.generation, root, "rollbacks have growing generations")
        last = entry[0]
        demand(end.compare(now) <= 0, root, "rollbacks lie before the end")


cdef int check_stream(Stream stream, Position now, bint locked) except -1:
    cdef Py_ssize_t c, j, depth = stream.depth, current = stream.table.current
    cdef const Place* start
    cdef const Place* last = NULL
    demand(stream.table.count <= stream.table.room, stream, "the tables have room for every chunk")
    if stream.table.count == 0:
        demand(current == 0 and stream.cursor.used == 0 and stream.cursor.limit == 0, stream, "nothing is open")
        return 0
    demand(0 <= current < stream.table.count, stream, "the current chunk exists")
    for c in range(stream.table.count):
        check_chunk(stream, c)
    for c in range(stream.field_count):
        demand(stream.cursor.fields[c] == stream.table.chunks[current].fields[c], stream,
               "the cursor's fields are the chunk's")
    demand(0 <= stream.cursor.used <= stream.table.chunks[current].limit, stream, "items fit into the current chunk")
    demand(stream.cursor.limit == (0 if locked else stream.table.chunks[current].limit), stream,
           "the cursor's limit is the chunk's, or 0 when locked")
    for c in range(current + 1):
        start = stream.table.starts + c * depth
        if c == 0:
            for j in range(depth):
                demand(start[j].chunk == 0 and start[j].item == 0, stream, "the first chunk starts at the origin", c)
        else:
            demand(0 < stream.table.chunks[c - 1].used <= stream.table.chunks[c - 1].limit, stream,
                   "a closed chunk has items, and they fit", c - 1)
            demand(start[stream.level].chunk == c - 1 and start[stream.level].item == stream.table.chunks[c - 1].used,
                   stream, "a chunk starts where the one before ends", c)
        check_places(stream, start, last, now, c)
        last = start
    return 0


cdef int check_chunk(Stream stream, Py_ssize_t c) except -1:
    cdef const Chunk* chunk = &stream.table.chunks[c]
    cdef Py_ssize_t at = 0
    cdef int k
    demand(0 <= chunk.limit <= chunk.capacity, stream, "the limit is at most the capacity", c)
    if chunk.block == NULL:
        demand(chunk.capacity == 0, stream, "no memory, no capacity", c)
        return 0
    demand(chunk.capacity >= max(stream.fixed, <Py_ssize_t>1), stream, "a chunk has the chunk size or more", c)
    for k in range(stream.field_count):
        demand(chunk.fields[k] == (<Block>chunk.block).memory + at, stream, "fields lie one behind the other", c)
        demand(<size_t>chunk.fields[k] % 64 == 0, stream, "fields are aligned", c)
        at += block_bytes(chunk.capacity, &stream.sizes[k], 1)
    demand(at <= (<Block>chunk.block).nbytes, stream, "the capacity fits into the block", c)
    return 0


cdef int check_places(Stream stream, const Place* start, const Place* last, Position now, Py_ssize_t c) except -1:
    cdef Py_ssize_t j
    if last != NULL:
        demand(compare_places(last, start, stream.depth) < 0, stream, "chunks start in the order of recording", c)
    for j in range(stream.depth):
        # Not only in the lexicographic order: no stream ever goes back.
        demand(compare_places(start + j, now.places + j, 1) <= 0, stream, "a chunk starts before the end", c)
        demand(last == NULL or compare_places(last + j, start + j, 1) <= 0, stream, "starts never cross", c)
        demand(start[j].item > 0 or start[j].chunk == 0, stream, "starts are in the stored form", c)
    return 0
