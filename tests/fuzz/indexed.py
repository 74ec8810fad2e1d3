# SPDX-License-Identifier: Apache-2.0
"""Steps of random programs about places: elements that are kept while theirs is written to, index arrays, masks."""


def kept_elements(w):
    """Elements are kept, their places are written to, other arrays and numbers are made, and the elements are used."""
    name = w.array(lambda v: v.size > 1)
    size, shape = w.env[name].size, w.env[name].shape
    a, kept = w.new("a"), [w.new("s") for _ in range(w.random.randint(1, 3))]
    places = [place(w, shape) for _ in kept]
    lines = [f"{a} = {w.pick((f'{name} * {w.constant()}', f'np.sin({name})', f'{name}.copy()', name))}"]
    if w.chance(0.6):  # identifiers of their own
        lines.append(f"{a}[{w.pick(places)}] = {w.scalar()}")
    how = w.random.randrange(4)
    if how == 0 and len(shape) == 1:
        lines.append(f"{kept[0]} = {a}[{w.integer(size)}:][0]")
    elif how == 1:
        lines.append(f"{kept[0]} = {a}.flat[{w.random.randrange(size)}]")
    elif how == 2 and len(shape) == 1:
        lines.append(f"{kept[0]} = list({a})[{w.integer(size)}]")
    else:
        lines.append(f"{kept[0]} = {a}[{places[0]}]")
    lines += [f"{s} = {a}[{where}]" for s, where in zip(kept[1:], places[1:])]
    over = [
        f"{a}[{w.pick(places)}] = {w.scalar()}",
        f"{a}[{w.pick(places)}] = {w.constant()}",
        f"{a}[{w.pick(places)}] *= {w.pick(kept)}",
        f"{a}[...] = {w.leaf(shape)}",
        f"{a}[:1] = {w.pick(kept)}",
        f"{a}[[0, -1]] = {w.pick(kept)}",
        f"{a}[{a}.real > {w.random.uniform(0.2, 1.2):.3f}] = {w.pick(kept)}",
        f"{a} *= {w.pick(kept)}",
        f"{a} = np.cos({a}) * {w.pick(kept)}",
        f"{a} = None",
    ]
    lines += [w.pick(over) for _ in range(w.random.randint(1, 3))]
    again = w.new("a")
    lines.append(
        w.pick(
            (
                f"{again} = {name} * {w.constant()}",
                f"{again} = np.array([{', '.join(kept)}]) * {w.constant()}",
                f"{again} = np.exp(-{name} * {name})",
                f"{w.new('s')} = {kept[0]} * {w.scalar()}",
            )
        )
    )
    if w.chance(0.5):
        lines.append(f"{w.new('s')} = {' * '.join(kept)} + {kept[0]}")
    return lines


def place(w, shape):
    return ", ".join(w.integer(n) for n in shape)


def index_array(w):
    """Elements that an array of integers or a mask selects; the array is written to before or after."""
    name = w.array(lambda v: v.size > 1)
    shape = w.env[name].shape
    n, i, a = shape[0], w.new("i"), w.new("a")
    count = w.random.randint(1, min(n, 5))
    different = w.random.sample(range(n), count)
    made = w.pick(
        (
            f"np.array({different})",
            f"np.array({[w.random.randrange(n) for _ in range(count)]})",
            f"np.arange({n})[::-1]",
            f"np.arange({n})[{w.slice_(n, count)}].copy()",
            f"np.argsort({name}.real, axis=0).reshape({n}, -1)[:, 0]",
            f"np.array({different})[::-1]",
            f"np.array([{different}])",
            f"np.array({different}) - {n}",
            f"{name}.real.reshape({n}, -1)[:, 0] > {w.random.uniform(0.4, 1.2):.3f}",
        )
    )
    mask = " > " in made
    change = w.pick(
        (
            [f"{i}[0] = not {i}[0]"] if mask else [f"{i}[..., 0] = {w.random.randrange(n)}"],
            [f"{i}[...] = {i}[..., ::-1].copy()"],
            [f"{i} = ~{i}"] if mask else [f"{i} = ({i} + 1) % {n}"],
            [],
        )
    )
    write = w.pick(
        (
            [f"{name}[{i}] = {w.scalar()}"],
            [f"{name}[{i}] = {name}[{i}][::-1]"],
            [f"{name}[{i}] *= {w.constant()}"],
            [f"{name}[{i}] += {name}[{i}] * {w.constant()}"],
            overlapping(w, name, i, different if not mask else None),
            [f"{name}[{i}] = {a} * {w.constant()}"],
            [f"{name}[{i}] = {a}"],
            [f"{name}[{i}], {name}[0] = {name}[0], {w.scalar()}"],
        )
    )
    taken = f"np.compress({i}, {name}, axis=0)" if mask else f"np.take({name}, {i}, axis=0)"
    read = f"{a} = {w.pick((f'{name}[{i}]', f'{name}[{i}] * 1.0', taken))}"
    lines = [f"{i} = {made}", read, *change, *write]
    if w.chance(0.4):
        lines.append(f"{w.new('a')} = {w.pick((f'{name}[{i}]', f'{name} * {w.constant()}'))}")
    return lines


def overlapping(w, name, i, places):
    """Elements of the array itself, some of which are written to before they are read."""
    shape = w.env[name].shape
    if places is None or len(places) > shape[0]:
        return [f"{name}[{i}] = {w.constant()}"]
    part = w.slice_(shape[0], len(places))
    element = f"{name}[{w.integer(shape[0])}]"
    source = w.pick((f"{name}[{part}]", f"{name}[None, {part}]", f"{name}[{part}][::-1]", element))
    return [f"{name}[{w.pick((i, places))}] = {source}"]


def puts(w):
    """Functions of NumPy that write where an index or a mask says."""
    name = w.array(lambda v: v.size > 1 and v.flags.writeable)
    size, shape, axis = w.env[name].size, w.env[name].shape, w.random.randrange(w.env[name].ndim)
    count = w.random.randint(1, min(size, 4))
    places = w.random.sample(range(size), count)
    values = f"[{', '.join(w.pick((w.scalar(), w.constant())) for _ in range(count))}]"
    order = f"np.argsort({name}.real, axis={axis})"
    a = w.new("a")
    lines = w.pick(
        (
            [f"np.put({name}, {places}, {values})"],
            [f"{name}.put({places}, {w.scalar()})"],
            [f"np.put({name}, {places}, {name}.ravel()[:{count}])"],
            [f"np.place({name}, {w.mask(name)}, [{w.scalar()}, {w.constant()}])"],
            [f"np.putmask({name}, {w.mask(name)}, {w.leaf(shape)})"],
            [f"np.copyto({name}, {w.scalar()}, where={w.mask(name)})"],
            [f"np.copyto({name}, {name} * {w.constant()}, where={w.mask(name)})"],
            [f"{a} = np.take_along_axis({name}, {order}, axis={axis})"],
            [f"np.put_along_axis({name}, {order}, {name} * {w.constant()}, axis={axis})"],
            [f"np.put_along_axis({name}, {order}, np.flip({name}, {axis}) * 1.0, axis={axis})"],
            [f"{a} = np.extract({w.mask(name)}, {name})"],
            [f"{a} = np.choose([0, 1, 0], [{name}.ravel()[0], {w.scalar()}])"],
            [f"np.fill_diagonal({name}, {w.scalar()})"] if len(shape) == 2 else [f"{name}[::2] = {name}[0]"],
        )
    )
    if w.chance(0.4):
        i = w.new("i")
        lines = [f"{i} = np.unravel_index({places}, {shape})", f"{name}[{i}] = {name}[{i}][::-1]", *lines]
    return lines


