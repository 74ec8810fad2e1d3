# SPDX-License-Identifier: Apache-2.0
"""Studies, predictions and profiles: every way to record a function, measured, counted, or told by line."""
from codipy.laboratory.changes import changes as changes
from codipy.laboratory.errors import StudyError as StudyError
from codipy.laboratory.passing import Saving as Saving
from codipy.laboratory.passing import passes as passes
from codipy.laboratory.prediction import Prediction as Prediction
from codipy.laboratory.prediction import predict as predict
from codipy.laboratory.profiling import Profile as Profile
from codipy.laboratory.profiling import profile as profile
from codipy.laboratory.result import Study as Study
from codipy.laboratory.run import study as study
from codipy.laboratory.timeline import Timeline as Timeline
from codipy.laboratory.timeline import timeline as timeline
from codipy.laboratory.trouble import Troubles as Troubles
from codipy.laboratory.trouble import debug as debug
