# SPDX-License-Identifier: Apache-2.0
"""Every exception that codipy raises on its own account, one sentence each."""

__all__ = ["ActiveError", "CorruptTape", "IdentifierOverflow", "TapeError", "TapeFormatError",
           "UndifferentiableError"]


listeners: list = []  # called with each error that says that a derivative would be lost, and the tape that it is about


class TapeError(RuntimeError):
    """A tape, one of its positions or one of its variables was used where it is not valid."""

    def __init__(self, *args, tape=None):
        super().__init__(*args)
        for listener in listeners:
            listener(self, tape)


class ActiveError(TypeError):
    """An active value went where its derivative would be lost in silence."""

    def __init__(self, *args):
        super().__init__(*args)
        for listener in listeners:
            listener(self, None)


class NoTangent(TapeError, AttributeError):
    """A variable has no tangent: also an `AttributeError`, so that ``hasattr(x, "tangent")`` says so."""

    def __init__(self, *args):
        RuntimeError.__init__(self, *args)  # no derivative is lost, and nobody listens


class IdentifierOverflow(OverflowError):
    """A recording needs more identifiers than 32 bits can name."""


class CorruptTape(RuntimeError):
    """The stored data contradict themselves, so no number computed from them can be trusted."""


class TapeFormatError(ValueError):
    """A file is no tape file, or damaged, or of a version or with a primitive that is not known here."""


class UndifferentiableError(TypeError):
    """What was asked for needs the derivative of a derivative that codipy knows as numbers only."""
