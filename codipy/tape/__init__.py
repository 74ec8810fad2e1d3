# SPDX-License-Identifier: Apache-2.0
"""The tape: recording, strategies, sweeps, positions, adjoints and statistics."""
from codipy.tape.activity import active_tape as active_tape
from codipy.tape.activity import passive as passive
from codipy.tape.position import TapePosition as TapePosition
