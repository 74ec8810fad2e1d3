# SPDX-License-Identifier: Apache-2.0
"""Products of matrices that are added to adjoints, by loops or by BLAS."""
