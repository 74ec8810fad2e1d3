# SPDX-License-Identifier: Apache-2.0
"""Does a gradient leave the system's memory alone in a process as users have it, where nobody taught the C library?

Freed memory goes back to the system, and comes again page by page, unless a pool keeps it. Counted: page faults of a
gradient, beside those of the plain run and the pages of the gradient that is returned.
"""
import json
import os
import statistics
import subprocess
import sys
from functools import partial

from timing import Figure

PROGRAMS = ("burgers", "burgers-fill", "black-scholes-arrays", "logistic", "perceptron", "heat")

CHILD = """
import json, resource, sys
sys.path.insert(0, sys.argv[2])
import numpy as np
import array_points
import codipy

point = array_points.POINTS[sys.argv[1]]
arguments = point.start(point.size)
driver = codipy.value_and_grad(point.function, argnums=point.argnums)
faults = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_minflt
rows = []
for _ in range(6):
    before = faults()
    point.function(*arguments)
    between = faults()
    gradient = driver(*arguments)[1]
    rows.append((between - before, faults() - between))
parts = gradient if isinstance(gradient, tuple) else (gradient,)
print(json.dumps([rows[1:], sum(np.asarray(part).nbytes for part in parts) // 4096 + len(parts)]))
"""


def counted(name):
    """Page faults of a plain run and of a gradient (medians after the first), pages of the gradient."""
    here = os.path.dirname(os.path.abspath(__file__))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", CHILD, name, here], check=True, capture_output=True, text=True,
                          env=environment)
    rows, pages = json.loads(done.stdout)
    return *(statistics.median(column) for column in zip(*rows)), pages


def measure(name):
    """Faults of a gradient over those that are allowed."""
    plain, gradient, pages = counted(name)
    return Figure(f"page faults of {name}: gradient / (plain run and the gradient's pages)",
                  gradient / (plain + pages), 1.0, question=f"page-faults-{name}",
                  detail=f"{gradient:.0f} faults, plain run {plain:.0f}, gradient {pages} pages")


QUESTIONS = {f"page-faults-{name}": partial(measure, name) for name in PROGRAMS}
