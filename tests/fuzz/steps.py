# SPDX-License-Identifier: Apache-2.0
"""The steps of random programs: each writes a few lines, and raises LookupError where no variable fits."""

import math

from tests.fuzz.calls import (
    choose,
    more_linalg,
    plain_products,
    products,
    reduce,
    scan,
    steps_and_signs,
    wide,
    with_out,
)
from tests.fuzz.guards import all_guarded, guarded, guarded_number
from tests.fuzz.idioms import asked, assigned, functional, kinds, loops, records, shaped, tables
from tests.fuzz.indexed import index_array, kept_elements, puts
from tests.fuzz.language import (
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
from tests.fuzz.without_axes import without_axes
from tests.fuzz.writes import (
    assign,
    assign_in_place,
    backward_recursion,
    compute,
    compute_scalar,
    copy_of,
    fancy,
    fill_by_elements,
    loop_of_steps,
    masked,
    rows,
    shifted,
    stencil,
    stepped,
    swap,
    take_element,
    take_view,
    trajectory,
    view_of_view,
    whole_in_place,
    write_and_keep,
    write_element,
)


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
            [f"{w.new('s')} = np.quantile({name}, 0.5) * np.sin({w.scalar()})"],
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
    (2, plain_products),
    (2, steps_and_signs),
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
    (2, guarded),
    (1, guarded_number),
    (1, all_guarded),
    (3, kept_elements),
    (3, index_array),
    (2, puts),
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
    (4, without_axes),
    (3, loops),
    (3, assigned),
    (3, tables),
    (4, records),
    (4, functional),
    (3, asked),
    (4, kinds),
    (5, shaped),
]
