# SPDX-License-Identifier: Apache-2.0
"""What do derivatives in one direction or a few cost on a tape of strategy 'forward', which keeps nothing?

Plain: the same function on floats or ndarrays. Forward: inputs registered and seeded on a tape that is used again, one
run, the result's tangent read.
"""
import math
import statistics
import tracemalloc
from functools import partial

from bench_gradients import WORK
from timing import Figure, gradient, in_turns, ratio


def tangent(tape, function, inputs, seeds):
    """The derivative of one number in the directions of the tape."""
    tape.reset()
    with tape:
        variables = [tape.register_input(x) for x in inputs]
        for x, seed in zip(variables, seeds):
            x.tangent = seed
        result = function(*variables)
        return result.tangent


def lorenz(width, target, repeats=15):
    """Lorenz' system on floats, in one direction or in as many as there are inputs."""
    import numpy as np

    import codipy
    import codipy.math

    function, x, _ = WORK["lorenz"]

    def active(*numbers):
        return function(list(numbers), codipy.math)

    whole = codipy.value_and_grad(partial(function, m=codipy.math))(x)[1]
    tape, reuse = codipy.Tape("forward", width=width), codipy.Tape("jacobian-reuse")
    seeds = np.eye(len(x)).tolist() if width > 1 else [1.0] * len(x)
    found = tangent(tape, active, x, seeds)
    if not np.allclose(found, whole if width > 1 else sum(whole), rtol=1e-9):
        raise AssertionError(f"tangents {found}, gradient {whole}")
    plain, times, reverse = in_turns([lambda: function(list(x), math), lambda: tangent(tape, active, x, seeds),
                                      lambda: gradient(reuse, lambda numbers: active(*numbers), x)], repeats)
    reached, detail = ratio(times, plain)
    detail += f"; gradient under jacobian-reuse / plain {ratio(reverse, plain)[0]:.2f}"
    return Figure(f"Lorenz, RK4, 2000 steps: forward in {width} direction{'s' * (width > 1)} / plain run", reached,
                  target, detail=detail, question=f"forward-lorenz-{width}")


def prepared():
    """Burgers' equation: its point, fields, seeds and a run on a tape."""
    import array_points
    import numpy as np
    from bench_arrays import keep_freed_memory

    import codipy

    keep_freed_memory()
    point = array_points.POINTS["burgers"]
    *fields, steps = point.start(point.size)
    seeds = [np.random.default_rng(k).standard_normal(field.shape) for k, field in enumerate(fields)]
    tape, run = codipy.Tape("forward"), partial(point.function, steps=steps)
    found = tangent(tape, run, fields, seeds)
    bars = codipy.grad(run, argnums=(0, 1))(*fields)
    expected = sum(float(np.sum(bar * seed)) for bar, seed in zip(bars, seeds))
    if not abs(found - expected) <= 1e-9 * sum(float(np.sum(np.abs(bar * seed))) for bar, seed in zip(bars, seeds)):
        raise AssertionError(f"tangent {found}, gradient gives {expected}")
    return run, fields, seeds, tape


def burgers(repeats=25):
    """Burgers' equation in one direction."""
    import codipy

    run, fields, seeds, tape = prepared()
    recorded = codipy.Tape()

    def swept():
        recorded.reset()
        with recorded:
            variables = [recorded.register_input(x) for x in fields]
            result = recorded.register_output(run(*variables))
        for x, seed in zip(variables, seeds):
            x.gradient = seed
        recorded.evaluate_forward()
        return result.gradient

    plain, times, others = in_turns([lambda: run(*fields), lambda: tangent(tape, run, fields, seeds), swept], repeats)
    reached, detail = ratio(times, plain)
    detail += f"; recorded and swept forward / plain {ratio(others, plain)[0]:.2f}"
    return Figure("coupled Burgers' equation 201x201, 32 steps: forward in one direction / plain run", reached, 0.6,
                  detail=detail, question="forward-burgers")


def burgers_bytes():
    """What a forward run holds beside the fields of two steps: tangents, and all that Python and NumPy allocate."""
    run, fields, seeds, tape = prepared()
    tracemalloc.start()
    try:
        run(*fields)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        run(*fields)
        plain = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    held = {}
    for steps in (8, 32, 128):
        tape.reset_hard()
        tangent(tape, partial(run, steps=steps), fields, seeds)
        held[steps] = tape.statistics().total.allocated / 1e6
    if max(held.values()) > min(held.values()):
        raise AssertionError(f"memory grows with the steps: {held}")
    detail = f"after 8 and 128 steps {held[8]:.2f} and {held[128]:.2f}; peak of the plain arrays {plain / 1e6:.2f}"
    return Figure("coupled Burgers' equation 201x201, 32 steps, forward: memory beside the arrays' values", held[32],
                  3.0, unit=" MB", detail=detail, question="forward-burgers-bytes")


def drivers(repeats=15):
    """`codipy.jvp` against itself with a recording that is swept forward, the way it went before."""
    import codipy
    import codipy.math

    function, x, _ = WORK["lorenz"]
    active = partial(function, m=codipy.math)
    plain, times, swept = in_turns([
        lambda: function(list(x), math), lambda: codipy.jvp(active, (x,), ([1.0] * len(x),)),
        lambda: codipy.jvp(active, (x,), ([1.0] * len(x),), strategy="jacobian")], repeats)
    return Figure("codipy.jvp of Lorenz / the same with a recording that is swept",
                  statistics.median(times) / statistics.median(swept), 1.0,
                  detail=f"{ratio(times, plain)[0]:.2f} and {ratio(swept, plain)[0]:.2f} of a plain run",
                  question="forward-jvp")


QUESTIONS = {"forward-lorenz-1": partial(lorenz, 1, 2.5), "forward-lorenz-6": partial(lorenz, 6, 3.8),
             "forward-burgers": burgers, "forward-burgers-bytes": burgers_bytes, "forward-jvp": drivers}
