# SPDX-License-Identifier: Apache-2.0
"""Active scalars: their state, pending expressions, the operators, and what NumPy's scalars have beside floats."""
