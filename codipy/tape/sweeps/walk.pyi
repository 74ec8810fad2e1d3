# SPDX-License-Identifier: Apache-2.0
# The walk has no face in Python.
