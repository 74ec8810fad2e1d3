# SPDX-License-Identifier: Apache-2.0
"""Random NumPy programs for hypothesis: lists of steps that run alike on plain arrays, on Arrays and on the twin."""

import operator

import numpy as np
from hypothesis import strategies as st

import codipy

LARGEST = 50.0          # values stay small, so that comparisons with a tolerance mean something
MOST_ELEMENTS = 60
SHAPES = [(), (0,), (1,), (3,), (4,), (2, 3), (3, 3), (3, 1), (0, 2), (2, 1, 3), (1, 4)]
UNARY = [np.sin, np.cos, np.tanh, np.negative, np.square, np.positive]
BINARY = [operator.add, operator.sub, operator.mul, np.maximum, np.minimum, np.multiply]
IN_PLACE = [operator.iadd, operator.isub, operator.imul]
UFUNCS = [np.add, np.subtract, np.multiply]


class State:
    """The variables of a program: arrays, which may share memory, and numbers."""

    def __init__(self, inputs):
        self.arrays, self.numbers = list(inputs), [1.5]

    def put(self, result):
        is_array = getattr(result, "ndim", 0) > 0
        if type(result) is np.ndarray and type(self.arrays[0]) is codipy.Array:
            result = codipy.Array(result)       # a passive result may be written into later
        (self.arrays if is_array else self.numbers).append(result)


# ---- Steps: functions of the state and of what was drawn. `i`, `j` name arrays, `s` numbers. ----

def unary(v, f, i):
    v.put(f(v.arrays[i]))


def binary(v, f, i, j):
    v.put(f(v.arrays[i], v.arrays[j]))


def with_number(v, f, i, s, swapped):
    x, y = v.arrays[i], v.numbers[s]
    v.put(f(y, x) if swapped else f(x, y))


def compound(v, i, j, s):
    v.put((v.arrays[i] * v.numbers[s] + v.arrays[j]) * 0.5 - v.arrays[i] * v.arrays[j])


def view(v, i, index):
    v.put(v.arrays[i][index])


def reshaped(v, i, shape):
    v.arrays.append(v.arrays[i].reshape(shape))


def transposed(v, i, axes):
    v.arrays.append(v.arrays[i].transpose(axes))


def copied(v, i):
    v.arrays.append(v.arrays[i].copy())


def fresh(v, i):
    v.arrays.append(np.zeros_like(v.arrays[i]))


def assign(v, i, index, j, other, scale):
    """The right side is an expression of views, often of the same array."""
    source = v.arrays[j][other]
    v.arrays[i][index] = source if scale is None else source * scale


def assign_number(v, i, index, s):
    v.arrays[i][index] = v.numbers[s]


def assign_list(v, i, index, numbers):
    v.arrays[i][index] = [v.numbers[s] for s in numbers]


def write_in_place(v, f, i, index, j, other):
    part = v.arrays[i][index]
    v.arrays[i][index] = f(part, v.arrays[j][other])


def whole_in_place(v, f, i, j):
    v.arrays[i] = f(v.arrays[i], v.arrays[j])


def out(v, f, i, j, k):
    f(v.arrays[i], v.arrays[j], out=v.arrays[k])


def element(v, i, index):
    v.numbers.append(v.arrays[i][index])


def swap(v, i, index, other):
    a = v.arrays[i]
    t = a[index]
    a[index] = a[other]
    a[other] = t


def number(v, f, s, t):
    v.numbers.append(f(v.numbers[s], v.numbers[t]))


def total(v, i, axis):
    v.put(np.sum(v.arrays[i], axis=axis))


def chosen(v, i, j, limit):
    v.put(np.where(v.arrays[i] > limit, v.arrays[i], v.arrays[j]))


def joined(v, i, j):
    v.put(np.concatenate([v.arrays[i], v.arrays[j]]))


def product(v, i, j):
    if max(v.arrays[i].ndim, v.arrays[j].ndim) > 2:
        raise ValueError("the twin has no stacks of matrices")
    v.put(v.arrays[i] @ v.arrays[j])


def forgotten(v, i, j):
    v.arrays[i] = v.arrays[j]


def run(program, inputs):
    """The state after all steps."""
    v = State(inputs)
    for step, *arguments in program:
        step(v, *arguments)
    return v


def function_of(program):
    """The program as a function of its inputs that returns all it has made."""

    def f(*inputs):
        v = run(program, inputs)
        return (*v.arrays, *v.numbers)

    return f


# ---- Drawing a program: it runs on plain arrays meanwhile, which tells what fits. ----

def basic_index(draw, shape):
    parts = []
    for n in shape[: draw(st.integers(0, len(shape)))]:
        if n and draw(st.booleans()) and draw(st.booleans()):
            parts.append(draw(st.integers(-n, n - 1)))
        else:
            parts.append(draw(st.slices(n)))
    if draw(st.integers(0, 4)) == 0:
        parts.insert(draw(st.integers(0, len(parts))), None)
    if draw(st.integers(0, 3)) == 0:
        parts.append(Ellipsis)
    return tuple(parts)


def any_index(draw, shape, plain):
    kind = draw(st.integers(0, 7))
    if kind == 5 and shape and shape[0]:
        return draw(st.lists(st.integers(-shape[0], shape[0] - 1), min_size=1, max_size=4))
    if kind == 6:
        return np.array(draw(st.lists(st.booleans(), min_size=plain.size, max_size=plain.size)), bool).reshape(shape)
    if kind == 7 and len(shape) == 2 and 0 not in shape:
        rows, columns = (draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=3)) for n in shape)
        return np.ix_(rows, columns)
    return basic_index(draw, shape)


def single_index(draw, shape):
    return tuple(draw(st.integers(-n, n - 1)) for n in shape)


def draw_step(draw, v):
    a = v.arrays
    i, j, k = (draw(st.integers(0, len(a) - 1)) for _ in range(3))
    s, t = (draw(st.integers(0, len(v.numbers) - 1)) for _ in range(2))
    kind = draw(st.sampled_from(KINDS))
    shape = a[i].shape
    if kind in ("index", "assign", "write"):
        index, other = any_index(draw, shape, a[i]), any_index(draw, a[j].shape, a[j])
    if kind in ("element", "swap") and 0 in shape:
        kind = "unary"
    return {
        "unary": lambda: (unary, draw(st.sampled_from(UNARY)), i),
        "binary": lambda: (binary, draw(st.sampled_from(BINARY)), i, j),
        "with_number": lambda: (with_number, draw(st.sampled_from(BINARY)), i, s, draw(st.booleans())),
        "compound": lambda: (compound, i, j, s),
        "index": lambda: (view, i, index),
        "reshape": lambda: (reshaped, i, draw(st.sampled_from([-1, shape[::-1], (*shape, 1)]))),
        "transpose": lambda: (transposed, i, draw(st.permutations(range(len(shape))))),
        "copy": lambda: (copied, i),
        "fresh": lambda: (fresh, i),
        "assign": lambda: (assign, i, index, j, other, draw(st.sampled_from([None, 0.5, -1.0]))),
        "assign_number": lambda: (assign_number, i, any_index(draw, shape, a[i]), s),
        "assign_list": lambda: (assign_list, i, basic_index(draw, shape), [s, t][: draw(st.integers(1, 2))]),
        "write": lambda: (write_in_place, draw(st.sampled_from(IN_PLACE)), i, index, j, other),
        "in_place": lambda: (whole_in_place, draw(st.sampled_from(IN_PLACE)), i, j),
        "out": lambda: (out, draw(st.sampled_from(UFUNCS)), i, j, k),
        "element": lambda: (element, i, single_index(draw, shape)),
        "assign_element": lambda: (assign_number, i, single_index(draw, shape) if 0 not in shape else (), s),
        "swap": lambda: (swap, i, single_index(draw, shape), single_index(draw, shape)),
        "number": lambda: (number, draw(st.sampled_from([operator.add, operator.mul])), s, t),
        "sum": lambda: (total, i, draw(st.sampled_from([None, *range(len(shape))]))),
        "where": lambda: (chosen, i, j, draw(st.sampled_from([0.5, 0.9, 1.2]))),
        "join": lambda: (joined, i, j),
        "product": lambda: (product, i, j),
        "forget": lambda: (forgotten, i, j),
    }[kind]()


KINDS = [
    "unary", "binary", "with_number", "compound", "index", "reshape", "transpose", "copy", "fresh", "assign",
    "assign_number", "assign_list", "write", "in_place", "out", "element", "assign_element", "swap", "number", "sum",
    "where", "join", "product", "forget", "assign", "write", "element", "assign_element", "index",
]  # fmt: skip


def fits(v):
    everything = [*v.arrays, *v.numbers]
    return all(np.size(x) <= MOST_ELEMENTS and np.all(np.abs(x) < LARGEST) for x in everything)


@st.composite
def programs(draw, most_steps=14):
    """(program, inputs): only steps that NumPy accepts."""
    shapes = draw(st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 5)))
    inputs = [rng.uniform(0.4, 1.6, shape) for shape in shapes]

    def plain(program):
        return run(program, [x.copy() for x in inputs])

    program, v = [], plain([])
    for _ in range(draw(st.integers(1, most_steps))):
        step = draw_step(draw, v)
        try:
            step[0](v, *step[1:])
        except (ValueError, IndexError, TypeError):
            v = plain(program)
            continue
        if not fits(v):
            v = plain(program)
            continue
        program.append(step)
    return program, inputs
