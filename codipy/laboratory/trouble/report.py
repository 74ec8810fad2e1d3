# SPDX-License-Identifier: Apache-2.0
"""What was found out about a run: findings, as text, as JSON and for notebooks."""
from __future__ import annotations

import json
import textwrap
from dataclasses import asdict, dataclass, field
from html import escape

from codipy.tape.html import html_table
from codipy.tools.console.table import line_width

__all__ = ["Finding", "Troubles"]

_TITLES = {
    "value": "a value that is not finite",
    "adjoint": "an adjoint that is not finite",
    "input": "an input that no output depends on",
    "output": "an output that depends on no input",
    "plain": "an active value that was turned into a plain one and reaches the result",
    "overwritten": "a variable that was written to while it was registered",
    "cancel": "an adjoint in which terms cancel",
}
_HINTS = {"overwritten", "cancel"}      # which may be as they are wanted
_INDENT = "    "


@dataclass
class Finding:
    """One thing that may be wrong.

    Attributes
    ----------
    kind : str
        'value', 'adjoint', 'input', 'output', 'plain', 'overwritten' or 'cancel'.
    text : str
        What it is, in a sentence.
    line : str
        The line of the user's, and what it says; empty where none is known.
    statement : str
        The recorded statement.
    operands : dict
        What stands in it: its value, and the line that made it.
    recordings : int
        In how many recordings it was found.
    """

    kind: str
    text: str
    line: str = ""
    statement: str = ""
    operands: dict = field(default_factory=dict)
    recordings: int = 1

    @property
    def is_hint(self) -> bool:
        """Whether it may well be as it is wanted."""
        return self.kind in _HINTS

    def lines(self, width):
        """As lines of text."""
        where = f" ({self.line})" if self.line else ""
        often = f", in {self.recordings} recordings" if self.recordings > 1 else ""
        head = f"{'hint: ' if self.is_hint else ''}{_TITLES[self.kind]}{where}{often}"
        yield from textwrap.wrap(head, width, break_long_words=False)
        yield from _indented(self.text, width)
        if self.statement:
            yield from _indented(f"in {self.statement}", width)
        for name, said in self.operands.items():
            yield from _indented(f"{name} is {said}", width)


class Troubles:
    """What `codipy.debug` found.

    Attributes
    ----------
    findings : list of Finding
        In the order in which they were found.
    notes : list of str
        What was not looked at, and why.
    recordings, sweeps : int
        How many were looked at.
    """

    def __init__(self):
        self.findings, self.notes, self.recordings, self.sweeps = [], [], 0, 0

    @property
    def ok(self) -> bool:
        """Whether nothing was found but hints."""
        return all(finding.is_hint for finding in self.findings)

    def add(self, finding):
        """Add a finding; one that was made before, in another recording, is counted."""
        for known in self.findings:
            if (known.kind, known.text, known.line) == (finding.kind, finding.text, finding.line):
                known.recordings += 1
                return
        self.findings.append(finding)

    def note(self, text):
        """Say once what was not looked at."""
        if text not in self.notes:
            self.notes.append(text)

    def text(self, width=None):
        """The report as text, in lines of `width` letters; by default those of the terminal, 80 without one."""
        width = width or line_width()
        lines = textwrap.wrap(self._summary(), width)
        for number, finding in enumerate(self.findings, 1):
            head, *others = finding.lines(width - len(_INDENT))
            lines += ["", f"{number:>2}. {head}", *(_INDENT + line for line in others)]
        for note in self.notes:
            lines += ["", *textwrap.wrap(f"Not looked at: {note}", width)]
        return "\n".join(lines)

    def _summary(self):
        found = _counted(len(self.findings), "finding") if self.findings else "nothing found"
        looked = f"{_counted(self.recordings, 'recording')} and {_counted(self.sweeps, 'reverse sweep')} looked at"
        return f"{looked}: {found}"

    def __str__(self):
        return self.text()

    def to_dict(self):
        """Everything, in types that JSON has."""
        return {"ok": self.ok, "recordings": self.recordings, "sweeps": self.sweeps, "notes": list(self.notes),
                "findings": [{**asdict(finding), "hint": finding.is_hint} for finding in self.findings]}

    def to_json(self):
        """The same as JSON text."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def __repr__(self):
        return f"<Troubles: {self._summary()}>"

    def _repr_html_(self):
        if not self.findings:
            return f"<p>{escape(self._summary())}</p>"
        rows = [[_TITLES[one.kind], one.line, one.text, one.statement,
                 "; ".join(f"{name} is {said}" for name, said in one.operands.items())] for one in self.findings]
        return html_table(["found", "line", "what", "statement", "operands"], rows, 5, self._summary())


def _indented(text, width):
    return textwrap.wrap(text, width, initial_indent="", subsequent_indent="  ", break_long_words=False)


def _counted(count, name):
    return f"{count} {name}{'' if count == 1 else 's'}"
