# SPDX-License-Identifier: Apache-2.0
"""What does memory that was never written cost the first recording on a fresh tape?

Each pair is measured in a process of its own, since a pool or an allocator that is warm would hide it.
"""
import os
import statistics
import subprocess
import sys

from chains import burgers, burgers_start
from timing import Figure, seconds

STEPS = 20


def pair():
    """Seconds of the first and the second recording on a fresh tape in this process."""
    import codipy
    import codipy.math

    tape = codipy.Tape(strategy="jacobian")
    x = burgers_start()

    def record():
        with tape:
            inputs = [tape.register_input(v) for v in x]
            tape.register_output(burgers(inputs, codipy.math, steps=STEPS))

    burgers(x, codipy.math, steps=1)    # bytecode specialised; the tape stays cold
    first = seconds(record)
    tape.reset()
    return first, seconds(record), tape.statistics().total.used


def measure(repeats=7):
    """Median over processes of second / first."""
    pairs, environment = [], {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    for _ in range(repeats):
        done = subprocess.run([sys.executable, __file__], check=True, capture_output=True, text=True,
                              env=environment)
        pairs.append([float(word) for word in done.stdout.split()])
    ratios = [second / first for first, second, _ in pairs]
    first, second = (statistics.median(column) for column in list(zip(*pairs))[:2])
    detail = (f"least {min(ratios):.2f}, largest {max(ratios):.2f}; first {1e3 * first:.0f} ms, second "
              f"{1e3 * second:.0f} ms, {pairs[0][2] / 1e6:.0f} MB")
    return Figure("second recording / first recording on a fresh tape", statistics.median(ratios), 0.8, at_least=True,
                  detail=detail, question="first-recording")


QUESTIONS = {"first-recording": measure}

if __name__ == "__main__":
    print(*pair())
