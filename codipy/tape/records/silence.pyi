# SPDX-License-Identifier: Apache-2.0
"""Rules run without NumPy's warnings."""
