# SPDX-License-Identifier: Apache-2.0
"""Shape and strides."""
