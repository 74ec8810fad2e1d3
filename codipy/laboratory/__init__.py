# SPDX-License-Identifier: Apache-2.0
"""Studies: every way to record a function, over its sizes, measured in processes of their own."""
from codipy.laboratory.changes import changes as changes
from codipy.laboratory.result import Study as Study
from codipy.laboratory.result import StudyError as StudyError
from codipy.laboratory.run import study as study
