# SPDX-License-Identifier: Apache-2.0
"""The steps of random programs: each writes a few lines, and raises LookupError where no variable fits."""

import math

import numpy as np

from tests.fuzz.language import (
    apart_from_zero,
    built_in,
    closure,
    factory,
    floating_error,
    generator_function,
    hashed,
    listened,
    object_of_class,
    types,
)
from tests.fuzz.layouts import axes, filled, from_outside, grown, laid_out, shuffled


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


def reduce(w):
    name = w.array(lambda v: v.size > 0)
    ndim = w.env[name].ndim
    # A product of many has huge partials, and where they cancel the other derivatives lose their digits.
    f = w.pick(("sum", "mean", "sum", "max", "min", "prod" if w.env[name].size < 40 else "sum"))
    if ndim == 1 or w.chance(0.3):
        return [f"{w.target('s')} = " + w.pick((f"np.{f}({name})", f"{name}.{f}()"))]
    return [
        f"{w.target('a')} = "
        + w.pick(
            (
                f"np.{f}({name}, axis={w.random.randrange(ndim)})",
                f"{name}.{f}(axis={w.random.randrange(ndim)}, keepdims=True)",
            )
        )
    ]


def scan(w):
    name = w.array(lambda v: v.size > 0)
    axis = w.random.randrange(w.env[name].ndim)
    other = w.array(lambda v: v.ndim == w.env[name].ndim and v.shape[1:] == w.env[name].shape[1:])
    return [
        f"{w.target('a')} = "
        + w.pick(
            (
                f"np.cumsum({name}, axis={axis})",
                f"np.diff({name}, axis={axis})",
                f"np.flip({name})",
                f"np.sort({name}, axis={axis})",
                f"np.roll({name}, {w.random.randint(-2, 2)})",
                f"np.concatenate([{name}, {other}])",
                f"np.stack([{name}, {name} * 2.0])",
                f"np.tile({name}, 2)",
                f"np.repeat({name}, 2)",
                f"np.clip({name}, 0.3, 1.1)",
                f"np.append({name}, {w.scalar()})",
                f"np.expand_dims({name}, 0)",
                f"np.squeeze({name})",
                f"np.atleast_2d({name})",
                f"np.moveaxis({name}, 0, -1)",
                f"np.pad({name}, 1)",
                f"np.split({name}, [1])[-1]",
                f"np.cumsum({name})",
                f"np.hstack([{name}, {name}])",
            )
        )
    ]


def products(w):
    kind = w.random.randrange(7)
    x = w.array(lambda v: v.ndim == 1 and 0 < v.size < 40)
    n = w.env[x].size
    if kind == 0:
        return [f"{w.target('s')} = {x} @ {w.view((n,))} * 0.1"]
    if kind == 1:
        return [f"{w.target('a')} = np.outer({x}, {w.array(lambda v: v.ndim == 1 and v.size < 10)})"]
    matrix = w.array(lambda v: v.ndim == 2 and 0 < v.size < 400)
    n, m = w.env[matrix].shape
    if kind == 2:
        return [f"{w.target('a')} = {matrix} @ {w.view((m,))} * 0.3"]
    if kind == 3:
        return [f"{w.target('a')} = {matrix}.T @ {matrix} * 0.1"]
    if kind == 4:
        return [f"{w.target('a')} = np.einsum('ij,ij->i', {matrix}, {matrix})"]
    if n != m:
        matrix = f"({matrix}.T @ {matrix})" if m < 10 else f"({matrix} @ {matrix}.T)"
        n = min(m, 10**9) if m < 10 else n
    if n > 9:
        raise LookupError
    safe = f"(3.0 * np.eye({n}) + 0.1 * {matrix})"
    if kind == 5:
        return [f"{w.target('a')} = np.linalg.solve({safe}, {w.view((n,))})"]
    return [
        w.pick(
            (
                f"{w.target('a')} = np.linalg.inv({safe})",
                f"{w.target('s')} = np.linalg.det({safe} * 0.4)",
                f"{w.target('s')} = np.trace({safe})",
                f"{w.target('a')} = np.diag({safe}) * 1.0",
            )
        )
    ]


def with_out(w):
    name = w.array(lambda v: v.flags.writeable)  # NumPy lets an array be copied to itself
    shape = w.env[name].shape
    f = w.pick(("add", "multiply", "subtract", "maximum"))
    return [
        w.pick(
            (
                f"np.{f}({w.view(shape)}, {w.leaf(shape)}, out={name})",
                f"np.sin({name}, out={name})",
                f"np.copyto({name}, {apart(w, name, w.leaf(shape))})",
                f"{name}[...] = {apart(w, name, w.leaf(shape))}",
                f"{name}.fill({w.constant()})",
                f"np.negative({w.view(shape)}, out={name})",
            )
        )
    ]


def branch(w):
    x = w.element(w.array(lambda v: v.size > 0))
    first, second = (w.pick((assign, write_element, whole_in_place, compute_scalar))(w) for _ in range(2))
    return [
        f"if {x}.real > {w.random.uniform(0.2, 1.5):.3f}:",
        *("    " + line for line in first),
        "else:",
        *("    " + line for line in second if not line.startswith("s")),
        "    pass",
    ]


def context(w):
    """A block under other rules for floating point, in which nothing happens that the rules are about."""
    inner = w.pick((compute, assign, assign_in_place, whole_in_place))(w)
    rule = w.pick(("all='ignore'", "divide='ignore'", "invalid='warn'", "all='raise'"))
    if w.chance(0.7):
        return [f"with np.errstate({rule}):", *("    " + line for line in inner)]
    return [
        "with warnings.catch_warnings():",
        "    warnings.simplefilter('ignore')",
        *("    " + line for line in inner),
    ]


def raising(w):
    """An operation fails half way, and the program goes on."""
    name = w.array()
    n = w.env[name].shape[0]
    wrong = w.pick(
        (
            f"{name}[{n + 3}] = {w.scalar()}",
            f"{name}[{n}]",
            f"{name}[:] = np.ones({n + 2})",
            f"{w.new('a')} = {name} + np.ones({n + 2})",
            f"np.linalg.inv({name})",
        )
    )
    before = assign(w) if w.chance(0.4) else []
    after = w.pick((assign, write_element, assign_in_place))(w)
    return [
        "try:",
        *("    " + line for line in before),
        f"    {wrong}",
        "except (IndexError, ValueError) as error:",
        "    if 'more than once' in str(error):",
        "        raise",  # what codipy refuses
        *("    " + line for line in after),
    ]


def choose(w):
    """What is not chosen has no derivative."""
    name = w.array(lambda v: v.size > 0)
    shape = w.env[name].shape
    x, y, m = w.leaf(shape), w.expression(shape, 1), w.mask(name)
    return [
        w.pick(
            (
                f"{w.target('a')} = np.select([{m}, {name}.real > 0.9], [{x}, {y}], 0.5)",
                f"{w.target('a')} = np.where({m}, {x}, {w.constant()})",
                f"{w.target('a')} = np.where({m}, {w.scalar()}, {x})",
                f"{w.target('a')} = np.clip({name}, {w.random.uniform(0, 0.8):.3f}, {x} + 1.0)",
                f"{w.target('a')} = {name}.clip({w.random.uniform(0, 0.8):.3f}, None)",
                f"{w.target('a')} = np.choose(({m}) * 1, [{name}, {y}])",
                f"{w.target('a')} = np.piecewise({name}, [{m}], [np.sin, lambda v: v * 2.0])",
                f"np.putmask({name}, {m}, {w.constant()})",
                f"np.place({name}, {m}, [0.5, 0.25])",
                f"{w.target('a')} = np.extract({m}, {name})",
                f"{w.target('a')} = np.fmax({name}, np.fmin({x}, {w.constant()}))",
                f"np.copyto({name}, {w.constant()}, where={m})",
                f"{w.target('a')} = np.take_along_axis({name}, np.argsort({name}.real, axis=-1), axis=-1)",
                f"np.put({name}, [0, -1], {w.scalar()})",
                f"{w.target('a')} = np.compress([True, False], {name}, axis=0)",
                f"{name}[~({m})] = {name}[{m}].sum()",
            )
        )
    ]


def guarded(w):
    """A function that has no slope where it is not chosen."""
    name = w.array(lambda v: v.size > 0)
    middle = apart_from_zero(w, name)
    f = w.pick(("np.sqrt", "np.cbrt", "np.sqrt"))
    if w.chance(0.4):
        new, s, x = w.new("s"), w.new("s"), w.element(name)
        larger = w.pick(("np.maximum({}, 0.0)", "np.fmax({}, 0.0)", "np.clip({}, 0, None)", "-np.minimum(-({}), 0.0)"))
        lines = [f"{new} = {larger.format(f'{x} - {middle}')}", f"{s} = {f}({new}) * {x} + {new}"]
        return w.pick((lines, [f"{s} = {f}({larger.format(f'{x} - {middle}')}) * {w.constant()} + {x}"]))
    return [
        f"{w.target('a')} = "
        + w.pick(
            (
                f"{f}(np.maximum({name} - {middle}, 0.0))",
                f"{f}(np.clip({name} - {middle}, 0.0, None))",
                f"{f}(np.where({name}.real > {middle}, {name} - {middle}, 0.0))",
                f"np.where({name}.real > {middle}, {f}(({name} - {middle}) * ({name}.real > {middle})), 0.5)",
                f"{f}(np.fmax({name} - {middle}, 0.0))",
                f"-{f}(-np.minimum({name} - {middle}, 0.0))",
                f"np.array([math.sqrt(max(v, 0.0)) for v in ({name} - {middle}).ravel()])",
            )
        )
    ]


def in_place_function(w):
    """Operators and functions that write where they read."""
    name = w.array(lambda v: v.size > 0 and v.flags.writeable)  # NumPy's `add.at` does not look at that
    shape = w.env[name].shape
    f = w.pick(("add", "multiply", "subtract"))
    return w.pick(
        (
            [f"{name} **= 2"],
            [f"{name} /= {w.pick(('2.0', '-1.5', '3.0'))}"],
            [f"{name} /= 2.0 + np.cos({w.leaf(shape)})"],
            [f"np.{f}({w.leaf(shape)}, {w.leaf(shape)}, out={name}, where={w.mask(name)})"],
            [f"np.{f}.at({name}, {[w.random.randrange(shape[0]) for _ in range(3)]}, {w.constant()})"],
            [f"np.{f}.at({name}, {[w.random.randrange(shape[0]) for _ in range(3)]}, {w.scalar()})"],
            [f"np.sqrt({name} * {name} + 0.5, out={name})"],
            [f"np.{f}({name}, {name}, out={name})"],
            [f"np.{f}({name}, {name}[::-1], out={name})"],
            [f"{w.target('a')} = np.{f}.reduce({name}[:9], axis=0)"],
            [f"{w.target('a')} = np.{f}.accumulate({name}[:9], axis=0)"],
            [f"np.cumsum({name}, axis=0, out={name})"],
            [f"{name} -= {name}.mean()"],
            [f"{name} += {name}[0]"],
            [f"{name}[:] = {name}[::-1]"],
            [f"{name}.sort(axis={w.random.randrange(len(shape))})"],
            [f"np.clip({name}, 0.2, 1.1, out={name})"],
            [f"np.matmul(np.eye({shape[0]}) * 0.9, {name} * 1.0, out={name})"],
        )
    )


def wide(w):
    """More operands and operations than one statement holds; a sum that goes on and on."""
    shape = w.shape()
    if w.chance(0.5):
        return [f"{w.target('a')} = " + " + ".join(w.leaf(shape) for _ in range(w.random.randint(15, 24)))]
    new = w.new("a")
    count = w.pick((7, 39, 40, 41, 60))
    return [f"{new} = {w.expression(shape, 1)}", f"for k in range({count}):", f"    {new} = {new} * 0.9 + 0.1"]


def more_linalg(w):
    name = w.array(lambda v: v.ndim == 2 and 0 < v.size < 200)
    n, m = w.env[name].shape
    small = f"({name} @ {name}.T * 0.1)" if n < 8 else f"({name}.T @ {name} * 0.1)"
    k = n if n < 8 else m
    if k > 12:
        raise LookupError
    safe = f"({small} + 2.0 * np.eye({k}))"
    return w.pick(
        (
            [f"{w.new('s')} = np.linalg.norm({name})"],
            [f"{w.new('a')} = np.linalg.norm({name}, axis=1)"],
            [f"{w.new('a')} = np.linalg.cholesky({safe})"],
            [f"{w.new('s')} = np.linalg.slogdet({safe})[1]"],
            [f"{w.new('a')} = np.linalg.solve({safe}, {w.leaf((k, 2))})"],
            [f"{w.new('a')} = np.linalg.inv({safe}) @ {w.leaf((k,))}"],
            [f"{w.new('s')} = np.sum(np.linalg.eigvalsh({safe}) ** 2) * 0.1"],
            [f"{w.new('a')} = np.linalg.matrix_power({small}, 2)"],
            [f"{w.new('a')} = np.linalg.pinv({safe})"],
            [f"{w.new('a')} = np.tensordot({name}, {name}, axes=([0], [0])) * 0.1"],
            [f"{w.new('a')} = np.kron({name}[:2, :2], {name}[:1])"],
            [f"{w.new('a')} = np.einsum('ij,kj->ik', {name}, {name}[::-1]) * 0.1"],
            [f"{w.new('s')} = np.vdot({name}.ravel(), {name}.ravel()).real * 0.1"],
            [f"{w.new('a')} = np.dot({name}, {w.leaf((m,))}) * 0.1"],
            [f"{w.new('a')} = {w.leaf((n,))} @ {name} * 0.1"],
            [f"{w.new('a')} = np.linalg.qr({safe})[1]"],
            [f"{w.new('a')} = np.linalg.lstsq({safe}, {w.leaf((k,))}, rcond=None)[0]"],
            [f"{w.new('a')} = np.matmul({name}[None], {name}.T) * 0.1"],
            [f"{w.new('a')} = np.linalg.multi_dot([{name}, {name}.T, {name}]) * 0.05"],
        )
    )


def in_order(w):
    name = w.array(lambda v: v.size > 1)
    axis = w.random.randrange(w.env[name].ndim)
    flat = f"{name}.ravel()"
    return w.pick(
        (
            [f"{w.target('a')} = {name}[np.argsort({name}.real, axis=0)[0]]"],
            [f"{w.target('a')} = np.partition({flat}, 1)"],
            [f"{w.new('s')} = np.median({name})"],
            [f"{w.target('a')} = np.median({name}, axis={axis})"],
            [f"{w.new('s')} = np.percentile({name}, {w.random.randint(0, 100)})"],
            [f"{w.new('s')} = np.quantile({name}, {w.random.uniform(0, 1):.2f})"],
            [f"{w.new('s')} = {flat}[np.argmax({flat}.real)]"],
            [f"{w.target('a')} = np.sort({name}, axis={axis})[::-1]"],
            [f"{w.target('a')} = np.maximum.accumulate({name}, axis={axis})"],
            [f"{w.target('a')} = np.cumprod({name}[:9], axis={axis})"],
            [f"{w.target('a')} = np.gradient({flat})"],
            [f"{w.new('s')} = np.trapezoid({flat})"],
            [f"{w.target('a')} = np.interp([0.3, 0.7], np.linspace(0.0, 1.0, {w.env[name].size}), {flat})"],
            [f"{w.target('a')} = np.convolve({flat}, [0.5, 0.25], mode='{w.pick(('full', 'same', 'valid'))}')"],
            [f"{w.new('s')} = np.var({name}) + np.std({name} * {name})"],
            [f"{w.new('s')} = np.ptp({name})"],
            [f"{w.new('s')} = np.average({flat}, weights={flat} * {flat} + 0.5)"],
            [f"{w.target('a')} = np.polyval({flat}[:3], {name})"],
            [f"{w.target('a')} = np.delete({name}, 0, axis=0)"],
            [f"{w.target('a')} = np.insert({name}, 1, {w.scalar()}, axis=0)"],
            [f"{w.target('a')} = np.unique({name})"],
            [f"{w.target('a')} = np.apply_along_axis(lambda v: v * v.ravel()[0], {axis}, {name})"],
            [f"{w.target('a')} = np.nan_to_num({name}, copy={w.pick(('True', 'False'))})"],
            [f"{w.target('a')} = np.block([[{name}, {name}]])"],
            [f"{w.target('a')} = np.vectorize(lambda v: v * 0.5)({name})"],
        )
    )


def list_of_arrays(w):
    lists = [name for name in w.env if name.startswith("l")]
    if not lists or w.chance(0.3):
        items = [w.view(w.shape()) if w.chance(0.6) else w.array() for _ in range(w.random.randint(1, 3))]
        return [f"{w.new('l')} = [{', '.join(items)}]"]
    name = w.pick(lists)
    n = len(w.env[name])
    kind = w.random.randrange(6)
    if kind == 0:
        return [f"{name}.append({w.expression(w.shape(), 1)})"]
    if kind == 1:
        return [f"{w.target('a')} = {name}[{w.integer(n)}]"]
    if kind == 2:
        return [f"{name}[{w.integer(n)}] = {w.array()}"]
    if kind == 3:
        return [f"{name} = [{w.new('e')} * {w.constant()} for {'e' + str(w.numbers)} in {name}]"]
    if kind == 4 and n > 1:
        return [f"{name}.pop({w.random.randrange(n)})"]
    return [f"{w.target('a')} = np.concatenate([np.ravel(e) for e in {name}])"]


def kept_expression(w):
    """An expression waits while what it reads is written to."""
    a, name = w.new("a"), w.array()
    lines = [f"{a} = {w.expression(w.env[name].shape, 1)} * {name}"]
    lines += w.pick(((lambda _: [f"{name} *= {w.constant()}"]), write_element, assign, whole_in_place))(w)
    return [*lines, f"{w.pick((a, w.new('a')))} = {a} + {w.constant()}"]


def helper(w):
    """A function beside f, which may write into its arguments."""
    h = f"h_{w.new('')}"
    name, other = w.array(lambda v: v.size > 0), w.array(lambda v: v.size > 0)
    shape = w.env[name].shape
    body = [
        w.pick(
            (
                f"u *= {w.constant()}",
                "u = u * 2.0",
                f"u[{w.index(shape)}] = v.ravel()[0]",
                "u = np.sin(u)",
                "t = u[-1] * 1.0",
                "u[0] = u[-1]",
                "u = u.copy(); u[0] = 0.5",
                "v[...] = v * 0.5",
            )
        )
        for _ in range(w.random.randint(1, 3))
    ]
    w.helpers = [
        [
            f"def {h}(u, v):",
            *("    " + line for line in body),
            f"    return {w.pick(('u', 'u * 0.5', 'u + v.ravel()[-1]', 'np.cos(u) * v.ravel()[0]', 'u[::-1]'))}",
        ]
    ]
    return [f"{w.target('a')} = {h}({name}, {other})"]


def comprehension(w):
    name = w.array(lambda v: v.ndim == 1 and 0 < v.size < 20)
    return [
        w.pick(
            (
                f"{w.target('s')} = sum({name}[k] * {name}[-k] for k in range(len({name})))",
                f"{w.target('a')} = np.array([{name}[k] * {w.constant()} for k in range(len({name}))])",
                f"{w.target('a')} = np.array([v * v for v in {name}])",
                f"{w.target('a')} = np.array([{w.scalar()}, {w.scalar()}])",
            )
        )
    ]


def accumulate(w):
    s = w.new("s")
    name = w.array(lambda v: v.ndim == 1 and 0 < v.size < 40)
    return [
        f"{s} = {w.constant()}",
        f"for k in range(len({name})):",
        f"    {s} = {s} * 0.5 + {name}[k]",
        f"    {name}[k] = {s}",
    ]


def forget(w):
    names = [name for name in w.env if name[0] in "asl" and name[1:].isdigit()]
    if len(names) < 3:
        raise LookupError
    return [f"del {w.pick(names)}"]


def flat(w):
    name = w.array(lambda v: v.size > 0)
    size = math.prod(w.env[name].shape)
    return [
        w.pick(
            (
                f"{name}.flat[{w.random.randrange(size)}] = {w.scalar()}",
                f"{w.target('s')} = {name}.flat[{w.random.randrange(size)}]",
                f"{name}.flat[{w.slice_(size)}] = {w.leaf((w.random.randint(1, 4),))}",
                f"{name}.flat[{[w.random.randrange(size) for _ in range(3)]}] = [{w.constant()}, {w.scalar()}]",
                f"{name}.flat = {w.leaf((w.random.randint(1, 4),))}",
                f"{w.target('a')} = {name}.flat[{w.slice_(size)}]",
                f"{w.target('a')} = {name}.flatten()",
            )
        )
    ]


STEPS = [
    (10, compute),
    (6, take_view),
    (2, view_of_view),
    (7, assign),
    (6, assign_in_place),
    (4, whole_in_place),
    (5, shifted),
    (3, stencil),
    (3, stepped),
    (6, take_element),
    (5, compute_scalar),
    (8, write_element),
    (5, write_and_keep),
    (2, swap),
    (4, copy_of),
    (3, fill_by_elements),
    (3, loop_of_steps),
    (4, trajectory),
    (2, backward_recursion),
    (2, rows),
    (4, masked),
    (5, fancy),
    (4, reduce),
    (5, scan),
    (4, products),
    (3, with_out),
    (2, branch),
    (2, context),
    (2, raising),
    (1, floating_error),
    (1, listened),
    (4, list_of_arrays),
    (4, kept_expression),
    (3, helper),
    (2, comprehension),
    (2, accumulate),
    (3, forget),
    (1, flat),
    (4, choose),
    (3, guarded),
    (3, in_place_function),
    (2, wide),
    (3, more_linalg),
    (3, in_order),
    (4, laid_out),
    (1, axes),
    (2, grown),
    (2, shuffled),
    (1, from_outside),
    (1, filled),
    (2, generator_function),
    (3, object_of_class),
    (2, closure),
    (2, factory),
    (3, built_in),
    (2, types),
    (1, hashed),
]
