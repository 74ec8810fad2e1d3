# SPDX-License-Identifier: Apache-2.0
"""Builds every `codipy/**/*.pyx` with one table of Cython directives and one table of C flags.

What is generated goes below `build/`: kernels of the operations table under `generated/`, Cython's C under `c/`. So a
`.c` beside the sources is written by hand.

Switches (environment; each is a build of its own, see the Makefile):
CODIPY_DEBUG=1     bounds checks and assertions, -O1 -g
CODIPY_TRACE=1     line tracing for coverage
CODIPY_SANITIZE=1  AddressSanitizer and UndefinedBehaviorSanitizer
"""

import importlib
import os
import sys
import sysconfig
import types
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

DEBUG, TRACE, SANITIZE = (os.environ.get(f"CODIPY_{name}") == "1" for name in ("DEBUG", "TRACE", "SANITIZE"))

DIRECTIVES = {
    "language_level": 3, "cdivision": True, "wraparound": False,
    "boundscheck": DEBUG, "initializedcheck": DEBUG, "linetrace": TRACE,
}

# What newer compilers (gcc 14, clang 16) refuse is refused by all.
STRICT = [f"-Werror={x}" for x in ("incompatible-pointer-types", "int-conversion", "implicit-function-declaration")]

# Never -march=native nor -ffast-math: wheels run everywhere, and values are bit for bit Python's.
C_FLAGS = {
    # A new object is cleared by memset: gcc makes `rep stos` of it, which takes 10 ns longer than the C library.
    "release": ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-builtin-memset", "-fvisibility=hidden", *STRICT],
    "checked": ["-O1", "-g", "-UNDEBUG", "-ffp-contract=off", "-fno-math-errno", "-fvisibility=hidden", *STRICT],
    "sanitize": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"],
    "msvc": ["/O2", "/fp:precise", "/std:c11"],
}
MACROS = [("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")]
GENERATED = Path("build", "generated")
# In a traced copy Cython's C stands beside its source, where the coverage report looks for it.
C_FOLDER = None if TRACE else str(Path("build", "c"))
TILES, NATIVE = Path("codipy", "programs", "tiles"), Path("codipy", "programs", "native")
if NATIVE.is_dir():  # loops compiled at run time; without the folder tiles run loop by loop
    MACROS += [("CODIPY_NATIVE", "1")]
if TRACE:  # sys.monitoring would leave the coverage report silently empty
    MACROS += [("CYTHON_TRACE_NOGIL", "1"), ("CYTHON_USE_SYS_MONITORING", "0")]
if not (DEBUG or TRACE):
    MACROS += [("CYTHON_WITHOUT_ASSERTIONS", "1")]

# One segment for what is read and what runs: two mappings and two page faults less for each of many modules.
LINK_FLAGS = ["-Wl,-z,noseparate-code"] if sys.platform == "linux" else []
# What is installed has no symbols but those that it exports, nor lines for a debugger: 6 MB instead of 30.
STRIP_FLAGS = {"linux": ["-Wl,-s"], "darwin": ["-Wl,-S", "-Wl,-x"]}.get(sys.platform, [])

KIND = "msvc" if sys.platform == "win32" else "checked" if DEBUG or TRACE or SANITIZE else "release"
SANITIZER = C_FLAGS["sanitize"] if SANITIZE else []


def write_kernels():
    """Write the C kernels of the operations table; `codipy` itself cannot be imported before it is built."""
    root, folder = Path(__file__).parent, GENERATED / "codipy" / "operations"
    for name in ("codipy", "codipy.operations"):  # bare packages: their __init__ never runs
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [str(root.joinpath(*name.split(".")))]
    folder.mkdir(parents=True, exist_ok=True)
    importlib.import_module("codipy.operations.codegen").write(folder)
    for name in [name for name in sys.modules if name.split(".")[0] == "codipy"]:
        del sys.modules[name]


def remove_older_output():
    """Remove what older builds left beside the sources, where it would be found first: C, and modules that moved."""
    operations = Path("codipy", "operations")
    older = [operations / name for name in ("kernels.h", "kernels.pxd", "tiles.h", "formulas.h")]
    older += [] if TRACE else [pyx.with_suffix(".c") for pyx in Path("codipy").rglob("*.pyx")]
    libraries = [path for suffix in ("so", "pyd") for path in Path("codipy").rglob(f"*.{suffix}")]
    older += [path for path in libraries if not path.with_name(path.name.split(".")[0] + ".pyx").exists()]
    for path in older:
        path.unlink(missing_ok=True)


def extensions(in_place=True):
    """One extension module for each `.pyx` that is there; those for tests are built in place only."""
    sources = sorted(Path("codipy").rglob("*.pyx"))
    return [
        Extension(
            ".".join(pyx.with_suffix("").parts), [str(pyx)], include_dirs=[".", str(GENERATED), numpy.get_include()],
            define_macros=MACROS, extra_compile_args=C_FLAGS[KIND] + SANITIZER, extra_link_args=SANITIZER + LINK_FLAGS,
        )
        for pyx in sources
        if in_place or "_testing" not in pyx.parts
    ]


def add_written_by_hand(module):
    """Add the headers that a module is compiled again for, and to that of the tiles its C."""
    headers = [*Path("codipy").rglob("*.h"), *GENERATED.rglob("*.h")]
    if module.name == ".".join(TILES.parts):
        sources = [*TILES.glob("*.c"), *NATIVE.glob("*.c"), GENERATED / "codipy" / "operations" / "array_loops.c"]
        module.sources += sorted(map(str, sources))
    else:  # of the tiles all others see program.h and together.h
        inner = {path.name for folder in (TILES, NATIVE) for path in folder.glob("*.h")} - {"program.h", "together.h"}
        inner |= {"array_loops.h", "formulas.h", "clones.h"}
        headers = [path for path in headers if path.name not in inner]
    module.depends = sorted(map(str, headers))


class BuildExtensions(build_ext):
    """Translate and compile only when extensions are built, so that an sdist holds no generated C."""

    def finalize_options(self):
        stamp, settings = Path("build", "settings"), repr((DIRECTIVES, MACROS, C_FLAGS[KIND], SANITIZER, LINK_FLAGS))
        self.force = self.force or not stamp.exists() or stamp.read_text() != settings
        self.parallel = int(self.parallel or os.cpu_count() or 1)
        if self.inplace or self.editable_mode:  # one place, so that an editable install is not compiled again
            self.build_lib = self.build_temp = str(Path("build", "inplace"))
        remove_older_output()
        modules = cythonize(
            extensions(self.inplace or self.editable_mode), compiler_directives=DIRECTIVES, nthreads=self.parallel,
            force=self.force, include_path=[".", str(GENERATED)], build_dir=C_FOLDER,
        )  # fmt: skip
        for module in modules:
            mend_appends(Path(module.sources[0]))
            add_written_by_hand(module)
            if KIND == "release" and not (self.inplace or self.editable_mode):  # profilers read what is built in place
                module.extra_link_args = module.extra_link_args + STRIP_FLAGS
        self.distribution.ext_modules = modules
        stamp.parent.mkdir(exist_ok=True)
        stamp.write_text(settings)
        super().finalize_options()


def mend_appends(path):
    """Cython 3.3 (cython#7748) frees an item twice where a list comprehension finds no memory to grow."""
    text = path.read_text(encoding="utf-8")
    mended = text.replace(
        "    int result = PyList_Append(list, x);\n    Py_DECREF(x);\n",
        "    int result = PyList_Append(list, x);\n    if (result == 0) Py_DECREF(x);\n",
    )
    if mended != text:
        path.write_text(mended, encoding="utf-8")


def demand_gil():
    """The GIL keeps sweeps and records apart, and counts of references tell who else sees an array."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        sys.exit("codipy cannot be built for a free-threaded Python: it counts on the GIL and on exact counts of "
                 "references. Install it for the usual build of this version, python3.13 in place of python3.13t.")


if __name__ == "__main__":  # Cython's worker processes may import this file
    demand_gil()
    write_kernels()  # here and not in build_ext: a wheel's data files are collected before it runs
    setup(license="Apache-2.0", ext_modules=extensions(), cmdclass={"build_ext": BuildExtensions})
