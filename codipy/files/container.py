# SPDX-License-Identifier: Apache-2.0
"""The outermost shell of a tape file: magic, version, a header of JSON, and arrays behind it, each with a checksum."""

from __future__ import annotations

import errno
import json
import mmap
import os
import stat
import struct
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np

from codipy.errors import TapeFormatError

MAGIC = b"\x89CODIPY\n"
VERSION = 1
ALIGNMENT = 64  # of each array: whole cache lines
MAPPED = 1 << 24  # bytes from which on a file is mapped and not read
_PREAMBLE = struct.Struct("<8sIIQQI")  # magic, version, checksum of the header, its length, the file's, of these
_DTYPES = ("<f8", "<i4", "|u1")  # of arrays that the format names; what primitives keep is bytes
_MOST = 2**62


class Writer:
    """The arrays of a file to be written, in order; each is known by its number."""

    def __init__(self):
        self.arrays, self.rows, self._end = [], [], 0

    def add(self, array):
        """The number of an array in one row; its checksum and place are noted."""
        array = np.ascontiguousarray(array)
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        self.rows.append([array.dtype.str, self._end, len(array), zlib.crc32(array.data.cast("B"))])
        self.arrays.append(array)
        self._end = aligned(self._end + array.nbytes)
        return len(self.rows) - 1

    def write(self, path, header):
        """Write the file, or leave what was at `path` as it is: it appears when it is whole."""
        text = json.dumps({**header, "arrays": self.rows}, separators=(",", ":"), allow_nan=False).encode()
        begin = aligned(_PREAMBLE.size + len(text))
        fields = MAGIC, VERSION, zlib.crc32(text), len(text), begin + self._end
        preamble = _PREAMBLE.pack(*fields, zlib.crc32(_PREAMBLE.pack(*fields, 0)))
        real = Path(os.path.realpath(os.fsdecode(path)))  # a link stays one, and what it leads to is replaced
        if real.exists() and not real.is_file():
            what = "it is no regular file (but a folder, device or pipe), which would be replaced: give another path"
            raise OSError(errno.EINVAL, what, os.fspath(path))
        try:
            handle, temporary = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
        except OSError as error:
            raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(preamble + text)
                for array, (_, offset, _, _) in zip(self.arrays, self.rows):
                    file.seek(begin + offset)
                    file.write(array.data)
                file.truncate(begin + self._end)
            os.chmod(temporary, stat.S_IMODE(real.stat().st_mode) if real.exists() else 0o666 & ~_umask())
            os.replace(temporary, real)
        except BaseException:
            os.unlink(temporary)
            raise


class Reader:
    """A file that was written so: a copy of it, or if it is large its pages in memory.

    Attributes
    ----------
    header : dict
        As it was given to `Writer.write`; nothing in it is known to be right but that it is a dict.
    size : int
        Bytes of the file.
    """

    def __init__(self, path):
        # Before it is opened, which would wait for whoever writes into a pipe.
        if not stat.S_ISREG(mode := os.stat(path).st_mode) and not stat.S_ISDIR(mode):
            raise TapeFormatError("it is no regular file but a device or a pipe: copy what comes from there to a file")
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            preamble = file.read(_PREAMBLE.size)
            if preamble[: len(MAGIC)] != MAGIC:
                raise TapeFormatError("it does not begin as tape files do")
            _refuse(len(preamble) < _PREAMBLE.size, "it ends within its first bytes: it was cut off")
            _, version, checksum, length, whole, own = _PREAMBLE.unpack(preamble)
            if version != VERSION:
                raise TapeFormatError(
                    f"it is of version {version}, and this codipy reads version {VERSION}: take a newer codipy"
                )
            _refuse(
                own != zlib.crc32(_PREAMBLE.pack(MAGIC, version, checksum, length, whole, 0)),
                "its first bytes are damaged",
            )
            _refuse(size != whole, f"it has {size} bytes instead of {whole}: it was cut off, or something was added")
            _refuse(length > size - _PREAMBLE.size, "its header is longer than the file")
            self._memory = _mapped(file, size) if size >= MAPPED else _copied(file, size)
        text = self._memory[_PREAMBLE.size : _PREAMBLE.size + length]
        self.size = size
        _refuse(zlib.crc32(text) != checksum, "its header is damaged")
        try:
            self.header = json.loads(text.decode())
        except RecursionError:
            raise TapeFormatError("its header is nested deeper than any that was written") from None
        _refuse(type(self.header) is not dict, "its header is no object")
        self._begin = aligned(_PREAMBLE.size + length)
        self._rows = self.header["arrays"]
        _demand(type(self._rows) is list, "there is a list of arrays")
        self._check_gaps(_PREAMBLE.size + length)

    def _check_gaps(self, end):
        """What lies between the arrays is zeros up to where the next one may begin: nothing is without a meaning.

        A file of a gap alone may claim any length and take no disk, and to read it would take all memory."""
        extents = sorted(self._extent(number) for number in range(len(self._rows)))
        for begin, stop in [*extents, (len(self._memory), 0)]:
            if begin > end:
                _demand(begin - end < ALIGNMENT, "its arrays follow one another")
                _demand(not any(self._memory[end:begin]), "between and behind its arrays there are zeros")
            end = max(end, stop)

    def _extent(self, number):
        """Where an array is in the file."""
        kind, offset, count, _ = self._rows[number]
        _demand(
            kind in _DTYPES
            and all(type(n) is int and 0 <= n < _MOST for n in (offset, count))
            and offset % ALIGNMENT == 0
            and self._begin + offset + count * np.dtype(kind).itemsize <= len(self._memory),
            f"array {number} is in the file",
        )
        return self._begin + offset, self._begin + offset + count * np.dtype(kind).itemsize

    def array(self, number, dtype, verify=True):
        """An array of the file, in its memory."""
        _demand(type(number) is int and 0 <= number < len(self._rows), f"there is an array {number}")
        kind, _, count, checksum = self._rows[number]
        _demand(kind == dtype, f"array {number} is of type {dtype}")
        dtype = np.dtype(dtype)
        if not count:
            return np.empty(0, dtype.newbyteorder("="))
        found = np.frombuffer(self._memory, dtype, count, self._extent(number)[0])
        if verify:
            _refuse(zlib.crc32(found.data.cast("B")) != checksum, f"array {number} is damaged")
        return found if sys.byteorder == "little" else found.astype(dtype.newbyteorder("="))


def _mapped(file, size):
    """The file's own pages: if another program cuts the file, the system ends who reads what is gone (SIGBUS).

    They are private, so that a write to them would not change the file; nobody writes."""
    return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_COPY)


def _copied(file, size):
    """What the file holds now, whatever becomes of it; in whole pages of this process alone, which keeps the alignment.

    Rejected: pages that are shared with children, which the system takes from its memory for files; where that has a
    limit, it ends who reads them (SIGBUS)."""
    memory = mmap.mmap(-1, size, access=mmap.ACCESS_COPY)
    file.seek(0)
    _refuse(file.readinto(memory) != size, "it was cut off while it was read")
    return memory


def aligned(n):
    """The next place where an array may begin."""
    return -(-n // ALIGNMENT) * ALIGNMENT


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _demand(holds, rule):
    if not holds:
        raise TapeFormatError(f"it breaks the rule: {rule}")


def _refuse(wrong, why):
    if wrong:
        raise TapeFormatError(why)
