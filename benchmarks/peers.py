# SPDX-License-Identifier: Apache-2.0
"""The same functions under other packages (`make bench-peers`): gradient / plain floats, in turns within one run."""
import importlib
import math
from functools import partial

import bench_arrays
import peers_arrays
from bench_gradients import TITLES, WORK
from peers_reached import Reached, does_not_run
from timing import in_turns, ratio

DEFAULT = ("lorenz", "rosenbrock", "lu", "chain-sin")


def codipy(function):
    """This package."""
    names = importlib.import_module("codipy.math")
    return importlib.import_module("codipy").value_and_grad(partial(function, m=names))


def autograd(function):
    """autograd, on an array: on a list every look at an item costs the whole list."""
    names = importlib.import_module("autograd.numpy")
    driver = importlib.import_module("autograd").value_and_grad(lambda x: function(x, names))
    return lambda x: driver(names.array(x))


def xad(function):
    """XAD's Python bindings, one tape for each gradient."""
    adjoint, names = importlib.import_module("xad.adj_1st"), importlib.import_module("xad.math")

    def run(x):
        with adjoint.Tape() as tape:
            inputs = [adjoint.Real(v) for v in x]
            for value in inputs:
                tape.registerInput(value)
            tape.newRecording()
            result = function(inputs, names)
            tape.registerOutput(result)
            result.derivative = 1.0
            tape.computeAdjoints()
            return [value.derivative for value in inputs]

    return run


def torch(function):
    """PyTorch, a scalar tensor for each number."""
    package = importlib.import_module("torch")

    def run(x):
        inputs = [package.tensor(v, dtype=package.float64, requires_grad=True) for v in x]
        function(inputs, package).backward()
        return [float(value.grad) for value in inputs]

    return run


def casadi(function):
    """CasADi: expressions built, differentiated and evaluated; no branches on values."""
    package = importlib.import_module("casadi")

    def run(x):
        inputs = [package.SX.sym(f"x{i}") for i in range(len(x))]
        vector = package.vertcat(*inputs)
        run_it = package.Function("g", [vector], [package.gradient(function(inputs, package), vector)])
        return run_it(x).full().ravel().tolist()

    return run


def jax(function):
    """JAX without jit, which would compile the unrolled loop for minutes."""
    package, names = importlib.import_module("jax"), importlib.import_module("jax.numpy")
    package.config.update("jax_enable_x64", True)
    return package.value_and_grad(lambda x: function(x, names))


PEERS = (codipy, autograd, xad, torch, casadi, jax)


def main(questions=(), repeats=3):
    """Print one line for each function and package; what cannot be imported or run says so."""
    unknown = [name for name in questions if name not in WORK and name not in bench_arrays.WORK]
    if unknown:
        print(f"unknown function {unknown[0]!r}: there are {', '.join([*WORK, *bench_arrays.WORK])}")
        return 2
    for name in questions or (*DEFAULT, *bench_arrays.WORK):
        print(title(name))
        for peer in peers_of(name):
            print(f"  {peer.__name__:<10} {reached_by(peer, name, repeats)}", flush=True)
    return 0


def title(name):
    """What a program is, and what is measured of it."""
    return f"{bench_arrays.WORK[name][0]}: gradient / plain run" if name in bench_arrays.WORK else TITLES[name]


def peers_of(name):
    """The packages that a program is tried with; the first is codipy."""
    return peers_arrays.PEERS if name in bench_arrays.WORK else PEERS


def reached_by(peer, name, repeats=3):
    """What one package reaches, a `Reached`."""
    if name in bench_arrays.WORK:
        return peers_arrays.measure(peer, name, repeats)
    function, x, _ = WORK[name]
    return measure(peer, function, x, repeats)


def measure(peer, function, x, repeats):
    """What one package reaches on a function of numbers."""
    try:
        run = peer(function)
    except ImportError as error:
        return Reached(why=f"skipped: {error}")
    try:
        plain, times = in_turns([lambda: function(list(x), math), lambda: run(list(x))], repeats)
    except Exception as error:      # a package that cannot run plain loops says what stopped it
        return Reached(why=does_not_run(error))
    return Reached(*ratio(times, plain))
