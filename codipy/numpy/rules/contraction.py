# SPDX-License-Identifier: Apache-2.0
"""Derivatives of numpy.einsum in all its forms: the cotangent of an operand is an einsum of all the others."""

import string

import numpy as np

from codipy.numpy.primitive import Primitive

__all__ = ["PRIMITIVES", "parse"]

_NUMBERED = string.ascii_uppercase + string.ascii_lowercase  # in the order of their codes, which sorts the result


def parse(args):
    """Normalise a call of einsum.

    Returns
    -------
    places : list of int
        Positions of the operands among the arguments.
    inputs : list of str
        One letter for each axis of each operand; ellipses are spelled out.
    output : str
        Letters of the result.
    """
    if isinstance(args[0], str):
        left, arrow, right = args[0].replace(" ", "").partition("->")
        places, inputs, output = list(range(1, len(args))), left.split(","), right if arrow else None
    else:
        places = list(range(0, len(args) - 1, 2))
        inputs = [_spelled(args[k + 1]) for k in places]
        output = _spelled(args[-1]) if len(args) % 2 else None
    used = set("".join(inputs)) | set(output or "")
    free = [letter for letter in reversed(string.ascii_letters) if letter not in used]
    dots = [args[k].ndim - len(s.replace("...", "")) if "..." in s else 0 for k, s in zip(places, inputs)]
    shared = "".join(free[: max(dots, default=0)])
    inputs = [s.replace("...", shared[len(shared) - n :]) for s, n in zip(inputs, dots)]
    if output is None:
        joined = "".join(s for s in inputs)
        output = shared + "".join(sorted(s for s in set(joined) - set(shared) if joined.count(s) == 1))
    return places, inputs, output.replace("...", shared)


def _spelled(labels):
    return "".join("..." if k is Ellipsis else _NUMBERED[k] for k in labels)


def _cotangent(g, k, operands, inputs, output):
    own = inputs[k]
    shape = operands[k].shape
    others = [s for i, s in enumerate(inputs) if i != k]
    sizes = {}
    for s, a in [*zip(inputs, operands), (output, g)]:
        for letter, n in zip(s, a.shape):
            sizes[letter] = max(n, sizes.get(letter, 0)) if n != 1 or letter not in sizes else sizes[letter]
    # Axes of length 1 that were broadcast are summed over; letters nobody else has are broadcast afterwards.
    elsewhere = set(output).union(*others)
    wanted = "".join(
        c for i, c in enumerate(own)
        if c in elsewhere and c not in own[:i] and not (shape[i] == 1 and sizes[c] != 1)
    )  # fmt: skip
    spec = ",".join([output, *others]) + "->" + wanted
    found = np.einsum(spec, g, *(a for i, a in enumerate(operands) if i != k), optimize=True)
    letters = "".join(c for i, c in enumerate(own) if c not in own[:i])
    found = np.reshape(found, tuple(found.shape[wanted.index(c)] if c in wanted else 1 for c in letters))
    # A repeated letter reads the diagonal only: everything off it gets nothing.
    found = np.reshape(np.broadcast_to(found, tuple(shape[own.index(c)] for c in letters)), _spread_shape(own, shape))
    if len(letters) == len(own):
        return found
    on = True
    for i, c in enumerate(own):
        first = own.index(c)
        if first != i:
            index = np.arange(shape[i])
            ones = [1] * len(own)
            a, b = (np.reshape(index, (*ones[:j], shape[i], *ones[j + 1 :])) for j in (first, i))
            on = on & (a == b)
    return np.where(on, found, 0.0)


def _spread_shape(own, shape):
    return tuple(1 if c in own[:i] else shape[i] for i, c in enumerate(own))


def _vjp(g, out, args, kwargs, argnums):
    places, inputs, output = parse(args)
    operands = [args[k] for k in places]
    return [np.broadcast_to(_cotangent(g, places.index(k), operands, inputs, output), args[k].shape) for k in argnums]


def _jvp(tangents, out, args, kwargs):
    args = list(args)
    return sum(np.einsum(*args[:k], t, *args[k + 1 :], **kwargs) for k, t in tangents.items())


PRIMITIVES = {"einsum": Primitive("einsum", np.einsum, _vjp, _jvp, keep_out=False)}
