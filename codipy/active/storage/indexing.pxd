# SPDX-License-Identifier: Apache-2.0
# Indices of every kind: elements, views, and gathers.
from codipy.active.storage.view cimport View

# 1: `index` is basic and `result` shows what it selects of `view` (ndim 0 with all ints: one element, *single set);
# 0: it is another kind of index; else an IndexError.
cdef int select(const View* view, object index, View* result, bint* single) except -1
