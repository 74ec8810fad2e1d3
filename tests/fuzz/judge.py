# SPDX-License-Identifier: Apache-2.0
"""What a random program must do: NumPy's values bit for bit, right gradients, whatever the way to record.

The oracles share nothing with what is judged: the same source on plain arrays and on complex ones, central differences,
and `auto` against a tape on which no identifier serves twice.
"""

import re
import types
import warnings
from dataclasses import dataclass

import numpy as np

import codipy
from codipy.errors import TapeError
from tests.active.recording import Recording, dot, is_active, outputs_of, record, run_forward, value
from tests.fuzz.generator import constants
from tests.strategies import VARIANTS, new_tape

# What codipy says it cannot do; anything else that it raises, where the plain run does not, is a failure.
# Those of an active Real and Array: what NumPy made of plain or passive operands is plain, and cannot hold them.
REFUSED = [
    re.compile(text)
    for text in (
        r"more than 8 dimensions",
        r"plain array",
        r"a plain one and would lose the derivative",
        r"float\(\) of an active Real",
        r"np\.asarray\(\) of an active Array",
        r"the Array has no gradient of its own",  # two results that show the same elements, where no driver copies them
        r"cannot be a key of a dictionary",  # where drivers raise what the program has caught
        r"shows an element of its base more than once",
        r"Error setting single item of array",  # NumPy's, of what `.flat` of a plain array was given
        r"setting an array element with a sequence",  # likewise of an array without dimensions
    )
]
STEP = 1e-40
WIDTHS = 1, 3


@dataclass
class Finding:
    """What is wrong with a program, or that it was refused."""

    kind: str  # "value", "reuse", "gradient", "forward", "driver", "float32", or the name of an exception
    said: str

    @property
    def refused(self):
        return self.kind == "refused"


class Complex:
    """NumPy as complex numbers see it: what a function allocates can hold them."""

    linalg, ndarray, newaxis, s_, add, errstate = np.linalg, np.ndarray, None, np.s_, np.add, np.errstate

    def __getattr__(self, name):
        return getattr(np, name)

    @staticmethod
    def zeros(shape, dtype=complex, order="C"):
        return np.zeros(shape, complex, order)

    @staticmethod
    def ones(shape, dtype=complex, order="C"):
        return np.ones(shape, complex, order)

    @staticmethod
    def empty(shape, dtype=complex, order="C"):
        return np.full(shape, np.nan, complex, order)

    @staticmethod
    def array(x, dtype=complex, **kwargs):
        x = np.array(x, **kwargs)
        return x if x.dtype.kind in "biu" else x.astype(complex, copy=False)  # indices and masks stay what they are

    @staticmethod
    def linspace(*args):
        return np.linspace(*args).astype(complex)

    @staticmethod
    def eye(n):
        return np.eye(n, dtype=complex)


def _emptied(function):
    """NumPy's `empty` and its like, of NaN: what reads it has no value to compare."""

    def empty(*args, **kwargs):
        made = function(*args, **kwargs)
        made[...] = np.nan
        return made

    return empty


np.linalg, np.random, np.lib  # NumPy may load them when they are asked for
PLAIN = types.ModuleType("numpy")
vars(PLAIN).update(vars(np) | {name: _emptied(getattr(np, name)) for name in ("empty", "empty_like")})


class ComplexMath:
    """Python's math as complex numbers see it."""

    def __getattr__(self, name):
        return getattr(np, name)


def quietly(f, *args):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return f(*args)


def plain_run(program, inputs):
    """The results as plain arrays."""
    f = program.compiled(**constants(program.source), np=PLAIN)
    return [np.array(y) for y in outputs_of(quietly(f, *[x.copy() for x in inputs]))]


def judge(program, variants=(), widths=WIDTHS, single=False, driven=False):
    """The first thing that is wrong with a program, or with its float32 form, or None; `driven`: by a driver too.

    Tangents are swept unless there are no `widths`, those of the strategy that keeps nothing.
    """
    if single:
        program = program.but(inputs=[x.astype(np.float32) for x in program.inputs])
    try:
        plain = plain_run(program, program.inputs)
    except Exception:
        return None  # while it is shrunk: nothing to compare with
    if not all(np.all(np.isfinite(y)) for y in plain):
        return None
    if single:
        return attempt(_judge_single, program, plain, variants)
    rng = np.random.default_rng(len(plain))
    seeds = [rng.uniform(0.5, 1.5, y.shape) for y in plain]
    tangents = [rng.uniform(-1.0, 1.0, x.shape) for x in program.inputs]
    return attempt(_judge, program, plain, seeds, tangents, variants, widths, driven)


def attempt(judgement, *args):
    """A judgement; what codipy raises is one."""
    try:
        return judgement(*args)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"
        known = any(r.search(said) for r in REFUSED) and isinstance(error, (TapeError, TypeError, ValueError))
        kind = "refused" if known else type(error).__name__
        return Finding(kind, said)


def _judge(program, plain, seeds, tangents, variants, widths, driven):
    f = Rebound(program)
    auto = _recorded(f, program, ("auto", "statement"))
    found = _same_values(auto, plain, "auto")
    if found:
        return found
    gradients = auto.reverse(seeds)
    lonely = _recorded(f, program, ("auto", "statement"), reuse=False)
    alone = lonely.reverse(seeds)
    if not all(np.all(np.isfinite(g)) for g in [*gradients, *alone]):
        return Finding("gradient", f"gradient {gradients!r}, without reuse {alone!r}")
    for k, (x, y) in enumerate(zip(gradients, alone)):
        # Which adjoints overlap decides the order of additions, so the last bits may differ.
        if not np.allclose(x, y, rtol=1e-12, atol=1e-12 * np.max(np.abs(y), initial=1.0), equal_nan=True):
            return Finding("reuse", f"gradient by x{k} is {x!r}, without reuse {y!r}")
    along = dot(gradients, tangents)
    scale = 1.0 + sum(float(np.sum(np.abs(g * t))) for g, t in zip(gradients, tangents))
    expected = _expected(program, seeds, tangents, along, scale)
    if expected is not None:
        return Finding("gradient", f"auto: {along!r} along the tangents, expected {expected!r}")
    for variant in (("auto", "statement"), *variants):
        recording = auto if variant == ("auto", "statement") else _recorded(f, program, variant)
        if recording is not auto:
            found = _same_values(recording, plain, variant)
            if found:
                return found
            here = dot(recording.reverse(seeds), tangents)
            if not abs(here - along) <= 1e-9 * scale:
                return Finding("gradient", f"{variant}: {here!r} along the tangents, auto {along!r}")
        if widths:
            moved = dot(seeds, recording.forward(tangents))
            if not abs(moved - along) <= 1e-9 * scale:
                return Finding("forward", f"{variant}: forward {moved!r}, reverse {along!r}")
    for width in widths:
        found = _judge_forward(f, program, plain, seeds, tangents, along, scale, width)
        if found:
            return found
    return _judge_driven(program, plain, seeds, tangents, gradients) if driven else None


def _judge_forward(f, program, plain, seeds, tangents, along, scale, width):
    """The strategy that keeps nothing, in one direction or in three of which the second is that one."""
    wide = tangents if width == 1 else [np.stack([-x, t, x], axis=-1) for x, t in zip(program.inputs, tangents)]
    outputs, dots = quietly(run_forward, f, program.inputs, wide, "statement", width)
    found = _same_values(Recording(None, [], outputs), plain, "forward")
    if found:
        return found
    moved = dot(seeds, dots if width == 1 else [y[..., 1] for y in dots])
    if not abs(moved - along) <= 1e-9 * scale:
        return Finding("forward", f"strategy forward, width {width}: {moved!r}, reverse {along!r}")
    return None


def _judge_driven(program, plain, seeds, tangents, gradients):
    """`value_and_grad` of one number, at another point first: it keeps tapes and what was rebuilt; then all results."""
    module = constants(program.source)
    f = program.compiled(**module, __name__="program")

    def total(*args):
        for name, x in constants(program.source).items():
            module[name][...] = x
        ys = f(*args)
        return sum(np.sum(y * seed) for y, seed in zip(ys if isinstance(ys, tuple) else (ys,), seeds))

    driver = codipy.value_and_grad(total, argnums=tuple(range(len(gradients))))
    elsewhere = [np.asarray(x * 1.01) for x in program.inputs]
    try:
        quietly(driver, *elsewhere)
    except Exception as error:
        said = str(error)
        try:
            quietly(total, *elsewhere)
        except Exception:
            pass  # so does the plain run
        else:
            return Finding("refused" if any(r.search(said) for r in REFUSED) else "driver", f"elsewhere: {error!r}")
    value, found = quietly(driver, *[x.copy() for x in program.inputs])
    number = quietly(total, *[x.copy() for x in program.inputs])
    if value != number:
        return Finding("driver", f"value {value!r}, plain {number!r}")
    for k, (x, y) in enumerate(zip(found, gradients)):
        if not np.allclose(x, y, rtol=1e-9, atol=1e-9 * np.max(np.abs(y), initial=1.0)):
            return Finding("driver", f"gradient by x{k} is {x!r}, of a tape {y!r}")
    return _judge_results(program, plain, seeds, tangents, gradients)


def _judge_results(program, plain, seeds, tangents, gradients):
    """`vjp` and `jvp` of all results, of one without elements, and of some that wait and read others."""
    module = constants(program.source)
    f = program.compiled(**module, __name__="program")

    def results(*args):
        for name, x in constants(program.source).items():
            module[name][...] = x
        ys = outputs_of(f(*args))
        return (*ys, args[0][:0], [np.ones(2) * y for y in ys if np.ndim(y) == 0])

    moved = quietly(codipy.jvp, results, [x.copy() for x in program.inputs], tangents)
    out, pullback = quietly(codipy.vjp, results, *[x.copy() for x in program.inputs])
    for who, ys in (("vjp", out), ("jvp", moved[0])):
        found = _same_values(Recording(None, [], list(ys[:-2])), plain, who)
        if found:
            return found
    scale = 1.0 + sum(float(np.sum(np.abs(g * t))) for g, t in zip(gradients, tangents))
    along, nothing = dot(gradients, tangents), (np.zeros(out[-2].shape), [np.zeros(2) for _ in out[-1]])
    rows = pullback((*seeds, *nothing))
    for who, here in (("vjp", dot(rows, tangents)), ("jvp", dot(seeds, moved[1][:-2]))):
        if not abs(here - along) <= 1e-9 * scale:
            return Finding("driver", f"{who}: {here!r} along the tangents, of a tape {along!r}")
    return None


def _judge_single(program, plain, variants):
    """NumPy's bits of float32, and about the gradient of the program in double."""
    f = Rebound(program)
    seeds, double = [np.ones(y.shape) for y in plain], program.but(inputs=[x.astype(float) for x in program.inputs])
    exact = _recorded(f, double, ("auto", "statement"))
    for variant in (("auto", "statement"), *variants):
        recording = _recorded(f, program, variant)
        found = _same_values(recording, plain, variant)
        if found:
            return found
        near = all(
            x.shape == y.shape and np.allclose(x, y, rtol=1e-4, atol=1e-4)
            for x, y in zip(plain, map(value, exact.outputs))
        )
        if near:  # else rounding took it another way
            for k, (x, y) in enumerate(zip(recording.reverse(seeds), exact.reverse(seeds))):
                if not np.all(np.abs(x - y) <= 0.02 * (1.0 + np.max(np.abs(y), initial=0.0))):
                    return Finding("float32", f"{variant}: gradient by x{k} is {x!r}, in double {y!r}")
    return None


class Rebound:
    """A program in rebound code; the arrays of its module are what they were before each call."""

    def __init__(self, program):
        self.first, self.module = constants(program.source), constants(program.source)
        self.f = codipy.rebind(program.compiled(**self.module, __name__="program"))

    def __call__(self, *args):
        for name, x in self.first.items():
            self.module[name][...] = x
        return self.f(*args)


def _recorded(f, program, variant, reuse=True):
    return quietly(record, new_tape(variant, chunk_size=None, reuse=reuse), f, program.inputs)


def _same_values(recording, plain, who):
    if len(recording.outputs) != len(plain):
        return Finding("value", f"{who}: {len(recording.outputs)} results, plain {len(plain)}")
    for k, (y, expected) in enumerate(zip(recording.outputs, plain)):
        found = value(y)
        if found.dtype == object:
            return Finding("value", f"{who}: result {k} is an array of objects, plain {expected!r}")
        if found.shape != expected.shape or found.astype(expected.dtype).tobytes() != expected.tobytes():
            kind = "active" if is_active(y) else "passive"
            return Finding("value", f"{who}: {kind} result {k} is {found!r}, plain {expected!r}")
    return None


def _expected(program, seeds, tangents, along, scale):
    """What the derivative along the tangents should be where it is not that, else None."""
    if program.smooth:
        try:
            by_step = _complex_step(program, seeds, tangents)
        except Exception:
            by_step = None  # complex numbers took another way
        if by_step is not None and abs(by_step - along) <= 1e-9 * scale:
            return None
    found = []
    for h in (1e-6, -1e-6):
        here = plain_run(program, program.inputs)
        try:
            there = plain_run(program, [np.asarray(x + h * t) for x, t in zip(program.inputs, tangents)])
        except Exception:
            return None  # `np.unique` of what was equal, say
        if any(x.shape != y.shape for x, y in zip(there, here)):
            return None
        found.append((dot(seeds, there) - dot(seeds, here)) / h)
    near = abs(found[0] - found[1]) <= 1e-3 * scale
    middle = 0.5 * (found[0] + found[1])
    if not near or abs(middle - along) <= 1e-6 * scale + abs(found[0] - found[1]):
        return None  # a kink, where many numbers are right, or central differences agree
    return middle


def _complex_step(program, seeds, tangents):
    f = program.compiled(**constants(program.source, complex), np=Complex(), math=ComplexMath())
    moved = quietly(f, *[np.asarray(x + 1j * STEP * t) for x, t in zip(program.inputs, tangents)])
    return dot(seeds, [np.imag(y) / STEP for y in outputs_of(moved)])


def some_variants(k, count):
    """`count` of all ways to record, others for each k."""
    others = [variant for variant in VARIANTS if variant != ("auto", "statement")]
    return [others[(k * count + i) % len(others)] for i in range(count)]
