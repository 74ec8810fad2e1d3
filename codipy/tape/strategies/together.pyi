# SPDX-License-Identifier: Apache-2.0
"""The Jacobians of many scalar statements that are stored by value, before a sweep back passes them."""

def _together_from(statements: int) -> int: ...
