# SPDX-License-Identifier: Apache-2.0
"""Operands of matrix products that depend on what is active in the same way all along an axis."""
