# SPDX-License-Identifier: Apache-2.0
"""Steps on arrays without axes, inputs among them: NumPy writes into such an array, under all its names."""


def without_axes(w):
    """One is made, written to, or read."""
    points = w.points()
    kind = w.random.randrange(4) if points else 0
    if kind == 0:
        return _made(w, points)
    o = w.pick(points)
    return _written(w, o) if kind < 3 and w.env[o].flags.writeable else _read(w, o)


def _made(w, points):
    texts = [
        f"np.array({w.scalar()})",
        f"np.asarray({w.scalar()})",
        f"np.full((), {w.scalar()})",
        "np.zeros(())",
        f"np.where({w.scalar()}.real > 0.5, {w.scalar()}, {w.constant()})",
    ]
    name = w.array(lambda v: v.size > 0)
    text = w.element(name)
    texts += [f"{text[:-1]}, ...]", f"np.sum({name}).reshape(())", f"{name}.reshape(-1)[:1].reshape(())"]
    if points:
        o = w.pick(points)
        texts += [o, o, f"{o}[...]", f"{o}.T", f"{o}.view()", f"{o}.reshape(())", f"{o}.copy()", f"np.array({o})",
                  f"np.asarray({o})", f"np.zeros_like({o})", f"np.squeeze({o})",
                  f"{o}.reshape(1, 1)[0, 0, ...]"]  # fmt: skip
    return [f"{w.target('o')} = {w.pick(texts)}"]


def _written(w, o):
    other = w.pick((w.scalar(), w.constant(), w.pick(w.points())))
    f = w.pick(("add", "multiply", "subtract"))
    text = w.pick(
        (
            f"{o} {w.pick('+-*')}= {other}",
            f"{o} {w.pick('+-*')}= {other}",
            f"{o} **= 2",
            f"{o} /= {w.pick(('2.0', '-1.5', '3.0'))}",
            f"{o} += {o}",
            f"{o}[...] = {other}",
            f"{o}[()] = {o} * {other}",
            f"np.{f}({o}, {other}, out={o})",
            f"np.sin({o}, out={o})",
            f"{o}.fill({other})",
            f"{o}.flat[0] = {other}",
            f"np.copyto({o}, {other})",
            f"{o}[{o}.real > 0.7] = {other}",
            f"{o}[None] *= {other}",
        )
    )
    return [text]


def _read(w, o):
    name = w.array(lambda v: v.size > 0 and v.flags.writeable)
    return w.pick(
        (
            [f"{w.target('s')} = {o} {w.pick('+-*')} {w.scalar()}"],
            [f"{w.target('s')} = {o}[()]"],
            [f"{w.target('s')} = {o}.sum()"],
            [f"{w.target('s')} = {w.pick(('np.sin', 'np.tanh', 'math.cos', 'math.atan'))}({o})"],
            [f"{w.target('s')} = {o} * 2.0 if isinstance({o}, np.ndarray) and {o}.ndim == 0 else 7.0"],
            [f"{w.element(name)} = {o}"],
            [f"{name} *= {o}"],
            [f"{w.target('a')} = {name} + {o}"],
            [f"{w.target('a')} = np.array([{o}, {o} * 0.5])"],
            [f"{w.target('a')} = np.stack([{o}, {w.pick(w.points())}])"],
            [f"{w.target('a')} = np.append({name}, {o})"],
            [f"{w.target('a')} = np.full(3, {o})"],
            [f"{w.target('a')} = {o}.reshape(1)"],
            [f"{w.target('a')} = {o}[None, None]"],
            [f"{w.target('a')} = np.broadcast_to({o}, (2,))"],
        )
    )
