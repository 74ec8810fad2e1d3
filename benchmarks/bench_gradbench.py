# SPDX-License-Identifier: Apache-2.0
"""What do the gradients of two shared objectives cost, in plain runs of the same NumPy program, at each size?"""
import statistics
from functools import partial

from bench_arrays import keep_freed_memory
from timing import Figure, in_turns

# name: title, target
WORK = {
    "gmm": ("Gaussian mixture with a Wishart prior, n=1000, d in 2, 10, 20, k in 5, 10, 25, worst", 1.8),
    "ode": ("ODE by RK4, 200 steps, 10, 100 and 1000 variables, worst", 1.6),
}


def measure(name, repeats=15):
    """The worst of all sizes."""
    import array_checks
    import gradbench_work

    import codipy

    keep_freed_memory()
    title, target = WORK[name]
    point = gradbench_work.POINTS[name]
    driver = codipy.value_and_grad(point.function, argnums=point.argnums)
    array_checks.check_small(point, driver)
    found = {}
    for options in gradbench_work.SIZES[name]:
        arguments = point.start(point.size, **options)
        array_checks.check_direction(point, arguments, *driver(*arguments))
        plain, times = in_turns([partial(point.function, *arguments), partial(driver, *arguments)], repeats)
        label = " ".join(f"{key[0]}={value}" for key, value in options.items())
        found[label] = statistics.median(times) / statistics.median(plain), min(times) / min(plain)
    worst = max(found, key=found.get)
    detail = ", ".join(f"{label} {ratio:.2f} ({least:.2f})" for label, (ratio, least) in found.items())
    detail += "; least/least in brackets"
    return Figure(f"{title}: gradient / plain run", found[worst][0], target, detail=detail, question=name)


QUESTIONS = {name: partial(measure, name) for name in WORK}
