# SPDX-License-Identifier: Apache-2.0
# Floating-point warnings: what NumPy would have said of an expression, by the rules in force when it was made.
from codipy.active.pending cimport Pending
from codipy.active.view cimport View

# NumPy's rules on this thread, as np.errstate sets them: an object that is another one for other rules.
cdef object rules_in_force()
# Warn or raise as NumPy does, after an expression of this shape was computed and these flags were up. What is
# computed must be recorded before, so that an exception leaves values and tape alike.
cdef int report(Pending p, const View* shape, int flags) except -1
