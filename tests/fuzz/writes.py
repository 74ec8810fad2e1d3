# SPDX-License-Identifier: Apache-2.0
"""Steps of random programs that read and write arrays: views, elements, rows, masks, loops over time."""

import numpy as np


def compute(w):
    return [f"{w.target('a')} = {w.expression(w.shape(), w.random.randint(1, 3))}"]


def take_view(w):
    name = w.array()
    shape = w.env[name].shape
    kind = w.random.randrange(9)
    text = {
        0: f"{name}.T",
        1: f"{name}.ravel()",
        2: f"{name}.reshape(-1)",
        3: f"{name}[::-1]",
        4: f"{name}[:, None]" if len(shape) == 1 else f"{name}.reshape({shape[::-1]})",
    }.get(kind, f"{name}[{w.index(shape)}]")
    return [f"{w.new('a')} = {text}"]


def view_of_view(w):
    a, b = w.new("a"), w.new("a")
    name = w.array(lambda v: v.shape[0] > 2)
    return [
        f"{a} = {name}[1:]",
        f"{b} = {a}[::-1]",
        f"{b}[{w.pick((0, -1))}] = {w.scalar()}" if w.env[name].ndim == 1 else f"{b}[0] *= {w.constant()}",
    ]


def assign(w):
    target = w.part()
    return [f"{target} = {apart(w, target, w.expression(w.value(target).shape))}"]


def apart(w, target, source):
    """NumPy copies a view over another one of the same memory from one end, which is right for equal strides only."""
    x, y = w.value(target), w.value(source)
    overlap = isinstance(y, np.ndarray) and np.ndim(x) and np.may_share_memory(x, y) and x.strides != y.strides
    return f"1.0 * {source}" if overlap else source


def assign_in_place(w):
    target = w.part()
    return [f"{target} {w.pick('+-*')}= {w.expression(w.value(target).shape)}"]


def whole_in_place(w):
    name = w.array()
    return [f"{name} {w.pick('+-*')}= {w.expression(w.env[name].shape)}"]


def shifted(w):
    """Overlapping shifts of one array."""
    name = w.array(lambda v: v.shape[0] > 3)
    k = w.random.randint(1, 2)
    left, right = f"{name}[{k}:]", f"{name}[:-{k}]"
    left, right = w.pick(((left, right), (right, left), (f"{name}[::-1]", name)))
    return [
        w.pick(
            (
                f"{left} = {right} * {w.constant()}",
                f"{left} += {right}",
                f"{left} = {right}",
                f"{left} = np.sin({right}) - {left}",
                f"{w.new('a')} = {left} - {right} * {right}",
            )
        )
    ]


def stencil(w):
    name = w.array(lambda v: v.shape[0] > 3)
    new = w.new("a")
    made = w.pick((f"{name}.copy()", f"np.zeros_like({name})", f"np.empty_like({name})", f"np.array({name})"))
    return [
        f"{new} = {made}",
        f"{new}[0], {new}[-1] = 0.0, 1.0",
        f"{new}[1:-1] = {name}[1:-1] + 0.2 * ({name}[2:] - 2.0 * {name}[1:-1] + {name}[:-2])",
    ]


def stepped(w):
    """An explicit scheme that swaps its arrays, with a thermometer."""
    name = w.array(lambda v: v.ndim == 1 and v.size > 3)
    u, v, s = w.new("a"), w.new("a"), w.new("s")
    lines = [f"{u} = {name}.copy()", f"{s} = 0.0", f"for k in range({w.random.randint(1, 4)}):"]
    body = [
        f"{v} = {w.pick((f'{u}.copy()', f'np.empty_like({u})', f'np.zeros(len({u}))'))}",
        f"{v}[0], {v}[-1] = {w.scalar()}, {w.constant()}",
        f"{v}[1:-1] = {u}[1:-1] + 0.1 * {u}[1:-1] * ({u}[2:] - {u}[:-2])",
        f"{u} = {v}",
    ]
    if w.chance(0.6):
        body.append(f"{s} = {s} + {u}[{w.random.randrange(w.env[name].size)}]")
    return lines + ["    " + line for line in body]


def take_element(w):
    return [f"{w.target('s')} = {w.element(w.array(lambda v: v.size > 0))}"]


def compute_scalar(w):
    return [f"{w.target('s')} = {w.scalar()}"]


def write_element(w):
    place = w.element(w.array(lambda v: v.size > 0))
    return [f"{place} {w.pick(('', '', '', '+', '*', '-'))}= {w.scalar()}"]


def write_and_keep(w):
    """An element leaves an array into which others were written."""
    name, s, a = w.array(lambda v: v.ndim == 1 and v.size > 1), w.new("s"), w.new("a")
    lines = [
        f"{a} = {name} * {w.constant()}",
        f"{a}[{w.integer(w.env[name].size)}] = {w.scalar()}",
        f"{s} = {a}[{w.integer(w.env[name].size)}]",
    ]
    if w.chance(0.5):
        lines.append(w.pick((f"{a} = np.sin({a})", f"{a} = {name} * {s}", f"del {a}")))
    return lines


def swap(w):
    name = w.array(lambda v: v.size > 1)
    x, y = w.element(name), w.element(name)
    if w.chance(0.3) and w.env[name].shape[0] > 1:
        return [f"{name}[[0, 1]] = {name}[[1, 0]]"]
    return [f"{x}, {y} = {y}, {x}"]


def copy_of(w):
    name = w.array()
    return [
        f"{w.target('a')} = "
        + w.pick((f"{name}.copy()", f"np.array({name})", f"{name} * 1.0", f"np.copy({name})", name))
    ]


def fill_by_elements(w):
    name = w.array(lambda v: v.ndim == 1 and 1 < v.size < 70)
    n, a = w.env[name].size, w.new("a")
    made = w.pick((f"np.zeros({n})", f"np.empty({n})", f"np.ones({n}) * 0.5"))
    value = w.pick(
        (
            f"{name}[k] * {w.constant()}",
            f"np.sin({name}[k]) * {name}[-k]",
            f"{name}[k]",
            f"{name}[k] + {a}[k - 1]" if "empty" not in made else f"{name}[k - 1]",
        )
    )
    return [f"{a} = {made}", f"for k in range({n}):", f"    {a}[k] = {value}"]


def loop_of_steps(w):
    """Other steps, several times."""
    body = []
    for _ in range(w.random.randint(1, 3)):
        body += w.pick(
            (compute, assign, assign_in_place, write_element, take_element, copy_of, masked, compute_scalar)
        )(w)
    return [f"for k in range({w.random.randint(1, 4)}):", *("    " + line for line in body)]


def trajectory(w):
    """H[k + 1] = step(H[k]), as people write simulations."""
    name = w.array(lambda v: v.ndim == 1 and 0 < v.size < 140)
    n, m = w.random.randint(2, 6), w.env[name].size
    h = w.new("a")
    column = w.chance(0.35)
    here, there, first = (
        (f"{h}[:, k]", f"{h}[:, k + 1]", f"{h}[:, 0]") if column else (f"{h}[k]", f"{h}[k + 1]", f"{h}[0]")
    )
    made = w.pick(("zeros", "empty", "ones"))
    lines = [f"{h} = np.{made}(({m}, {n}))" if column else f"{h} = np.{made}(({n}, {m}))", f"{first} = {name}"]
    step = w.pick(
        (
            f"{here} * 0.9 + np.sin({here})",
            f"0.5 * {here} - {name} * {name}",
            f"{here}[::-1] + 0.1 * {name}",
            f"np.tanh({here} + {w.element(name)})",
            f"{here}",
        )
    )
    body = [f"{there} = {step}"]
    if w.chance(0.3):
        body.append(f"{there}[0] = {w.scalar()}" if not column else f"{h}[0, k + 1] = {w.scalar()}")
    if w.chance(0.3):
        body.append(f"{name} = {name} * 0.9 + {here} * 0.1")
    return [*lines, f"for k in range({n - 1}):", *("    " + line for line in body)]


def backward_recursion(w):
    name = w.array(lambda v: v.ndim == 1 and 0 < v.size < 100)
    n, m, v = w.random.randint(2, 6), w.env[name].size, w.new("a")
    step = w.pick(
        (f"np.maximum({v}[k + 1] * 0.9, {name} - {v}[k + 1, ::-1])", f"0.8 * {v}[k + 1] + {name} * {v}[k + 1, 0]")
    )
    return [
        f"{v} = np.zeros(({n}, {m}))",
        f"{v}[-1] = {name}",
        f"for k in range({n - 2}, -1, -1):",
        f"    {v}[k] = {step}",
    ]


def rows(w):
    name = w.array(lambda v: v.ndim == 2 and 0 < v.shape[0] < 12)
    row, s = w.new("r"), w.new("s")
    body = w.pick(
        (
            f"{row} *= {w.constant()}",
            f"{row}[:] = np.sin({row})",
            f"{s} = {s} + np.sum({row} * {row})",
            f"{s} = {s} * 0.5 + {row}[0]",
        )
    )
    return [f"{s} = {w.constant()}", f"for {row} in {name}:", f"    {body}", f"{row} = None"]


def masked(w):
    name = w.array(lambda v: v.size > 0)
    mask = w.mask(name)
    kind = w.random.randrange(5)
    if kind == 0:
        return [f"{name}[{mask}] = {w.scalar()}"]
    if kind == 1:
        return [f"{name}[{mask}] *= {w.constant()}"]
    if kind == 2:
        return [f"{w.target('a')} = {name}[{mask}]"]
    if kind == 3:
        other = w.array(lambda v: v.shape == w.env[name].shape)
        return [f"m = {mask}", f"{name}[m] = {other}[m] * {w.constant()}"]
    return [f"{w.target('a')} = np.where({mask}, {w.expression(w.env[name].shape, 1)}, {name})"]


def fancy(w):
    name = w.array(lambda v: v.size > 0)
    index = w.fancy(w.env[name].shape)
    kind = w.random.randrange(6)
    if kind == 0:
        return [f"{name}[{index}] = {w.scalar()}"]
    if kind == 1:
        return [f"{name}[{index}] {w.pick('+*')}= {w.constant() if w.chance(0.5) else w.scalar()}"]
    if kind == 2 and index[0] == "[" and index.count("[") == 1 and w.env[name].flags.writeable:
        return [f"np.add.at({name}, {index}, {w.scalar()})"]
    if kind == 3 and "ix_" not in index and index.count("[") == 1:
        return [f"{w.target('a')} = np.take({name}, {index}, axis=0)"]
    if kind == 4 and w.env[name].ndim == 1 and index[0] == "[":
        # Elements of the array itself, some of which are written to before they are read.
        count = index.count(",") + 1
        return [f"{name}[{index}] = {name}[{w.slice_(w.env[name].size, count)}]"]
    return [f"{w.target('a')} = {name}[{index}]"]
