# SPDX-License-Identifier: Apache-2.0
"""Plain arrays beside Arrays: copies of what they hold now, one for as long as they hold it."""
