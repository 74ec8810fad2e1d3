# SPDX-License-Identifier: Apache-2.0
"""Second derivatives: Hessians, their products with vectors, and a derivative that is kept for several directions."""
from __future__ import annotations

import functools
from contextlib import contextmanager

import numpy as np

from codipy.active.bulk import all_floats
from codipy.tools.arguments.choice import Choice
from codipy.tools.arguments.forms import rebuild
from codipy.tools.arguments.leaves import is_array, join
from codipy.tools.arguments.repeated import stands_again
from codipy.tools.arguments.trees import match
from codipy.tools.callee import check_function, name_of, rebound, with_aux
from codipy.tools.derivatives.curvature import Curvature, is_swept
from codipy.tools.derivatives.drivers import grad, value_and_grad
from codipy.tools.derivatives.jacobian import jacobian
from codipy.tools.derivatives.products import jvp
from codipy.tools.driver import Driver
from codipy.tools.pool import check_settings
from codipy.tools.rebinding.filled import with_own_arrays

__all__ = ["gradient_and_hvp", "hessian", "hvp"]


def hessian(f, argnums=None, *, argnames=None, has_aux=False, sparsity=None, strategy="auto", granularity=None,
            rebind=True):
    """The Hessian of a function: the second derivatives of its number by each pair of numbers of its argument.

    Parameters
    ----------
    f : callable
        Returns one real number; see `grad` for its arguments.
    argnums, argnames : optional
        Which arguments are differentiated by, twice: see `grad`.
    has_aux, rebind : bool
        See `grad`.
    sparsity : Sparsity, Colouring, matrix or True, optional
        Which elements can be other than zero: see `jacobian`; `codipy.hessian_sparsity` finds it.
    strategy, granularity : str, optional
        ``"auto"`` and ``"primal"`` record `f` by value and sweep that. Others, and any inside of another recording,
        take the Jacobian of the gradient, which they record: see `Tape`.

    Returns
    -------
    callable
        Takes the arguments of `f` and returns the form of the argument, with that form again in the place of each leaf,
        and there an array of the shape of the one leaf followed by that of the other; a float where both are numbers.
        With `has_aux`, a pair of that and the second result. With `sparsity` blocks are sparse: see `jacobian`.

    Raises
    ------
    TypeError
        From the returned function: see `grad`.
    ValueError
        With `sparsity`: see `jacobian`; and if it is not symmetric.
    UndifferentiableError
        From the returned function: a derivative on the way is known as numbers only (``tape.push_statement``).

    Notes
    -----
    `f` runs once; sweeps over its recording carry several directions each. For products with few vectors take `hvp`.
    With `sparsity`, directions are as many as a star colouring of the pattern has colours, and two more, along which
    the result is checked.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> codipy.hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    >>> codipy.hessian(lambda x: x**3)(2.0)
    12.0
    """
    check_function(f, "hessian")
    check_settings((strategy, granularity))
    options = {"argnums": argnums, "argnames": argnames, "has_aux": has_aux, "strategy": strategy,
               "granularity": granularity, "rebind": rebind}
    return Hessian(f, options | {"sparsity": sparsity})


class _OtherWayError(Exception):
    """A Hessian is the Jacobian of the gradient, which is recorded: sweeps do not know it."""


@contextmanager
def _or_other_way(curvature):
    """Sweep, where a rule may refuse vectors of any phase: parts of a product depend on it, of which the sum does not.

    A gradient that is recorded knows that. Not where the function has filled its arguments, which it would do twice.
    """
    try:
        yield
    except np.linalg.LinAlgError as error:
        if curvature.fills:
            raise
        raise _OtherWayError from error


class Hessian(Driver):
    """What `hessian` returns."""

    def __init__(self, f, options):
        self._choice = choice = Choice(options["argnums"], options["argnames"])
        super().__init__(hessian, f, options, f"Hessian of {name_of(f)} by {choice}.")
        self._run = None
        options = {name: option for name, option in options.items() if name != "sparsity"}
        self._jacobian = jacobian(grad(f, **options), **options)
        given = self.options["sparsity"]
        self._compressed = None
        if given is not None and given is not False:
            from codipy.tools.derivatives.compressed import Compressed  # not at import: seldom used

            self._compressed = Compressed(given, "forward", None, symmetric=True)
            self._jacobian.compress(self._compressed, self._pattern)

    @property
    def colouring(self):
        """The colouring of a sparse Hessian; None before it is found, and without `sparsity`."""
        return self._jacobian.colouring

    def _pattern(self, args, kwargs):
        from codipy.tools.derivatives.sparsity import hessian_pattern

        options = self.options
        run = rebound(self.f) if options["rebind"] else self.f
        return hessian_pattern(Choice(options["argnums"], options["argnames"]), run, self.f, args, kwargs,
                               options["has_aux"])

    def __call__(self, *args, **kwargs):
        try:
            found = self._swept(args, kwargs) if is_swept(self.options["strategy"]) else None
        except _OtherWayError:
            found = None
        return self._jacobian.at(args, kwargs) if found is None else found

    def _swept(self, args, kwargs):
        """By tangents of the sweep back; None where that does not know the recording."""
        choice, options = self._choice, self.options
        if self._run is None:
            self._run = rebound(self.f) if options["rebind"] else self.f
        choice.check(args, self.f)
        others = with_own_arrays(self._run, args, kwargs) if self._compressed is not None else None
        given, args = args, list(args)
        run, kept = with_aux(self._run) if options["has_aux"] else (self._run, None)
        tree = args[choice.last] if choice.is_number and kept is None and self._compressed is None else None
        of_floats = type(tree) is list and all_floats(tree) and not stands_again(tree, args, kwargs)
        if is_array(tree) or of_floats:      # the usual cases are not walked
            leaves = tree if type(tree) is list else [tree]
            with Curvature(run, self.f, args, kwargs, leaves, choice.last, options["granularity"], given,
                           "object") as curvature:
                if not curvature.known:
                    return None
                with _or_other_way(curvature):
                    found = curvature.hessian()
            return found.tolist() if type(tree) is list else found.reshape(2 * tree.shape)
        trees, leaves, places = choice.take(args, kwargs, self.f)
        with Curvature(run, self.f, args, kwargs, leaves, choice.placer(trees, places, kwargs),
                       options["granularity"], given, "object") as curvature:
            if not curvature.known:
                return None
            form = choice.give(trees, leaves, curvature.cut(curvature.gradient()))
            if self._compressed is not None:
                from codipy.tools.derivatives.compressed import in_blocks

                with _or_other_way(curvature):
                    matrix = self._compressed.matrix(curvature, lambda: self._pattern(*others))
                found = in_blocks(matrix, form, trees, choice)
                return (found, kept[0]) if options["has_aux"] else found
            with _or_other_way(curvature):
                rows = curvature.blocks(curvature.hessian())
        found = rebuild(form, [choice.give(trees, leaves, row) for row in rows])
        return (found, kept[0]) if options["has_aux"] else found


def hvp(f, args, tangents, *, kwargs=None, argnums=None, argnames=None, has_aux=False, strategy="auto",
        granularity=None, rebind=True):
    """The product of a Hessian, which is never formed, with a vector: the derivative of the gradient along it.

    For several vectors at one point take ``gradient, product = linearize(grad(f), x)``, which runs `f` once.

    Parameters
    ----------
    f : callable
        Returns one real number; see `grad`.
    args : tuple or list
        The positional arguments.
    tangents : tuple or list
        The vector: one for each argument that is differentiated by, of its form, those by position first.
    kwargs, argnums, argnames : optional
        See `vjp`.
    has_aux, rebind : bool
        See `grad`.
    strategy, granularity : str, optional
        See `hessian`: others than ``"auto"`` and ``"primal"`` take the `jvp` of the gradient, and ``"forward"`` is one
        of them.

    Returns
    -------
    tuple
        One for each argument that is differentiated by, of its form, as ``hvp(f, (x,), (v,))[0]`` by `x` alone; with
        `has_aux` a pair of that and the second result. ``problem(f, x0).hessp`` is what SciPy's ``hessp=`` takes.

    Raises
    ------
    TypeError, ValueError, UndifferentiableError
        See `jvp` and `hessian`.

    Examples
    --------
    >>> import codipy, numpy as np
    >>> codipy.hvp(lambda x: np.sum(x**3), (np.array([1.0, 2.0]),), (np.array([1.0, 10.0]),))
    (array([  6., 120.]),)
    """
    found = gradient_and_hvp(f, args, tangents, kwargs=kwargs, argnums=argnums, argnames=argnames, has_aux=has_aux,
                             strategy=strategy, granularity=granularity, rebind=rebind)
    return found[1:] if has_aux else found[1]


def gradient_and_hvp(f, args, tangents, *, kwargs=None, argnums=None, argnames=None, has_aux=False,
                     strategy="auto", granularity=None, rebind=True):
    """The gradient of a function and the product of its Hessian with a vector, of one run.

    Parameters
    ----------
    f, args, tangents, kwargs, argnums, argnames, has_aux, strategy, granularity, rebind : optional
        See `hvp`.

    Returns
    -------
    tuple
        The gradient and the product, each a tuple with one for each argument that is differentiated by, of its form;
        with `has_aux`, and the second result.

    Raises
    ------
    TypeError, ValueError, UndifferentiableError
        See `hvp`.

    Examples
    --------
    >>> import codipy
    >>> codipy.gradient_and_hvp(lambda x, y: x * x * y, (3.0, 2.0), (1.0, 0.0))
    ((12.0, 9.0), (4.0, 6.0))
    """
    check_function(f, "hvp")
    if is_swept(strategy):
        found = _swept(f, args, tangents, kwargs, argnums, argnames, has_aux, granularity, rebind)
        if found is not None:
            return found
    numbers = tuple(range(len(args))) if argnums is None else argnums if isinstance(argnums, tuple) else (argnums,)
    names = (argnames,) if isinstance(argnames, str) else argnames
    driver = value_and_grad if has_aux else grad
    gradient = driver(f, numbers or None, argnames=names, has_aux=has_aux, rebind=rebind)
    joined = _both(gradient, bool(numbers), bool(names), has_aux)
    options = {"kwargs": kwargs, "argnums": numbers, "argnames": argnames, "strategy": strategy,
               "granularity": granularity, "rebind": rebind}
    return jvp(joined, args, tangents, has_aux=has_aux, **options)


def _swept(f, args, tangents, kwargs, argnums, argnames, has_aux, granularity, rebind):
    """By tangents of the sweep back; None where that does not know the recording."""
    for name, given in (("args", args), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise TypeError(f"{name} must be a tuple with one for each argument of f, got {type(given).__name__}")
    if argnums is None and argnames is None and not args:
        raise TypeError("f must have an argument to differentiate by, got none")
    check_settings(("primal", granularity or "statement"))
    if argnums is None and argnames is None and not has_aux and _are_arrays(args, tangents):
        run, places = rebound(f) if rebind else f, tuple(range(len(args)))
        with Curvature(run, f, list(args), kwargs or {}, list(args), places, granularity, args, None) as curvature:
            product = _product(curvature, tangents)
            return None if product is None else (tuple(curvature.cut(curvature.gradient())),
                                                 tuple(curvature.cut(product)))  # fmt: skip
    numbers = tuple(range(len(args))) if argnums is None else argnums if isinstance(argnums, tuple) else (argnums,)
    choice = Choice(numbers, argnames)
    choice.check(args, f)
    run, kept = rebound(f) if rebind else f, None
    if has_aux:
        run, kept = with_aux(run)
    given, args, kwargs, seeds = args, list(args), dict(kwargs or {}), []
    trees, leaves, places = choice.take(args, kwargs, f)
    if len(trees) != len(tangents):
        raise ValueError(f"tangents must be one for each of the {len(trees)} arguments, got {len(tangents)}")
    match(list(tangents), trees, "tangents", seeds)
    with Curvature(run, f, args, kwargs, leaves, choice.placer(trees, places, kwargs), granularity, given,
                   None) as curvature:
        product = _product(curvature, seeds)
        if product is None:
            return None
        found = [choice.flat(trees, leaves, curvature.cut(x)) for x in (curvature.gradient(), product)]
    return (*found, kept[0]) if has_aux else tuple(found)


def _product(curvature, tangents):
    """With one vector, all numbers in a row; None where the gradient has to be recorded."""
    if not curvature.known:
        return None
    try:
        with _or_other_way(curvature):
            return curvature.products(join(tangents)[None])[0]
    except _OtherWayError:
        return None


def _are_arrays(args, tangents):
    """The usual case, of which nothing need be walked: arrays, and one of the same shape for each."""
    return len(args) == len(tangents) and all(
        is_array(x) and is_array(t) and x.shape == t.shape for x, t in zip(args, tangents))


def _both(gradient, by_number, by_name, has_aux):
    """The gradient as one tuple of all arguments, whether they were passed by position or by name."""

    def run(*args, **kwargs):
        found = gradient(*args, **kwargs)
        (_, aux), found = found if has_aux else ((None, None), found)
        found = (*found[0], *found[1]) if by_number and by_name else found
        return (found, aux) if has_aux else found

    functools.update_wrapper(run, gradient)      # its name, and the names of its parameters
    return run
