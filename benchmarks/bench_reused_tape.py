# SPDX-License-Identifier: Apache-2.0
"""Does a small gradient stay cheap under every strategy, or does some tape sort or clear whole pools?"""
import math

import models
from timing import Figure, in_turns, ratio


def measure(n=10, repeats=25):
    """Rosenbrock with ten inputs on reused tapes; the worst strategy counts."""
    import codipy
    import codipy.math
    from codipy.tape.strategies.table import STRATEGIES

    x = [-1.2 + 0.21 * i for i in range(n)]

    def active(inputs):
        return models.rosenbrock(inputs, codipy.math)

    drivers = [codipy.value_and_grad(active, strategy=strategy) for strategy in STRATEGIES]
    empty = codipy.value_and_grad(lambda inputs: inputs[0], strategy="jacobian")    # all that is not recording
    plain, nothing, *times = in_turns([lambda: models.rosenbrock(x, math), lambda: empty(x)]
                                      + [lambda driver=driver: driver(x) for driver in drivers], repeats)
    ratios = [ratio(taken, plain)[0] for taken in times]
    worst = max(range(len(ratios)), key=ratios.__getitem__)
    detail = ", ".join(f"{name} {value:.2f}" for name, value in zip(STRATEGIES, ratios))
    detail += f", jacobian without the function {ratio(nothing, plain)[0]:.2f}"
    return Figure(f"Rosenbrock n={n}, reused tape, every strategy, worst: gradient / plain run", ratios[worst], 5.0,
                  detail=f"{detail}; {ratio(times[worst], plain)[1]}", question="reused-tape")


QUESTIONS = {"reused-tape": measure}
