# SPDX-License-Identifier: Apache-2.0
"""The strategies `jacobian` and `jacobian-reuse`: a Jacobian and an identifier for each argument."""

from codipy.tape.strategies.strategy import Strategy

class Jacobian(Strategy):
    def __new__(cls, reuse: bool, chunk_size: int | None) -> Jacobian: ...
