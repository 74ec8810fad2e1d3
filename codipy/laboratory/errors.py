# SPDX-License-Identifier: Apache-2.0
"""What the laboratory raises."""

__all__ = ["StudyError"]


class StudyError(ValueError):
    """A study that cannot be made, read or continued."""
