# SPDX-License-Identifier: Apache-2.0
"""Dual numbers with one derivative per input: the oracle that random programs run beside the tape."""

import math


class Dual:
    def __init__(self, value, slopes=()):
        self.value, self.slopes = value, dict(slopes)

    def chain(self, value, *links):
        """A result of `value` whose derivative is the sum of slope * operand's."""
        slopes = {}
        for slope, operand in links:
            for name, x in operand.slopes.items():
                slopes[name] = slopes.get(name, 0.0) + slope * x
        return Dual(value, slopes)

    def __add__(self, other):
        other = dual(other)
        return self.chain(self.value + other.value, (1.0, self), (1.0, other))

    def __sub__(self, other):
        other = dual(other)
        return self.chain(self.value - other.value, (1.0, self), (-1.0, other))

    def __mul__(self, other):
        other = dual(other)
        return self.chain(self.value * other.value, (other.value, self), (self.value, other))

    def __truediv__(self, other):
        other = dual(other)
        result = self.value / other.value
        return self.chain(result, (1.0 / other.value, self), (-result / other.value, other))

    def __radd__(self, other):
        return dual(other) + self

    def __rsub__(self, other):
        return dual(other) - self

    def __rmul__(self, other):
        return dual(other) * self

    def __rtruediv__(self, other):
        return dual(other) / self

    def __neg__(self):
        return self.chain(-self.value, (-1.0, self))

    def __gt__(self, other):
        return self.value > dual(other).value


def dual(x):
    return x if isinstance(x, Dual) else Dual(x)


def sin(x):
    return x.chain(math.sin(x.value), (math.cos(x.value), x))


def cos(x):
    return x.chain(math.cos(x.value), (-math.sin(x.value), x))


def tanh(x):
    return x.chain(math.tanh(x.value), (1.0 - math.tanh(x.value) ** 2, x))
