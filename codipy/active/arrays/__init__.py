# SPDX-License-Identifier: Apache-2.0
"""Active arrays: how expressions are built and become statements, movements, reductions and calls of primitives."""
