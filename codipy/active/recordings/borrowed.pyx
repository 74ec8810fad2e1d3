# SPDX-License-Identifier: Apache-2.0
"""What a recording inside of another one borrowed, for those who compute its results again on the enclosing one."""
from codipy.active.core.base_array cimport new_array
from codipy.active.core.base_real cimport is_real
from codipy.active.storage.storage cimport Storage
from codipy.active.storage.view cimport View, set_contiguous
from codipy.tape.base cimport BaseTape
from codipy.tape.loan cimport Loan


def origins(BaseTape tape not None):
    """The variables of enclosing recordings that took part in a recording which is over.

    Parameters
    ----------
    tape : Tape
        With ``loans``.

    Returns
    -------
    list of (int, Real or Array)
        The first identifier that a variable had on this tape, and the variable; of an Array all elements of its memory,
        in one axis.
    """
    cdef Loan loan
    cdef View whole
    cdef list found = []
    for loan in tape.loans:
        if is_real(loan.origin):
            found.append((loan.first, loan.origin))
            continue
        whole.ndim, whole.shape[0] = 1, loan.size
        set_contiguous(&whole)
        found.append((loan.first, new_array(<Storage>loan.origin, &whole)))
    return found
