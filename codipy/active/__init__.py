# SPDX-License-Identifier: Apache-2.0
"""Active variables: Real, the tape that knows it, and the functions of the operations table."""
from codipy.active.adjoints import Adjoints as Adjoints
from codipy.active.functions import FUNCTIONS as FUNCTIONS
from codipy.active.real import Real as Real
from codipy.active.tape import Tape as Tape
