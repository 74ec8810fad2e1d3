# SPDX-License-Identifier: Apache-2.0
"""A portfolio of swaptions in the LIBOR market model: its sensitivities to 80 forward rates and their volatilities.

Rates follow A. Brace, D. Gatarek and M. Musiela (Mathematical Finance 7, 1997) with one factor; one step of the
logarithms of the rates for each quarter. The portfolio is that which M. Giles and P. Glasserman made a test of adjoint
Greeks ("Smoking adjoints", Risk 19, 2006): fifteen swaptions of up to ten years, ten years from now, priced by Monte
Carlo. Plain Python floats.

Run it: python examples/libor.py; or codipy study examples/libor.py:portfolio
"""
import math
import random

import codipy

PERIOD = 0.25                                               # years, of a rate and of a step
RATES = 80
STEPS = 40
PATHS = 4
SWAPTIONS = [(4 * years, strike) for years in (1, 2, 5, 7, 10) for strike in (0.045, 0.05, 0.055)]
DRAWS = random.Random(2006)
SHOCKS = [[math.sqrt(PERIOD) * DRAWS.gauss(0.0, 1.0) for _ in range(STEPS)] for _ in range(PATHS)]

x0 = [[0.05] * RATES, [0.2] * RATES]                        # rates and their volatilities


def payoff(rates, volatilities, shocks, steps):
    """The portfolio's discounted payoff on one path."""
    rates = list(rates)
    for n in range(steps):
        drift = 0.0
        for i in range(n + 1, len(rates)):
            sigma = volatilities[i - n - 1]
            drift = drift + PERIOD * sigma * rates[i] / (1.0 + PERIOD * rates[i])
            rates[i] = rates[i] * math.exp(PERIOD * sigma * (drift - 0.5 * sigma) + sigma * shocks[n])
    bond, annuity, swaps = 1.0, 0.0, []
    for i in range(steps, len(rates)):
        bond = bond / (1.0 + PERIOD * rates[i])
        annuity = annuity + PERIOD * bond
        swaps.append((bond, annuity))
    total = 0.0
    for length, strike in SWAPTIONS:
        bond, annuity = swaps[min(length, len(swaps)) - 1]
        gain = 1.0 - bond - strike * annuity
        if gain > 0.0:
            total = total + 100.0 * gain
    for n in range(steps):
        total = total / (1.0 + PERIOD * rates[n])
    return total


def portfolio(x, steps=STEPS):
    """The mean of the paths; `x` are the rates and their volatilities."""
    total = 0.0
    for shocks in SHOCKS:
        total = total + payoff(*x, shocks, steps)
    return total / PATHS


def main():
    """Compare sensitivities with the derivatives that a move of all rates together has by differences."""
    value, (by_rates, by_volatilities) = codipy.value_and_grad(portfolio)(x0)
    print(f"value {value:.4f}; by the first rate {by_rates[0]:.4f}, by the last {by_rates[-1]:.4f}")
    move, near = 1e-6, True
    for k, found in enumerate((by_rates, by_volatilities)):
        up, down = ([[number + sign * move * (k == j) for number in row] for j, row in enumerate(x0)]
                    for sign in (1.0, -1.0))
        slope = (portfolio(up) - portfolio(down)) / (2.0 * move)
        near = near and abs(sum(found) - slope) < 1e-6 * abs(slope)
        print(f"all {('rates', 'volatilities')[k]} together: {sum(found):.6f}, by differences {slope:.6f}")
    print(f"check: both agree: {'ok' if near else 'WRONG'}")


if __name__ == "__main__":
    main()
