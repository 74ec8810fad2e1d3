# SPDX-License-Identifier: Apache-2.0
"""float32 and float64."""
