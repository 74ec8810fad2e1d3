# SPDX-License-Identifier: Apache-2.0
"""What sweeps of second order rely on: no identifier is set by two steps of which the first depends on anything."""

import numpy as np

from codipy.tape.contents.reading import steps


def numbers(where):
    """The identifiers of a set, as `codipy.tape.contents.reading` has them."""
    first, shape, strides = where
    found = np.full(shape, first)
    for axis, (n, step) in enumerate(zip(shape, strides)):
        found = found + (np.arange(n) * step).reshape((n,) + (1,) * (len(shape) - axis - 1))
    return found.reshape(-1)


def set_twice(tape):
    """The identifiers that are."""
    active, twice = np.zeros(tape.statistics()["identifiers"].counts["max live indices"] + 2, bool), []
    for step in steps(tape):
        if step[0] in ("array", "sum"):
            results = [step[1]]
            depends = step[0] == "sum" or any(type(x) is tuple for x in step[3])
        elif step[0] == "move":
            results, depends = [(step[1], step[2].shape, (1,))], True
        elif step[0] == "call":
            results, depends = [where for where in step[1] if where is not None and where[1]], True
        else:
            continue
        for where in results:
            found = numbers(where)
            twice += found[active[found]].tolist()
            active[found] |= depends
    return twice
