# SPDX-License-Identifier: Apache-2.0
"""Indices of basic kinds, resolved without NumPy: ints, slices, ellipsis, None, and tuples of them."""
