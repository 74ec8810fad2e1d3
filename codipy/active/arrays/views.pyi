# SPDX-License-Identifier: Apache-2.0
"""Views of Arrays, copies of their elements, and writing to elements that an index selects."""
