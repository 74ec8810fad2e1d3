# SPDX-License-Identifier: Apache-2.0
"""Elementary operations: one table that operators, sweeps, documents and tests are made from."""

from .table import BY_NAME, PASSIVE, TABLE, Operation, PassiveOperation

__all__ = ["BY_NAME", "PASSIVE", "TABLE", "Operation", "PassiveOperation"]
