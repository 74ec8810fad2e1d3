# SPDX-License-Identifier: Apache-2.0
"""Statement programs: the shape of a statement's expression, interned and run."""
