# SPDX-License-Identifier: Apache-2.0
"""Which formula has the bits of a complex operator: found once for any two classes of numbers, by numbers."""
