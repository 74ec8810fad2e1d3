# SPDX-License-Identifier: Apache-2.0
"""Random NumPy programs as source text, which runs plainly, under complex numbers and under codipy as it stands.

A program grows step by step, each of one or a few lines, and every step is run on plain arrays at once: what raises, or
leaves numbers that say nothing (huge, NaN), is taken back. Branches and masks look at `.real`, so that a complex step
takes the same path.
"""

import functools
import math
import random
import re
import warnings
from dataclasses import dataclass, field, replace

import numpy as np

from tests.fuzz.steps import STEPS

SMALL = range(1, 10)
LARGER = (16, 63, 64, 65, 256)  # of the module: those that are worth comparing with a copy, and others
LIMITS = (31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513)  # sizes at which the code changes ways
LARGEST = 40.0  # values stay small, so that comparisons with a tolerance mean something
MOST_ELEMENTS = 1400
MOST_NAMES = 14
MOST_STEPS = 14
FEW_STEPS = 5  # of programs that are run by the thousand


@dataclass
class Program:
    """A function `f` of arrays as text, and the point at which it is run."""

    inputs: list
    helpers: list = field(default_factory=list)  # lists of lines of functions beside f
    steps: list = field(default_factory=list)  # lists of lines
    result: str = "0.0"
    smooth: bool = True  # complex numbers take the same path

    @property
    def source(self):
        names = ", ".join(f"x{k}" for k in range(len(self.inputs)))
        lines = [line for helper in self.helpers for line in [*helper, "", ""]]
        lines += [
            f"def f({names}):",
            *("    " + line for step in self.steps for line in step),
            f"    return {self.result}",
        ]
        return "\n".join(lines) + "\n"

    def compiled(self, **names):
        """`f` in a module of its own, with these names beside it."""
        module = {"np": np, "math": math, "warnings": warnings, **names}
        exec(self.code, module)
        return module["f"]

    @functools.cached_property
    def code(self):
        return compile(self.source, "<fuzz>", "exec", dont_inherit=True)

    def but(self, **changes):
        return replace(self, **changes)


class Writer:
    """What a program knows while it is written: its variables, with the plain values that they have now."""

    def __init__(self, seed, outside=True):
        self.outside = outside  # arrays of the module are read
        self.random = random.Random(seed)
        self.numbers = 0
        self.smooth = True
        self.env = {}

    # ---- Draws ----

    def chance(self, p):
        return self.random.random() < p

    def pick(self, choices):
        return self.random.choice(choices)

    def constant(self):
        return self.pick(("0.5", "2.0", "-1.5", "0.25", "1.0", "0.1", "3.0", "-0.7"))

    def new(self, letter):
        self.numbers += 1
        return f"{letter}{self.numbers}"

    def target(self, letter):
        """A new name, or one whose value dies by it: dead arrays give identifiers back."""
        olds = [name for name in self.env if name.startswith(letter)]
        return self.pick(olds) if olds and (self.chance(0.3) or len(olds) > MOST_NAMES) else self.new(letter)

    # ---- Variables ----

    def arrays(self, test=lambda a: True):
        return [
            name
            for name, v in self.env.items()
            if isinstance(v, np.ndarray) and v.ndim and v.dtype.kind == "f" and test(v)
        ]

    def array(self, test=lambda a: True):
        names = self.arrays(test)
        if not names:
            raise LookupError
        return self.pick(names[-5:] if self.chance(0.5) else names)

    def scalars(self):
        return [name for name, v in self.env.items() if name[0] == "s"]

    def points(self):
        """Arrays without axes."""
        return [
            name
            for name, v in self.env.items()
            if isinstance(v, np.ndarray) and not v.ndim and v.dtype.kind == "f" and name[0] in "ox"
        ]

    # ---- Indices ----

    def slice_(self, n, length=None):
        """A slice of an axis, of a given length if that can be."""
        if length is not None and length <= n:
            step = self.pick([k for k in (1, 1, 1, 2, 3) if (length - 1) * k + 1 <= n] or [1])
            start = self.random.randint(0, n - (length - 1) * step - 1)
            stop = start + (length - 1) * step + 1
            if self.chance(0.15) and length > 0:
                return f"{stop - 1}:{start - 1 if start > 0 else ''}:-{step}"
            return f"{start or ''}:{stop if stop < n or step > 1 else ''}" + (f":{step}" if step > 1 else "")
        kind = self.random.randrange(8)
        if kind == 0 or n < 2:
            return ":"
        if kind == 1:
            return "::-1"
        if kind == 2:
            return f"::{self.random.randint(2, 3)}"
        if kind == 3:
            return f"{self.random.randint(0, n - 1)}:"
        if kind == 4:
            return f":-{self.random.randint(1, n - 1)}"
        if kind == 5:
            return f"{self.random.randint(1, n - 1)}:"
        if kind == 6 and n > 7:
            length = self.pick((n // 4 - 1, n // 4, n // 4 + 1, n // 2))  # parts are copied up to a quarter
            start = self.random.randint(0, n - length)
            return f"{start}:{start + length}"
        start = self.random.randint(0, n - 1)
        return f"{start}:{self.random.randint(start, n)}"

    def integer(self, n):
        return str(self.random.randint(-n, n - 1) if self.chance(0.3) else self.random.randrange(n))

    def index(self, shape):
        """A basic index that is not always a single element."""
        parts = [
            self.integer(n) if n and self.chance(0.3) else self.slice_(n)
            for n in shape[: self.random.randint(1, len(shape))]
        ]
        if self.chance(0.05):
            parts.insert(self.random.randint(0, len(parts)), "None")
        if self.chance(0.05):
            parts.append("...")
        return ", ".join(parts)

    def part(self):
        """Text of a part of an array that can be written to."""
        name = self.array()
        return f"{name}[{self.index(self.env[name].shape)}]"

    def value(self, text):
        """What an expression is now."""
        with np.errstate(all="ignore"):
            return eval(text, self.module, self.env)

    def element(self, name):
        shape = self.env[name].shape
        if 0 in shape:
            raise LookupError
        return f"{name}[{', '.join(self.integer(n) for n in shape)}]"

    def fancy(self, shape):
        n = shape[0]
        if not n:
            raise LookupError
        kind = self.random.randrange(4)
        if kind == 0 and len(shape) == 2 and shape[1]:
            rows, columns = ([self.random.randrange(k) for _ in range(self.random.randint(1, 3))] for k in shape)
            return f"np.ix_({rows}, {columns})"
        if kind == 1 and len(shape) == 2 and shape[1]:
            count = self.random.randint(1, 4)
            return ", ".join(str([self.random.randrange(k) for _ in range(count)]) for k in shape)
        return str([self.random.randint(-n, n - 1) for _ in range(self.random.randint(1, 5))])

    def mask(self, name):
        v = self.env[name]
        if not v.size:
            raise LookupError
        return f"{name}.real {self.pick('<>')} {float(np.median(v)) + self.random.uniform(-0.3, 0.3):.3f}"

    # ---- Expressions ----

    def view(self, shape):
        """Text of an array of this shape: a variable, or a view of one."""
        kinds = list(range(5))
        self.random.shuffle(kinds)
        for kind in kinds:
            same = self.arrays(lambda a: a.shape == shape)
            if kind == 0 and same:
                return self.pick(same)
            larger = self.arrays(lambda a: a.ndim == len(shape) and all(m >= n for m, n in zip(a.shape, shape)))
            if kind == 1 and larger:
                name = self.pick(larger)
                return f"{name}[{', '.join(self.slice_(m, n) for m, n in zip(self.env[name].shape, shape))}]"
            rows = self.arrays(lambda a: a.ndim == len(shape) + 1 and a.shape[1:] == shape and a.shape[0])
            if kind == 2 and rows:
                name = self.pick(rows)
                return f"{name}[{self.integer(self.env[name].shape[0])}]"
            columns = self.arrays(lambda a: a.ndim == len(shape) + 1 and a.shape[:-1] == shape and a.shape[-1])
            if kind == 3 and columns:
                name = self.pick(columns)
                return f"{name}[..., {self.integer(self.env[name].shape[-1])}]"
            turned = self.arrays(lambda a: a.ndim == len(shape) == 2 and a.shape == shape[::-1])
            if kind == 4 and turned:
                return f"{self.pick(turned)}.T"
        raise LookupError

    def leaf(self, shape):
        kind = self.random.randrange(10)
        if kind < 6:
            try:
                return self.view(shape)
            except LookupError:
                pass
        scalars = self.scalars()
        if kind == 6 and scalars:
            return self.pick(scalars)
        if kind == 7:
            return self.element(self.array(lambda a: a.size > 0))
        if kind == 8 and len(shape) == 2 and self.chance(0.5):
            return self.view(shape[1:])
        if kind == 9 and shape and self.chance(0.3):
            return f"np.linspace(0.2, 1.4, {math.prod(shape)}).reshape({shape})"
        if kind == 9 and shape and self.outside and self.chance(0.2):
            return f"C{shape[-1]}" if f"C{shape[-1]}" in MODULE else self.constant()
        return self.constant()

    def expression(self, shape, depth=None):
        depth = self.random.randint(0, 3) if depth is None else depth
        if depth == 0:
            return self.leaf(shape)
        kind = self.random.randrange(14)
        x = self.expression(shape, depth - 1)
        if kind < 3:
            return f"np.{self.pick(('sin', 'cos', 'tanh', 'square', 'negative', 'arctan', 'positive'))}({x})"
        if kind == 3:
            return f"np.exp(0.3 * np.tanh({x}))"
        if kind == 4:
            return f"np.sqrt({x} * {x} + 0.5)" if len(x) < 40 else f"(-{x})"
        y = self.expression(shape, depth - 1)
        if kind == 5:
            return f"{x} / (2.0 + np.cos({y}))"
        if kind == 6:
            return f"np.{self.pick(('maximum', 'minimum'))}({x}, {y})"
        if kind == 7 and shape:
            return f"np.where({self.mask(self.array(lambda a: a.shape == shape))}, {x}, {y})"
        if kind == 8:
            return f"np.{self.pick(('add', 'multiply', 'subtract'))}({x}, {y})"
        return f"({x} {self.pick('+-*')} {y})"

    def scalar(self):
        """Text of a number that may be active."""
        kind = self.random.randrange(10)
        scalars = self.scalars()
        if kind < 3 and scalars:
            x = self.pick(scalars)
        elif kind < 8:
            x = self.element(self.array(lambda a: a.size > 0))
        else:
            x = f"np.{self.pick(('sum', 'mean', 'max', 'min'))}({self.array(lambda a: a.size > 0)})"
        kind = self.random.randrange(8)
        if kind == 0:
            return f"{self.pick(('np.sin', 'np.tanh', 'math.cos', 'np.exp(-1.0) * np.cos'))}({x})"
        if kind == 1:
            return f"{x} {self.pick('+*-')} {self.constant()}"
        if kind == 2 and scalars:
            return f"{x} {self.pick('+*-')} {self.pick(scalars)}"
        if kind == 3:
            return f"{x} {self.pick('+*-')} {self.element(self.array(lambda a: a.size > 0))}"
        return x

    def shape(self):
        """The shape of some array, or of a part of it."""
        shape = self.env[self.array()].shape
        if self.chance(0.3):
            shape = tuple(n - self.random.randint(0, 2) if n > 2 else n for n in shape)
        return shape


def write(seed, steps=STEPS, outside=True, most_steps=MOST_STEPS):
    """A program, drawn from a seed."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _write(seed, steps, outside, most_steps)


def _write(seed, steps, outside, most_steps):
    w = Writer(seed, outside)
    inputs = draw_inputs(w)
    program = Program(inputs)
    rebuild(w, program)
    for _ in range(w.random.randint(2, most_steps)):
        step, helpers = draw_step(w, steps)
        if step is None:
            continue
        trial = program.but(steps=[*program.steps, step], helpers=[*program.helpers, *helpers])
        try:
            for helper in helpers:
                define(w, helper)
            run_lines(w, step)
            fits = all(fit(v) for v in w.env.values())
        except (ArithmeticError, ValueError, TypeError, LookupError, AttributeError, Warning):
            fits = False  # a NameError is a mistake of the step's
        if fits:
            program = trial
        else:
            rebuild(w, program)
    program.result, program.smooth = result_of(w), w.smooth
    return program


def draw_inputs(w):
    n = w.pick(LIMITS) if w.chance(0.12) else w.pick(SMALL)
    shapes = []
    for _ in range(w.random.randint(1, 3)):
        kind = w.random.randrange(5)
        m = w.pick((1, 2, 3, 4, 5)) if n > 9 else w.random.randint(1, 6)
        shape = (n,) if kind < 3 else (n, m) if n * m <= MOST_ELEMENTS else (n,)
        if w.chance(0.08):
            shape = tuple(w.random.randint(1, 4) for _ in range(w.pick((3, 3, 4))))
        shapes.append(shape[::-1] if kind == 4 else shape)
    if w.chance(0.15):
        shapes.append(())  # the last: a program needs elements
    rng = np.random.default_rng(w.random.randrange(2**31))
    return [np.asarray(rng.uniform(0.4, 1.6, shape)) for shape in shapes]


def draw_step(w, steps):
    """(lines, helpers) of a step, (None, []) where nothing fits it."""
    [(_, make)] = w.random.choices(steps, [weight for weight, _ in steps])
    w.helpers = []
    try:
        lines = make(w)
    except (LookupError, ValueError):
        return None, []
    return lines, w.helpers


MODULE = {f"C{n}": np.linspace(0.3, 1.2, n) for n in (*SMALL, *LARGER)}


def constants(source, dtype=float):
    """Arrays of the module, those that the program names; it may write to them."""
    return {name: MODULE[name].astype(dtype) for name in set(re.findall(r"\bC\d+\b", source)) & MODULE.keys()}


@functools.lru_cache(maxsize=64)  # a program of which a step is taken back runs all others again
def compiled_step(lines, names):
    """The lines as a function of the variables, in which functions of theirs find them; it returns them."""
    text = "\n".join([f"def step({', '.join(names)}):", *("    " + line for line in lines), "    return locals()"])
    return compile(text, "<step>", "exec", dont_inherit=True)


def run_lines(w, lines):
    exec(compiled_step(tuple(lines), tuple(w.env)), w.module)
    w.env = w.module.pop("step")(**w.env)


def define(w, helper):
    exec("\n".join(helper), w.module)


def rebuild(w, program):
    """The variables after all steps so far: what a step did to arrays cannot be undone otherwise."""
    w.module = {"np": np, "math": math, "warnings": warnings, **{name: x.copy() for name, x in MODULE.items()}}
    w.env = {f"x{k}": x.copy() for k, x in enumerate(program.inputs)}
    for helper in program.helpers:
        define(w, helper)
    for lines in program.steps:
        run_lines(w, lines)


def fit(v):
    if isinstance(v, (list, tuple)):
        return all(map(fit, v))
    if isinstance(v, np.ndarray):
        return v.size <= MOST_ELEMENTS and v.ndim <= 8 and bool(np.all(np.abs(v) < LARGEST))
    return not isinstance(v, float) or abs(v) < LARGEST


def result_of(w):
    arrays, scalars = w.arrays(lambda a: a.size > 0), w.scalars() + w.points()
    if w.chance(0.5):
        terms = [
            f"np.sum(np.sin({name}))" for name in w.random.sample(arrays, min(len(arrays), w.random.randint(1, 2)))
        ]
        terms += w.random.sample(scalars, min(len(scalars), w.random.randint(0, 2)))
        return " + ".join(terms) or "0.0"
    names = w.random.sample(arrays + scalars, min(len(arrays) + len(scalars), w.random.randint(1, 4)))
    return "(" + "".join(f"{name}, " for name in names) + ")"
