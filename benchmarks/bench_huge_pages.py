# SPDX-License-Identifier: Apache-2.0
"""Does asking for huge pages pay? Prints GB/s of first writes to chunks, with the advice of `pages.h` and without.

Run: python benchmarks/bench_huge_pages.py
"""
import ctypes
import shlex
import statistics
import subprocess
import sysconfig
import tempfile
from pathlib import Path

CHUNK, REPEATS = 16 << 20, 20
SOURCE = r"""
#include "codipy/data/pages.h"
#include <string.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
double first_writes(size_t chunk, int count, int advise) {
    char *chunks[64];
    double start = now();
    for (int i = 0; i < count; i++) {
        if (advise) chunks[i] = codipy_pages_new(chunk);
        else if (posix_memalign((void **)&chunks[i], CODIPY_LINE, chunk) != 0) return -1.0;
        memset(chunks[i], 1, chunk);
    }
    double taken = now() - start;
    for (int i = 0; i < count; i++) {
        if (advise) codipy_pages_free(chunks[i], chunk); else free(chunks[i]);
    }
    return taken;
}
"""


def build(folder):
    """The timed loop as a library."""
    source, library = Path(folder, "pages.c"), Path(folder, "pages.so")
    source.write_text(SOURCE)
    subprocess.run([*shlex.split(sysconfig.get_config_var("CC") or "cc"), "-O2", "-shared", "-fPIC", "-D_GNU_SOURCE",
                    "-I", str(Path(__file__).resolve().parents[1]), str(source), "-o", str(library)], check=True)
    function = ctypes.CDLL(str(library)).first_writes
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_size_t, ctypes.c_int, ctypes.c_int]
    return function


def main():
    """Both ways in turns, for a recording of 64 MB and one of 384 MB."""
    with tempfile.TemporaryDirectory() as folder:
        first_writes = build(folder)
        for count in (4, 24):
            speeds = {"with advice": [], "without": []}
            for _ in range(REPEATS):
                for advise, found in zip((1, 0), speeds.values()):
                    found.append(count * CHUNK / first_writes(CHUNK, count, advise) / 1e9)
            text = ", ".join(f"{name} {statistics.median(found):.1f} GB/s ({min(found):.1f} to {max(found):.1f})"
                             for name, found in speeds.items())
            print(f"{count * CHUNK >> 20} MB in 16 MB chunks: {text}")


if __name__ == "__main__":
    main()
