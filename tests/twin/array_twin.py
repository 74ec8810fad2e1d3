# SPDX-License-Identifier: Apache-2.0
"""The readable twin of Array: NumPy for the values, one identifier per element beside them, a list of sparse Jacobians.

Identifiers are never used twice and a movement moves them, with the very NumPy call that moves the values. So nothing
here can be stale, shared by accident or overwritten: what Array's storages, blocks and pending expressions must add
up to.
"""

import operator

import numpy as np

# What a ufunc's result changes with each argument, given its arguments and its result.
PARTIALS = {
    np.positive: (lambda x, w: 1.0,),
    np.negative: (lambda x, w: -1.0,),
    np.square: (lambda x, w: 2.0 * x,),
    np.sqrt: (lambda x, w: 0.5 / w,),
    np.reciprocal: (lambda x, w: -w * w,),
    np.sin: (lambda x, w: np.cos(x),),
    np.cos: (lambda x, w: -np.sin(x),),
    np.exp: (lambda x, w: w,),
    np.log: (lambda x, w: 1.0 / x,),
    np.tanh: (lambda x, w: 1.0 - w * w,),
    np.absolute: (lambda x, w: np.sign(x),),
    np.add: (lambda x, y, w: 1.0, lambda x, y, w: 1.0),
    np.subtract: (lambda x, y, w: 1.0, lambda x, y, w: -1.0),
    np.multiply: (lambda x, y, w: y, lambda x, y, w: x),
    np.divide: (lambda x, y, w: 1.0 / y, lambda x, y, w: -w / y),
    np.power: (lambda x, y, w: y * x ** (y - 1.0), lambda x, y, w: w * np.log(x)),
    np.maximum: (lambda x, y, w: 1.0 * (x >= y), lambda x, y, w: 1.0 * (y > x)),
    np.minimum: (lambda x, y, w: 1.0 * (x <= y), lambda x, y, w: 1.0 * (y < x)),
}


class TwinTape:
    """A list of steps; each is the entries of a Jacobian: (identifier of a result, of an argument, partial)."""

    def __init__(self):
        self.largest, self.steps, self.adjoints = 0, [], {}

    def new_identifiers(self, shape):
        first = self.largest + 1
        self.largest += int(np.prod(shape, dtype=int))
        return np.arange(first, self.largest + 1).reshape(shape)

    def register_input(self, values):
        values = np.array(values, dtype=np.float64)
        return TwinArray(self, values, self.new_identifiers(values.shape))

    def push(self, results, arguments, partials):
        """Record entries, all broadcast to one shape; those of passive arguments are left out."""
        entries = [np.ravel(part) for part in np.broadcast_arrays(results, arguments, partials)]
        active = entries[1] != 0
        self.steps.append(tuple(part[active] for part in entries))

    def reverse(self, seeds):
        """Adjoints of all identifiers; `seeds` is a list of (identifiers, numbers), which add up."""
        bars = np.zeros(self.largest + 1)
        for identifiers, numbers in seeds:
            np.add.at(bars, identifiers, numbers)
        for results, arguments, partials in reversed(self.steps):
            flows = (bars[results] != 0.0) & (partials != 0.0)      # zero times anything is zero
            np.add.at(bars, arguments[flows], bars[results[flows]] * partials[flows])
        return bars

    def forward(self, seeds):
        """Tangents of all identifiers."""
        dots = np.zeros(self.largest + 1)
        for identifiers, numbers in seeds:
            np.add.at(dots, identifiers, numbers)
        for results, arguments, partials in self.steps:
            flows = (dots[arguments] != 0.0) & (partials != 0.0)
            np.add.at(dots, results[flows], dots[arguments[flows]] * partials[flows])
        return dots


class TwinArray:
    """Values and identifiers, side by side; a number is one of no dimensions."""

    __array_priority__ = 1000.0

    def __init__(self, tape, value, identifiers):
        self.tape, self.value, self.identifiers = tape, value, identifiers

    shape = property(lambda self: self.value.shape)
    ndim = property(lambda self: self.value.ndim)
    size = property(lambda self: self.value.size)
    T = property(lambda self: self.transpose())

    def both(self, function):
        """What moves values moves identifiers; a view of the one is a view of the other."""
        return TwinArray(self.tape, np.asarray(function(self.value)), np.asarray(function(self.identifiers)))

    def reshape(self, *shape):
        return self.both(lambda a: a.reshape(*shape))

    def ravel(self):
        return self.both(lambda a: a.ravel())

    def transpose(self, *axes):
        return self.both(lambda a: a.transpose(*axes))

    def copy(self):
        return self.both(np.copy)

    def sum(self, axis=None, keepdims=False):
        values = np.asarray(self.value.sum(axis=axis, keepdims=keepdims))
        results = self.tape.new_identifiers(values.shape)
        expanded = results if keepdims or axis is None else np.expand_dims(results, axis)
        self.tape.push(np.broadcast_to(expanded, self.shape), self.identifiers, 1.0)
        return TwinArray(self.tape, values, results)

    def __len__(self):
        return len(self.value)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index):
        return self.both(lambda a: a[index])

    def __setitem__(self, index, value):
        self.value[index] = values_of(value)
        self.identifiers[index] = identifiers_of(value)

    def fill(self, value):
        self[...] = value

    def __array_ufunc__(self, ufunc, method, *inputs, out=None):
        assert method == "__call__"
        values = [values_of(x) for x in inputs]
        result = np.asarray(ufunc(*values))
        if result.dtype == bool:
            return result
        identifiers = self.tape.new_identifiers(result.shape)
        if ufunc is np.matmul:
            self.push_matmul(inputs, identifiers)
        for k, partial in enumerate(PARTIALS.get(ufunc, ())):
            with np.errstate(all="ignore"):
                self.tape.push(identifiers, identifiers_of(inputs[k]), partial(*values, result))
        result = TwinArray(self.tape, result, identifiers)
        if out is not None:
            out[0][...] = result
            return out[0]
        return result

    def push_matmul(self, inputs, results):
        """Entries over (row, summed, column)."""
        (x, i), (y, j) = ((np.asarray(values_of(a)), identifiers_of(a)) for a in inputs)
        wide = [a if x.ndim > 1 else a[None, :] for a in (x, i)] + [a if y.ndim > 1 else a[:, None] for a in (y, j)]
        x, i, y, j = wide[0][:, :, None], wide[1][:, :, None], wide[2][None], wide[3][None]
        results = results.reshape(x.shape[0], 1, y.shape[2])
        self.tape.push(results, i, y)
        self.tape.push(results, j, x)

    def __array_function__(self, function, types, args, kwargs):
        return FUNCTIONS[function](*args, **kwargs)


def values_of(x):
    """The plain values behind anything, lists too."""
    if isinstance(x, (list, tuple)):
        return np.array([values_of(y) for y in x])
    return x.value if isinstance(x, TwinArray) else x


def identifiers_of(x):
    """One identifier per element of anything; 0 is passive."""
    if isinstance(x, (list, tuple)):
        return np.array([identifiers_of(y) for y in x])
    return x.identifiers if isinstance(x, TwinArray) else np.zeros(np.shape(x), int)


def _moved(function):
    """A NumPy function that moves elements: done to values and identifiers."""

    def moved(first, *args, **kwargs):
        arguments = (first, *args)
        tape = next(x.tape for x in _leaves(arguments) if isinstance(x, TwinArray))
        return TwinArray(tape, np.asarray(function(*map(_each(values_of), arguments), **kwargs)),
                         np.asarray(function(*map(_each(identifiers_of), arguments), **kwargs)))  # fmt: skip

    return moved


def _each(face):
    return lambda x: [face(y) for y in x] if isinstance(x, (list, tuple)) else face(x)


def _leaves(tree):
    return [y for x in tree for y in _leaves(x)] if isinstance(tree, (list, tuple)) else [tree]


def _where(condition, x, y):
    tape = next(a.tape for a in (x, y) if isinstance(a, TwinArray))
    return TwinArray(tape, np.asarray(np.where(condition, values_of(x), values_of(y))),
                     np.asarray(np.where(condition, identifiers_of(x), identifiers_of(y))))  # fmt: skip


def _empty(x):
    return TwinArray(x.tape, np.zeros(x.shape), np.zeros(x.shape, int))


FUNCTIONS = {
    np.sum: lambda x, axis=None, keepdims=False: x.sum(axis, keepdims),
    np.where: _where,
    np.concatenate: _moved(np.concatenate),
    np.stack: _moved(np.stack),
    np.copy: lambda x: x.copy(),
    np.zeros_like: _empty,
    np.empty_like: _empty,
}

_OPERATORS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.divide, "pow": np.power, "matmul": np.matmul,
}  # fmt: skip


def _power(x, y):
    # NumPy's own short cut for this exponent: the value differs from power's in the last bit.
    return np.square(x) if isinstance(y, (int, float)) and y == 2 else np.power(x, y)


def _in_place(compute):
    def write(x, y):
        x[...] = compute(x, y)
        return x

    return write


for _name, _ufunc in _OPERATORS.items():
    _compute = _power if _name == "pow" else _ufunc
    setattr(TwinArray, f"__{_name}__", lambda x, y, _f=_compute: _f(x, y))
    setattr(TwinArray, f"__r{_name}__", lambda x, y, _f=_compute: _f(y, x))
    setattr(TwinArray, f"__i{_name}__", _in_place(_compute))
for _name in ("lt", "le", "gt", "ge"):
    setattr(TwinArray, f"__{_name}__", lambda x, y, _name=_name: getattr(operator, _name)(x.value, values_of(y)))
TwinArray.__neg__ = lambda x: np.negative(x)
TwinArray.__pos__ = lambda x: np.positive(x)
TwinArray.__abs__ = lambda x: np.absolute(x)
