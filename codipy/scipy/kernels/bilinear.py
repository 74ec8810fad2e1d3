# SPDX-License-Identifier: Apache-2.0
"""Products of two arrays, linear in each, with rules that are such products again: derivatives of any order.

A product ``y = P(x, w)`` and a flow g make a number <g, P(x, w)>, linear in each of the three. Its gradients by x and
by w, ``L(g, w)`` and ``R(g, x)``, have one another as rules. Filters are such products: of an image and its weights. Of
complex numbers the number is the real part, and L and R take the conjugates of w and x.
"""

from __future__ import annotations

import numpy as np

from codipy.active.array import call, is_complex_variable
from codipy.active.array import plain as value_of
from codipy.active.doors import door
from codipy.numpy.arguments import holds_active
from codipy.numpy.primitive import Primitive
from codipy.scipy.calls import kept

__all__ = ["Bilinear", "Linear", "applied"]


def applied(primitive, args, options):
    """The value of a primitive, recorded if an argument is active: that of complex numbers as a rule of their layer."""
    is_complex = any(map(is_complex_variable, args))
    if not is_complex and not holds_active(args):
        return primitive.forward(*args, **options)
    if is_complex or any(np.iscomplexobj(value_of(x)) for x in args):
        return door("complexes")().recorded(primitive.name, args, options)
    return call(primitive, args, options)


def _sum(parts):
    total = None
    for part in parts:
        total = part if total is None else total + part
    return total


class Bilinear:
    """A product and the two that are its transposes.

    Parameters
    ----------
    name : str
    product, left, right : callable
        ``product(x, w, **options)``, ``left(g, w, shape=..., **options)`` of the shape of x and
        ``right(g, x, shape=..., **options)`` of that of w, on plain arrays.
    constants : dict
        Options that add something to the product which does not depend on x, and their values without it.
    inside : dict
        Options that the rules replace.
    """

    def __init__(self, name, product, left, right, constants=None, inside=None):
        self._still, self._inside = constants or {}, inside or {}
        self._left = kept(Primitive(f"{name} by the first", left, self._left_vjp, self._left_jvp, keep_out=False,
                                    linear=(0, 1)))  # fmt: skip
        self._right = kept(Primitive(f"{name} by the second", right, self._right_vjp, self._right_jvp, keep_out=False,
                                     linear=(0, 1)))  # fmt: skip
        self.primitive = kept(Primitive(name, product, self._vjp, self._jvp, keep_out=False, linear=(0, 1)))

    @property
    def primitives(self):
        """The product and its transposes."""
        return self.primitive, self._left, self._right

    def __call__(self, x, w, **options):
        """The product, recorded if an argument is active."""
        return applied(self.primitive, (x, w), options)

    def by_first(self, g, w, shape, options):
        """The gradient by x, of this shape."""
        return applied(self._left, (g, w), {**options, "shape": tuple(shape)})

    def by_second(self, g, x, shape, options):
        """The gradient by w, of this shape."""
        return applied(self._right, (g, x), {**options, "shape": tuple(shape)})

    def _of(self, options):
        return {**{key: value for key, value in options.items() if key != "shape"}, **self._inside}

    def _without(self, options):
        return {**self._of(options), **self._still}

    def _vjp(self, g, out, args, kwargs, argnums):
        x, w = args
        return [self.by_second(g, x, np.shape(w), kwargs) if k else self.by_first(g, w, np.shape(x), kwargs)
                for k in argnums]  # fmt: skip

    def _jvp(self, tangents, out, args, kwargs):
        x, w = args
        return _sum(self(x, t, **self._of(kwargs)) if k else self(t, w, **self._without(kwargs))
                    for k, t in tangents.items())  # fmt: skip

    def _left_vjp(self, c, out, args, kwargs, argnums):
        g, w = args
        options = self._without(kwargs)
        return [self.by_second(g, c, np.shape(w), options) if k else self(c, w, **options) for k in argnums]

    def _left_jvp(self, tangents, out, args, kwargs):
        g, w = args
        return _sum(applied(self._left, (g, t) if k else (t, w), kwargs) for k, t in tangents.items())

    def _right_vjp(self, c, out, args, kwargs, argnums):
        g, x = args
        options = self._of(kwargs)
        return [self.by_first(g, c, np.shape(x), options) if k else self(x, c, **options) for k in argnums]

    def _right_jvp(self, tangents, out, args, kwargs):
        g, x = args
        return _sum(applied(self._right, (g, t), {**kwargs, **self._still}) if k
                    else applied(self._right, (t, x), kwargs) for k, t in tangents.items())  # fmt: skip


class Linear:
    """A linear map of one array, and its transpose.

    Parameters
    ----------
    name : str
    push, pull : callable
        ``push(x, **options)`` and ``pull(g, shape=..., **options)``, of the shape of x, on plain arrays.
    constants : dict
        As in `Bilinear`.
    """

    def __init__(self, name, push, pull, constants=None):
        self._still = constants or {}
        self._pull = kept(Primitive(f"{name}, transposed", pull, self._pull_vjp, self._pull_jvp, keep_args=False,
                                    keep_out=False, linear=(0,)))  # fmt: skip
        self.primitive = kept(Primitive(name, push, self._vjp, self._jvp, keep_args=False, keep_out=False,
                                        linear=(0,)))  # fmt: skip

    def __call__(self, x, **options):
        """Its value, recorded if x is active."""
        return applied(self.primitive, (x,), options)

    def _without(self, options):
        return {**{key: value for key, value in options.items() if key != "shape"}, **self._still}

    def _vjp(self, g, out, args, kwargs, argnums):
        return [applied(self._pull, (g,), {**self._without(kwargs), "shape": np.shape(args[0])})]

    def _jvp(self, tangents, out, args, kwargs):
        return self(tangents[0], **self._without(kwargs))

    def _pull_vjp(self, c, out, args, kwargs, argnums):
        return [self(c, **self._without(kwargs))]

    def _pull_jvp(self, tangents, out, args, kwargs):
        return applied(self._pull, (tangents[0],), kwargs)
