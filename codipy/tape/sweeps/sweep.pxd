# SPDX-License-Identifier: Apache-2.0
# One sweep over a tape: its range, and what may not happen meanwhile.
from codipy.tape.adjoints cimport AdjointVector
from codipy.tape.base cimport BaseTape
from codipy.tape.sweeps.walk cimport Mode

# `adjoints` is None for VALUES.
cdef int sweep(BaseTape tape, Mode mode, start, end, AdjointVector adjoints, bint keep) except -1
