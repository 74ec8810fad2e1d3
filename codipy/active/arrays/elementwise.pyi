# SPDX-License-Identifier: Apache-2.0
"""Elementwise operations on arrays become pending expressions."""
