# SPDX-License-Identifier: Apache-2.0
"""What drivers are given: nested arguments taken apart, the variables of them, and who else holds them."""
