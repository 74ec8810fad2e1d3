# SPDX-License-Identifier: Apache-2.0
"""The strategies `primal` and `primal-reuse`: values, identifiers and a program for each statement."""

from codipy.tape.strategies.strategy import Strategy

class Primal(Strategy):
    def __new__(cls, reuse: bool, chunk_size: int | None) -> Primal: ...
