# SPDX-License-Identifier: Apache-2.0
"""The declarations work from outside: a module compiled here records and sweeps through the `.pxd` files alone."""

import importlib.util
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import codipy.data
from codipy.data import Regions, Stream
from codipy.errors import CorruptTape

ROOT = Path(codipy.data.__file__).parents[2]

SOURCE = """
from libc.stdint cimport int32_t, uint8_t
from codipy.data.region cimport Regions
from codipy.data.stream cimport Cursor, Stream
from codipy.identifiers.linear cimport LinearIdentifiers
from codipy.identifiers.reuse cimport ReuseIdentifiers

def record(Stream root, Stream inner, int statements):
    cdef Cursor* outer = &root.cursor
    cdef Cursor* cursor = &inner.cursor
    cdef LinearIdentifiers linear = LinearIdentifiers()
    cdef ReuseIdentifiers reuse = ReuseIdentifiers()
    cdef int i, k
    cdef int32_t identifier
    for i in range(statements):
        inner.reserve(i % 3)
        root.reserve(1)
        for k in range(i % 3):
            identifier = reuse.assign()
            reuse.retain(identifier)
            reuse.release(identifier)
            reuse.release(identifier)
            (<double*>cursor.fields[0])[cursor.used] = linear.assign()
            (<int32_t*>cursor.fields[1])[cursor.used] = identifier
            cursor.used += 1
        (<uint8_t*>outer.fields[0])[outer.used] = i % 3
        outer.used += 1
    return linear.largest, reuse.largest

def reverse(Regions regions, Py_ssize_t lose):
    cdef Py_ssize_t cursors[2]
    cdef double total = 0
    cdef int spans = 0
    cdef uint8_t k
    regions.root.lock()
    try:
        with nogil:
            while regions.next_reverse():
                cursors[0] = regions.spans[0].end
                cursors[1] = regions.spans[1].end
                while cursors[0] > regions.spans[0].begin:
                    cursors[0] -= 1
                    k = (<uint8_t*>regions.spans[0].fields[0])[cursors[0]]
                    while k:
                        k -= 1
                        cursors[1] -= 1
                        total += (<double*>regions.spans[1].fields[0])[cursors[1]]
                cursors[1] += lose
                regions.check(cursors, True)
                spans += 1
    finally:
        regions.root.unlock()
    return total, spans
"""


@pytest.fixture(scope="module")
def outside(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside")
    (folder / "outside.pyx").write_text(SOURCE, encoding="utf-8")
    (folder / "setup.py").write_text(
        textwrap.dedent(f"""
            from Cython.Build import cythonize
            from setuptools import Extension, setup
            setup(name="outside", ext_modules=cythonize(
                [Extension("outside", ["outside.pyx"])], include_path=[{str(ROOT)!r}], language_level=3))
        """),
        encoding="utf-8",
    )
    command = [sys.executable, "setup.py", "build_ext", "-i"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    (built,) = [path for path in folder.glob("outside.*") if path.suffix in (".so", ".pyd")]
    spec = importlib.util.spec_from_file_location("outside", built)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_record_and_reverse(outside):
    for chunk_size in (2, 3, 8, None):  # in one test, so that one process compiles
        records_and_reverses(outside, chunk_size)


def records_and_reverses(outside, chunk_size):
    inner = Stream("arguments", ["f8", "i4"], chunk_size)
    root = Stream("statements", ["u1"], chunk_size, inner)
    start = root.position()
    assert outside.record(root, inner, 1000) == (999, 1)
    root._check()
    end = root.position()
    total, spans = outside.reverse(Regions(root, start, end), 0)
    assert total == 999 * 1000 / 2
    assert spans == len(list(Regions(root, start, end).forward()))
    with pytest.raises(CorruptTape, match="stream 1 of 2"):
        outside.reverse(Regions(root, start, end), 1)
    assert not root.locked
