# SPDX-License-Identifier: Apache-2.0
"""What do Jacobians cost, and each further direction that a sweep carries?"""
import math
import statistics
from functools import partial

from timing import Figure, in_turns, ratio, seconds

DIRECTIONS = 8


def _agree(found, expected, tolerance=1e-6):
    import numpy as np

    if not np.allclose(found, expected, rtol=tolerance, atol=tolerance):
        raise AssertionError(f"the derivatives differ by {np.max(np.abs(found - expected))}")


def _differences(f, x, h=1e-6):
    """A Jacobian by central differences."""
    import numpy as np

    columns = [(f(x + h * e) - f(x - h * e)) / (2.0 * h) for e in np.eye(x.size)]
    return np.stack(columns, axis=-1)


def dense_jacobian(n=100):
    """Of an array program, over the loops of Python that give its values."""
    import numpy as np

    import codipy

    draw = np.random.default_rng(1)
    matrix, x = draw.standard_normal((n, n)) / n, draw.standard_normal(n)

    def f(x):
        return x * (matrix @ np.exp(-x * x))

    rows, numbers = matrix.tolist(), x.tolist()

    def loops():
        found, exps = [], [math.exp(-v * v) for v in numbers]
        for v, row in zip(numbers, rows):
            total = 0.0
            for a, e in zip(row, exps):
                total += a * e
            found.append(v * total)
        return found

    driver = codipy.jacobian(f)
    _agree(driver(x), _differences(f, x))
    times, plain = in_turns([lambda: driver(x), loops], 15)
    reached, detail = ratio(times, plain)
    return Figure(f"dense Jacobian {n}x{n}, x*(A @ exp(-x*x)) / the loops in plain Python", reached, 0.3, detail=detail,
                  question="dense-jacobian")


def _further(title, target, question, record, repeats=9):
    """Seconds of a reverse sweep in one direction, and of each further one of eight."""
    import numpy as np

    import codipy

    tape = codipy.Tape()
    with tape:
        inputs, outputs = record(tape)
    draw, vectors = np.random.default_rng(2), []
    for width in (1, DIRECTIONS):
        adjoints = tape.new_adjoints(width)
        vectors.append((adjoints, [draw.standard_normal((*out.shape, DIRECTIONS)) for out in outputs], width))

    def sweep(adjoints, seeds, width, lane=0):
        adjoints.clear()
        for out, seed in zip(outputs, seeds):
            adjoints[out] = seed if width > 1 else seed[..., lane]
        return seconds(partial(tape.evaluate, adjoints=adjoints))

    one, all_of_them = vectors
    sweep(*all_of_them)
    found = [all_of_them[0][x] for x in inputs]
    for lane in range(DIRECTIONS):
        sweep(one[0], all_of_them[1], 1, lane)
        for x, expected in zip(inputs, found):
            _agree(one[0][x], expected[..., lane], 1e-12)
    times = [[sweep(*vector) for vector in vectors] for _ in range(repeats)]
    first, several = (statistics.median(column) for column in zip(*times))
    least = [min(column) for column in zip(*times)]
    detail = (f"least/least {(least[1] - least[0]) / (DIRECTIONS - 1) / least[0]:.2f}, the first {1e3 * first:.3g} ms, "
              f"{DIRECTIONS} together {1e3 * several:.3g} ms")
    return Figure(f"further direction in one reverse sweep / the first, {DIRECTIONS} directions: {title}",
                  (several - first) / (DIRECTIONS - 1) / first, target, detail=detail, question=question)


def further_burgers():
    """Of a program of slices."""
    import array_work
    import numpy as np

    def record(tape):
        x, y = np.meshgrid(np.linspace(0.0, 1.0, 201), np.linspace(0.0, 1.0, 201))
        inputs = [tape.register_input(a) for a in (np.sin(x + y), np.cos(x - y))]
        return inputs, [tape.register_output(array_work.burgers(*inputs))]

    return _further("Burgers 201x201x32", 0.6, "directions-burgers", record)


def further_array(size=100_000):
    """Of one statement."""
    import numpy as np

    def record(tape):
        draw = np.random.default_rng(3)
        x, y, z = (tape.register_input(draw.uniform(0.5, 1.5, size)) for _ in range(3))
        return [x, y, z], [tape.register_output(np.exp(x) * np.log(y) + np.sin(z))]

    return _further(f"an array statement of exp, log and sin, {size:,} elements", 0.25, "directions-statement", record)


def hand_tracking():
    """All derivatives by a pose of 26 numbers, over the plain run."""
    import hand

    import codipy

    pose, *rest = hand.hand()
    driver = codipy.jacobian(hand.distances)
    _agree(driver(pose, *rest), _differences(lambda x: hand.distances(x, *rest), pose))
    times, plain = in_turns([lambda: driver(pose, *rest), lambda: hand.distances(pose, *rest)], 9)
    reached, detail = ratio(times, plain)
    return Figure("tracking of a hand, 22 bones, 544 vertices, 100 points, Jacobian by 26 numbers / plain run", reached,
                  30.0, detail=detail, question="hand-tracking")


def _chained(x):
    """Of numbers, in a loop: terms that couple neighbours."""
    total = 0.0
    for i in range(len(x) - 1):
        total += (x[i + 1] - x[i] * x[i]) ** 2 + 0.5 * (1.0 - x[i]) ** 2
    return total


def newton(n=100):
    """Newton's method on numbers: Hessians from `hessian`, over those by differences of `grad`."""
    import numpy as np

    import codipy

    gradient, hessian = codipy.grad(_chained), codipy.hessian(_chained)

    def by_differences(x, h=1e-6):
        return [(np.array(gradient([v + h * (k == i) for i, v in enumerate(x)]))
                 - np.array(gradient([v - h * (k == i) for i, v in enumerate(x)]))) / (2.0 * h) for k in range(n)]

    def minimum(second):
        x = [0.9 + 0.002 * k for k in range(n)]
        for _ in range(3):
            step = np.linalg.solve(np.array(second(x), float).reshape(n, n), np.array(gradient(x)))
            x = (np.array(x) - step).tolist()
        return x

    _agree(np.array(minimum(hessian)), np.array(minimum(by_differences)), 1e-4)
    times, plain = in_turns([lambda: minimum(hessian), lambda: minimum(by_differences)], 3)
    reached, detail = ratio(times, plain)
    return Figure(f"Newton's method, {n} numbers of Python, Hessian by `hessian` / by differences of `grad`", reached,
                  0.3, detail=detail, question="newton")


QUESTIONS = {"dense-jacobian": dense_jacobian, "directions-burgers": further_burgers,
             "directions-statement": further_array, "hand-tracking": hand_tracking, "newton": newton}
