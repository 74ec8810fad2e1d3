# SPDX-License-Identifier: Apache-2.0
"""Fit the Lotka-Volterra model to the Hudson's Bay Company's lynx and hare pelts of 1900 to 1920.

    hare' = alpha hare - beta hare lynx          lynx' = delta hare lynx - gamma lynx

Six parameters, all positive, so their logarithms are fitted: alpha, beta, gamma, delta and both counts of 1900.
The misfit is that of log-normal scatter. `misfit` is plain Python: codipy differentiates it as it stands, and
`codipy compare examples/lynx_hare.py:misfit` compares all taping strategies on it. Needs scipy and matplotlib; an
argument says where the figure goes.
"""
import csv
import statistics
import sys
import time
from pathlib import Path

import codipy
from codipy import math

HERE = Path(__file__).resolve().parent
NAMES = ("alpha", "beta", "gamma", "delta", "hare 1900", "lynx 1900")
STEPS = 20                                                  # of the integrator in a year
x0 = [math.log(p) for p in (0.5, 0.02, 1.0, 0.03, 30.0, 4.0)]


def read_counts(path=HERE / "data" / "lynx_hare.csv"):
    """Years, hares and lynxes (thousands of pelts)."""
    with open(path, newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return ([int(row["year"]) for row in rows], [float(row["hare"]) for row in rows],
            [float(row["lynx"]) for row in rows])


YEARS, HARES, LYNXES = read_counts()


def rates(hare, lynx, alpha, beta, gamma, delta):
    """Right-hand side of the model."""
    return hare * (alpha - beta * lynx), lynx * (delta * hare - gamma)


def model(x, points_per_year=1):
    """Both populations at equally spaced times, by RK4 with `STEPS` steps in a year."""
    alpha, beta, gamma, delta, hare, lynx = [math.exp(v) for v in x]
    h, hares, lynxes = 1.0 / STEPS, [hare], [lynx]
    for _ in range(points_per_year * (len(YEARS) - 1)):
        for _ in range(STEPS // points_per_year):
            a1, b1 = rates(hare, lynx, alpha, beta, gamma, delta)
            a2, b2 = rates(hare + 0.5 * h * a1, lynx + 0.5 * h * b1, alpha, beta, gamma, delta)
            a3, b3 = rates(hare + 0.5 * h * a2, lynx + 0.5 * h * b2, alpha, beta, gamma, delta)
            a4, b4 = rates(hare + h * a3, lynx + h * b3, alpha, beta, gamma, delta)
            hare = hare + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
            lynx = lynx + h / 6.0 * (b1 + 2.0 * b2 + 2.0 * b3 + b4)
        hares.append(hare)
        lynxes.append(lynx)
    return hares, lynxes


def misfit(x):
    """Half the sum of squared log residuals: log-normal scatter of one size, which the fit then tells."""
    hares, lynxes = model(x)
    total = 0.0
    for count, fitted in zip(HARES + LYNXES, hares + lynxes):
        residual = math.log(count) - math.log(fitted)
        total = total + 0.5 * residual * residual
    return total


def fit():
    """The fitted logarithms, and how the optimiser got there."""
    from scipy.optimize import minimize

    value_and_gradient = codipy.value_and_grad(misfit)
    return minimize(lambda x: value_and_gradient(x.tolist()), x0, jac=True, method="BFGS")


def gradient_cost(x, repeats=15):
    """Median seconds of the plain run, and of value and gradient, run in turns."""
    value_and_gradient = codipy.value_and_grad(misfit)
    times = {misfit: [], value_and_gradient: []}
    for _ in range(repeats):
        for function, taken in times.items():
            start = time.perf_counter()
            function(x)
            taken.append(time.perf_counter() - start)
    plain, both = (statistics.median(taken) for taken in times.values())
    return plain, both


def record(x):
    """The tape of one run, swept."""
    tape = codipy.Tape()
    with tape:
        result = tape.register_output(misfit([tape.register_input(v) for v in x]))
    result.gradient = 1.0
    tape.evaluate()
    return tape


def draw(x, path):
    """Counts and fitted curves, as a figure."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4.5), layout="constrained")
    curves = model(x, points_per_year=STEPS)
    times = [YEARS[0] + k / STEPS for k in range(len(curves[0]))]
    for counts, curve, name, colour in zip((HARES, LYNXES), curves, ("hare", "lynx"), ("tab:blue", "tab:red")):
        axes.plot(YEARS, counts, "o", color=colour, label=f"{name}, counted")
        axes.plot(times, curve, "-", color=colour, label=f"{name}, fitted")
    axes.set(xlabel="year", ylabel="pelts (thousands)", title="Lotka-Volterra fitted to the Hudson's Bay counts")
    axes.set_xticks(YEARS[::4])
    axes.legend()
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def main(path=HERE / "lynx_hare.png"):
    """Fit, print what came out and what it cost, and draw it."""
    result = fit()
    x = result.x.tolist()
    print(f"misfit {misfit(x0):.4f} -> {result.fun:.4f} after {result.nit} iterations, {result.nfev} gradients;"
          f" largest gradient entry {max(map(abs, result.jac)):.1e}")
    for name, start, fitted in zip(NAMES, x0, x):
        print(f"  {name:<10} {math.exp(start):9.4f} -> {math.exp(fitted):9.4f}")
    scatter = (2.0 * result.fun / (2 * len(YEARS) - len(x))) ** 0.5
    print(f"  scatter of the logarithms {scatter:.3f}\n\nyear    hare  fitted  log res.    lynx  fitted  log res.")
    for year, hare, lynx, a, b in zip(YEARS, HARES, LYNXES, *model(x)):
        print(f"{year}  {hare:6.1f}  {a:6.1f}  {math.log(hare / a):8.3f}  {lynx:6.1f}  {b:6.1f}"
              f"  {math.log(lynx / b):8.3f}")
    plain, both = gradient_cost(x)
    print(f"\nplain run {1e3 * plain:.2f} ms, value and gradient {1e3 * both:.2f} ms: {both / plain:.2f} plain runs\n")
    print(record(x).statistics())
    draw(x, path)
    print(f"\nwrote {Path(path).name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
