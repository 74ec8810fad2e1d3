# SPDX-License-Identifier: Apache-2.0
"""Does a process whose arrays change their sizes stay near the memory of its largest gradient, and give it back?

Counted is resident memory above that after the imports, in processes of their own: the most after a gradient of each
size, beside the peak of one gradient of the largest size; and what is left after `codipy.clear_tapes()`. Linux only.
"""
import json
import os
import random
import subprocess
import sys
from functools import partial

from timing import Figure

LARGEST = 2_000_000
PROGRAMS = ("elementwise", "primitives")

CHILD = """
import gc, json, sys
import numpy as np
import codipy

def elementwise(u):
    v = np.sin(u) * u
    for _ in range(3):
        v = v * np.exp(-v * v) + u
        v[1:] = v[1:] - 0.5 * v[:-1] * u[1:]
    return np.sum(v * v)

def primitives(u):
    v = np.concatenate((np.cumsum(np.sin(u)) * u, np.sort(u)))
    return np.sum(v * v) / len(v)

def resident():
    with open("/proc/self/statm") as file:
        return 4096 * int(file.read().split()[1])

def peak():
    with open("/proc/self/status") as file:
        return 1024 * next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))

gradient = codipy.grad(globals()[sys.argv[1]], strategy=sys.argv[2])
gradient(np.linspace(0.0, 1.0, 50))
before, after = resident(), []
for size in json.loads(sys.argv[3]):
    gradient(np.linspace(0.0, 1.0, size))
    after.append(resident() - before)
peak = peak() - before
codipy.clear_tapes()
print(json.dumps([after, peak, resident() - before]))
"""


def sizes(orders=("up", "down", "random", "large"), largest=LARGEST, count=30, seed=0):
    """Sizes from 1000 to the largest: ascending, descending, random, and random large ones."""
    rng = random.Random(seed)
    up = [round(1000 * (largest / 1000) ** (k / (count - 1))) for k in range(count)]
    known = {"up": up, "down": up[::-1], "random": [round(1000 * (largest / 1000) ** rng.random()) for _ in up],
             "large": [rng.randint(largest // 2, largest) for _ in up]}
    return [size for order in orders for size in known[order]]


def measure(program, strategy="auto", largest=LARGEST, count=30):
    """Bytes: the most after a gradient of changing sizes, the peak of one of the largest, what is left in the end."""
    after, _, left = run(program, strategy, sizes(largest=largest, count=count))
    _, alone, _ = run(program, strategy, [largest])
    return max(after), alone, left


def run(program, strategy, wanted):
    """Bytes above the baseline: after each size, their peak, and after clear_tapes()."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", CHILD, program, strategy, json.dumps(wanted)], check=True,
                          capture_output=True, text=True, env=environment)
    return json.loads(done.stdout)


def kept(program):
    """Memory of gradients of changing sizes over that of the largest alone."""
    most, alone, left = measure(program)
    return Figure(f"gradients of 1,000 to {LARGEST:,} elements in turn, {program}: memory / that of the largest alone",
                  most / alone, 2.0, question=f"changing-sizes-{program}",
                  detail=f"{most / 2**20:.0f} MB, alone {alone / 2**20:.0f} MB, {left / 2**20:.0f} MB left after "
                         "clear_tapes()")


def given_back(program):
    """What clear_tapes() leaves of it, in MB."""
    most, _, left = measure(program)
    return Figure(f"the same, {program}: memory left after clear_tapes()", left / 2**20, 16.0, unit=" MB",
                  question=f"cleared-{program}", detail=f"of {most / 2**20:.0f} MB")


QUESTIONS = {f"{name}-{program}": partial(figure, program) for name, figure in
             (("changing-sizes", kept), ("cleared", given_back)) for program in PROGRAMS}
