# SPDX-License-Identifier: Apache-2.0
"""C that is written by hand: each file compiles by itself without a warning, and tiles run without machine code too."""

import ctypes
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from codipy.operations import BY_NAME

pytestmark = pytest.mark.release

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "build" / "generated"
TILES, NATIVE = (ROOT / "codipy" / "programs" / name for name in ("tiles", "native"))
SOURCES = [*sorted((ROOT / "codipy").rglob("*.[ch]")), *sorted(GENERATED.rglob("*.[ch]"))]
PLACES = [f"-I{place}" for place in (ROOT, GENERATED, sysconfig.get_paths()["include"])]
COMPILER = (os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or "").split()

if not COMPILER:
    pytest.skip("no C compiler", allow_module_level=True)


def compiled(text, *flags):
    """What the compiler says of a source text; nothing if all is well."""
    command = [*COMPILER, "-x", "c", "-std=gnu11", "-Wall", "-Wextra", *PLACES, *flags, "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False).stderr


def name(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=name)
def test_each_file_compiles_by_itself(path):
    """Headers as the only thing that a source includes, so that none needs another one before it."""
    around = "#define CYTHON_INLINE inline\n" if path.name == "inline.h" else ""
    assert compiled(f'{around}#include "{path}"\n', "-fsyntax-only", "-DCODIPY_NATIVE") == ""
    if path.parent == TILES:
        assert compiled(f'#include "{path}"\n', "-fsyntax-only") == ""


def test_a_file_that_needs_another_one_is_caught():
    assert "TileRun" in compiled("TileRun *space_take(void);\n", "-fsyntax-only")


def test_loops_have_several_instruction_sets_whatever_was_included_before():
    """__GLIBC__ comes from a header: asked too early, it once left the sines of partials without vectors."""
    text = """\
#include "codipy/operations/clones.h"
#include <stdlib.h>
#if defined(__GLIBC__) && defined(__x86_64__) && !defined(__clang__)
#define STRING(x) #x
#define TEXT(x) STRING(x)
_Static_assert(sizeof(TEXT(TILE_CLONES)) > 1, "no clones");
#endif
"""
    assert compiled(text, "-fsyntax-only") == ""


def test_there_is_c_to_look_at():
    assert "codipy/programs/tiles/walk.c" in map(name, SOURCES)
    assert ("codipy/programs/native/x86.h" in map(name, SOURCES)) == NATIVE.is_dir()      # it may be deleted
    assert "build/generated/codipy/operations/array_loops.c" in map(name, SOURCES)


class Step(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("sources", ctypes.c_int32 * 3)]


class Program(ctypes.Structure):
    _fields_ = [*((name, ctypes.c_int32) for name in ("operands", "steps", "single")), ("step", Step * 48)]


class Operand(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("strides", ctypes.c_ssize_t * 8),
        ("adjoint", ctypes.c_void_p), ("adjoint_strides", ctypes.c_ssize_t * 8),
    ]  # fmt: skip


@pytest.mark.parametrize("native", [False] + [True] * NATIVE.is_dir())
def test_tiles_run_without_machine_code(tmp_path, native):
    """Builds the tiles alone, as if the folder with code for one machine had been deleted, and computes x * y + x."""
    files = [*TILES.glob("*.c"), *GENERATED.rglob("array_loops.c"), *(NATIVE.glob("*.c") if native else [])]
    library = tmp_path / "tiles.so"
    flags = ["-O0", "-fPIC", "-shared", *(["-DCODIPY_NATIVE"] if native else [])]
    made = subprocess.run(
        [*COMPILER, *flags, *PLACES, *map(str, files), "-o", str(library), "-lm", "-lpthread"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    tiles = ctypes.CDLL(str(library))
    length, doubles = 70_000, ctypes.c_double * 70_000
    x, y, out = doubles(*range(length)), doubles(*[0.5] * length), doubles()
    code = [BY_NAME["multiply"].code, BY_NAME["add"].code]
    program = Program(2, 2, 0, (Step * 48)(Step(code[0], (0, 1)), Step(code[1], (2, 0))))
    along, shape = (ctypes.c_ssize_t * 8)(8), (ctypes.c_ssize_t * 1)(length)
    operands = (Operand * 2)(Operand(ctypes.addressof(x), along), Operand(ctypes.addressof(y), along))
    for _ in range(3):  # loops are compiled when 64 tiles wanted them
        assert tiles.tile_run_values(ctypes.byref(program), operands, 1, shape, out, along) == 0
        assert list(out) == [1.5 * k for k in range(length)]
