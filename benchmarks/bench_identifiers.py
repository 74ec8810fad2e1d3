# SPDX-License-Identifier: Apache-2.0
"""How much do policies for reused identifiers fragment? Prints largest / peak live identifier after mixed workloads.

Run: python benchmarks/bench_identifiers.py
"""

import bisect
import random
import statistics

from codipy.identifiers import ReuseIdentifiers

STEPS = 20_000
SEEDS = 15
LENGTHS = [1, 2, 3, 10, 31, 100, 100, 100, 257, 1000]


class Exact:
    """Singles on a stack, blocks in one list per length; nothing is ever split or joined."""

    def __init__(self):
        self.free, self.largest = {}, 0

    def assign_block(self, n):
        if self.free.get(n):
            return self.free[n].pop()
        self.largest += n
        return self.largest - n + 1

    def release_block(self, first, n):
        self.free.setdefault(n, []).append(first)

    def py_assign(self):
        return self.assign_block(1)

    def py_release(self, identifier):
        self.release_block(identifier, 1)


class Coalescing(Exact):
    """Blocks joined with their neighbours and split, chosen by `fit`; singles apart on their stack."""

    def __init__(self, fit, shared=False):
        super().__init__()
        self.fit, self.shared, self.runs, self.singles = fit, shared, [], []  # runs: sorted (first, length)

    def assign_block(self, n):
        if not (fitting := [run for run in self.runs if run[1] >= n]):
            return super().assign_block(n)
        first, length = run = min(fitting, key=lambda run: run[1]) if self.fit == "best" else fitting[0]
        self.runs.remove(run)
        if length > n:
            bisect.insort(self.runs, (first + n, length - n))
        return first

    def release_block(self, first, n):
        at = bisect.bisect(self.runs, (first, n))
        if at < len(self.runs) and self.runs[at][0] == first + n:
            n += self.runs.pop(at)[1]
        if at and sum(self.runs[at - 1]) == first:
            first, before = self.runs.pop(at - 1)
            n += before
        bisect.insort(self.runs, (first, n))

    def py_assign(self):
        assign = self.assign_block if self.shared else super().assign_block
        return self.singles.pop() if self.singles else assign(1)

    def py_release(self, identifier):
        self.singles.append(identifier)


def mixed(rng, share):
    """Singles and blocks come and go at random; `share` of the requests are singles."""
    for _ in range(STEPS):
        yield ("give" if rng.random() < 0.49 else "take"), (0 if rng.random() < share else rng.choice(LENGTHS))


def phases(rng):
    """A scalar phase, an array phase of about as many identifiers, ...; each gives all back before the next."""
    for phase in range(6):
        lengths = [0] * 5000 if phase % 2 == 0 else [rng.choice(LENGTHS) for _ in range(31)]
        yield from [("take", n) for n in lengths]
        yield from [("give", 0)] * len(lengths)


def fragmentation(manager, requests, rng):
    held, live, peak = [], 0, 1
    for kind, n in requests:
        if kind == "take":
            held.append((manager.assign_block(n) if n else manager.py_assign(), n))
            live += max(n, 1)
            peak = max(peak, live)
        elif held:
            first, n = held.pop(rng.randrange(len(held)))
            manager.release_block(first, n) if n else manager.py_release(first)
            live -= max(n, 1)
    return manager.largest / peak


POLICIES = {
    "a list per length, no joining": Exact,
    "first fit, coalescing": lambda: Coalescing("first"),
    "best fit, coalescing": lambda: Coalescing("best"),
    "best fit, singles cut from blocks": lambda: Coalescing("best", shared=True),
    "codipy: segregated fit, cut, turned back": ReuseIdentifiers,
}

if __name__ == "__main__":
    workloads = {"9/10 singles": 0.9, "half singles": 0.5, "1/10 singles": 0.1, "phases": None}
    print(f"median (least-most) of {SEEDS} seeds".ljust(42), *[f"{name:>19}" for name in workloads])
    for policy, make in POLICIES.items():
        line = policy.ljust(42)
        for share in workloads.values():
            found = []
            for seed in range(SEEDS):
                requests = phases(random.Random(seed)) if share is None else mixed(random.Random(seed), share)
                found.append(fragmentation(make(), requests, random.Random(seed + 1000)))
            line += f"{statistics.median(found):.3f} ({min(found):.2f}-{max(found):.2f})".rjust(20)
        print(line)
