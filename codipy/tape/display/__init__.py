# SPDX-License-Identifier: Apache-2.0
"""A recording for those who look at it: a list of entries, text, a graph."""
