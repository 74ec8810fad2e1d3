# SPDX-License-Identifier: Apache-2.0
"""Power series along a curve: a recording run once more, on the coefficients of a series in place of each number."""
from codipy.series.program import SeriesProgram as SeriesProgram
