# SPDX-License-Identifier: Apache-2.0
"""NumPy functions among JAX's, and JAX's among NumPy functions."""
from __future__ import annotations

import functools

import numpy as np

from codipy.bridges.needed import needed
from codipy.tools.callee import check_function, name_of
from codipy.tools.derivatives.primitive import primitive
from codipy.tools.derivatives.products import vjp

__all__ = ["from_jax", "to_jax"]


def to_jax(f, result=None):
    """A NumPy function as one of JAX, with its derivative by `jax.vjp` and `jax.grad`, inside of `jax.jit` too.

    Parameters
    ----------
    f : callable
        ``f(*arrays)`` returns a number or an array of floats. JAX may call it as often as it likes.
    result : callable, optional
        ``result(*args)`` gives an array of the shape and dtype of the result, or a `jax.ShapeDtypeStruct`; `args` have
        shapes and dtypes. Without it, `f` is called with ones when JAX compiles.

    Returns
    -------
    callable
        Takes arrays of floats and returns one.

    Raises
    ------
    ImportError
        JAX is not installed.
    TypeError
        From JAX, where it is differentiated forward or twice.

    Examples
    --------
    >>> import codipy.bridges
    >>> import jax  # doctest: +SKIP
    >>> jax.grad(codipy.bridges.to_jax(lambda x: (x**3).sum()))(jax.numpy.arange(3.0))  # doctest: +SKIP
    Array([ 0.,  3., 12.], dtype=float32)
    """
    check_function(f, "bridges.to_jax")
    jax = needed("jax", "jax", "to_jax")

    def shape_of_result(args):
        if result is not None:
            found = result(*args)
        else:
            with np.errstate(all="ignore"):
                try:
                    found = np.asarray(f(*[np.ones(x.shape, x.dtype) for x in args]))
                except Exception as error:
                    raise TypeError(f"the shape of what {name_of(f)} returns is not known, since it failed with ones "
                                    "in the place of its arguments: say codipy.bridges.to_jax(f, result=...), which "
                                    "gives an array of that shape") from error
        return jax.ShapeDtypeStruct(np.shape(found), jax.dtypes.canonicalize_dtype(found.dtype))

    def value(like, *args):
        return np.asarray(f(*map(np.array, args)), like)

    def pulled(seed, *args):
        found, pull = vjp(f, *map(np.array, args))
        seed = np.asarray(seed).astype(np.asarray(found).dtype)
        cotangents = pull(seed if np.ndim(found) else float(seed))
        return tuple(np.asarray(x, given.dtype) for x, given in zip(cotangents, args))

    @jax.custom_vjp
    def called(*args):
        shape = shape_of_result(args)
        return jax.pure_callback(functools.partial(value, shape.dtype), shape, *args, vmap_method="sequential")

    def forward(*args):
        return called(*args), args

    def backward(args, seed):
        shapes = tuple(jax.ShapeDtypeStruct(x.shape, x.dtype) for x in args)
        return jax.pure_callback(pulled, shapes, seed, *args, vmap_method="sequential")

    called.defvjp(forward, backward)

    @functools.wraps(f)
    def checked(*args):
        arrays = [jax.numpy.asarray(x) for x in args]
        for x in arrays:
            if not jax.numpy.issubdtype(x.dtype, jax.numpy.floating):
                raise TypeError(f"an argument of {name_of(f)} has the dtype {x.dtype}, and all must be floats: bind "
                                "the others, functools.partial")
        return called(*arrays)

    return checked


def from_jax(f):
    """A function of JAX as one that codipy differentiates.

    Parameters
    ----------
    f : callable
        ``f(*arrays)`` returns an array.

    Returns
    -------
    callable
        Takes numbers and arrays of floats and returns an array. Its derivatives, both ways, are JAX's; they have none
        themselves.

    Raises
    ------
    ImportError
        JAX is not installed.
    TypeError
        When it is called with float64 while JAX computes in float32 only.

    Examples
    --------
    >>> import codipy, codipy.bridges, numpy as np
    >>> import jax  # doctest: +SKIP
    >>> jax.config.update("jax_enable_x64", True)  # doctest: +SKIP
    >>> smooth = codipy.bridges.from_jax(jax.nn.softplus)  # doctest: +SKIP
    >>> codipy.grad(lambda x: np.sum(smooth(x)))(np.zeros(2))  # doctest: +SKIP
    array([0.5, 0.5])
    """
    check_function(f, "bridges.from_jax")
    jax = needed("jax", "jax", "from_jax")

    @functools.wraps(f)
    def called(*args):
        for x in args:
            if np.result_type(x) == np.float64 and not jax.config.jax_enable_x64:
                raise TypeError(f"{name_of(f)} would compute in float32, and its argument is float64: say "
                                'jax.config.update("jax_enable_x64", True) before anything else')
        found, pull = jax.vjp(f, *[jax.numpy.asarray(x) for x in args])
        return np.array(found)[()], pull

    made = primitive(called, saves=True)

    @made.vjp
    def rule(g, out, *args, saved):
        return tuple(np.array(x)[()] for x in saved(jax.numpy.asarray(g, dtype=np.asarray(out).dtype)))

    @made.jvp
    def forward(tangents, out, *args, saved):
        arrays = [jax.numpy.asarray(x) for x in args]
        directions = [jax.numpy.asarray(t, dtype=x.dtype) for t, x in zip(tangents, arrays)]
        return np.array(jax.jvp(f, arrays, directions)[1])[()]

    return made
