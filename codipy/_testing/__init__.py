# SPDX-License-Identifier: Apache-2.0
"""What only tests call: the C kernels and the tiles for Python. Built in place, never installed."""
