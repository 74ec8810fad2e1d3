# SPDX-License-Identifier: Apache-2.0
"""Profiles: which lines of a program put what on the tape, and what they cost."""
from codipy.laboratory.profiling.profiles import Profile as Profile
from codipy.laboratory.profiling.profiles import profile as profile
