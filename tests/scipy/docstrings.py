# SPDX-License-Identifier: Apache-2.0
"""The examples in SciPy's docstrings: every call of a function, run again with active arrays."""

import contextlib
import doctest
import functools
import io
import sys
import types
import warnings
from unittest import mock

import numpy as np

import codipy

_LARGE = 20000  # numbers in an argument, beyond which a call is left out


class _Pictures(types.ModuleType):
    """`scipy.datasets`, of which nothing is loaded."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: 50.0 * np.sin(np.arange(720.0) ** 2).reshape(24, 30)


def calls_in(module, name):
    """The arguments of the calls of a function in its own docstring.

    Parameters
    ----------
    module : module
    name : str

    Returns
    -------
    list of tuple
        Positional and keyword arguments.
    """
    original, found = getattr(module, name), []

    @functools.wraps(original)
    def kept(*args, **kwargs):
        sizes = [np.size(x) for x in (*args, *kwargs.values())]
        if max(sizes, default=0) <= _LARGE:
            copies = [np.array(x) if isinstance(x, np.ndarray) else x for x in args]
            found.append((copies, dict(kwargs)))
        return original(*args, **kwargs)

    fakes = {name: mock.MagicMock() for name in ("matplotlib", "matplotlib.pyplot")}
    examples = doctest.DocTestParser().get_examples(original.__doc__ or "")
    names = {"np": np, "__name__": "examples"}
    generator = np.random.default_rng
    with mock.patch.dict(sys.modules, {**fakes, "scipy.datasets": _Pictures("scipy.datasets")}), \
            mock.patch.object(module, name, kept), \
            mock.patch.object(np.random, "default_rng", lambda seed=7: generator(seed)), \
            mock.patch("scipy.datasets", _Pictures("scipy.datasets"), create=True), \
            warnings.catch_warnings(), np.printoptions(), contextlib.redirect_stdout(io.StringIO()):  # fmt: skip
        warnings.simplefilter("ignore")
        for example in examples:
            with contextlib.suppress(Exception):    # what draws, and what asks for more than is here
                exec(compile(example.source, "<example>", "exec"), names)
    return found


def _bits(result):
    if isinstance(result, (tuple, list)):
        return [_bits(part) for part in result]
    return np.asarray(result)


def _numbers(result):
    """All floats of a result, in one row."""
    if isinstance(result, (tuple, list)):
        return np.concatenate([_numbers(part) for part in result]) if result else np.zeros(0)
    result = np.asarray(result)
    if result.dtype.kind == "c":
        return np.concatenate([np.ravel(result.real), np.ravel(result.imag)])
    return np.ravel(result) if result.dtype.kind == "f" else np.zeros(0)


def check_call(ours, name, args, kwargs, moved=lambda direction: direction):
    """The value of one call is SciPy's, and the derivative by its first array of floats that of differences.

    Parameters
    ----------
    ours : module
    name : str
    args, kwargs : list, dict
    moved : callable
        Changes the direction of the derivative, of the shape of that array.
    """
    scipys = getattr(sys.modules[ours.__name__], name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = scipys(*args, **kwargs)
        place = next((k for k, x in enumerate(args) if isinstance(x, np.ndarray) and x.dtype.kind == "f"), None)
        if place is None or not 0 < args[place].size <= _LARGE or not _numbers(expected).size:
            return
        point = np.array(args[place])

        def at(x, function):
            return function(*args[:place], x, *args[place + 1:], **kwargs)

        tape = codipy.Tape()
        with tape:
            found = at(tape.register_input(point.copy()), getattr(ours, name))
        for one, other in zip(*(map(_flat, (codipy.value(found), expected)))):
            np.testing.assert_array_equal(one, other)
        direction = moved(np.cos(np.arange(point.size)).reshape(point.shape))
        weights = np.sin(1.0 + np.arange(_numbers(expected).size))

        def loss(x):
            return np.sum(_numbers(at(x, getattr(ours, name))) * weights)

        step = 1e-7 * max(1.0, np.abs(point).max())
        ahead, behind = (np.sum(_numbers(at(point + k * direction, scipys)) * weights) for k in (step, -step))
        if not np.isfinite(ahead - behind):      # beyond the end of where it is defined
            return
        slope = codipy.jvp(loss, (point,), (direction,))[1]
        gradient = codipy.grad(loss)(point)
        scale = max(1.0, np.abs(gradient * direction).sum())
        assert abs(slope - np.sum(gradient * direction)) <= 1e-8 * scale
        assert abs(slope - (ahead - behind) / (2 * step)) <= 1e-5 * scale


def _flat(result):
    if isinstance(result, (tuple, list)):
        return [part for item in result for part in _flat(item)]
    return [np.asarray(result)]
