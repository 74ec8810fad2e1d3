# SPDX-License-Identifier: Apache-2.0
"""Which derivatives can be other than zero, and how few directions show them all."""
from codipy.patterns.pattern import Colouring as Colouring
from codipy.patterns.pattern import Sparsity as Sparsity
