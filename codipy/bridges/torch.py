# SPDX-License-Identifier: Apache-2.0
"""NumPy functions among PyTorch's, and PyTorch's among NumPy functions."""
from __future__ import annotations

import functools

import numpy as np

from codipy.bridges.needed import needed
from codipy.tools.callee import check_function
from codipy.tools.derivatives.primitive import primitive
from codipy.tools.derivatives.products import vjp

__all__ = ["from_torch", "to_torch"]

_SAVED = object()      # stands for a tensor that PyTorch saves


def to_torch(f):
    """A NumPy function as one of PyTorch, with its derivative.

    Parameters
    ----------
    f : callable
        ``f(*arrays)`` returns a number or an array, or a tuple of them.

    Returns
    -------
    callable
        Takes tensors, and returns them; both in the processor's memory. Arguments that are no tensors, and tensors that
        are not of float32 or float64, go to `f` as they are or as arrays, and have no derivative.

    Raises
    ------
    ImportError
        PyTorch is not installed.

    Notes
    -----
    With ``create_graph=True`` derivatives of any order are right; each runs `f` once more.

    Examples
    --------
    >>> import codipy.bridges
    >>> import torch  # doctest: +SKIP
    >>> g = codipy.bridges.to_torch(lambda x: (x**3).sum())  # doctest: +SKIP
    >>> x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)  # doctest: +SKIP
    >>> g(x).backward(); x.grad  # doctest: +SKIP
    tensor([ 3., 12.], dtype=torch.float64)
    """
    check_function(f, "bridges.to_torch")
    torch = needed("torch", "torch", "to_torch")

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(context, *args):
            chosen = tuple(k for k, needs in enumerate(context.needs_input_grad) if needs)
            arrays = [_plain(torch, x) for x in args]
            if chosen:
                value, context.pull = vjp(f, *arrays, argnums=chosen)
            else:
                value = f(*arrays)
            context.chosen, context.several = chosen, isinstance(value, tuple)
            context.others = [_SAVED if isinstance(x, torch.Tensor) else x for x in args]
            context.values = [np.asarray(x) for x in (value if context.several else (value,))]
            context.save_for_backward(*[x for x in args if isinstance(x, torch.Tensor)])
            found = tuple(torch.from_numpy(x.copy()) for x in context.values)
            return found if context.several else found[0]

        @staticmethod
        def backward(context, *seeds):
            seeds = [torch.from_numpy(np.zeros_like(x)) if seed is None else seed
                     for seed, x in zip(seeds, context.values)]
            if torch.is_grad_enabled():      # this derivative will be differentiated itself
                saved = iter(context.saved_tensors)
                args = [next(saved) if x is _SAVED else x for x in context.others]
                cotangents = to_torch(_pulled(f, context.chosen, context.several, len(seeds)))(*seeds, *args)
            else:
                plain = [np.asarray(_plain(torch, seed)).astype(x.dtype) for seed, x in zip(seeds, context.values)]
                plain = tuple(seed if seed.ndim else float(seed) for seed in plain)
                cotangents = [torch.from_numpy(np.array(x))
                              for x in context.pull(plain if context.several else plain[0])]
            found = [None] * len(context.others)
            for k, cotangent in zip(context.chosen, cotangents):
                found[k] = cotangent
            return tuple(found)

    @functools.wraps(f)
    def called(*args):
        return Function.apply(*args)

    return called


def from_torch(f):
    """A function of PyTorch as one that codipy differentiates.

    Parameters
    ----------
    f : callable
        ``f(*tensors)`` returns a tensor, or a tuple of them. It gets a tensor for each array and for each active
        number, and anything else as it is.

    Returns
    -------
    callable
        Takes numbers and arrays and returns arrays. Its derivative is PyTorch's; that has no derivative itself.

    Raises
    ------
    ImportError
        PyTorch is not installed.

    Examples
    --------
    >>> import codipy, codipy.bridges, numpy as np
    >>> import torch  # doctest: +SKIP
    >>> smooth = codipy.bridges.from_torch(torch.nn.functional.softplus)  # doctest: +SKIP
    >>> codipy.grad(lambda x: np.sum(smooth(x)))(np.zeros(2))  # doctest: +SKIP
    array([0.5, 0.5])
    """
    check_function(f, "bridges.from_torch")
    torch = needed("torch", "torch", "from_torch")

    @functools.wraps(f)
    def called(*args):
        tensors = [_tensor(torch, x) for x in args]
        with torch.enable_grad():
            result = f(*tensors)
        several = isinstance(result, tuple)
        shown = tuple(x.detach().numpy().copy()[()] for x in (result if several else (result,)))
        return (shown if several else shown[0]), (tensors, result if several else (result,))

    made = primitive(called, saves=True)

    @made.vjp
    def rule(g, out, *args, saved):
        tensors, results = saved
        seeds = [torch.as_tensor(np.asarray(x)) for x in (g if isinstance(out, tuple) else (g,))]
        pairs = [(x, seed) for x, seed in zip(results, seeds) if x.requires_grad]
        chosen = [x for x in tensors if isinstance(x, torch.Tensor) and x.requires_grad]
        if not pairs or not chosen:
            return (None,) * len(args)
        found = iter(torch.autograd.grad([x for x, _ in pairs], chosen, [seed for _, seed in pairs],
                                         retain_graph=True, allow_unused=True))
        given = [next(found) if isinstance(x, torch.Tensor) and x.requires_grad else None for x in tensors]
        return tuple(None if x is None else x.numpy()[()] for x in given)

    return made


def _pulled(f, chosen, several, count):
    """From seeds of the results of a function, and its arguments, to the cotangents of the chosen ones."""

    def pulled(*everything):
        seeds, args = everything[:count], everything[count:]
        return vjp(f, *args, argnums=chosen)[1](seeds if several else seeds[0])

    return pulled


def _plain(torch, x):
    """A tensor as an array of its own."""
    if not isinstance(x, torch.Tensor):
        return x
    if x.device.type != "cpu":
        raise TypeError(f"a function of NumPy cannot take a tensor on {x.device}: say x.cpu()")
    return x.detach().numpy().copy()


def _tensor(torch, x):
    """An array of floats as a tensor of its own that PyTorch differentiates by."""
    if not isinstance(x, (np.ndarray, np.generic, float)):
        return x
    tensor = torch.from_numpy(np.array(x))
    return tensor.requires_grad_() if tensor.is_floating_point() else tensor
