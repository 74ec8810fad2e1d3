# SPDX-License-Identifier: Apache-2.0
"""Price of a European call by Monte Carlo with all its Greeks from one reverse sweep a batch, beside the formula.

The payoff's kink needs nothing special: each path records the branch that it took.
"""
import random
import statistics

import codipy
from codipy import math

NAMES = ("delta", "vega", "rho", "-theta", "dual delta")    # derivatives in the order of x0
x0 = [100.0, 0.2, 0.03, 1.0, 105.0]                         # spot, volatility, rate, maturity, strike
PATHS, BATCH = 40_000, 2_000


def batch_price(x, normals):
    """Discounted mean payoff over one batch of paths and their mirror images."""
    spot, volatility, rate, maturity, strike = x
    drift = (rate - 0.5 * volatility * volatility) * maturity
    spread = volatility * math.sqrt(maturity)
    total = 0.0
    for z in normals:
        for normal in (z, -z):
            end = spot * math.exp(drift + spread * normal)
            if end > strike:
                total = total + (end - strike)
    return math.exp(-rate * maturity) * total / (2 * len(normals))


def formula(x):
    """Black and Scholes."""
    spot, volatility, rate, maturity, strike = x
    spread = volatility * math.sqrt(maturity)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility * volatility) * maturity) / spread
    d2 = d1 - spread

    def normal_cdf(d):
        return 0.5 * math.erfc(-d / math.sqrt(2.0))

    return spot * normal_cdf(d1) - strike * math.exp(-rate * maturity) * normal_cdf(d2)


def monte_carlo(x, paths=PATHS, batch=BATCH, seed=1):
    """Means and standard errors of price and Greeks; one tape, reset between batches, so memory stays small."""
    generator = random.Random(seed)
    tape = codipy.Tape()
    rows = []
    for _ in range(paths // batch):
        normals = [generator.gauss(0.0, 1.0) for _ in range(batch)]
        tape.reset()
        with tape:
            inputs = [tape.register_input(v) for v in x]
            price = tape.register_output(batch_price(inputs, normals))
        price.gradient = 1.0
        tape.evaluate()
        rows.append([price.value] + [v.gradient for v in inputs])
    columns = list(zip(*rows))
    errors = [statistics.stdev(column) / len(column) ** 0.5 for column in columns]
    return [statistics.fmean(column) for column in columns], errors, tape


def main():
    """Print Monte Carlo beside the formula; a difference of many standard errors would be a wrong derivative."""
    means, errors, tape = monte_carlo(x0)
    price, greeks = codipy.value_and_grad(formula)(x0)
    worst = 0.0
    print("              Monte Carlo    error     formula  difference / error")
    for name, mean, error, exact in zip(("price", *NAMES), means, errors, [price, *greeks]):
        ratio = (mean - exact) / error
        worst = max(worst, abs(ratio))
        print(f"{name:<12} {mean:12.5f} {error:8.5f} {exact:11.5f} {ratio:10.2f}")
    print(tape)
    print(f"check: largest difference {worst:.2f} standard errors: {'ok' if worst < 5.0 else 'WRONG'}")


if __name__ == "__main__":
    main()
