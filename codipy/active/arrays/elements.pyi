# SPDX-License-Identifier: Apache-2.0
"""Single elements of arrays: Reals on the same adjoint slot."""
