# SPDX-License-Identifier: Apache-2.0
"""Does the Jacobian reverse sweep run as fast as memory delivers the tape?

Coupled Burgers' equation in scalar loops, over a million statements of twelve arguments. Counted are the bytes of the
two streams and no adjoints, over the triad's bytes per second measured between the sweeps.
"""
import statistics
import time

from bandwidth import Bandwidth
from chains import burgers, burgers_start
from timing import Figure


def record_burgers(strategy="jacobian"):
    """The tape, its output and its statements."""
    import codipy
    import codipy.math

    tape = codipy.Tape(strategy=strategy)
    with tape:
        inputs = [tape.register_input(v) for v in burgers_start()]
        result = tape.register_output(burgers(inputs, codipy.math))
    return tape, result


def measure(repeats=9):
    """Sweep, triad and read in turns."""
    tape, result = record_burgers()
    figures = tape.statistics().to_dict()
    used = sum(part["used"] for name, part in figures.items() if name in ("statement entries", "Jacobian entries"))
    arguments = figures["Jacobian entries"]["number of items"]
    machine = Bandwidth()
    sweeps, triads, reads = [], [], []
    for _ in range(repeats + 1):
        tape.clear_adjoints()
        result.gradient = 1.0
        start = time.perf_counter()
        tape.evaluate()
        sweeps.append(used / (time.perf_counter() - start))
        triads.append(machine.triad())
        reads.append(machine.read())
    sweep, triad, read = (statistics.median(taken[1:]) for taken in (sweeps, triads, reads))   # without the warm-up
    detail = (f"{tape.statements} statements, {arguments / tape.statements:.1f} arguments each, {used / 1e6:.0f} MB; "
              f"sweep {sweep / 1e9:.2f} GB/s, triad {triad / 1e9:.2f}, read {read / 1e9:.2f}; "
              f"best/best {100 * max(sweeps) / max(triads):.0f} %")
    return Figure("Jacobian reverse sweep, Burgers' in scalar loops: bytes read / STREAM triad", 100.0 * sweep / triad,
                  60.0, at_least=True, unit=" %", detail=detail, question="bandwidth")


QUESTIONS = {"bandwidth": measure}
