# SPDX-License-Identifier: Apache-2.0
"""The readable twin of the reuse manager: use counts in a dict; it says what is allowed, not which number."""


class TwinReuse:
    def __init__(self):
        self.uses = {}
        self.peak = 0
        self.largest = 0

    def assigned(self, first, n):
        for identifier in range(first, first + n):
            assert identifier > 0
            assert self.uses.get(identifier, 0) == 0, f"{identifier} is in use"
            self.uses[identifier] = 1
            self.largest = max(self.largest, identifier)
        self.peak = max(self.peak, len(self.live()))

    def retained(self, identifier):
        self.uses[identifier] += 1

    def released(self, first, n=1):
        for identifier in range(first, first + n):
            self.uses[identifier] -= 1

    def live(self):
        return [identifier for identifier, uses in self.uses.items() if uses]

    def check(self, manager):
        manager._check()
        assert manager.live == len(self.live())
        assert manager.peak == self.peak
        assert manager.largest == self.largest
        assert manager.stored_free == self.largest - manager.live
        assert all(manager.uses_of(identifier) == uses for identifier, uses in self.uses.items())
