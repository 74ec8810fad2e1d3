# SPDX-License-Identifier: Apache-2.0
"""Active arrays: their state, pending expressions and statements, movements, reductions and calls of primitives."""
