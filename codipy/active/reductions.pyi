# SPDX-License-Identifier: Apache-2.0
"""Sums and means of arrays: NumPy's own summation, and a broadcast in reverse."""
