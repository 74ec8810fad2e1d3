# SPDX-License-Identifier: Apache-2.0
"""Fixtures that several tests of the tools take."""

from tests.tools.filled import user_module

__all__ = ["user_module"]
