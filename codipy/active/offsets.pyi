# SPDX-License-Identifier: Apache-2.0
"""Where in a storage the elements stand that an index of NumPy's selects."""
