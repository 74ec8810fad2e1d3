# SPDX-License-Identifier: Apache-2.0
"""What solvers are handed for what the user gave them: plain numbers, functions that return such, told callbacks."""

from __future__ import annotations

import contextlib
import copy

import numpy as np
import scipy.optimize

from codipy.active.array import is_active
from codipy.active.recordings.status import in_passive
from codipy.errors import ActiveError
from codipy.implicit.iterates import CALLBACKS
from codipy.implicit.returned import Returned
from codipy.numpy.arguments import PLAIN, value_tree
from codipy.tools.arguments.forms import LEAVES, children
from codipy.tools.arguments.trees import value

__all__ = ["Arguments", "functions_of", "handed", "naming_writes", "unrecorded"]

_OF_FUNCTIONS = "args", "consargs", "kwargs", "xdata"      # what functions are given, and their containers


def functions_of(given):
    """What a solver is given, without callbacks, which run once: `codipy.implicit.iterates` knows what these keep."""
    return [functions_of(x) if type(x) is dict and name not in _OF_FUNCTIONS else x
            for name, x in given.items() if name not in CALLBACKS]


class Arguments:
    """What functions of the user's are given beside the unknown: some goes through a solver, some stays where it is.

    Lists, dicts, sets and dataclasses are the user's own, as in the plain run: a function may write to them, which is
    what it keeps on the side, or ask whether it has got the one that it knows. So they are no parameters of a solution,
    but something that its equation finds around it. Where variables stand in them and functions write nowhere, they are
    copies with numbers, of which a solver's calls take less time.

    Parameters
    ----------
    given : tuple
    may_write : bool
        Whether functions may write to anything.

    Attributes
    ----------
    parameters : tuple
        Those by which a solution is differentiated, and with which it is found anew in a replay.
    """

    def __init__(self, given, may_write):
        self._given, self._stay = given, [_stays(x, may_write) for x in given]
        self.parameters = tuple(x for x, stays in zip(given, self._stay) if not stays)

    def with_parameters(self, parameters):
        """All of them, with others in the places of the parameters."""
        others = iter(parameters)
        return tuple(x if stays else next(others) for x, stays in zip(self._given, self._stay))

    def handed(self):
        """All of them as a solver hands them over."""
        return self.with_parameters(map(value, self.parameters))


def _stays(x, may_write):
    return type(x) not in PLAIN and _within(x) is not None and (may_write or not _leads_to_variables(x))


def _within(x):
    """What is in a container of a kind of which there are copies with values; None if it is none."""
    if isinstance(x, (list, tuple, set, frozenset)):
        return x
    if isinstance(x, dict):
        return x.values()
    if isinstance(x, np.ndarray):
        return x.flat if x.dtype == object else None
    return None if type(x) in LEAVES or (parts := children(x)) is None else [each for _, each in parts]


def _leads_to_variables(x):
    if type(x) in (list, tuple) and PLAIN.issuperset(map(type, x)):
        return False
    within = _within(x)
    return is_active(x) if within is None else any(map(_leads_to_variables, within))


def handed(given, key, iterates, returned, may_write):
    """An argument as SciPy takes it.

    Parameters
    ----------
    given : object
    key : str or None
        Its name.
    iterates : Iterates
        What callbacks are told.
    returned : Returned
        What functions return.
    may_write : bool
        Whether functions may write to anything.
    """
    def called(function, key):
        return returned.called(iterates.told(function) if key in CALLBACKS else function)

    def other(x, key):
        return _of_functions(x, key, may_write) if key in _OF_FUNCTIONS else value_tree(x)

    return _mapped(given, key, called, other)


def unrecorded(original, bound):
    """What a function of SciPy's returns where nothing is recorded.

    Within ``codipy.passive()``, as in the solver of `codipy.implicit.root`, functions may return arrays of a function
    around that is recorded, which SciPy would copy.

    Parameters
    ----------
    original : callable
    bound : inspect.BoundArguments
    """
    with Returned() as returned:
        if in_passive():
            bound.arguments |= {name: _mapped(x, name, lambda function, _: returned.called(function), lambda x, _: x)
                                for name, x in bound.arguments.items()}
        return original(*bound.args, **bound.kwargs)


@contextlib.contextmanager
def naming_writes(name, function):
    """A context in which a function may write to an array that it is given, which is read-only there: that is named.

    Parameters
    ----------
    name : str
        The solver in ``scipy.optimize``.
    function : str
        What messages call the user's.
    """
    try:
        yield
    except ValueError as error:
        if "read-only" not in str(error):
            raise
        raise ActiveError(f"{function}, which scipy.optimize.{name} calls, writes to an array that it was given, it "
                          f"seems ({error}): while a function is differentiated arrays of args= or xdata are read-only "
                          "for it; let it make an array of its own, or write to one of the function around it instead "
                          "of one that it is given") from error


def _mapped(given, key, called, other):
    """Something with others in the places of functions that a solver calls, and of what is neither such nor has any.

    Parameters
    ----------
    given : object
    key : str or None
        Its name.
    called, other : callable
        ``called(function, key)`` and ``other(x, key)`` are what stands there then.
    """
    if key in _OF_FUNCTIONS:
        return other(given, key)
    if isinstance(given, dict):
        return {name: _mapped(each, name, called, other) for name, each in given.items()}
    if isinstance(given, scipy.optimize.NonlinearConstraint):
        made = copy.copy(given)
        vars(made).update({name: _mapped(each, name, called, other) for name, each in vars(given).items()})
        return made
    if type(given) is tuple or isinstance(given, list):      # and not a view of one that is rebuilt
        kind = tuple if type(given) is tuple else list
        return kind(_mapped(each, None, called, other) if callable(each) or isinstance(each, _OF_CONSTRAINTS) else
                    other(each, None) for each in given)
    return called(given, key) if callable(given) and not isinstance(given, type) else other(given, key)


_OF_CONSTRAINTS = dict, scipy.optimize.NonlinearConstraint


def _of_functions(given, key, may_write):
    """What functions are given: one argument, or several in a tuple or by their names."""
    if key == "kwargs" and given is not None:
        return dict(zip(given, Arguments(tuple(given.values()), may_write).handed()))
    if type(given) is tuple:
        return Arguments(given, may_write).handed()
    return Arguments((given,), may_write).handed()[0]
