# SPDX-License-Identifier: Apache-2.0
"""What does a statement cost in a reverse sweep that waits for each adjoint, and by how much do values cost more?"""
import statistics

from bench_gradients import WORK
from chains import short_statements, sin_chain
from timing import Figure, ratio, seconds


def sweep_seconds(function, x, strategies, repeats=9):
    """Times of reverse sweeps for each strategy, in turns, and the number of statements."""
    import codipy
    import codipy.math

    recorded = []
    for strategy in strategies:
        tape = codipy.Tape(strategy=strategy)
        with tape:
            inputs = [tape.register_input(v) for v in x]
            recorded.append((tape, tape.register_output(function(inputs, codipy.math))))
    times = [[] for _ in recorded]
    for _ in range(repeats + 1):
        for (tape, result), taken in zip(recorded, times):
            tape.clear_adjoints()
            result.gradient = 1.0
            taken.append(seconds(tape.evaluate))
    return [taken[1:] for taken in times], recorded[0][0].statements


def latency():
    """Nanoseconds a statement on a chain of one- and two-argument statements."""
    (times,), statements = sweep_seconds(short_statements, [1.0, 0.999], ["jacobian"])
    return Figure("Jacobian reverse sweep, chain of one- and two-argument statements: a statement",
                  1e9 * statistics.median(times) / statements, 6.0, unit=" ns",
                  detail=f"{statements} statements, least {1e9 * min(times) / statements:.2f} ns", question="latency")


def values(title="chain s = sin(s)", function=sin_chain, x=(1.0,), target=2.5, question="values"):
    """Primal-value sweep over Jacobian sweep."""
    (jacobian, primal), statements = sweep_seconds(function, x, ["jacobian", "primal"])
    reached, _ = ratio(primal, jacobian)
    detail = (f"least/least {min(primal) / min(jacobian):.2f}, a statement "
              f"{1e9 * statistics.median(primal) / statements:.1f} and "
              f"{1e9 * statistics.median(jacobian) / statements:.1f} ns")
    return Figure(f"primal-value reverse sweep / Jacobian reverse sweep, {title}", reached, target, detail=detail,
                  question=question)


def values_of_lorenz():
    """The same of a loop that computes."""
    function, x, _ = WORK["lorenz"]
    return values("Lorenz, RK4, 2000 steps", function, x, 8.0, "values-lorenz")


QUESTIONS = {"latency": latency, "values": values, "values-lorenz": values_of_lorenz}
