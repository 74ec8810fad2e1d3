# SPDX-License-Identifier: Apache-2.0
"""The twin of Real: a float whose pending expression is merged, pushed, and counted exactly as codipy's.

Which operands are temporaries is read from reference counts, as codipy does; a Python frame adds a known number.
"""

import operator
import sys
from types import SimpleNamespace

from tests.namespaces import NAMES, weighted_plain
from tests.twin.operations import ACTIVE, PASSIVE, leaves, length, partials, value

MOST_LEAVES, MOST_OPERATIONS = 16, 48


class TwinReal:
    def __init__(self, number, tape=None, identifier=0):
        self.value, self.tape, self.identifier = number, tape, identifier
        self.entries, self.expression, self.registered = [], None, False

    @property
    def pending(self):
        return bool(self.entries)

    def __del__(self):
        self.release()

    def release(self):
        if self.tape is not None:
            for identifier in [self.identifier, *(identifier for _, identifier in self.entries)]:
                if identifier:
                    self.tape.identifiers.release(identifier)

    def identify(self):
        """Push the pending expression."""
        self.identifier = self.tape.push(self.entries, self.expression, self.value)
        for _, identifier in self.entries:
            if identifier:
                self.tape.identifiers.release(identifier)
        self.entries = []


def plain(x):
    return x.value if isinstance(x, TwinReal) else x


def combine(name, temporary, operands):
    """The result of one operation: merge what is pending, or push it first."""
    numbers = [float(plain(x)) for x in operands]
    result = TwinReal(value(name, numbers))
    active = [isinstance(x, TwinReal) and x.tape is not None for x in operands]
    for x, is_active, is_temporary in zip(operands, active, temporary, strict=True):
        if is_active and x.pending and not is_temporary:
            x.identify()
    if not any(active):
        return result
    tape = next(x.tape for x, is_active in zip(operands, active, strict=True) if is_active)

    def expression():
        pending = [x.expression if on and x.pending else ACTIVE for x, on in zip(operands, active, strict=True)]
        return (name, *(part if on else PASSIVE for part, on in zip(pending, active, strict=True)))

    def stored(leaf):
        return tape.kind != "jacobian" or leaf == ACTIVE

    if len(list(filter(stored, leaves(expression())))) > MOST_LEAVES or (
        tape.kind != "jacobian" and length(expression()) > MOST_OPERATIONS
    ):
        for x, is_active in zip(operands, active, strict=True):
            if is_active and x.pending:
                x.identify()
    result.tape, result.expression = tape, expression()
    slopes = partials(name, numbers, result.value) if tape.kind == "jacobian" else numbers
    for x, is_active, slope in zip(operands, active, slopes, strict=True):
        if not is_active:
            result.entries += [(slope, 0)] if tape.kind != "jacobian" else []
        elif not x.pending:
            result.entries.append((slope, x.identifier))
        elif tape.kind == "jacobian":
            result.entries += [(0.0 if 0.0 in (slope, j) else slope * j, identifier) for j, identifier in x.entries]
        else:
            result.entries += x.entries
    for _, identifier in result.entries:
        if identifier:
            tape.identifiers.retain(identifier)
    if tape.eager or tape.kind == "simple":
        result.identify()
    return result


# ---- Operators and functions. Each counts the references to its operands before a tuple holds them, too. ----

count = sys.getrefcount


class _Probe:
    """Counts the references of a temporary inside an operator and inside a function."""

    def __add__(self, other):
        return count(self)


def _probe(x):
    return count(x)


_held = _Probe()
OPERATOR, FUNCTION = _Probe() + 1, _probe(_Probe())
DISTINGUISHES = _held + 1 > OPERATOR and _probe(_held) > FUNCTION  # not where the interpreter borrows references


def _operators(symbol, name):
    def forward(self, other):
        return combine(name, (count(self) <= OPERATOR, count(other) <= OPERATOR), (self, other))

    def reflected(self, other):
        return combine(name, (False, count(self) <= OPERATOR), (other, self))

    setattr(TwinReal, f"__{symbol}__", forward)
    setattr(TwinReal, f"__r{symbol}__", reflected)


def _unary(symbol, name):
    setattr(TwinReal, f"__{symbol}__", lambda self: combine(name, (count(self) <= OPERATOR,), (self,)))


def _comparison(symbol):
    compare = getattr(operator, symbol)
    setattr(TwinReal, f"__{symbol}__", lambda self, other: compare(self.value, plain(other)))


for _symbol in ("lt", "le", "gt", "ge"):
    _comparison(_symbol)
_BINARY = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "pow": "power", "mod": "mod"}
for _symbol, _name in _BINARY.items():
    _operators(_symbol, _name)
for _symbol, _name in [("neg", "negative"), ("pos", "positive"), ("abs", "absolute")]:
    _unary(_symbol, _name)


def namespace(tape):
    """The functions of the catalogue on the twin."""

    def one(name):
        return lambda x: (
            combine(name, (count(x) <= FUNCTION,), (x,)) if isinstance(x, TwinReal) else value(name, (x,))
        )

    def two(name):
        return lambda x, y: combine(name, (count(x) <= FUNCTION, count(y) <= FUNCTION), (x, y))

    def three(name):
        return lambda x, y, z: combine(
            name, (count(x) <= FUNCTION, count(y) <= FUNCTION, count(z) <= FUNCTION), (x, y, z)
        )

    def weighted(values, weights):
        result = TwinReal(weighted_plain([plain(x) for x in values], weights))
        entries = []
        for x, weight in zip(values, weights, strict=True):
            if isinstance(x, TwinReal) and x.tape is not None:
                if x.pending:
                    x.identify()
                entries.append((weight, x.identifier))
        if entries:
            result.tape, result.identifier = tape, tape.push_handmade(entries, result.value)
        return result

    many = {"hypot": two, "maximum": two, "fma": three}
    functions = {name: many.get(name, one)(name) for name in NAMES}
    return SimpleNamespace(**functions, value=plain, weighted=weighted, mark=lambda: None)


def register_input(tape, number):
    x = TwinReal(number, tape, tape.push_input(number))
    x.registered = True
    return x


def register_output(tape, y):
    y = y if isinstance(y, TwinReal) else TwinReal(float(y))
    if y.tape is not None:
        if y.pending:
            y.identify()
        if y.registered or tape.kind == "simple":
            return y
    identifier = tape.push_copy(y.identifier, y.value)
    y.release()
    y.tape, y.identifier, y.registered = tape, identifier, True
    return y
