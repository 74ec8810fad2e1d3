# SPDX-License-Identifier: Apache-2.0
# Who looks on while things are recorded, for `codipy.debug`; None, as nearly always, for nobody.
#
# What asks for it is called once for a recording, a sweep or a plain value, never once for a statement.
cdef object watcher
