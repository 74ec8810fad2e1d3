# SPDX-License-Identifier: Apache-2.0
"""What do longer statements save? Prints the time of the same 120 operations as statements of 4 to 40 operations.

    python benchmarks/bench_long_expressions.py

An array expression is cut where it grows past 16 operands or 40 operations. Times are of recording and sweep, the least
of several that alternate, in units of those of statements of 40.
"""
import numpy as np
from timing import in_turns

PIECES = (4, 8, 20, 40)
OPERATIONS = 120


def text(operations, functions):
    """An expression of t, a and b with so many operations."""
    found = "t"
    for pair in range(operations // 2):
        found = f"(np.sin({found}) * a)" if functions and pair % 5 == 0 else f"({found} * a + b)"
    return found


def recorded(n, piece, functions):
    """A function that records 120 operations on n elements, `piece` at a time, and sweeps."""
    import codipy
    a, b, start = np.linspace(0.5, 0.9, n), np.linspace(0.1, 0.2, n), np.linspace(0.2, 0.7, n)
    tape = codipy.Tape()
    f = eval(f"lambda t, a, b: {text(piece, functions)}", {"np": np})

    def once():
        tape.reset()
        with tape:
            t = tape.register_input(start)
            for _ in range(OPERATIONS // piece):
                t = f(t, a, b)
            tape.register_output(t)
        t.gradient = np.ones(n)
        tape.evaluate()

    return once


def main():
    """A line for each kind of operations and each size."""
    for functions in (False, True):
        for n, repeats in ((10, 100), (1000, 100), (100_000, 15)):
            times = in_turns([recorded(n, piece, functions) for piece in PIECES], repeats)
            least = [min(taken) for taken in times]
            shown = ", ".join(f"{piece}: {taken / least[-1]:.2f}" for piece, taken in zip(PIECES, least))
            print(f"{'with sines' if functions else 'arithmetic'}, {n} elements: {shown}")


if __name__ == "__main__":
    main()
