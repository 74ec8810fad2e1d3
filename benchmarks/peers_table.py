# SPDX-License-Identifier: Apache-2.0
"""The table of README: what programs cost as they stand, here and under other packages, in one run."""
import peers

PROGRAMS = {
    "burgers": "Burgers' equation, slices",
    "burgers-fill": "Burgers' equation, arrays filled in place",
    "stencil": "stencil in place",
    "black-scholes-arrays": "Black-Scholes, 1e6 options",
    "small-arrays": "10,000 operations on 10 elements",
    "logistic": "logistic regression",
    "perceptron": "perceptron",
    "heat": "implicit heat equation, 20 solves",
    "mixture": "Gaussian mixture",
    "fill": "Python loops that fill an array",
    "lorenz": "Lorenz, RK4, in Python floats",
    "rosenbrock": "Rosenbrock, a Python loop",
}
COLUMNS = {"autograd": "autograd", "jax": "JAX", "torch": "PyTorch"}
OTHERS = {"casadi": "CasADi", "xad": "XAD"}
SLOW = 1.0      # seconds of compilation that a table should tell


def print_table(figures):
    """Print the table in Markdown.

    Parameters
    ----------
    figures : dict of Figure
        What this process has measured, by question: codipy's column, which is measured here where it is not in it.
    """
    print(f"| program, as it stands | codipy | {' | '.join(COLUMNS.values())} | others |")
    print("|---" * (len(COLUMNS) + 3) + "|")
    for name, text in PROGRAMS.items():
        own, *packages = peers.peers_of(name)
        times = figures[name].reached if name in figures else peers.reached_by(own, name).times
        cells = {peer.__name__: cell(peers.reached_by(peer, name)) for peer in packages}
        others = ", ".join(f"{package} {cells[key]}" for key, package in OTHERS.items() if cells.get(key))
        row = [text, number(times), *(cells.get(key, "") for key in COLUMNS), others]
        print(f"| {' | '.join(row)} |", flush=True)


def cell(reached):
    """What the table says of one package."""
    if reached.why:
        return "cannot run it" if "no assignment" in reached.why else ""
    notes = ["rewritten"] * reached.rewritten
    notes += [f"{reached.compiling:.2g} s to compile"] * (reached.compiling >= SLOW)
    return number(reached.times) + (f" ({', '.join(notes)})" if notes else "")


def number(times):
    """A ratio in two digits at least, and whole where it is large."""
    return f"{times:.2f}" if times < 1 else f"{times:.1f}" if times < 20 else f"{times:.0f}"
