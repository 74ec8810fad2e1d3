# SPDX-License-Identifier: Apache-2.0
"""Who owns an adjoint slot: identifiers that grow with the recording, or are handed back and used again."""

from codipy.identifiers.linear import LinearIdentifiers as LinearIdentifiers
from codipy.identifiers.reuse import ReuseIdentifiers as ReuseIdentifiers

__all__ = ["LinearIdentifiers", "ReuseIdentifiers"]
