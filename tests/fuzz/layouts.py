# SPDX-License-Identifier: Apache-2.0
"""Steps of random programs about memory: what is a view, in which order it lies, whether it may be written to."""


def whole(w, name):
    """Text of something that NumPy makes of an array: a view of it, a copy of it, or one or the other by its layout."""
    shape = w.env[name].shape
    axis = w.random.randrange(len(shape))
    order = w.pick("KACF")
    texts = [
        f"{name}.ravel('{order}')",
        f"{name}.reshape(-1, order='{w.pick('ACF')}')",
        f"np.reshape({name}, {shape[::-1]}, order='{w.pick('ACF')}')",
        f"{name}.flatten('{order}')",
        f"np.ravel({name}, order='{order}')",
        f"np.asfortranarray({name})",
        f"np.ascontiguousarray({name})",
        f"np.asarray({name}, order='{order}')",
        f"np.array({name}, order='{order}')",
        f"np.copy({name}, order='{order}')",
        f"{name}.copy('{order}')",
        f"np.require({name}, requirements='{w.pick('CFWO')}')",
        f"{name}.swapaxes({axis}, -1)",
        f"np.transpose({name})",
        f"np.moveaxis({name}, {axis}, 0)",
        f"np.rollaxis({name}, {axis})",
        f"np.squeeze({name})",
        f"np.atleast_2d({name})",
        f"np.expand_dims({name}, {axis})",
        f"{name}.view()",
        f"np.flip({name}, {axis})",
        f"np.positive({name})",
        f"np.einsum('...->...', {name})",
        f"np.broadcast_to({name}, {(2, *shape)})",
        f"np.broadcast_arrays({name}, {name}[:1])[1]",
        f"np.array_split({name}, 2)[{w.random.randrange(2)}]",
        f"np.zeros_like({name}, order='{order}')",
        f"np.roll({name}, 1, axis={axis})",
    ]
    if shape[0] > 1:
        texts.append(f"np.lib.stride_tricks.sliding_window_view({name}, 2, axis=0)")
        texts.append(f"np.split({name}, [1])[1]")
    if len(shape) == 1:
        texts += [f"np.trim_zeros({name})", f"np.diag({name})", f"np.meshgrid({name}, {name}, copy=False)[0]"]
        texts += [f"np.column_stack([{name}, {name}])", f"np.vander({name}[:3], 3)"]
    if len(shape) == 2:
        texts += [
            f"np.einsum('ij->ji', {name})",
            f"np.diagonal({name}, {w.random.randint(-1, 1)})",
            f"np.diag({name})",
            f"np.rot90({name})",
            f"np.triu({name})",
        ]
        if shape[0] == shape[1]:
            texts += [f"np.einsum('ii->i', {name})", f"np.linalg.diagonal({name})"]
    return w.pick(texts)


def laid_out(w):
    """A view or a copy is written to, or refuses it, and what it was made of is read."""
    name, new = w.array(lambda v: v.size > 0), w.new("a")
    lines = [f"{new} = {whole(w, name)}"]
    if w.chance(0.3):
        lines = [f"{new} = {w.pick((f'{name} * 1.0', f'{name}.T * 1.0', f'{name}[::-1] + 0.1'))}"]
        lines.append(f"{new} = {new}.{w.pick(('ravel', 'T.ravel', 'flatten'))}('{w.pick('KACF')}')")
    if w.chance(0.15):
        lines.append(f"{w.pick((name, new))}.flags.writeable = False")
    write = w.pick(
        (
            f"{new}[...] = {w.constant()}",
            f"{new} *= {w.constant()}",
            f"{new}[0] = {w.constant()}",
            f"{new}.flat[0] = {w.scalar()}",
            f"{name}[0] *= {w.constant()}",
            f"{new}[-1:] += {w.scalar()}",
        )
    )
    if w.chance(0.8):
        lines += [
            "try:",
            f"    {write}",
            "except ValueError as error:",
            "    if 'read-only' not in str(error):",
            "        raise",
            f"    {new} = {new} * 3.0",
        ]
    if w.chance(0.4):
        lines.append(f"{w.new('a')} = {new}.ravel('K')")
    return lines


def axes(w):
    """As many dimensions as Arrays have, or nearly."""
    name = w.array(lambda v: 0 < v.size < 200 and v.ndim < 6)
    shape = list(w.env[name].shape)
    while len(shape) < w.pick((4, 5, 7, 8)):
        shape.insert(w.random.randint(0, len(shape)), 1)
    new = w.new("a")
    lines = [f"{new} = {name}.reshape({tuple(shape)})"]
    lines.append(
        w.pick(
            (
                f"{w.target('a')} = np.sin({new}) * {name}.ravel()[0]",
                f"{new} = {new}.transpose({tuple(w.random.sample(range(len(shape)), len(shape)))})",
                f"{w.target('a')} = np.sum({new}, axis={w.random.randrange(len(shape))}) * 0.5",
                f"{new}[..., 0] = {w.scalar()}",
                f"{w.target('a')} = {new}[{', '.join('0' for _ in shape[:-1])}]",
            )
        )
    )
    if w.chance(0.7):
        lines.append(f"{new} = {new}.ravel()")
    return lines


def grown(w):
    """Arrays of three and four dimensions from those of less."""
    name = w.array(lambda v: 0 < v.size < 100 and v.ndim < 4)
    other = w.array(lambda v: v.shape == w.env[name].shape)
    return [
        f"{w.target('a')} = "
        + w.pick(
            (
                f"np.stack([{name}, {other}, {name} * {other}])",
                f"np.stack([{name}, {other}], axis=-1)",
                f"{name}[..., None] * {w.leaf((w.random.randint(1, 4),))}",
                f"np.multiply.outer({name}, {w.leaf((2,))})",
                f"{name}[None] + {w.leaf((2, *w.env[name].shape))}",
            )
        )
    ]


def shuffled(w):
    """Draws: the same numbers in the plain run, by seed."""
    name = w.array(lambda v: v.size > 0)
    seed = w.random.randrange(1000)
    rng = f"np.random.default_rng({seed})"
    new = w.new("a")
    return [
        *w.pick(
            (
                [f"{rng}.shuffle({name})"],
                [f"np.random.seed({seed})", f"np.random.shuffle({name})"],
                [f"{rng}.shuffle({name}, axis=-1)"],
                [f"{new} = np.ones((4, 2)) * {w.element(name)}", f"{new}[1:] *= 0.5", f"{rng}.shuffle({new})"],
                [f"{new} = {rng}.permutation({name})"],
                [f"{new} = {rng}.permuted({name}, axis=0)"],
                [f"{new} = {rng}.choice({name}, 3)"],
                [f"{new} = {name} + {rng}.normal(0.0, 0.1, {w.env[name].shape})"],
                [f"{new} = {rng}.normal({w.element(name)}, 0.3, 3)"],
                [f"{new} = {rng}.uniform(0.1, {w.element(name)} + 2.0, 3)"],
                [f"{new} = {rng}.normal({name}, 0.1)"],
            )
        )
    ]


def from_outside(w):
    """An array of the module is written to with numbers while what was computed from it lives."""
    if not w.outside:
        raise LookupError
    n = w.pick((*range(1, 10), 63, 64, 65, 64, 65))
    c, x, new = f"C{n}", w.leaf((n,)), w.new("a")
    made = w.pick((f"{x} * {c}", f"{c} + {x} * {x}", f"np.array({c})", f"np.outer({c}, {c}) @ {x}", f"{c}[::-1]"))
    return [
        f"{new} = {made}",
        w.pick(
            (
                f"{c}[{w.random.randrange(n)}] = {w.constant()}",
                f"{c}[:] *= 0.9",
                f"{new} = {new} * 1.0; {new}[0] = {w.scalar()}",
                f"{c}[...] = {c}[::-1].copy()",
            )
        ),
        f"{w.new('a')} = {c} * {new} + {c}[{w.random.randrange(n)}]",
    ]


def filled(w):
    """A plain array that the function makes is filled with what is active, under this name and under others."""
    if not w.outside:
        raise LookupError
    n = w.pick((*range(2, 10), 64))
    c, new, other = f"C{n}", w.new("a"), w.new("a")
    made = w.pick(
        (
            f"{c}.copy()",
            f"{c} * 0.5",
            f"{c}",
            f"np.sqrt({c})",
            f"{c}[::-1]",
            f"{c}[::-1].copy()",
            f"np.random.default_rng({n}).random({n})",
            f"np.outer({c}, {c})[0]",
            f"np.sort({c})",
            f"{c}.reshape(-1)",
            f"{c}.astype(float)",
            f"np.positive({c})",
        )
    )
    fill = w.pick(
        (
            [f"{new}[{w.integer(n)}] = {w.scalar()}"],
            [f"for k in range({n}):", f"    {new}[k] = {w.scalar()}"],
            [f"{new}[1:] = {w.leaf((n - 1,))}"],
            [f"{new} += {w.leaf((n,))}"],
            [f"{new}[0], {new}[-1] = {w.scalar()}, {w.constant()}"],
            [f"{new}[{c} > 0.5] = {w.scalar()}"],
            [f"{new}[[0, -1]] *= {w.scalar()}"],
            [f"np.add.at({new}, [0, 0, 1], {w.scalar()})"],
        )
    )
    before, after = w.pick(
        (
            ([], f"{other} = {new} * 2.0"),
            ([f"{other} = {new}"], f"{other} = {other} + {c}"),
            ([f"{other} = {new}[1:]"], f"{other} = {other} * {w.constant()}"),
            ([f"{other} = {new} * {c}"], f"{other} = {other} + {new}"),
            ([f"t = [{new}, {c}]"], f"{other} = t[0] * t[1]; t = None"),
            ([f"t = ({new}[::-1],)"], f"{other} = t[0] + {new}; t = None"),
            ([f"t = {{'u': {new}}}"], f"{other} = t['u'] * 1.0; t = None"),
            ([f"{other} = np.array({new})"], f"{other} = {other} * {new}"),
            ([f"if {n} > 3:", f"    {new} = {new} * 1.0"], f"{other} = {new} + {new}"),
        )
    )
    lines = [f"{new} = {made}", *before, *fill, after]
    if w.chance(0.3):
        h = f"h_{w.new('')}"
        w.helpers = [[f"def {h}():", f"    u = {made}", f"    {w.pick(('u[0] = 0.5', 'pass'))}", "    return u"]]
        lines[0] = f"{new} = {h}()"
    return lines
