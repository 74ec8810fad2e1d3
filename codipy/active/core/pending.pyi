# SPDX-License-Identifier: Apache-2.0
"""Pending array expressions."""

from typing import final

@final
class Pending: ...
