# SPDX-License-Identifier: Apache-2.0
"""The short way from `__array_function__` to the tape."""
