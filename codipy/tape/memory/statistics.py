# SPDX-License-Identifier: Apache-2.0
"""Where a tape's memory goes, to the byte; every figure is read from the structure that owns the memory."""
from __future__ import annotations

from typing import NamedTuple

from codipy.tape.html import html_table
from codipy.tape.memory.held import Held

_RULE = 53


class Amount(NamedTuple):
    """Bytes in use and bytes taken from the system."""

    used: int
    allocated: int

    def __sub__(self, earlier):
        return Amount(self.used - earlier.used, self.allocated - earlier.allocated)


class Section(NamedTuple):
    """One structure of the tape: its counts by name, and its memory."""

    title: str
    counts: dict
    memory: Amount

    def __sub__(self, earlier):
        counts = {name: count - earlier.counts[name] for name, count in self.counts.items()}
        return Section(self.title, counts, self.memory - earlier.memory)

    def empty(self):
        """The section of a tape that has nothing of it yet."""
        return Section(self.title, dict.fromkeys(self.counts, 0), Amount(0, 0))


class Statistics:
    """The memory of one tape at one moment.

    Attributes
    ----------
    tape : str
        Strategy and granularity.
    sections : tuple of Section
        Adjoint vector, primal values, identifiers, each data stream; where arrays were recorded their statements, with
        Python's objects around them, and the values that those keep, each array once. What the tape knows of inputs and
        outputs, ``tape.inputs`` and ``tape.outputs``, is no part of the recording and not in it.
    recorded : list of Section
        Those of what was recorded: all but the adjoint vector and the identifiers.
    total : Amount
        Sums over the sections, in bytes.

    Examples
    --------
    >>> import codipy
    >>> tape = codipy.Tape(strategy="jacobian")
    >>> with tape:
    ...     x = tape.register_input(3.0)
    ...     y = tape.register_output(x * x)
    >>> before = tape.statistics()
    >>> y.gradient = 1.0
    >>> (tape.statistics() - before).total.used
    24
    """

    __slots__ = ("sections", "tape")

    def __init__(self, tape, sections):
        self.tape, self.sections = tape, tuple(sections)

    def __eq__(self, other):
        if type(other) is not Statistics:
            return NotImplemented
        return (self.tape, self.sections) == (other.tape, other.sections)

    __hash__ = None  # type: ignore[assignment]  # counts are dictionaries

    def __repr__(self):
        return f"Statistics({self.tape!r}, {self.sections!r})"

    @property
    def total(self):
        """Bytes of all sections."""
        return Amount(sum(section.memory.used for section in self.sections),
                      sum(section.memory.allocated for section in self.sections))

    @property
    def recorded(self):
        """The sections of what was recorded: streams, values, array statements; no adjoints, no identifiers."""
        return [section for section in self.sections if section.title not in ("adjoint vector", "identifiers")]

    def __getitem__(self, title):
        for section in self.sections:
            if section.title == title:
                return section
        raise KeyError(f"no section {title!r}: there are {', '.join(repr(s.title) for s in self.sections)}")

    def __sub__(self, earlier):
        if self.tape != earlier.tape:
            raise ValueError(f"statistics of different tapes cannot be subtracted: {self.tape} and {earlier.tape}")
        before, after = ({section.title: section for section in whole.sections} for whole in (earlier, self))
        # A section that only one of the two has is empty in the other.
        return Statistics(self.tape, [after.get(title, section.empty()) - before.get(title, section.empty())
                                      for title, section in {**after, **before}.items()])

    def to_dict(self):
        """Raw counts and bytes, ready for JSON."""
        result = {"tape": self.tape, "total": {"used": self.total.used, "allocated": self.total.allocated}}
        for section in self.sections:
            result[section.title] = {**section.counts, "used": section.memory.used,
                                     "allocated": section.memory.allocated}
        return result

    def csv_header(self):
        """Names of the columns of ``to_csv_row``, joined by commas."""
        return ",".join(name for name, _ in self._cells())

    def to_csv_row(self):
        """Raw figures in one line, joined by commas, in the order of ``csv_header``."""
        return ",".join(str(value) for _, value in self._cells())

    def _cells(self):
        yield "tape", self.tape.replace(",", "")
        for title, figures in self.to_dict().items():
            if title != "tape":
                for name, value in figures.items():
                    yield f"{title} {name}".replace(",", ""), value

    def _repr_html_(self):
        rows = [[section.title, ", ".join(f"{count} {name.removeprefix('number of ')}"
                                          for name, count in section.counts.items()),
                 readable(section.memory.used), readable(section.memory.allocated)] for section in self.sections]
        rows.append(["total", "", readable(self.total.used), readable(self.total.allocated)])
        return html_table(["", "", "used", "allocated"], rows, 2, f"codipy tape ({self.tape})")

    def __str__(self):
        lines = [f"codipy tape statistics ({self.tape})", "-" * _RULE]
        total = self.total
        lines += _rows("Total memory", {}, total)
        for section in self.sections:
            lines += ["-" * _RULE, *_rows(section.title[0].upper() + section.title[1:], section.counts, section.memory)]
        return "\n".join([*lines, "-" * _RULE])


def _rows(title, counts, memory):
    yield title
    for name, count in counts.items():
        yield f"  {name[0].upper() + name[1:]:<20} {count:>20}"
    yield f"  {'Memory used':<20} {readable(memory.used):>20}"
    yield f"  {'Memory allocated':<20} {readable(memory.allocated):>20}"


def readable(size):
    """Bytes as text: B, KB, MB or GB by 1024, two decimals.

    Examples
    --------
    >>> readable(16448)
    '16.06 KB'
    """
    size = float(size)
    for unit in ("B", "KB", "MB"):
        if abs(size) < 1024:
            return f"{size:.2f} {unit}"
        size /= 1024
    return f"{size:.2f} GB"


def collect(tape, layout=0, held=None):
    """The Statistics of a BaseTape, read from its streams, vectors and identifiers.

    Of a tape that counts with the chunks of number `layout`: see `Stream.counted_chunks`. `held`: the Held of its
    records, where somebody has made it.
    """
    vector, manager = tape.adjoint_vector, tape._identifiers
    used, allocated = tape._primal_vector_bytes
    stored = getattr(manager, "stored_free", 0)
    passive = 1 - tape.store.first      # the passive index counts where it has an adjoint slot
    sections = [
        Section("adjoint vector", {"number of adjoints": vector.slots},
                Amount(vector.bytes_used, vector.bytes_allocated)),
        Section("identifiers", {"max live indices": manager.peak + passive, "live indices": manager.live + passive,
                                "largest index": manager.largest, "stored free": stored},
                Amount(getattr(manager, "bytes_used", 0), getattr(manager, "bytes_allocated", 0))),
    ]
    if allocated:
        sections.append(Section("primal values", {"number of values": used // 8}, Amount(used, allocated)))
    if tape.replay.slots:
        replayed = 8 * tape.replay.slots
        sections.append(Section("replayed values", {"number of values": tape.replay.slots}, Amount(replayed, replayed)))
    sections += [
        _section_of(stream, stream.counted_chunks(layout) if tape.counting is not None else None)
        for stream in reversed(tape.store.streams)]
    if tape.counting.records if tape.counting is not None else len(tape.records):
        sections += _array_sections(tape, held)
    return Statistics(f"{tape.strategy}, {tape.granularity}", sections)


def _section_of(stream, counted):
    _, chunks, allocated = counted or (None, stream.chunks, stream.bytes_allocated)
    return Section(stream.name, {"number of chunks": chunks, "number of items": stream.items},
                   Amount(stream.bytes_used, allocated))


def recorded_bytes(tape):
    """Bytes in use by the records of arrays and the values they keep."""
    some = tape.counting is not None or len(tape.records)
    return sum(section.memory.used for section in _array_sections(tape)) if some else 0


def _array_sections(tape, held=None):
    held = held or Held(tape.records.items, tape.constants, tape.counting)
    records = len(tape.records) if tape.counting is None else tape.counting.records
    return [Section("array statements", {"number of statements": records, "number of objects": held.objects},
                    Amount(held.nbytes, held.nbytes)),
            Section("array values", {"number of arrays": held.owners}, Amount(held.used, held.allocated))]
