# SPDX-License-Identifier: Apache-2.0
"""Who has an array of the user's: an attribute and another one, a list and a variable, an argument and its caller."""

class Holders: ...
