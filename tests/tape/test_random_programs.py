# SPDX-License-Identifier: Apache-2.0
"""Random programs: reuse, aliases, drops, loops, branches, positions, resets, inputs at any time, two tapes."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import codipy
from codipy.active import FUNCTIONS
from codipy.errors import TapeError
from tests.strategies import each_pair
from tests.tape import dual

REAL = SimpleNamespace(**{name: FUNCTIONS[name] for name in ("sin", "cos", "tanh")})


def loop(m, a, b):
    for _ in range(5):
        a = m.sin(a * b) + 0.5 * a
    return a


def branch(m, a, b):
    return a * b if a > b else m.cos(a) - b


def hold_and_use(m, a, b):
    held = a * b
    other = held
    return held * other + held


EXPRESSIONS = [
    lambda m, a, b: a + b,
    lambda m, a, b: a * b,
    lambda m, a, b: 2.0 - a * 0.5,
    lambda m, a, b: m.sin(a) * m.cos(b),
    lambda m, a, b: (a + b) * (a - b) / (2.0 + m.sin(a)),
    lambda m, a, b: a - a + b,
    lambda m, a, b: 0.0 * a + b,
    lambda m, a, b: -a,
    lambda m, a, b: m.sin(m.cos(m.sin(a + b * b) * a) + b) * (a * b + a * a + b * b) - (a * b - b * a + m.tanh(a)),
    loop,
    branch,
    hold_and_use,
]


class Program:
    """A recording beside its dual numbers. A variable is (Real, Dual, when it was made)."""

    def __init__(self, strategy, granularity):
        self.tape = codipy.Tape(strategy=strategy, granularity=granularity, chunk_size=4)
        self.other = codipy.Tape(strategy=strategy, chunk_size=4)
        self.clock, self.names = 0, 0
        self.inputs, self.outputs, self.variables, self.positions, self.stale = [], [], [], [], []

    def add(self, real, oracle):
        self.clock += 1
        self.variables.append((real, oracle, self.clock))

    def pick(self, i):
        return self.variables[i % len(self.variables)]

    def run(self, actions):
        with self.tape:
            self.new_input(0, 0, 0)
            self.new_input(1, 0, 0)
            for name, i, j, k in actions:
                getattr(self, name)(i, j, k)
                if not self.variables:
                    self.new_input(i, j, k)
            self.compare()
            self.tape._check()

    # ---- Actions ----

    def new_input(self, i, j, k):
        self.names += 1
        value = 0.3 + 0.07 * (i % 11)
        x, oracle = self.tape.register_input(value), dual.Dual(value, {self.names: 1.0})
        self.clock += 1
        self.inputs.append((x, self.names, self.clock))
        self.variables.append((x, oracle, self.clock))

    def constant(self, i, j, k):
        self.add(0.1 * i, dual.Dual(0.1 * i))

    def expression(self, i, j, k):
        (a, x, _), (b, y, _) = self.pick(i), self.pick(j)
        if not isinstance(a, codipy.Real) and not isinstance(b, codipy.Real):
            return
        f = EXPRESSIONS[k % len(EXPRESSIONS)]
        real, oracle = f(REAL, a, b), f(dual, x, y)
        assert getattr(real, "value", real) == oracle.value
        if abs(oracle.value) > 10.0:
            real, oracle = FUNCTIONS["tanh"](real * 0.1), dual.tanh(oracle * 0.1)
        self.add(real, oracle)

    def drop(self, i, j, k):
        del self.variables[i % len(self.variables)]

    def alias(self, i, j, k):
        self.variables.append(self.pick(i))

    def position(self, i, j, k):
        self.clock += 1
        self.positions.append((self.tape.position(), self.clock))

    def reset(self, i, j, k):
        if not self.positions:
            return
        chosen = i % len(self.positions)
        position, then = self.positions[chosen]
        self.tape.reset(position)
        del self.positions[chosen + 1 :]
        stale = [real for real, _, made in self.variables if made > then and isinstance(real, codipy.Real)]
        self.stale = [real for real in stale[:2] if real.is_active]
        self.variables = [variable for variable in self.variables if variable[2] <= then]
        self.inputs = [entry for entry in self.inputs if entry[2] <= then]
        self.tape._check()

    def misuse(self, i, j, k):
        for x in self.stale:
            for use in (lambda x=x: x * 2.0, lambda x=x: x.gradient, lambda x=x: self.tape.register_output(x)):
                with pytest.raises(TapeError):
                    use()

    def output(self, i, j, k):
        # Registering replaces the identifier: the variable lives from now on. A second time it changes nothing.
        real, oracle, _ = self.pick(i)
        if isinstance(real, codipy.Real) and all(real is not x for x, _, _ in self.inputs):
            self.clock += 1
            is_known = any(real is x for x in self.outputs)
            registered = self.tape.register_output(real)
            if is_known:
                assert registered is real
                return
            self.outputs.append(registered)
            self.variables = [(r, o, self.clock if r is registered else made) for r, o, made in self.variables]

    def nested(self, i, j, k):
        real, oracle, _ = self.pick(i)
        value = oracle.value
        with self.other as other:
            x = other.register_input(value)
            y = other.register_output(FUNCTIONS["sin"](x * x) + x)
            if isinstance(real, codipy.Real) and real.is_active:
                with pytest.raises(TapeError):
                    real * x
            other._check()
        y.gradient = 1.0
        other.evaluate()
        z = dual.Dual(value, {0: 1.0})
        assert x.gradient == pytest.approx((dual.sin(z * z) + z).slopes[0], rel=1e-12)
        other.reset()
        self.add(x.value, dual.Dual(value))

    def compare(self, i=0, j=0, k=0):
        """Gradients of one fresh output, swept as a whole and in parts."""
        active = [v for v in self.variables if isinstance(v[0], codipy.Real) and v[0].is_active]
        if not active:
            return
        total, oracle = active[i % len(active)][0] * 1.0, active[i % len(active)][1] * 1.0
        for n, (real, x, _) in enumerate(active):
            total, oracle = total + real * (0.5 + n), oracle + x * (0.5 + n)
        result = self.tape.register_output(total)
        places = [position for position, _ in self.positions]
        for parts in ([None, None], [None, *reversed(places), None]):
            self.tape.clear_adjoints()
            result.gradient = 1.0
            for start, end in zip(parts, parts[1:], strict=False):
                self.tape.evaluate(start, end)
            scale = max(map(abs, oracle.slopes.values()), default=1.0)
            for x, name, _ in self.inputs:
                assert x.gradient == pytest.approx(oracle.slopes.get(name, 0.0), rel=1e-9, abs=1e-10 * scale + 1e-12)
        self.tape._check()


ACTIONS = ["expression"] * 6 + [
    "new_input", "constant", "drop", "alias", "position", "position", "reset", "misuse", "output", "nested", "compare",
]  # fmt: skip
numbers = st.integers(0, 30)


@each_pair("strategy, granularity")
@settings(max_examples=100)
@given(actions=st.lists(st.tuples(st.sampled_from(ACTIONS), numbers, numbers, numbers), max_size=60))
def test_random_programs(strategy, granularity, actions):
    Program(strategy, granularity).run(actions)
