# SPDX-License-Identifier: Apache-2.0
# Identifiers that programs outside are told.
from codipy.active.array_type cimport Array

cdef object identifiers_of(Array array)
