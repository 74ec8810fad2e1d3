# SPDX-License-Identifier: Apache-2.0
"""The slow paths of recording, for Cython only."""
