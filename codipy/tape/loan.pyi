# SPDX-License-Identifier: Apache-2.0
"""What an enclosing recording lends to an inner one."""

class Loan:
    @property
    def first(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def origin(self) -> object: ...
