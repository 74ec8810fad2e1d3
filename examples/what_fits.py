# SPDX-License-Identifier: Apache-2.0
"""Which strategies fit the memory: the heat in a bar, its recording counted before it is made.

Run it: python examples/what_fits.py; or codipy predict examples/what_fits.py:hottest --budget "4 MB"
"""
import numpy as np

import codipy

CELLS, STEPS = 200, 1000
BUDGET = "4 MB"
x0 = np.linspace(0.5, 1.5, CELLS)                           # conductivity of each cell


def hottest(conductivity, steps=STEPS):
    """The largest temperature after some steps of a bar that conducts the better the hotter it is."""
    heat = np.sin(np.linspace(0.0, np.pi, CELLS))
    for _ in range(steps):
        flow = conductivity[1:] * (1.0 + 0.1 * heat[1:]) * (heat[1:] - heat[:-1])
        new = heat.copy()
        new[1:-1] = heat[1:-1] + 0.2 * (flow[1:] - flow[:-1])
        heat = new
    return np.max(heat)


def main():
    """Count, choose the smallest that fits, record with it, and check the count."""
    ways = {"strategies": ["auto", "jacobian", "primal"], "granularities": "statement"}
    found = codipy.predict(hottest, x0, **ways, budget=BUDGET)
    print(found)
    best = found.fitting[0]
    tape = codipy.Tape(best.strategy, best.granularity)
    with tape:
        conductivity = tape.register_input(x0)
        y = tape.register_output(codipy.rebind(hottest)(conductivity))
    y.gradient = 1.0
    tape.evaluate()
    taken = tape.statistics()
    same = all(taken[title] == best.statistics[title]
               for title in (*best.streams, "identifiers") if title != "array statements")      # Python's objects
    near = abs(taken.total.used - best.used) < 0.01 * best.used
    print(f"\n{best.strategy}: {best.used} bytes counted, {taken.total.used} taken; most sensitive to cell "
          f"{np.argmax(np.abs(conductivity.gradient))}")
    print(f"check: streams and values as counted: {'ok' if same and near else 'WRONG'}")


if __name__ == "__main__":
    main()
