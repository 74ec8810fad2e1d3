# SPDX-License-Identifier: Apache-2.0
"""Steps of random programs about selections: functions that have no slope, or none that is finite, where not chosen."""

from tests.fuzz.language import apart_from_zero


def guarded(w):
    """A function of arrays whose partial is infinite where another value is chosen."""
    name = w.array(lambda v: v.size > 0)
    middle = apart_from_zero(w, name)
    for ends in (w.env[name] - middle, w.env[name]):  # there functions have no slope, and which is chosen is a tie
        if abs(abs(ends) - 1.0).min() < 1e-3:
            raise LookupError
    u, mask = f"({name} - {middle})", f"({name}.real > {middle})"
    f = w.pick(("np.sqrt", "np.cbrt", "np.sqrt"))
    chosen = w.pick(
        (
            f"np.maximum({u}, 0.0)",
            f"np.clip({u}, 0.0, None)",
            f"np.where({mask}, {u}, 0.0)",
            f"np.fmax({u}, 0.0)",
            f"-np.minimum(-{u}, 0.0)",
            f"-np.fmin(0.0, -{u})",
            f"{u} * {mask}",
            f"np.select([{mask}], [{u}], 0.0)",
            f"np.choose({mask}.astype(int), [0.0 * {name}, {u}])",
            f"np.piecewise({name}, [{mask}], [lambda t: t - {middle}, 0.0])",
            f"np.heaviside({name}.real - {middle}, 0.5) * {u}",
        )
    )
    return [
        f"{w.target('a')} = "
        + w.pick(
            (
                f"{f}({chosen})",
                f"({chosen}) ** {w.pick(('0.5', '0.25', '0.7'))}",
                f"np.power({chosen}, 0.5) * {name}",
                f"np.where({mask}, {f}({u} * {mask}), 0.5)",
                f"np.where({mask}, np.log({chosen}), {name})",
                f"np.where({mask}, 1.0 / (0.2 + {chosen}), 1.0 / (0.2 + {chosen}))",
                f"np.where({mask}, {name} / (0.1 + np.sqrt({chosen})), {w.constant()})",
                f"np.where({mask}, np.log(0.1 + {u} * {mask}) / (0.1 + {u} * {mask}), {name} * {name})",
                f"np.where({mask}, {name}, 1.0 / ({u} * {mask}))",
                f"np.where({mask}, {name}, {f}({chosen}) * 2.0)",
                f"np.arcsin(np.minimum(np.maximum({u}, -1.0), 1.0))",
                f"np.arccos(np.clip({name} * {name}, 0.0, 1.0))",
                f"np.arccosh(np.maximum({name}, 1.0))",
                f"np.arctanh(np.clip({name} - {middle}, 0.0, 0.5)) + np.arctan2(np.sqrt({chosen}), 1.0)",
                f"np.array([math.sqrt(max(v, 0.0)) for v in {u}.ravel()])",
                f"np.array([math.sqrt(v * (v.real > 0.0)) for v in {u}.ravel()])",
                f"np.hypot(np.sqrt({chosen}), 0.5)",
                f"{f}({chosen}, where={mask}, out={name} * 1.0)",
            )
        )
    ]


def guarded_number(w):
    """Likewise of numbers, in one statement or in several."""
    name = w.array(lambda v: v.size > 0)
    middle = apart_from_zero(w, name)
    new, s, x = w.new("s"), w.new("s"), w.element(name)
    u = f"({x} - {middle})"
    chosen = w.pick(
        (
            f"np.maximum({u}, 0.0)",
            f"np.fmax({u}, 0.0)",
            f"np.clip({u}, 0, None)",
            f"-np.minimum(-{u}, 0.0)",
            f"({u} * ({x}.real > {middle}))",
            f"({u} * ({x}.real > {middle}) * {x})",
            f"({x} * 0.0)",
        )
    )
    f = w.pick(("np.sqrt({})", "np.cbrt({})", "({}) ** 0.5", "math.sqrt({})", "({}) ** 0.3"))
    return w.pick(
        (
            [f"{new} = {chosen}", f"{s} = {f.format(new)} * {x} + {new}"],
            [f"{s} = {f.format(chosen)} * {w.constant()} + {x}"],
            [f"{s} = {f.format(chosen)} * {w.scalar()}"],
            [f"{s} = 0.0 * {f.format(chosen)} + {x}"],
            [f"{new} = {f.format(chosen)}", f"{s} = {new} * 0.0 + {x} * {new}"],
        )
    )


def all_guarded(w):
    """Nothing is chosen of a whole array, of which sums and products are made before the function."""
    name = w.array(lambda v: 0 < v.size < 100)
    shape = w.env[name].shape
    chosen = w.pick(
        (
            f"np.maximum({name} - 99.0, 0.0)",
            f"np.where({name}.real > 99.0, {name}, 0.0)",
            f"np.clip({name}, -99.0, -90.0) + 90.0",
            f"np.fmax({name} - 99.0, 0.0)",
            f"{name} * ({name}.real > 99.0)",
        )
    )
    axis = w.random.randrange(len(shape))
    made = w.pick(
        (
            f"np.sum({chosen})",
            f"np.sum({chosen}, axis={axis})",
            f"np.mean({chosen}, axis={axis})",
            f"np.cumsum({chosen}, axis={axis})",
            f"({chosen}).ravel()",
            f"np.max({chosen}, axis={axis})",
            f"({chosen})[::-1]",
            f"np.concatenate([{chosen}, {chosen}])",
            f"np.sort({chosen}, axis={axis})",
            f"({chosen}) * {w.constant()}",
            f"({chosen}) + ({chosen})",
            f"np.abs({chosen})",
            f"np.square({chosen})",
            f"np.linspace(0.1, 1.0, {shape[0]}) @ ({chosen})",
        )
    )
    return [f"{w.target('a')} = {w.pick(('np.sqrt', 'np.cbrt', 'np.sqrt'))}({made}) + {name}.ravel()[0]"]
