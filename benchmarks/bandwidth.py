# SPDX-License-Identifier: Apache-2.0
"""Memory bandwidth of this machine by a STREAM-like triad and a read-only sum, compiled by `cc` when asked for.

NumPy cannot run a triad in one pass (`b + s*c` makes a temporary), so that would not be STREAM's number.
"""
import ctypes
import os
import shlex
import subprocess
import sysconfig
import tempfile
import time
from pathlib import Path

_SOURCE = r"""
#include <stddef.h>
void triad(double *restrict a, const double *restrict b, const double *restrict c, double s, size_t n) {
    for (size_t i = 0; i < n; i++) a[i] = b[i] + s * c[i];
}
double total(const double *a, size_t n) {          /* several sums, so that it does not wait for the adder */
    double t[16] = {0};
    for (size_t i = 0; i + 16 <= n; i += 16) for (int k = 0; k < 16; k++) t[k] += a[i + k];
    double all = 0.0;
    for (int k = 0; k < 16; k++) all += t[k];
    return all;
}
"""


class Bandwidth:
    """Bytes per second of one thread on arrays that no cache holds; counted as STREAM does, without write-allocate."""

    def __init__(self, items=12_000_000):
        self.items = items
        compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder, "triad.c"), Path(folder, "triad.so")
            source.write_text(_SOURCE)
            subprocess.run([*compiler, "-O3", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
            self.library = ctypes.CDLL(str(library))
        array = ctypes.c_double * items
        self.a, self.b, self.c = array(), array(), array()
        self.library.triad.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_double, ctypes.c_size_t]
        self.library.total.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
        self.library.total.restype = ctypes.c_double
        for target in (self.a, self.b, self.c):     # first writes: pages are made here, not while timed
            ctypes.memset(target, 0, 8 * items)

    def triad(self):
        """a = b + s*c: 24 bytes an item."""
        start = time.perf_counter()
        self.library.triad(self.a, self.b, self.c, 3.0, self.items)
        return 24 * self.items / (time.perf_counter() - start)

    def read(self):
        """Sum of a: 8 bytes an item."""
        start = time.perf_counter()
        self.library.total(self.a, self.items)
        return 8 * self.items / (time.perf_counter() - start)
