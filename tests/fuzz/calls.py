# SPDX-License-Identifier: Apache-2.0
"""Steps of random programs that call functions of NumPy: sums, scans, products, choices, linear algebra."""

import math

from tests.fuzz.writes import apart


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
                f"np.diff({name}, {w.random.randrange(3)}, {axis}, {w.pick((w.scalar(), name if axis else other))})",
                f"np.diff({name}, n={w.random.randrange(3)}, axis={axis}, append={w.scalar()})",
                f"np.diff({'C5' if w.outside else f'{name}.ravel()'}, {w.random.randrange(3)}, prepend={w.scalar()})",
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


def plain_products(w):
    """Products with matrices of the module that lie in whatever order: NumPy multiplies them as they lie."""
    if not w.outside:
        raise LookupError
    matrix = w.pick(
        (
            "C256.reshape(16, 16)",
            "C256.reshape(16, 16).T",
            "C256.reshape(16, 16)[::-1]",
            "C256.reshape(16, 16)[:, ::-1].T",
            "C256.reshape(8, 32)[:, ::2].T",
            "C256.reshape(16, 16)[::2].T",
            "np.asfortranarray(C256.reshape(8, 32))",
            "C256.reshape(2, 8, 16)[1]",
            "np.outer(C16, C9)[:, ::2]",
        )
    )
    n, m = w.value(matrix).shape
    vector = w.pick((f"{matrix}[:, 1]", f"np.diag({matrix})", f"C256[::{256 // n}]", f"C256[{n}:0:-1]"))
    along = w.value(vector).size
    x = f"({w.scalar()} + C256[:{{}}] * {w.scalar()})"
    return [
        w.pick(
            (
                f"{w.target('a')} = {matrix} @ {x.format(m)} * 0.1",
                f"{w.target('a')} = {x.format(n)} @ {matrix} * 0.1",
                f"{w.target('s')} = {x.format(along)} @ {vector} * 0.1",
                f"{w.target('s')} = np.dot({vector}, {x.format(along)}) * 0.1",
                f"{w.target('a')} = np.dot(np.outer({x.format(2)}, {x.format(n)}), {matrix}) * 0.1",
                f"{w.target('a')} = np.einsum('ij,j->i', {matrix}, {x.format(m)}) * 0.1",
                f"{w.target('s')} = np.sum({matrix} * {x.format(m)}) * 0.01",
                f"{w.target('a')} = np.sum({matrix} + {x.format(m)}, axis={w.random.randrange(2)}) * 0.1",
                f"{w.target('s')} = np.broadcast_to({x.format(n)}[:, None], ({n}, {m})).sum() * 0.01",
            )
        )
    ]


def steps_and_signs(w):
    """Functions without a slope of their own, or whose slope depends on which operand is larger; lists as operands."""
    name = w.array(lambda v: v.size > 0)
    shape = w.env[name].shape
    x, y = w.element(name), w.scalar()
    return [
        f"{w.target('a')} = "
        + w.pick(
            (
                f"np.nextafter({name}, {w.pick(('9.0', '-9.0', w.leaf(shape)))})",
                f"np.hypot.accumulate({name} - {name}) + {name}",
                f"np.hypot.accumulate({name} * 0.5, axis={w.random.randrange(len(shape))})",
                f"np.hypot.reduce({name}, axis=0) * {name}",
                f"np.logaddexp({name}, {y})",
                f"np.abs({name} - 0.9) + np.sign({name}.real - 0.9)",
                f"np.copysign({name}, {w.constant()})",
                f"np.add([{x}, 0.5], {y})",
                f"np.sin([{x}, {y}, 0.25])",
                f"np.multiply({name}.ravel()[:2], [{y}] * {min(2, math.prod(shape))})",
                f"np.maximum([{x}, 0.5], [0.75, {y}])",
                f"np.add.reduce([{x}, {y}, 0.5]) * {name}",
                f"np.modf({name} * 2.0)[0]",
                f"np.remainder({name}, 0.7)",
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
