# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations on arrays: pending expressions, and the statements they become."""
