# SPDX-License-Identifier: Apache-2.0
"""Steps of random programs as people write them: tables, records, loops that end early, functions of functions."""


def _vector(w, most=16, least=1):
    return w.array(lambda v: v.ndim == 1 and least <= v.size <= most)


def loops(w):
    """Loops that skip, end early, or come to their end."""
    name, s = _vector(w), w.new("s")
    limit = f"{w.random.uniform(0.3, 1.5):.3f}"
    body = w.pick((f"{s} = {s} * 0.5 + v", f"{s} += v * {w.constant()}", f"{s} -= v * {s}"))
    kind = w.random.randrange(6)
    if kind == 0:
        return [
            f"{s} = {w.constant()}",
            f"for v in {name}:",
            f"    if v.real > {limit}:",
            f"        {w.pick(('break', 'continue'))}",
            f"    {body}",
            "else:",
            f"    {s} = {s} * 2.0",
        ]
    if kind == 1:
        return [
            f"{s}, k = {w.scalar()}, 0",
            f"while abs({s}.real) > {limit} and k < 8:",
            f"    {s} = {s} * {w.pick(('0.5', '0.7', f'np.tanh({name}[k % len({name})])'))}",
            "    k += 1",
        ]
    if kind == 2:
        return [
            f"{s} = {w.constant()}",
            f"for k, v in enumerate({name}):",
            "    try:",
            f"        if v.real > {limit}:",
            f"            {w.pick(('continue', 'break'))}",
            f"        {name}[k] = v * {w.constant()}",
            "    finally:",
            f"        {body}",
        ]
    if kind == 3:
        a = w.new("a")
        return [
            f"{a} = np.zeros(({name}.size, 2))",
            f"for i in range({name}.size):",
            "    for j in range(2):",
            f"        if {name}[i].real > {limit} and j:",
            "            continue",
            f"        {a}[i, j] = {name}[i] * (j + 1) + {a}[i - 1, j]",
        ]
    if kind == 4:
        return [
            f"{s} = {w.constant()}",
            f"for u, v in zip({name}, {name}[1:]):",
            f"    {s} = {s} * u if u.real < v.real else {s} + v",
        ]
    a = w.new("a")
    return [
        f"{a} = {name} * 1.0",
        f"for k, v in np.ndenumerate({name}):",
        f"    {a}[k] = v * {a}[(k[0] - 1,)]",
    ]


def assigned(w):
    """Names that stand in expressions, patterns, several targets."""
    name, s = _vector(w), w.new("s")
    limit = f"{w.random.uniform(0.3, 1.5):.3f}"
    return w.pick(
        (
            [f"if ({s} := {w.scalar()}).real > {limit}:", f"    {s} = {s} * 0.5", "else:", f"    {s} = {s} + 1.0"],
            [f"{w.new('a')} = np.array([t for v in {name} if (t := v * v).real > {limit}] + [0.25])"],
            [f"{s} = sum(t * 0.5 for v in {name} if (t := np.sin(v)).real > 0.5)"],
            [
                f"match {name}.shape, {name}[0]:",
                "    case (1,), v:",
                f"        {s} = v * 2.0",
                f"    case (n,), v if v.real > {limit}:",
                f"        {s} = v * n",
                "    case _:",
                f"        {s} = {name}[-1]",
            ],
            [
                f"match {{'kind': 'a', 'at': {name}[0]}}:",
                "    case {'kind': 'b'}:",
                f"        {s} = 0.5",
                "    case {'at': v, **rest}:",
                f"        {s} = v * len(rest)",
            ],
            [
                f"match list({name}):",
                "    case [u]:",
                f"        {s} = u",
                "    case [u, *_, v]:",
                f"        {s} = u * v",
            ],
            [f"{s} = {name}[0] = {w.scalar()}"],
            [f"(u, {s}), {name}[0] = ({w.scalar()}, {w.scalar()}), {w.constant()}", f"{s} += u"],
            [f"{name}[0], {name}[-1] = {name}[-1], {name}[0]"],
            [f"u, *rest = {name}.tolist()", f"{s} = u * 0.5 + sum(rest)"],
            [f"{s} = {w.scalar()} if 0.2 < {name}[0].real < {limit} else {name}[-1]"],
            [f"{s} = {name}[0].real > {limit} and {name}[-1] or {w.scalar()}"],
        )
    )


def tables(w):
    """Dicts and lists that hold arrays and numbers."""
    name, other, d = w.array(lambda v: v.size > 0), _vector(w), w.new("d")
    s, a = w.new("s"), w.new("a")
    return w.pick(
        (
            [
                f"{d} = {{'u': {name}, 'v': {other}}}",
                f"{d}['v'] = {d}['v'] * {w.constant()}",
                f"{d}['u'][0] = {w.scalar()}",
                f"{a} = {d}['v'] + {d}.get('w', 1.0)",
            ],
            [
                f"{d} = {{k: v * {w.constant()} for k, v in enumerate({other})}}",
                f"{d}[0] += {w.scalar()}",
                f"{s} = sum({d}.values()) + {d}.pop(0)",
            ],
            [
                f"{d} = {{'u': {other}}}",
                f"{d} = {{**{d}, 'v': {d}['u'] * 2.0}}",
                f"for k, v in {d}.items():",
                f"    {d}[k] = v * {w.constant()}",
                f"{a} = {d}['u'] + {d}['v']",
            ],
            [
                f"{d} = {{}}",
                f"for k, v in enumerate({other}):",
                f"    {d}.setdefault(k % 3, []).append(v)",
                f"{a} = np.array([sum(v) for v in {d}.values()])",
            ],
            [
                f"{d} = {{}}",
                f"for k, v in enumerate({other}):",
                f"    {d}[k % 2] = {d}.get(k % 2, 0.0) + v * v",
                f"{s} = {d}[0]",
            ],
            [
                f"{d} = list({other})",
                f"{d}[0] += {w.constant()}",
                f"{d}.insert(0, {w.scalar()})",
                f"{d}[-1:] = [{d}[-1], {d}[0] * 0.5]",
                f"{a} = np.array({d})",
            ],
            [
                f"{d} = [[v, v * {w.constant()}] for v in {other}]",
                f"{d}[0][1] -= {d}[-1][0]",
                f"{a} = np.array([np.sum(v) for v in zip(*{d})])",
            ],
            [f"{d} = [{other}, {other} * 1.0]", f"{d}[0][0] += {d}[1][-1]", f"{a} = {d}[0] - {d}[1]"],
            [f"{d} = ({other}, {other}[::-1])", f"{d}[1][0] *= {w.constant()}", f"{a} = {d}[0] * 1.0"],
            [f"{d} = [0.0] * {w.random.randint(1, 4)}", f"{d}[0] = {w.scalar()}", f"{a} = np.array({d} * 2)"],
            [f"{d} = [v for u in ({other}, {other}) for v in u]", f"del {d}[0]", f"{s} = sum({d}, {w.scalar()})"],
        )
    )


def records(w):
    """Objects that are named tuples, data classes, or have operators, slots, class attributes, properties, managers."""
    h, o, s, a = f"h_{w.new('')}", w.new("r"), w.new("s"), w.new("a")
    name, other = w.array(lambda v: v.size > 0), _vector(w)
    x = w.scalar()
    kind = w.random.randrange(7)
    if kind == 0:
        w.helpers = [["import collections"], [f"{h} = collections.namedtuple('{h}', 'u k')"]]
        return [
            f"{o} = {h}({name}, {x})",
            f"{o} = {o}._replace(k={o}.k * {w.constant()})",
            f"{o}.u[0] = {o}.k",
            f"u, {s} = {o}",
            f"{a} = u * {o}[1]",
            f"u = {o} = None",
        ]
    if kind == 1:
        w.helpers = [
            ["import dataclasses"],
            [
                "@dataclasses.dataclass",
                f"class {h}:",
                "    u: object",
                f"    k: float = {w.constant()}",
                "    log: list = dataclasses.field(default_factory=list)",
                "    def step(self, v):",
                f"        {w.pick(('self.u = self.u * self.k + v', 'self.u[0] += v', 'self.u *= self.k'))}",
                "        self.log.append(self.u.ravel()[0] * v)",
                "        return self",
            ],
        ]
        return [
            f"{o} = {h}({name}{w.pick(('', ' * 1.0', ', k=' + x))})",
            f"{s} = {o}.step({w.scalar()}).step({o}.k).log[-1]",
            f"{a} = dataclasses.replace({o}, k=2.0).step(0.5).u" if w.chance(0.5) else f"{a} = {o}.u",
            f"{o} = None",
        ]
    if kind == 2:
        w.helpers = [
            [
                f"class {h}:",
                "    __slots__ = ('u', 'v')",
                "    def __init__(self, u, v):",
                "        self.u, self.v = u, v",
                "    def __add__(self, other):",
                f"        return {h}(self.u + other.u, self.v + other.v)",
                "    def __mul__(self, k):",
                f"        return {h}(self.u * k, self.v * k)",
                "    __rmul__ = __mul__",
                "    def __matmul__(self, other):",
                "        return self.u * other.u + self.v * other.v",
            ]
        ]
        return [f"{o} = {h}({x}, {w.scalar()})", f"{s} = (2.0 * {o} + {o} * {w.scalar()}) @ {o}", f"{o} = None"]
    if kind == 3:
        w.helpers = [
            [
                f"class {h}:",
                f"    rate = {w.constant()}",
                "    total = 0.0",
                "    @classmethod",
                "    def start(cls, v):",
                "        cls.total = v",
                "    @staticmethod",
                "    def of(u, v):",
                "        return u * v",
                "    def __call__(self, v):",
                f"        {h}.total = {h}.total * self.rate + v",
                "        return self.of(v, self.total)",
            ]
        ]
        return [
            f"{h}.start({x})",
            f"{o} = {h}()",
            f"{s} = sum([{o}(v) for v in {other}])",
            f"{s} = {s} + {h}.total",
            f"{h}.start(0.0)",
            f"{o} = None",
        ]
    if kind == 4:
        w.helpers = [
            ["import contextlib"],
            [
                "@contextlib.contextmanager",
                f"def {h}(u, v):",
                "    old = u[0] * 1.0",
                "    u[0] = v",
                "    try:",
                f"        yield u * {w.constant()}",
                "    finally:",
                "        u[0] = old",
            ],
        ]
        return [f"with {h}({other}, {x}) as u:", f"    {s} = np.sum(u * {other})", f"{a} = {other} + u", "u = None"]
    if kind == 5:
        w.helpers = [
            [
                f"class {h}:",
                "    def __init__(self, u):",
                "        self._u, self.seen = u, 0.0",
                "    @property",
                "    def u(self):",
                "        self.seen = self.seen + self._u.ravel()[-1]",
                "        return self._u",
                "    @u.setter",
                "    def u(self, v):",
                "        self._u[...] = v",
                "    def __getitem__(self, k):",
                "        return self._u[k]",
                "    def __setitem__(self, k, v):",
                "        self._u[k] = v",
                "    def __len__(self):",
                "        return len(self._u)",
                "    def __iter__(self):",
                "        return iter(self._u)",
            ]
        ]
        return [
            f"{o} = {h}({other}{w.pick(('', '.copy()'))})",
            f"{o}.u = {o}.u * {w.constant()}",
            f"{o}[0] = {x}",
            f"{o}[-1] += {o}[0]",
            f"{s} = sum(v * len({o}) for v in {o}) + {o}.seen",
            f"{a} = {o}.u",
            f"{o} = None",
        ]
    w.helpers = [
        [f"T_{h} = 0.0"],
        [
            f"def {h}(v, start=False):",
            f"    global T_{h}",
            f"    T_{h} = v * 1.0 if start else T_{h} * 0.5 + v",
            f"    return T_{h}",
        ],
    ]
    return [f"{s} = {h}({x}, True)", f"{s} = {s} + sum([{h}(v) for v in {other}]) + T_{h}", f"{h}(0.0, True)"]


def functional(w):
    """Functions of functions, of Python's library and of NumPy."""
    name, other, s, a = _vector(w), _vector(w), w.new("s"), w.new("a")
    h = f"h_{w.new('')}"
    texts = (
        [f"{s} = functools.reduce(lambda u, v: u * 0.5 + v, {name})"],
        [f"{s} = functools.reduce(operator.mul, {name}.tolist(), {w.scalar()})"],
        [f"{a} = np.array(list(itertools.accumulate({name}, lambda u, v: u * 0.5 + v)))"],
        [f"{a} = np.array(list(itertools.accumulate({name})))"],
        [f"{a} = np.array([u * v for u, v in itertools.product({name}[:3], {other}[:3])])"],
        [f"{a} = np.array([u - v for u, v in itertools.zip_longest({name}, {other}, fillvalue=0.5)])"],
        [f"{a} = np.array(list(itertools.chain({name}, {other}[:2])))"],
        [f"{a} = np.array([u - v for u, v in itertools.combinations({name}[:4], 2)] + [0.5])"],
        [f"{a} = np.array(sorted({name}, key=lambda v: -v.real))"],
        [f"{a} = np.array(sorted(zip({name}.real, {name}), key=operator.itemgetter(0)))[:, 1]"],
        [f"{s} = max({name}, key=lambda v: (v.real - 0.9) ** 2)"],
        [f"{s} = min(range(len({name})), key=lambda k: {name}[k].real) * 0.1 + {name}[0]"],
        [f"{s} = functools.partial(lambda u, v: u * v, {w.scalar()})({name}[0])"],
        [f"{a} = np.array(list(map(lambda u, v: u * v + 0.5, {name}, {other})))"],
        [f"{a} = np.array(list(filter(lambda v: v.real > 0.7, {name})) + [0.5])"],
        [f"{s} = sum(g({name}[-1]) for g in [lambda v, k=k: v * {other}[k] for k in range(len({other}))])"],
        [f"{a} = np.vectorize(lambda u, v: u * v if u.real > 0.6 else u + v)({name}, {name}[::-1])"],
        [f"{a} = np.piecewise({name}, [{w.mask(name)}, {w.mask(name)}], [lambda v: v * v, 0.5, np.sin])"],
        [f"{a} = np.select([{w.mask(name)}, {w.mask(name)}], [{name} * 2.0, {w.scalar()}], {w.constant()})"],
        [f"{a} = np.frompyfunc(lambda v: v * {w.constant()}, 1, 1)({name}).astype({name}.dtype)"],
        [f"{a} = np.fromiter((v * v for v in {name}), {name}.dtype)"],
        [f"{s} = {h}(*{name}[:2], k={w.scalar()})", f"{s} = {h}(*[{s}], **{{'k': {name}[0]}})"],
        [f"{s} = {h}({name}[0])", f"{s} = {s} + {h}({name}[-1])"],
    )
    w.helpers = [
        ["import functools, itertools, operator"],
        [
            f"def {h}_scaled(f):",
            "    @functools.wraps(f)",
            "    def called(*args, **kwargs):",
            f"        return f(*args, **kwargs) * {w.constant()}",
            "    return called",
        ],
        [
            f"@{h}_scaled",
            f"def {h}(u, *others, k=0.5, **more):",
            "    return u * k + sum(others)",
        ],
    ]
    text = w.pick(texts)
    if not any(h in line for line in text):
        w.helpers = w.helpers[:1]
    return text


def asked(w):
    """What a program asks of a number or an array, and what it makes of the answer."""
    name, s = w.array(lambda v: v.size > 0), w.new("s")
    x = w.pick((w.element(name), f"np.sum({name})", f"float({w.element(name)})"))
    w.smooth = False
    answer = w.pick(
        (
            f"int({x} * 3.0)",
            f"math.floor({x})",
            f"len(f'{{{x}:.2f}}')",
            f"len('%.3e' % {x})",
            f"round({x})",
            f"({x} // 0.5)",
            f"bool({x} > 0.5)",
            f"np.isscalar({x})",
            f"np.ndim({x})",
            f"hasattr({x}, 'dtype')",
            f"len(type({x}).__name__)",
            f"({x}).is_integer()",
            f"np.allclose({name}, {x})",
            f"np.count_nonzero({w.mask(name)})",
            f"len(np.flatnonzero({w.mask(name)}))",
            f"np.argmin({name})",
            f"({w.mask(name)}).any()",
            f"np.array_equal({name}, {name} * 1.0)",
            f"np.isfinite({name}).all()",
            f"np.searchsorted([0.5, 1.0], {x})",
            f"np.digitize({x}, [0.5, 1.0])",
            f"isinstance({name}, np.ndarray)",
            f"{name}.flags.c_contiguous",
            f"{name}.ndim",
            f"{name}.nbytes / {name}.itemsize",
            f"({name}.dtype == ({name} * 2).dtype)",
            f"(({x}) in [0.5, 1.0])",
            f"np.issubdtype({name}.dtype, np.floating)",
            f"len({{k for k, v in enumerate({name}.ravel()) if v > 0.7}})",
        )
    )
    return [f"{s} = {w.scalar()} * (1.0 + 0.1 * ({answer}))"]


def kinds(w):
    """Beside arrays of other kinds: whole numbers, truth values, half precision, complex numbers, without elements."""
    name, a = w.array(lambda v: v.size > 0), w.new("a")
    n = w.env[name].shape[-1]
    kind = w.pick(("np.int8", "np.int32", "np.int64", "bool", "np.float16", "np.float32", "np.uint16", "float"))
    text = w.pick(
        (
            f"{a} = {name} {w.pick('+-*')} np.arange({n}).astype({kind})",
            f"{a} = {name} * np.ones({n}, {kind})",
            f"{a} = {name} * {w.pick(('np.float32', 'np.float64', 'np.float16', 'np.int64', 'np.int8'))}(2)",
            f"{a} = np.where(np.arange({n}) % 2, {name}, np.ones({n}, {kind}))",
            f"{a} = ({name} + 1j * np.arange({n})).real * {w.constant()}",
            f"{a} = ({name} * np.exp(1j * np.arange({n}))).imag",
            f"{a} = np.abs({name} + 0.5j)",
            f"{a} = np.real(np.exp(1j * {name}) * (1.0 - 0.5j))",
            f"{a} = np.fft.irfft(np.fft.rfft({name}) * 0.5, {n})",
            f"{a} = np.concatenate([{name}, {name}[:0]])",
            f"{a} = np.concatenate([{name}, np.ones({w.env[name].shape}, {kind})])",
            f"{a} = {name} + np.sum({name}[:0])",
            f"{a} = {name} * np.prod({name}[:0]) + np.max({name}[:0], initial=0.5)",
            f"{name}[:0] = 1.0",
            f"{name}[:0] *= {w.scalar()}",
            f"{a} = {name} + sum([v.sum() for v in {name}[:0]])",
            f"{a} = {name} ** np.arange({n})",
            f"{a} = {name} ** {w.pick(('2', '3', '-1', '0', 'np.int8(2)'))}",
            f"{a} = np.round({name} * 2) * {name}",
            f"{a} = {name} % 0.7 + {name} // 0.7",
        )
    )
    if "j" in text or "round" in text or "//" in text or "fft" in text:
        w.smooth = False
    return text.split("; ")


def shaped(w):
    """Windows, products with any number of dimensions, parts that are views, sums over groups."""
    name, a, b = w.array(lambda v: v.size > 0), w.new("a"), w.new("a")
    shape = w.env[name].shape
    n, axis = shape[0], w.random.randrange(len(shape))
    vector = _vector(w, 64, 3)
    m = w.env[vector].size
    order = w.random.sample(range(m), m)
    return w.pick(
        (
            [f"{a} = np.lib.stride_tricks.sliding_window_view({vector}, {w.random.randint(1, 3)}).sum(-1)"],
            [f"{a} = np.lib.stride_tricks.sliding_window_view({vector}, 3) @ [0.25, 0.5, 0.25]"],
            [f"{a} = np.lib.stride_tricks.as_strided({vector}, ({m - 2}, 3), {vector}.strides * 2) * 1.0"],
            [f"{a} = np.einsum('...i,...i->...', {name}, {name} * {w.constant()})"],
            [f"{a} = np.einsum('...i,i->...i', {name}, {w.leaf((shape[-1],))} * np.ones({shape[-1]}))"],
            [f"{a} = np.einsum('i,j->ij', {vector}[:5], {vector}[:4])"],
            [f"{a} = np.einsum('i...->...', {name})"],
            [f"{a} = np.einsum('i,j,i', {vector}[:4], {vector}[:3], {vector}[:4], optimize={w.chance(0.5)})"],
            [f"{a}, {b} = np.array_split({name}, 2)", f"{a}[:1] = {w.scalar()}", f"{b} *= {w.constant()}"],
            [f"{a} = np.array_split({vector}, [1, 2])[-1]", f"{a} -= {w.scalar()}"],
            [f"{a} = np.add.reduceat({vector}, [0, {w.random.randrange(m)}, {w.random.randrange(m)}])"],
            [f"{a} = np.multiply.outer({vector}[:4], {vector}[:3])"],
            [f"{a} = np.logaddexp.reduce({name}, axis={axis})"],
            [f"{a} = np.add.reduce({name}, axis={axis}, where={w.mask(name)}, initial={w.scalar()})"],
            [f"{a} = np.bincount({[w.random.randrange(4) for _ in range(m)]}, {vector})"],
            [f"np.add.at({vector}, {[w.random.randrange(m) for _ in range(3)]}, {vector}[:3] * {w.constant()})"],
            [f"np.{w.pick(('maximum', 'minimum'))}.at({vector}, [0, 1, 0], {vector}[-3:] * {w.constant()})"],
            [f"{a} = {vector}[np.lexsort(({vector}.real, {vector}.real > 0.8))]"],
            [f"{a} = {vector}[np.argpartition({vector}.real, 1)][:1]"],
            [f"{a} = {vector}[{order}]", f"{vector}[{order}] = {a} * {w.constant()}"],
            [f"_, i_ = np.unique({vector}.real, return_inverse=True)", f"{a} = {vector}[i_]", "i_ = None"],
            [f"{a} = np.block([[{vector}, {w.scalar()}], [{vector} * 2.0, 0.5]])"],
            [f"{a} = np.flip({name}, {axis})", f"{a}[:1] *= {w.constant()}"],
            [f"{a} = np.rot90({name})" if len(shape) > 1 else f"{a} = {name}[::-1]", f"{a}[0] = {w.scalar()}"],
            [f"{a} = np.moveaxis({name}, 0, -1)", f"{a}[..., 0] = {w.scalar()}"],
            [f"{a} = np.expand_dims({name}, {axis})", f"{a} += {w.constant()}"],
            [f"{a} = np.ravel({name})", f"{a}[-1] = {w.scalar()}"],
            [f"{a} = np.outer({vector}[:4], {vector}[:4])", f"np.fill_diagonal({a}, {vector}[:4])"],
            [f"{a} = np.meshgrid({vector}[:3], {vector}[:2])[{w.pick('01')}] * 1.0"],
            [f"{a} = np.tril(np.outer({vector}[:4], {vector}[:4]))[np.tril_indices(4 if {m} > 3 else 3)]"],
            [f"{a} = np.roll({name}, {w.random.randint(-2, 2)}, {axis}) - {name}"],
            [f"{a} = np.diff({vector}, prepend={w.scalar()})"],
            [f"{a} = np.nancumsum({name}, axis={axis})"],
            [f"{a} = np.repeat({vector}, {[w.random.randrange(3) for _ in range(m)]})"],
            [f"for k in np.ndindex({name}[:2].shape):", f"    {name}[k] = {name}[k] * {w.constant()}"],
            [f"{a} = np.clip({name}, {w.pick((w.scalar(), 'None', '0.5'))}, 1.1)"],
            [f"{a} = np.interp({vector}, np.linspace(0.0, 2.0, {m}), {vector}, left={w.scalar()})"],
            [f"{a} = {name}.{w.pick(('cumsum', 'cumprod'))}(axis={axis})[:3]"],
            [f"{a} = {name}.copy(); {a}[{a}.real > 0.8] = [{w.scalar()}]" if n else f"{a} = {name}"],
        )
    )
