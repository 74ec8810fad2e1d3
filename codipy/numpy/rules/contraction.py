# SPDX-License-Identifier: Apache-2.0
"""Derivatives of numpy.einsum in all its forms: the cotangent of an operand is an einsum of all the others."""

import math
import string
from functools import lru_cache

import numpy as np

from codipy.numpy.primitive import Primitive
from codipy.numpy.rules.building import dense, is_plain
from codipy.numpy.rules.patterns import lettered

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


@lru_cache(maxsize=1024)
def _product(a, b, out, shape_a, shape_b):
    """How ``a,b->out`` is a matrix product: orders and shapes of the operands, shape and order of the result.

    None where an operand repeats a letter, has one of its own that is summed, or one of another length.
    """
    sizes = dict(zip(a, shape_a))
    if any(len(set(s)) < len(s) for s in (a, b, out)) or any(sizes.get(c, n) != n for c, n in zip(b, shape_b)):
        return None
    sizes |= zip(b, shape_b)
    if not set(out) <= set(sizes) or any((c in a) != (c in b) and c not in out for c in sizes):
        return None
    stack, summed = ([c for c in a if c in b and (c in out) is kept] for kept in (True, False))
    left, right = [c for c in a if c not in b], [c for c in b if c not in a]
    m, k, n = (math.prod(sizes[c] for c in group) for group in (left, summed, right))
    lead = [sizes[c] for c in stack]
    found = [*stack, *left, *right]
    first, second = ([*stack, *left, *summed], a), ([*stack, *summed, *right], b)
    orders = [tuple(map(have.index, want)) for want, have in (first, second, (out, found))]
    orders = [None if order == tuple(range(len(order))) else order for order in orders]
    return *orders, (*lead, m, k), (*lead, k, n), tuple(sizes[c] for c in found)


def _pair(a, b, out, sizes):
    """How ``a,b->out`` is computed: as `_product` says, or else by what `np.einsum` takes."""
    product = _product(a, b, out, *[tuple([sizes[c] for c in s]) for s in (a, b)])
    return f"{a},{b}->{out}" if product is None else product


def _contracted(pair, x, y):
    """What `_pair` says, of two arrays."""
    return np.einsum(pair, x, y) if type(pair) is str else _multiplied(pair, x, y)


def _multiplied(product, x, y):
    """What `_product` says, of two arrays."""
    first, second, last, shape_x, shape_y, shape = product
    x = x if first is None else x.transpose(first)
    y = y if second is None else y.transpose(second)
    found = np.matmul(x if x.shape == shape_x else x.reshape(shape_x), y if y.shape == shape_y else y.reshape(shape_y))
    found = found if found.shape == shape else found.reshape(shape)
    return found if last is None else found.transpose(last)


@lru_cache(maxsize=1024)
def _steps(inputs, output, shapes, optimize):
    """The contractions of pairs that make the result: places of two, how they and the cotangents of each are computed.

    None where cotangents are more than products: letters that repeat, broadcast, or stand in one operand alone.
    """
    sizes = {}
    for s, shape in zip(inputs, shapes):
        if len(set(s)) < len(s) or any(sizes.setdefault(c, n) != n for c, n in zip(s, shape)):
            return None
    for k, s in enumerate(inputs):
        if not set(s) <= set(output).union(*inputs[:k], *inputs[k + 1 :]):
            return None
    spec = ",".join(inputs) + "->" + output
    path = [(0, 1)] if len(inputs) == 2 else np.einsum_path(spec, *map(np.empty, shapes), optimize=optimize)[0][1:]
    if any(len(places) != 2 for places in path):
        return None
    left, steps = list(enumerate(inputs)), []
    for number, places in enumerate(path, len(inputs)):
        (i, a), (j, b) = (left.pop(place) for place in sorted(places, reverse=True))
        wanted = set(output).union(*(s for _, s in left))
        made = "".join(c for c in dict.fromkeys(a + b) if c in wanted) if left else output
        steps.append((i, j, _pair(a, b, made, sizes), _pair(made, b, a, sizes), _pair(made, a, b, sizes)))
        left.append((number, made))
    return steps


def _by_pairs(g, steps, operands, wanted):
    """The cotangents of the operands that are wanted, back through the contractions of pairs."""
    values, count = list(operands), len(operands)
    active = [k in wanted for k in range(count)]
    for i, j, forward, _, _ in steps:
        values.append(_contracted(forward, values[i], values[j]) if len(values) < count + len(steps) - 1 else None)
        active.append(active[i] or active[j])
    bars = [None] * len(values)
    bars[-1] = g
    for number in range(len(steps) - 1, -1, -1):
        i, j, _, to_first, to_second = steps[number]
        bar = bars[count + number]
        if active[i]:
            bars[i] = _contracted(to_first, bar, values[j])
        if active[j]:
            bars[j] = _contracted(to_second, bar, values[i])
    return bars


@lru_cache(maxsize=1024)
def _parsed(spec, *dims):
    operands = [_OfDims(n) for n in dims]
    return parse([spec, *operands])


@lru_cache(maxsize=1024)
def _products(spec, shape_a, shape_b, *argnums):
    """How the cotangents of some of two operands are products of matrices: the place of the other one, and `_product`.

    None where they are none, or where more is to be asked. What is known by numbers keeps no tuple of a record's.
    """
    shapes = shape_a, shape_b
    places, inputs, output = _parsed(spec, *map(len, shapes))
    if len(inputs) != 2 or _steps(tuple(inputs), output, shapes, "greedy") is None:
        return None
    sizes = dict(zip("".join(inputs), shapes[0] + shapes[1]))
    own = [places.index(k) for k in argnums]
    products = [_product(output, inputs[1 - k], inputs[k], tuple([sizes[c] for c in output]), shapes[1 - k])
                for k in own]
    return None if None in products else [(places[1 - k], product) for k, product in zip(own, products)]


class _OfDims:
    """What `parse` knows of an operand."""

    def __init__(self, ndim):
        self.ndim = ndim


def _dense(args):
    """The arguments with arrays where operands are lists; the other form has lists of axes after each."""
    step = 1 if isinstance(args[0], str) else 2
    operands = range(step == 1, len(args) - (step == 2 and len(args) % 2), step)
    return tuple(dense(x) if k in operands else x for k, x in enumerate(args))


def _vjp(g, out, args, kwargs, argnums):
    if len(args) == 3 and type(args[0]) is str and is_plain(g, args[1], args[2]):      # in few steps
        products = _products(args[0], args[1].shape, args[2].shape, *argnums)
        if products is not None:
            return [_multiplied(product, g, args[other]) for other, product in products]
    if type(args[0]) is str and is_plain(g, *args[1:]):
        places, inputs, output = _parsed(args[0], *[a.ndim for a in args[1:]])
    else:
        args = _dense(args)
        places, inputs, output = parse(args)
    operands = [args[k] for k in places]
    if len(operands) > 1 and is_plain(g, *operands):
        optimize = kwargs.get("optimize", False)
        optimize = optimize if isinstance(optimize, str) else "greedy"
        steps = _steps(tuple(inputs), output, tuple([a.shape for a in operands]), optimize)
        if steps is not None:
            wanted = [places.index(k) for k in argnums]
            bars = _by_pairs(g, steps, operands, wanted)
            return [bars[k] for k in wanted]
    return [np.broadcast_to(_cotangent(g, places.index(k), operands, inputs, output), args[k].shape) for k in argnums]


def _jvp(tangents, out, args, kwargs):
    args = list(args)
    return sum(np.einsum(*args[:k], t, *args[k + 1 :], **kwargs) for k, t in tangents.items())


def _pattern(args, kwargs, argnums, shapes):
    places, inputs, output = parse(_dense(args))
    links = dict(zip(places, lettered(inputs, output)))
    return [links[k] for k in argnums]


_ALL = tuple(range(64))  # linear in each operand, wherever it stands
PRIMITIVES = {"einsum": Primitive("einsum", np.einsum, _vjp, _jvp, keep_out=False, pattern=_pattern, linear=_ALL)}
