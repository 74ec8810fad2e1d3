# SPDX-License-Identifier: Apache-2.0
"""The code of a user's function as rebuilt code runs it, compiled from its source with some values wrapped.

A file is parsed once. The statement of the module in which a function stands is compiled twice, as it is and with
wrapped values (`wrapping.py`). The function gets the second code only if the first equals the code that it has: a
source that was edited since, or code that something else has written again, changes nothing.
"""

from __future__ import annotations

import ast
import contextlib
import linecache
import sys
import threading
import warnings
from types import CodeType

from codipy.tools.rebinding.diverted import code_of
from codipy.tools.rebinding.fills import Fills
from codipy.tools.rebinding.foreign import Foreign
from codipy.tools.rebinding.locks import renew_after_fork
from codipy.tools.rebinding.wrapping import OWN, wrap

__all__ = ["filled_names", "filling"]

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_files: dict = {}  # by name: the lines that were parsed, and a _File
_lock = threading.RLock()  # what is read of a file may lead to another function
renew_after_fork(sys.modules[__name__], "_lock", lambda module: module._files.clear())


def filling(f, scope):
    """The code of a function in which what it makes to be filled is wrapped.

    Parameters
    ----------
    f : function
        One with globals that are the user's.
    scope : Scope
        Whose functions may fill what they are given.

    Returns
    -------
    code
        That of `f` itself where there is nothing to wrap, or no source.
    """
    code = code_of(f)
    with _file_of(f) as file:
        return code if file is None else file.code_for(code, Foreign(f.__globals__, scope))


def filled_names(f, scope):
    """The parameters of a function that it fills and that need not stay NumPy's own.

    Parameters
    ----------
    f : function
        As for `filling`.
    scope : Scope
        As for `filling`.

    Returns
    -------
    frozenset of str
        Empty where there is no source.
    """
    with _file_of(f) as file:
        return frozenset() if file is None else file.filled_by(code_of(f), Foreign(f.__globals__, scope))


@contextlib.contextmanager
def _file_of(f):
    """The parsed file of a function, None where there is no source; what an exception leaves of it is dropped."""
    name = code_of(f).co_filename
    with _lock:
        linecache.checkcache(name)
        # `getlines` says that there are no lines where it has no memory for them; `updatecache` raises.
        lines = linecache.getlines(name, f.__globals__) or linecache.updatecache(name, f.__globals__)
        known, file = _files.get(name, (None, None))
        if lines and known is not lines:
            file = _parsed(lines)
            _files[name] = lines, file
        try:
            yield file if lines else None
        except BaseException:  # Ctrl-C, no memory, a recursion that is too deep: its tree may be half wrapped
            _files.pop(name, None)
            raise


def _parsed(lines):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they were given when the module was imported
            tree = ast.parse("".join(lines))
        return _File(tree)
    except (SyntaxError, ValueError):  # no Python
        return None
    except RecursionError:
        _demand_deep_code()
        return None


def _demand_deep_code():
    """Raise the RecursionError in hand where it is the caller that lies deep: what is found is kept for later calls."""
    depth, frame = 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    if 2 * depth > sys.getrecursionlimit():
        raise


class _File:
    """The syntax tree of a file, and what became of the functions in its statements."""

    def __init__(self, tree):
        self._fills, self._body = Fills(tree), tree.body
        self._imports = list(_imports(tree))
        self._codes: dict = {}  # by the number of a statement: pairs of codes, by the first one's line
        self._filled: dict = {}  # by code, the parameters that a function fills

    def code_for(self, code, foreign):
        number = self._statement_at(code.co_firstlineno)
        if number is None:
            return code
        if number not in self._codes:
            self._codes[number] = self._compiled(self._body[number], code.co_filename, foreign)
        for own, wrapped in self._codes[number].get(code.co_firstlineno, ()):
            if own == code:
                return wrapped
        return code

    def filled_by(self, code, foreign):
        if code not in self._filled:
            self._fills.search(foreign)
            self._filled[code] = self._fills.parameters_filled(code.co_name, code.co_firstlineno)
        return self._filled[code]

    def _statement_at(self, line):
        for number, node in enumerate(self._body):
            first = min([node.lineno, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))])
            if first <= line <= (node.end_lineno or first):
                return number
        return None

    def _compiled(self, statement, name, foreign):
        """The codes of all functions in a statement that are other ones with wrapped values."""
        module = ast.Module([*self._imports, statement], [])
        found: dict = {}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                own = compile(module, name, "exec", dont_inherit=True)
                if not wrap(self._fills, statement, foreign):
                    return found
                wrapped = compile(module, name, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):  # such as `return` outside of a function
            return found
        except RecursionError:
            _demand_deep_code()
            return found
        try:
            pairs = list(_pairs(own, wrapped))
        except ValueError:  # equal functions on one line, where codes tell no columns
            return found
        for one, other in pairs:
            if one != other:
                found.setdefault(one.co_firstlineno, []).append((one, other))
        return found


def _imports(node):
    """What a module imports, in whatever statement: a call of a function in an imported module is compiled as such."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            yield child
        elif isinstance(child, (ast.stmt, ast.excepthandler, ast.match_case)) and not isinstance(child, _SCOPES):
            yield from _imports(child)


def _pairs(one, other):
    """The codes in two codes that differ by calls, and by functions that the source has not, in order."""
    for pair in zip(_functions(one), _functions(other), strict=True):
        yield pair
        yield from _pairs(*pair)


def _functions(code):
    return [value for value in code.co_consts if isinstance(value, CodeType) and OWN not in value.co_varnames]
