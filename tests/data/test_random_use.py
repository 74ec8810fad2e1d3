# SPDX-License-Identifier: Apache-2.0
"""Random use of a nest by hypothesis: everything agrees with the twin after every step."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from codipy.data import clear_pool, fail_after
from tests.data.twin import Twin

COUNTS = st.lists(st.integers(0, 9), min_size=3, max_size=3)


class Nest(RuleBasedStateMachine):
    @initialize(sizes=st.lists(st.integers(1, 8), min_size=1, max_size=3))
    def start(self, sizes):
        self.twin = Twin(sizes)

    def clip(self, counts):
        return counts[: len(self.twin.streams)]

    @rule(counts=COUNTS)
    def record(self, counts):
        self.twin.statement(self.clip(counts))

    @rule(counts=COUNTS, used=COUNTS)
    def record_less_than_reserved(self, counts, used):
        counts = self.clip(counts)
        self.twin.statement(counts, [min(n, m) for n, m in zip(counts, used, strict=False)])

    @rule(successes=st.integers(0, 3))
    def run_out_of_memory(self, successes):
        # Too large for any chunk there is, so it must allocate; a chunk it leaves behind may be larger than before.
        fail_after(successes)
        try:
            for stream in reversed(self.twin.streams):
                stream.py_reserve(1000)
        except MemoryError:
            fail_after(None)
            self.twin.failed_statement()
            self.twin.check()
            self.twin.check_regions(0, len(self.twin.positions) - 1)
        fail_after(None)
        # The twin cannot know which capacities are kept now: start anew.
        self.twin = Twin([twin.size for twin in self.twin.twins])

    @precondition(lambda self: len(self.twin.positions) > 1)
    @rule(where=st.floats(0, 1))
    def roll_back(self, where):
        self.twin.reset_to(round(where * (len(self.twin.positions) - 1)))

    @rule(where=st.floats(0, 1), width=st.floats(0, 1))
    def walk(self, where, width):
        end = round(where * (len(self.twin.positions) - 1))
        self.twin.check_regions(round(width * end), end)

    @rule()
    def clear(self):
        clear_pool()

    @invariant()
    def agrees(self):
        if hasattr(self, "twin"):
            self.twin.check()


TestNest = Nest.TestCase
TestNest.settings = settings(max_examples=150, stateful_step_count=30)
