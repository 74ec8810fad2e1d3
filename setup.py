# SPDX-License-Identifier: Apache-2.0
"""Builds every `codipy/**/*.pyx` with one table of Cython directives and one table of C flags.

Switches (environment; each is a build of its own, see the Makefile):
CODIPY_DEBUG=1     bounds checks and assertions, -O1 -g
CODIPY_TRACE=1     line tracing for coverage
CODIPY_SANITIZE=1  AddressSanitizer and UndefinedBehaviorSanitizer
"""

import importlib
import os
import sys
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

# Never -march=native nor -ffast-math: wheels run everywhere, and values are bit for bit Python's.
C_FLAGS = {
    # A new object is cleared by memset: gcc makes `rep stos` of it, which takes 10 ns longer than the C library.
    "release": ["-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-builtin-memset"],
    "checked": ["-O1", "-g", "-UNDEBUG", "-ffp-contract=off", "-fno-math-errno"],
    "sanitize": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer"],
    "msvc": ["/O2", "/fp:precise", "/std:c11"],
}
MACROS = [("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")]
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
    root = Path(__file__).parent
    for name in ("codipy", "codipy.operations"):  # bare packages: their __init__ never runs
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [str(root.joinpath(*name.split(".")))]
    importlib.import_module("codipy.operations.codegen").write(root / "codipy" / "operations")
    for name in [name for name in sys.modules if name.split(".")[0] == "codipy"]:
        del sys.modules[name]


def extensions():
    """One extension module for each `.pyx` that is there; every header rebuilds them all, C's own includes too."""
    headers = [str(header) for header in sorted(Path("codipy").rglob("*.h"))]
    return [
        Extension(
            ".".join(pyx.with_suffix("").parts), [str(pyx)], depends=headers, include_dirs=[".", numpy.get_include()],
            define_macros=MACROS, extra_compile_args=C_FLAGS[KIND] + SANITIZER, extra_link_args=SANITIZER + LINK_FLAGS,
        )
        for pyx in sorted(Path("codipy").rglob("*.pyx"))
    ]


class BuildExtensions(build_ext):
    """Translate and compile only when extensions are built, so that an sdist holds no generated C."""

    def finalize_options(self):
        stamp, settings = Path("build", "settings"), repr((DIRECTIVES, MACROS, C_FLAGS[KIND], SANITIZER, LINK_FLAGS))
        self.force = self.force or not stamp.exists() or stamp.read_text() != settings
        self.parallel = int(self.parallel or os.cpu_count() or 1)
        if self.inplace or self.editable_mode:  # one place, so that an editable install is not compiled again
            self.build_lib = self.build_temp = str(Path("build", "inplace"))
        modules = extensions()
        if KIND == "release" and not (self.inplace or self.editable_mode):  # profilers read what is built in place
            for module in modules:
                module.extra_link_args += STRIP_FLAGS
        self.distribution.ext_modules = cythonize(
            modules, compiler_directives=DIRECTIVES, nthreads=self.parallel, force=self.force
        )
        for module in modules:
            mend_appends(Path(module.sources[0]).with_suffix(".c"))
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


if __name__ == "__main__":  # Cython's worker processes may import this file
    write_kernels()  # here and not in build_ext: a wheel's data files are collected before it runs
    setup(license="Apache-2.0", ext_modules=extensions(), cmdclass={"build_ext": BuildExtensions})
