# SPDX-License-Identifier: Apache-2.0
"""Active variables: Real, the tape that knows it, and the functions of the operations table."""
# NumPy first: deep inside of the imports below its own would cross a border of the interpreter's stack of frames again
# and again (CPython 3.11: 850 system calls, 10 ms).
import numpy as _numpy

from codipy.active.adjoints import Adjoints as Adjoints
from codipy.active.scalar.functions import FUNCTIONS as FUNCTIONS
from codipy.active.scalar.real import Real as Real
from codipy.active.tape import Tape as Tape
