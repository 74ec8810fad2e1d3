# SPDX-License-Identifier: Apache-2.0
"""Derivative rules of SciPy's functions, one file per family."""
