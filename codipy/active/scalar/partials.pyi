# SPDX-License-Identifier: Apache-2.0
"""A Real of a value and of partial derivatives that the caller has, for Cython only."""
