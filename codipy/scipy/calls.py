# SPDX-License-Identifier: Apache-2.0
"""What stands for a Python function of SciPy: SciPy itself where nothing is active, a rule or a refusal where it is."""

from __future__ import annotations

import functools
import inspect
import threading

import numpy as np

from codipy.active.array import Array, call, is_complex_variable, plain
from codipy.active.doors import door
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_variables, rebuilt, refuse, value_tree
from codipy.numpy.primitive import Primitive

__all__ = ["LOOP", "PRIMITIVES", "FoundFirst", "is_complex", "kept", "numbers", "of_active", "recorded", "refused",
           "run"]  # fmt: skip

PRIMITIVES: dict[str, Primitive] = {}  # by name, as tape files have them

LOOP = "of stacks of matrices with active values there is no derivative: loop over the stack"


def kept(primitive):
    """The primitive, which tape files find by its name from now on."""
    if PRIMITIVES.setdefault(primitive.name, primitive) is not primitive:
        raise ValueError(f"two primitives are called {primitive.name!r}")
    return primitive


def is_complex(x):
    """Whether something is complex, active or plain."""
    return is_complex_variable(x) or isinstance(x, (np.ndarray, complex, np.generic)) and np.iscomplexobj(x)


def run(primitive, operands, options):
    """Record a primitive; where an operand is complex by the rule that has its name in the layer of complex arrays."""
    if any(map(is_complex, operands)):
        return door("complexes")().recorded(primitive.name, operands, options)
    return call(primitive, operands, options)


class FoundFirst(threading.local):
    """A function of a matrix that is called before it is known which rule records it, since that follows from what it
    gives: the rule does not call it again.

    Parameters
    ----------
    original : callable
        SciPy's.
    """

    def __init__(self, original):
        self._original, self._known = original, None

    def first(self, a, options):
        """What it gives for the values of an active matrix."""
        a = np.array(a.value)
        found = self._original(a, **options)
        self._known = a, options, found
        return found

    def __call__(self, a, **options):
        known, self._known = self._known, None
        if known is not None and known[0].tobytes() == a.tobytes() and known[0].shape == a.shape and (
                known[0].dtype == a.dtype and known[1] == options):
            return known[2]
        return self._original(a, **options)


def of_active(original):
    """Decorate what is called in the place of a function of SciPy where an argument is active."""
    places = {name: place for place, name in enumerate(inspect.signature(original).parameters)
              if name.startswith("overwrite_")}  # fmt: skip

    def overwrites(args, kwargs):
        return any(kwargs.get(name) or args[place:place + 1] and args[place] for name, place in places.items())

    def decorated(function):
        @functools.wraps(original)
        def chosen(*args, **kwargs):
            if holds_variables(args) or holds_variables(kwargs):
                return function(*args, **kwargs)
            if overwrites(args, kwargs):      # not what a tape may keep
                args, kwargs = rebuilt(args, _copied), rebuilt(kwargs, _copied)
            return original(*rebuilt(value_tree(args), _plain), **rebuilt(value_tree(kwargs), _plain))

        return chosen

    return decorated


def _copied(x):
    return np.array(x.value) if type(x) is Array or is_complex_variable(x) else x


def _plain(x):
    return x.value if is_complex_variable(x) else x


def numbers(x):
    """The numbers of what is real or complex, active or plain."""
    return _plain(plain(x))


def recorded(original, primitive, arrays=1, *, without=(), stacks=False, runs=run):
    """The function that records a primitive: its first arguments are arrays, the others are options.

    Parameters
    ----------
    original : callable
        SciPy's.
    primitive : Primitive
        Takes the arrays, and the options by name but those that only save memory or time (``overwrite_*``).
    arrays : int
        How many arguments are arrays.
    without : tuple of str
        Options that active values do not allow to be other than SciPy's default.
    stacks : bool
        Whether the rules know stacks of matrices.
    runs : callable
        Records it, as `run` does.
    """
    signature = inspect.signature(original)
    name = primitive.name

    @of_active(original)
    def function(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        given = list(bound.arguments.items())
        operands = tuple(as_numbers(value) for _, value in given[:arrays])
        if not stacks and np.ndim(operands[0]) > 2:
            refuse(name, LOOP)
        options = {key: value for key, value in given[arrays:] if not key.startswith("overwrite_")}
        for key in without:
            if key in options and options.pop(key) is not signature.parameters[key].default:
                refuse(name, f"with {key}= it has no derivative by active values: leave {key} out")
        if holds_variables(options):
            refuse(name, "only its arrays can be active, not its options: say codipy.value(x) for those")
        return runs(primitive, operands, options)

    return function


def refused(original, name, instead):
    """The function that says what to write instead where an argument is active."""

    @of_active(original)
    def function(*args, **kwargs):
        refuse(name, f"codipy has no derivative for it: {instead}; where none is wanted, say codipy.value(x)")

    return function
