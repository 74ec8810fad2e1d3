# SPDX-License-Identifier: Apache-2.0
"""Variables of an enclosing recording, lent to the recording of a driver inside of it."""

from typing import final

from codipy.tape.loan import Loan

@final
class RealLoan(Loan): ...

@final
class BlockLoan(Loan): ...

@final
class MixedLoan(Loan): ...
