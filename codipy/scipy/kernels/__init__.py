# SPDX-License-Identifier: Apache-2.0
"""What stands for SciPy's compiled loops over sparse matrices where values are active."""
