# SPDX-License-Identifier: Apache-2.0
"""Steps of random programs about Python itself: functions, generators, classes, closures, types, exceptions."""


def generator_function(w):
    """What a generator hands out is written to on both sides."""
    h = f"h_{w.new('')}"
    name = w.array(lambda v: v.size > 0)
    body = w.pick(
        (
            f"u = u * {w.constant()}",
            "u *= 0.9",
            "u[0] = total",
            "u = np.sin(u)",
            "u[..., -1] = u[..., 0] * 0.5",
        )
    )
    given = w.pick(("u", "u.copy()", "u[::-1]", "total", "u * total"))
    w.helpers = [
        [
            f"def {h}(u, n):",
            "    total = u.ravel()[0] * 0.5",
            "    for k in range(n):",
            f"        {body}",
            "        total = total * 0.5 + u.ravel()[-1]",
            f"        yield {given}",
            "    return",
        ]
    ]
    new, s = w.new("a"), w.new("s")
    n = w.random.randint(1, 4)
    return w.pick(
        (
            [f"{new} = [v * 1.0 for v in {h}({name}, {n})][-1] + {name}"],
            [f"{new} = {name} * 1.0", f"for v in {h}({new}, {n}):", f"    {new} = {new} + v", "v = None"],
            [f"{s} = sum(np.sum(v) * 0.1 for v in {h}({name}, {n}))"],
            [f"{new} = np.array([np.mean(v) for v in {h}({name} * 1.0, {n})])"],
            [f"{new} = list({h}({name}, {n}))[0] * 1.0 + {name}"],
        )
    )


def object_of_class(w):
    """State in attributes."""
    olds = [name for name in w.env if name[0] == "o" and name[1:].isdigit()]
    if olds and w.chance(0.6):
        o = w.pick(olds)
        return w.pick(
            (
                [f"{o}.step({w.scalar()})"],
                [f"{w.new('a')} = {o}.u"],
                [f"{o}.u = {w.array()}"],
                [f"{w.new('s')} = {o}.last * 1.0"],
                [f"{o}.u[0] = {w.scalar()}"],
                [f"{w.new('a')} = {o} * {w.constant()}"],
            )
        )
    h, o = f"h_{w.new('')}", w.new("o")
    name = w.array(lambda v: v.size > 0)
    kept = w.pick(("u", "u.copy()", "u * 1.0", "np.array(u)", "np.zeros(u.shape)", "u[::-1]"))
    body = [
        w.pick(("self.u[0] = v", "self.u = self.u * 0.9 + v * 0.1", "self.u *= 0.9", "self.u[..., -1] += v", "pass"))
        for _ in range(2)
    ]
    w.helpers = [
        [
            f"class {h}:",
            "    def __init__(self, u):",
            f"        self.u = {kept}",
            "        self.total = 0.0",
            "    def step(self, v):",
            *("        " + line for line in body),
            "        self.total = self.total + self.u.ravel()[0] * v",
            "    def __mul__(self, v):",
            "        return self.u * v",
            "    @property",
            "    def last(self):",
            "        return self.u.ravel()[-1]",
        ]
    ]
    lines = [f"{o} = {h}({name})", f"{o}.step({w.scalar()})"]
    if w.chance(0.5):
        lines += [f"for k in range({w.random.randint(1, 4)}):", f"    {o}.step({o}.last)"]
    return [*lines, f"{w.new('s')} = {o}.total", f"{w.target('a')} = {o}.u"]


def closure(w):
    """A function inside of f, which writes to variables of f."""
    g, s, a = w.new("g"), w.new("s"), w.new("a")
    name = w.array(lambda v: v.size > 0)
    made = w.pick((name, f"{name}.copy()", f"{name} * 0.5", f"np.zeros({w.env[name].shape})"))
    lines = [f"{s}, {a} = {w.constant()}, {made}", f"def {g}(v):"]
    kind = w.random.randrange(4)
    if kind == 0:
        lines += [f"    nonlocal {s}", f"    {s} = {s} * 0.5 + v", f"    return {s} * {w.constant()}"]
    elif kind == 1:
        lines += [f"    nonlocal {a}", f"    {a} = {a} * 0.9 + v * 0.1", f"    return {a}.ravel()[0]"]
    elif kind == 2:
        lines += [f"    {a}[0] = v", f"    return {a}.ravel()[-1] * {w.constant()}"]
    else:
        lines += [f"    nonlocal {a}, {s}", f"    {a} *= {w.constant()}", f"    {s} = v", f"    return np.sum({a}) * v"]
    lines.append(f"{w.new('s')} = {g}({w.element(name)}) + {g}({w.constant()})")
    if w.chance(0.5):
        lines += [f"for k in range({w.random.randint(1, 3)}):", f"    {s} = {g}({w.element(name)})"]
    return lines


def factory(w):
    """A function made by a function, with cells of its own; or one that calls itself."""
    h, g = f"h_{w.new('')}", w.new("g")
    name = w.array(lambda v: v.size > 0)
    if w.chance(0.4):
        step = w.pick(("np.sin(u)", "u * u.ravel()[0]", "u[::-1] * 0.9", "u.copy()"))
        w.helpers = [[f"def {h}(u, n):", f"    return u if n == 0 else {h}({step}, n - 1)"]]
        return [f"{w.target('a')} = {h}({name}, {w.random.randint(0, 4)})"]
    w.helpers = [
        [
            f"def {h}(u):",
            f"    total = {w.pick(('u.ravel()[0]', '0.5', 'np.sum(u) * 0.1'))}",
            "    def step(v):",
            "        nonlocal total",
            f"        total = total {w.pick('+*')} v.ravel()[-1]",
            f"        {w.pick(('u[0] = total', 'pass', 'v[0] = total'))}",
            f"        return {w.pick(('u * total', 'total', 'v * total', 'u'))}",
            "    return step",
        ]
    ]
    other = w.array(lambda v: v.size > 0)
    new = w.new("a")
    return [f"{g} = {h}({name})", f"{new} = {g}({other}) * 0.5", f"{new} = {new} + {g}({other}) * 0.5"]


def built_in(w):
    """Python's own functions of elements."""
    name = w.array(lambda v: v.ndim == 1 and 0 < v.size < 20)
    other, s, a = w.array(lambda v: v.ndim == 1 and 0 < v.size < 20), w.new("s"), w.new("a")
    i, j = (w.integer(w.env[name].size) for _ in range(2))
    return w.pick(
        (
            [f"{s} = max({name})"],
            [f"{s} = min({name}[{i}], {name}[{j}], 0.7)"],
            [f"{s} = sum({name})"],
            [f"{s} = sum({name}.tolist(), 1.0)"],
            [f"{s} = sum([1e3, {name}[{i}], -1e3, {name}[{j}]])"],
            [f"{a} = np.array(sorted({name}))"],
            [f"{a} = np.array(sorted({name}.tolist(), reverse=True))"],
            [f"{a} = np.array([u * v for u, v in zip({name}, {other})])"],
            [f"{a} = {name} * 1.0", f"for i, v in enumerate({name}):", f"    {a}[-1 - i] = v * v"],
            [f"{a} = np.array(list(map(lambda v: v * {name}[{i}], {other})))"],
            [f"{a} = np.array([v for v in {name} if v.real > 0.8] + [0.5])"],
            [f"{s} = math.fsum({name})" if w.chance(0.5) else f"{s} = math.hypot({name}[{i}], {name}[{j}])"],
            [f"{s} = abs({name}[{i}] - 0.9)"],
            [f"{s} = float({name}[{i}]) * 0.5 + {name}[{j}].item()"],
            [f"{s} = divmod({name}[{i}], 0.7)[1]"],
            [f"{s} = pow({name}[{i}], 2) + {name}[{j}] ** 3"],
            [f"{a} = np.array([*reversed({name})])"],
            [f"{s} = math.prod({name}.tolist())"],
            [f"u, *rest = {name}", f"{s} = u * 0.5", "u = rest = None"],
        )
    )


def types(w):
    """Elements of arrays are NumPy's numbers, those of lists Python's."""
    name = w.array(lambda v: v.size > 0)
    s = w.new("s")
    x = w.pick((w.element(name), f"np.sum({name})", f"float({w.element(name)})", f"{w.element(name)}.item()"))
    kind = w.random.randrange(7)
    if kind == 0:
        return [f"{s} = {x}", f"{s} = {s} * (2.0 if isinstance({s}, np.floating) else 3.0)"]
    if kind == 1:
        wrong = w.pick((f"{s} / 0.0", f"{s} % 0.0", f"0.0 ** (-1.0 * abs({s}) - 0.1)", f"({s} * 0.0) ** -1"))
        return [
            f"{s} = {x}",
            "try:",
            f"    {s} = {s} * (2.0 if np.isfinite({wrong}) else 0.5)",
            "except ZeroDivisionError:",
            f"    {s} = {s} * 3.0",
        ]
    if kind == 2:
        return [
            f"{s} = {x}",
            "try:",
            f"    {w.new('a')} = {s} * [1.0, 2.0]",
            "except TypeError:",
            f"    {s} = {s} * 3.0",
        ]
    if kind == 3:
        return [f"{s} = {x}", f"{s} = {s} * (2.0 if type({s}) is float else 3.0)"]
    if kind == 4:
        return [f"{s} = {x}", f"{s} = {s} + round({s}, {w.random.randint(0, 3)})"]
    if kind == 5:
        # A root of a negative number: NaN of NumPy; of Python's floats it is complex.
        return [f"{s} = {w.element(name)}", f"{s} = {s} * (2.0 if np.isnan((-abs({s}) - 0.1) ** 0.5) else 0.5)"]
    return [f"{s} = {x}", f"{s} = {s} * (2.0 if type({name}) is np.ndarray else 3.0)"]


def hashed(w):
    """Active numbers in tables count by value, or raise: then the program goes on with what is right."""
    name = w.array(lambda v: v.size > 1)
    keys = [w.element(name) for _ in range(3)] + ["0.5"]
    different = len({float(w.value(key)) for key in keys})
    s, x = w.new("s"), w.element(name)
    return [
        "try:",
        f"    {s} = {x} * len({{{', '.join(keys)}}})",
        "except TypeError:",
        f"    {s} = {x} * {different}",
    ]


def listened(w):
    """A function that NumPy calls where something is not a number."""
    name = w.array(lambda v: v.size > 0)
    h, new = f"h_{w.new('')}", w.new("a")
    middle = apart_from_zero(w, name)
    w.smooth = False
    w.helpers = [[f"def {h}(what, flag):", f"    {h}.calls.append(what)"], [f"{h}.calls = []"]]
    text = f"np.{w.pick(('log', 'sqrt'))}({name} - {middle})"
    return [
        f"{h}.calls.clear()",
        f"with np.errstate(all='call', call={h}):",
        f"    {new} = {text}{w.pick(('', ' * 0.5'))}",
        f"{new} = {name} * (1.0 + len({h}.calls))",
    ]


def floating_error(w):
    """Another path is taken where NumPy says that something is not a number: no complex numbers here."""
    name = w.array(lambda v: v.size > 0)
    text, new = f"np.{w.pick(('log', 'sqrt'))}({name} - {apart_from_zero(w, name)})", w.new("a")
    w.smooth = False
    kind = w.random.randrange(5)
    if kind == 0:
        return [
            "try:",
            "    with np.errstate(all='raise'):",
            f"        {new} = {text} * 0.5",
            "except FloatingPointError:",
            f"    {new} = {name} * 2.0",
        ]
    if kind == 1:
        return [
            "with warnings.catch_warnings(record=True) as caught, np.errstate(all='warn'):",
            "    warnings.simplefilter('always')",
            f"    {new} = {text}",
            f"{new} = {name} * (1.0 + len(caught))",
        ]
    if kind == 2:
        # What was written before the context began is not its business.
        return [
            f"{new} = {text}",
            "try:",
            "    with np.errstate(all='raise'):",
            f"        {w.new('a')} = {name} * 0.5",
            "except FloatingPointError:",
            f"    {w.new('a')} = {name} * 2.0",
            f"{new} = np.where({text}.real > -9.0, {name}, 2.0 * {name})",
        ]
    if kind == 3:
        place, s = w.element(name), w.new("s")
        return [
            "try:",
            "    with np.errstate(all='raise'):",
            f"        {s} = np.log({place} - {apart_from_zero(w, name)})",
            "except FloatingPointError:",
            f"    {s} = {place} * 2.0",
        ]
    return [
        "with warnings.catch_warnings(), np.errstate(all='warn'):",
        "    warnings.simplefilter('error')",
        "    try:",
        f"        {new} = {text} * 0.5",
        "    except RuntimeWarning:",
        f"        {new} = np.cos({name})",
    ]


def apart_from_zero(w, name):
    """A number that no element is near to: at zero a root has no derivative, and a logarithm is nothing to compare."""
    values = w.env[name]
    middle = round(float(abs(values).mean()) * w.random.uniform(0.0, 1.2), 3)
    if abs(values - middle).min() < 1e-3:
        raise LookupError
    return middle
