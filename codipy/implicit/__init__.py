# SPDX-License-Identifier: Apache-2.0
"""Solutions of equations as functions: derivatives by the implicit function theorem, not through the solver's steps."""
from codipy.implicit.initial import solve_ivp as solve_ivp
from codipy.implicit.solution import fixed_point as fixed_point
from codipy.implicit.solution import root as root
