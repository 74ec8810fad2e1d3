# SPDX-License-Identifier: Apache-2.0
"""The readable twin of every strategy: lists instead of streams, one class, no hurry.

A statement is a dict of what its strategy stores. The sweeps are those of the strategies, written as they are defined.
"""

from tests.strategies import COUNTING, kind_of
from tests.twin.operations import ACTIVE, PASSIVE, jacobian, leaves, partials, text

INPUT_TAG, WIDEST = 255, 254


class Linear:
    """The n-th identifier is n."""

    def __init__(self):
        self.largest = 0

    def assign(self):
        self.largest += 1
        return self.largest

    assign_fresh = assign

    def retain(self, identifier):
        pass

    release = retain


class Reuse(Linear):
    """Identifiers with use counts; the most recently freed comes back first."""

    def __init__(self):
        super().__init__()
        self.uses, self.free = {}, []

    def assign(self):
        if not self.free:
            return self.assign_fresh()
        self.uses[self.free[-1]] = 1
        return self.free.pop()

    def assign_fresh(self):
        self.largest += 1
        self.uses[self.largest] = 1
        return self.largest

    def retain(self, identifier):
        self.uses[identifier] += 1

    def release(self, identifier):
        self.uses[identifier] -= 1
        if not self.uses[identifier]:
            self.free.append(identifier)


class TwinTape:
    def __init__(self, strategy, granularity):
        self.kind, self.reuse = kind_of(strategy), strategy in COUNTING
        self.eager = granularity == "operation"
        self.identifiers = Reuse() if self.reuse else Linear()
        self.statements, self.primals, self.adjoints = [], {}, {}

    # ---- Recording. An entry is (number, identifier): a Jacobian with `jacobian`, else the argument's value. ----

    def push_input(self, value):
        if self.kind == "simple" or self.reuse:
            lhs = self.identifiers.assign_fresh()
        else:
            lhs = self.identifiers.assign()
            self.statements.append({"lhs": lhs, "input": True})
        self.primals[lhs] = value
        return lhs

    def push(self, entries, expression, value):
        lhs = self.identifiers.assign()
        if self.kind == "jacobian":
            entries = [entry for entry in entries if entry[0] != 0.0]
        self.statements.append(
            {"lhs": lhs, "entries": entries, "expression": expression, "overwritten": self.primals.get(lhs, 0.0)}
        )
        self.primals[lhs] = value
        return lhs

    def push_copy(self, source, value):
        entries = [(1.0 if self.kind == "jacobian" else value, source)]
        if self.kind == "jacobian" and not source:
            entries = []
        return self.push(entries, ("identity", ACTIVE if source else PASSIVE), value)

    def push_handmade(self, entries, value):
        if self.kind != "jacobian":
            return self.push(entries, None, value)
        lhs, entries = self.push(entries[:WIDEST], None, value), entries[WIDEST:]
        while entries:  # the count is one byte: a chain of sums
            partial, link = lhs, [(1.0, lhs), *entries[: WIDEST - 1]]
            lhs, entries = self.push(link, None, value), entries[WIDEST - 1 :]
            self.identifiers.release(partial)
        return lhs

    # ---- What the streams of codipy's tape must hold, root first: one list per field. ----

    def streams(self):
        rows = self.statements
        entries = [entry for row in rows for entry in row.get("entries", [])]
        lhs = [[row["lhs"] for row in rows]] if self.reuse else []
        if self.kind == "jacobian":
            counts = [INPUT_TAG if "input" in row else len(row["entries"]) for row in rows]
            return [[[number for number, _ in entries], [identifier for _, identifier in entries]], [counts, *lhs]]
        if self.kind == "simple":
            identifiers = [i for row in rows for i in [*(entry[1] for entry in row["entries"]), row["lhs"]]]
            return [[[number for number, _ in entries]], [identifiers], [[self.label(row) for row in rows]]]
        constants = [number for row in rows for number in self.constants(row)]
        identifiers = [identifier for _, identifier in entries if identifier]
        overwritten = [[row["overwritten"] for row in rows]] if self.reuse else []
        return [[constants], [identifiers], [[self.label(row) for row in rows], *lhs, *overwritten]]

    def constants(self, row):
        if "input" in row:
            return []
        if row["expression"] is None:
            return [*(number for number, _ in row["entries"]), self.values_of(row)]
        return [number for number, identifier in row["entries"] if not identifier]

    def values_of(self, row):
        # The value when the statement was pushed: what the next statement with this lhs overwrote, or the last.
        later = [other for other in self.statements if other["lhs"] == row["lhs"]]
        after = later[later.index(row) + 1 :]
        return after[0]["overwritten"] if after else self.primals[row["lhs"]]

    def label(self, row):
        if "input" in row:
            return "input"
        return f"handmade {len(row['entries'])}" if row["expression"] is None else text(row["expression"])

    # ---- Sweeps ----

    def jacobian_of(self, row):
        """[(Jacobian, identifier)] of a statement."""
        entries, expression = row["entries"], row["expression"]
        if self.kind == "jacobian" or expression is None:
            return entries
        numbers = [number for number, _ in entries]
        assert len(numbers) == len(leaves(expression))
        if self.kind == "simple":
            slopes = partials(expression[0], numbers, self.values_of(row))
        else:
            slopes = jacobian(expression, numbers)
        return [(slope, identifier) for slope, (_, identifier) in zip(slopes, entries, strict=True) if identifier]

    def evaluate(self):
        bars = self.adjoints
        for row in reversed(self.statements):
            if "input" in row:
                continue
            bar = bars.get(row["lhs"], 0.0)
            bars[row["lhs"]] = 0.0
            for slope, identifier in self.jacobian_of(row):
                if bar != 0.0 and slope != 0.0:
                    bars[identifier] = bars.get(identifier, 0.0) + slope * bar
