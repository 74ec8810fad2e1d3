# SPDX-License-Identifier: Apache-2.0
"""The readable twin of a nest of streams: lists of items and a log of which statement opened which chunk."""

import random

from codipy.data import Regions, Stream


class TwinStream:
    """One stream: `chunks[c]` lists items, which are numbers of statements; `opened[c]` the statement that opened c."""

    def __init__(self, size):
        self.size = size
        self.chunks = [[]]
        self.opened = [0]
        self.capacities = [0]  # of the chunks that were ever opened: rolling back keeps them

    def reserve(self, n, statement):
        last = self.chunks[-1]
        if n <= self.capacities[len(self.chunks) - 1] - len(last):
            return
        if last:
            self.chunks.append([])
            self.opened.append(statement)
        self.opened[-1] = statement
        c = len(self.chunks) - 1
        if c == len(self.capacities):
            self.capacities.append(0)
        if self.capacities[c] < max(n, 1):
            self.capacities[c] = max(n, self.size)

    def leave_empty_chunk(self):
        if len(self.chunks) > 1 and not self.chunks[-1]:
            self.chunks.pop()
            self.opened.pop()

    def roll_back(self, statement):
        self.chunks = [[item for item in chunk if item < statement] for chunk in self.chunks]
        while len(self.chunks) > 1 and not self.chunks[-1]:
            self.leave_empty_chunk()

    def items_before(self, statement):
        """How many items each chunk holds of the statements before this one."""
        counts = [sum(item < statement for item in chunk) for chunk in self.chunks]
        while len(counts) > 1 and counts[-1] == 0:
            counts.pop()
        return counts


class Twin:
    """A nest, the root first, beside the streams that it is the oracle for; both record the same."""

    def __init__(self, sizes, chunk_size=lambda size: size):
        self.twins = [TwinStream(size) for size in sizes]
        self.streams = []
        for level in reversed(range(len(sizes))):
            dtypes = [["i8"], ["i4", "f8"], ["u1", "i8", "i2"]][level % 3]
            nested = self.streams[0] if self.streams else None
            self.streams.insert(0, Stream(f"level {level}", dtypes, chunk_size(sizes[level]), nested))
        self.root = self.streams[0]
        self.positions = [self.root.position()]  # positions[s] is where statement s begins

    def statement(self, counts, pushed=None):
        """Reserve `counts[j]` items in stream j, then push `pushed[j]` of them (default: all)."""
        self.reserve(counts)
        self.push(pushed or counts)

    def reserve(self, counts):
        """The first half of a statement, innermost stream first."""
        for stream, count in reversed(list(zip(self.streams, counts, strict=True))):
            stream.py_reserve(count)
        for twin, count in zip(self.twins, counts, strict=True):
            twin.reserve(count, len(self.positions) - 1)

    def push(self, counts):
        number = len(self.positions) - 1
        for stream, twin, count in zip(self.streams, self.twins, counts, strict=True):
            for _ in range(count):
                stream.py_push(*[number % 100 + k for k in range(len(stream.dtypes))])
                twin.chunks[-1].append(number)
            assert stream.pushed == count
        self.positions.append(self.root.position())

    def failed_statement(self):
        """What a statement does whose reservation ran out of memory: nothing, except to leave chunks it opened."""
        for twin in self.twins:
            twin.leave_empty_chunk()

    def reset_to(self, statement):
        self.root.reset_to(self.positions[statement])
        for twin in self.twins:
            twin.roll_back(statement)
        del self.positions[statement + 1 :]

    def place(self, statement):
        counts = [twin.items_before(statement) for twin in self.twins]
        return tuple((len(count) - 1, count[-1]) for count in counts)

    def regions(self, start, end):
        """The spans between the statements at which a chunk was opened that holds items before `end`."""
        cuts = {start, end}
        for twin in self.twins:
            chunks_read = len(twin.items_before(end))
            cuts |= {s for s in twin.opened[1:chunks_read] if start < s < end}
        cuts = sorted(cuts)
        for low, high in zip(cuts, cuts[1:], strict=False):
            content = [[[i for i in chunk if low <= i < high] for chunk in twin.chunks] for twin in self.twins]
            if any(any(chunks) for chunks in content):
                yield [self.span(twin, chunks, low) for twin, chunks in zip(self.twins, content, strict=True)]

    def span(self, twin, chunks, low):
        """One stream's items of a region as (chunk, begin, end), (None, 0, 0) when there are none."""
        filled = [c for c, items in enumerate(chunks) if items]
        assert len(filled) <= 1, "a region is contiguous in every stream"
        if not filled:
            return None, 0, 0
        begin = sum(item < low for item in twin.chunks[filled[0]])
        return filled[0], begin, begin + len(chunks[filled[0]])

    def check(self):
        """Compare everything that can be asked."""
        self.root._check()
        last = len(self.positions) - 1
        assert [p.to_tuple() for p in self.positions] == [self.place(s) for s in range(last + 1)]
        assert self.positions == sorted(self.positions)
        assert self.root.position() == self.positions[-1]
        for stream, twin in zip(self.streams, self.twins, strict=True):
            filled = [chunk for chunk in twin.chunks if chunk]
            assert stream.chunks == len(filled)
            assert stream.items == sum(map(len, filled))
            assert stream.bytes_used == stream.items * stream.item_bytes <= stream.bytes_allocated
            for c, chunk in enumerate(filled):
                for k, view in enumerate(stream.chunk_views(c)):
                    assert view.tolist() == [item % 100 + k for item in chunk]

    def check_regions(self, start, end):
        """Compare the regions between two statements, both ways."""
        expected = list(self.regions(start, end))
        make = lambda: Regions(self.root, self.positions[start], self.positions[end])  # noqa: E731
        found = [[named(span) for span in region] for region in make().forward()]
        assert found == expected, (start, end)
        found = [[named(span) for span in region] for region in make().reverse()]
        assert found == expected[::-1], (start, end)

    def check_all_regions(self):
        for end in range(len(self.positions)):
            for start in range(end + 1):
                self.check_regions(start, end)


def named(span):
    """An empty span is nowhere: which chunk it is in says nothing."""
    chunk, begin, end = span
    return (chunk, begin, end) if begin < end else (None, 0, 0)


def recorded(sizes, statements, seed, largest=4):
    """A twin with random statements, some of them empty in some streams, none with more items than `largest`."""
    rng = random.Random(seed)
    twin = Twin(sizes)
    for _ in range(statements):
        twin.statement([rng.randint(0, largest) for _ in sizes])
    return twin
