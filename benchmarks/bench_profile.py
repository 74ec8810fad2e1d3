# SPDX-License-Identifier: Apache-2.0
"""What does a profile by source line cost, in gradients without one?"""
import math
from functools import partial

from bench_gradients import WORK
from timing import Figure, in_turns, ratio


def overhead(title, driver, arguments, target, question):
    """A gradient in a `with codipy.profile()` block, all that it says made, over one without."""
    import codipy

    def profiled():
        with codipy.profile() as found:
            result = driver(*arguments)
        return found, result

    found, result = profiled()
    if repr(result) != repr(driver(*arguments)):
        raise AssertionError("a profile changes a gradient")
    lines, whole = sum(line.sums.bytes for line in found.lines), sum(part.used for part in found.whole.values())
    if lines + whole != found.total.used:
        raise AssertionError("the lines of a profile do not sum to the tape")
    plain, times = in_turns([lambda: driver(*arguments), profiled], 11)
    reached, detail = ratio(times, plain)
    return Figure(title, reached, target, detail=detail.replace("plain", "gradient"), question=question)


def lorenz():
    """Scalars."""
    import codipy
    import codipy.math

    function, x, _ = WORK["lorenz"]
    if not math.isfinite(function(list(x), math)):
        raise AssertionError("the benchmark diverges")
    return overhead("Lorenz, RK4, 2000 steps: profiled gradient / gradient",
                    codipy.value_and_grad(partial(function, m=codipy.math)), (x,), 1.6, "profile-lorenz")


def burgers():
    """Arrays."""
    import array_points

    import codipy

    point = array_points.POINTS["burgers"]
    u, v, steps = point.start(point.size)
    driver = codipy.value_and_grad(lambda u, v: point.function(u, v, steps), argnums=(0, 1))
    return overhead("coupled Burgers' equation 201x201, 32 steps: profiled gradient / gradient", driver, (u, v), 1.15,
                    "profile-burgers")


QUESTIONS = {"profile-lorenz": lorenz, "profile-burgers": burgers}
