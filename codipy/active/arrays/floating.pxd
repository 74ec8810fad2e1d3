# SPDX-License-Identifier: Apache-2.0
# Floating-point warnings: what NumPy would have said of an expression, by the rules in force when it was made.
from codipy.active.core.pending cimport Pending
from codipy.active.storage.view cimport View

# NumPy's rules on this thread, as np.errstate sets them: an object that is another one for other rules.
cdef object rules_in_force()
# Whether an expression that is written now, under these rules, may be computed later: nobody listens who would hear of
# it at another place, or not at all. Else it is computed at once.
cdef bint may_wait(object rules) except -1
# Warn or raise as NumPy does, after an expression of this shape was computed and these flags were up. What is
# computed must be recorded before, so that an exception leaves values and tape alike.
cdef int report(Pending p, const View* shape, int flags) except -1
