# SPDX-License-Identifier: Apache-2.0
"""Plain arrays of doubles over memory of codipy's own."""
