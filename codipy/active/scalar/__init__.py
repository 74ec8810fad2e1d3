# SPDX-License-Identifier: Apache-2.0
"""Active scalars: how expressions grow and become statements, the operators, and what NumPy's scalars have."""
