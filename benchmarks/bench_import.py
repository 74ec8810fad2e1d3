# SPDX-License-Identifier: Apache-2.0
"""What does `import codipy` cost, in imports of NumPy, each in a process of its own?"""
import os
import subprocess
import sys
import tempfile

from timing import Figure, ratio

CHILD = "import time; start = time.thread_time(); import {}; print(time.thread_time() - start)"


def seconds_to_import(name, cache):
    """Processor time of one import in a fresh process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONPYCACHEPREFIX": cache}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run([sys.executable, "-c", CHILD.format(name)], check=True, capture_output=True, text=True,
                          env=environment)
    return float(done.stdout)


def measure(repeats=21):
    """Both in turns; the first of each, not counted, fills a cache of bytecode, as an installation has it."""
    with tempfile.TemporaryDirectory() as cache:
        times = [[seconds_to_import(name, cache) for name in ("numpy", "codipy")] for _ in range(repeats + 1)][1:]
    reached, detail = ratio(*reversed(list(zip(*times))))
    return Figure("import of codipy / import of NumPy", reached, 1.3, detail=detail, question="import")


QUESTIONS = {"import": measure}
