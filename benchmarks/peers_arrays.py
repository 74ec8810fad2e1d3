# SPDX-License-Identifier: Apache-2.0
"""The NumPy programs under other packages (`make bench-peers`): gradient / plain NumPy, in turns within one run.

The very source of `array_work` runs with another `np`; where a package has no assignment, that of `array_functional`.
Times are the process's, since these packages compute in threads of their own; each is told to use one.
"""
import importlib
import importlib.util
import os
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from bench_arrays import keep_freed_memory
from peers_reached import Reached, does_not_run
from timing import in_turns, ratio

ASSIGNING = ("burgers", "stencil", "stencil-nonlinear")


class NotHere(Exception):
    """Why a package has no such program."""


def program(point, file="array_work", **names):
    """The point's function in a fresh copy of its module, where `names` (np, erf) mean something else."""
    spec = importlib.util.spec_from_file_location(f"{file}_copy", Path(__file__).with_name(f"{file}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    vars(module).update(names)
    return getattr(module, point.function.__name__)


def source(name):
    """The file of a program for packages that have no assignment."""
    return "array_functional" if name in ASSIGNING else "array_work"


def codipy(name, point):
    """This package, on the program as it stands."""
    return importlib.import_module("codipy").value_and_grad(point.function, argnums=point.argnums)


def autograd(name, point):
    """autograd; no assignment."""
    package, names = importlib.import_module("autograd"), importlib.import_module("autograd.numpy")
    erf = importlib.import_module("autograd.scipy.special").erf
    if name in ("burgers-fill", "fill"):
        raise NotHere("no assignment to arrays")
    return package.value_and_grad(program(point, source(name), np=names, erf=erf), argnum=point.argnums)


def jax(name, point):
    """JAX with jit; no assignment; numbers of steps are compiled in."""
    if name in ("burgers-fill", "fill"):
        raise NotHere("no assignment to arrays")
    if name.startswith(("small-arrays", "stencil")):
        raise NotHere("hundreds of steps compile for minutes")
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    package, names = importlib.import_module("jax"), importlib.import_module("jax.numpy")
    package.config.update("jax_enable_x64", True)
    function = program(point, source(name), np=names, erf=importlib.import_module("jax.scipy.special").erf)

    def run(*arguments):
        return package.block_until_ready(compiled(*arguments))

    steps = tuple(number for number, argument in enumerate(point.start(**point.small)) if isinstance(argument, int))
    compiled = package.jit(package.value_and_grad(function, argnums=point.argnums), static_argnums=steps)
    return run


def torch(name, point):
    """PyTorch without its compiler."""
    package = importlib.import_module("torch")
    package.set_num_threads(1)
    package.set_default_dtype(package.float64)
    package.Tensor.copy = package.Tensor.clone
    function = program(point, np=SimpleNamespace(**{**vars(package), "max": package.amax}), erf=package.erf)

    def run(*arguments):
        tensors = [argument if isinstance(argument, int) else package.from_numpy(argument) for argument in arguments]
        inputs = [tensors[number].detach().requires_grad_() for number in point.argnums]
        for number, tensor in zip(point.argnums, inputs):
            tensors[number] = tensor
        result = function(*tensors)
        return result.item(), [gradient.numpy() for gradient in package.autograd.grad(result, inputs)]

    return run


def casadi(name, point):
    """CasADi: an expression graph, built and differentiated once for a size, then evaluated."""
    package = importlib.import_module("casadi")
    if name not in ("stencil", "stencil-nonlinear"):
        raise NotHere("only vectors of one dimension are tried")
    names = SimpleNamespace(concatenate=lambda parts: package.vertcat(*parts), sum=package.sum1)
    function, built = program(point, "array_functional", np=names), {}

    def run(u, steps):
        if (u.size, steps) not in built:
            x = package.MX.sym("x", u.size)
            value = function(x, steps)
            built[u.size, steps] = package.Function("g", [x], [value, package.gradient(value, x)])
        value, gradient = built[u.size, steps](u)
        return float(value), [gradient.full().ravel()]

    return run


def xad(name, point):
    """XAD's Python bindings: numbers alone, so arrays are arrays of objects."""
    if name != "fill":
        raise NotHere("no arrays")
    adjoint, numpy = importlib.import_module("xad.adj_1st"), importlib.import_module("numpy")
    names = SimpleNamespace(zeros=lambda shape: numpy.full(shape, 0.0, dtype=object), sum=numpy.sum)
    function = program(point, np=names)

    def run(*arguments):
        with adjoint.Tape() as tape:
            inputs = [[adjoint.Real(float(v)) for v in argument] for argument in arguments]
            for column in inputs:
                for value in column:
                    tape.registerInput(value)
            tape.newRecording()
            result = function(*(numpy.array(column, dtype=object) for column in inputs))
            tape.registerOutput(result)
            result.derivative = 1.0
            tape.computeAdjoints()
            return result.value, [numpy.array([v.derivative for v in column]) for column in inputs]

    return run


PEERS = (codipy, autograd, jax, torch, casadi, xad)
WITHOUT_ASSIGNMENT = (autograd, jax, casadi)
COMPILING = (jax, casadi)


def measure(peer, name, repeats):
    """What one package reaches, a `Reached`."""
    checks, points = importlib.import_module("array_checks"), importlib.import_module("array_points")
    point = points.POINTS[name]
    arguments = point.start(point.size)
    keep_freed_memory()
    try:
        driver = peer(name, point)
        checks.check_small(point, driver, exact=False)
        start = time.perf_counter()
        first = driver(*arguments)
        prepared = time.perf_counter() - start
        checks.check_direction(point, arguments, *first, exact=False)
        plain, times = in_turns([partial(point.function, *arguments), partial(driver, *arguments)], repeats,
                                clock=time.process_time)
    except (ImportError, NotHere) as error:
        return Reached(why=f"skipped: {error}")
    except Exception as error:      # a package that cannot run plain NumPy code says what stopped it
        return Reached(why=does_not_run(error))
    reached, detail = ratio(times, plain)
    compiling = prepared - min(times) if peer in COMPILING else 0.0
    return Reached(reached, f"{detail}, first call {1e3 * prepared:.3g} ms", compiling,
                   rewritten=peer in WITHOUT_ASSIGNMENT and name in ASSIGNING)
