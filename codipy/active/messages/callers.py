# SPDX-License-Identifier: Apache-2.0
"""Who asked for a plain number: the line, the variable and the function, and why that was not rebuilt, for messages."""

from __future__ import annotations

import ast
import dis
import functools
import linecache
import os
import re
import sys
from pathlib import Path
from types import FunctionType

import numpy as np

from codipy.active.messages.instead import instead_of, is_rebuilt, is_rebuilt_anyhow

__all__ = ["asked_by_users", "frames_of_users", "in_rebound_code", "is_at_operator", "is_of_library", "is_ours",
           "is_storing", "is_users", "place", "refusal", "refused_operand", "refused_out", "runs_recorded",
           "top"]  # fmt: skip

_HERE = Path(__file__).resolve().parents[2]
_RECORDINGS = "recording.py", "problem.py"  # of ours, where drivers run functions
_STDLIB = Path(os.__file__).parent
_STORES = {dis.opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE") if name in dis.opmap}
_FIELD = dis.opmap["STORE_ATTR"]  # of a record array
_FIRST_IN_PLACE, _INDEX = 13, 26  # NB_INPLACE_ADD and NB_SUBSCR, of the arguments of BINARY_OP
_ASYNC = 0x80 | 0x100 | 0x200  # CO_COROUTINE, CO_ITERABLE_COROUTINE, CO_ASYNC_GENERATOR
_OWN_ADVICE = {  # libraries which it is of no use to rebuild
    "pandas": "pandas computes on ndarrays: take `.values` of the Series or DataFrame; where no derivative is wanted, "
              "put `codipy.value(x)` into it",
}  # fmt: skip
_REPLACED = {"eval", "exec", "float", "globals", "isinstance", "sum", "super", "type"}  # of the built-ins
_DATA = (bool, bytes, complex, float, int, str, type(None), np.generic, np.ndarray)
_PRIVATE = re.compile(r"(^|\.)_(?!_call__|_init__)")  # modules and functions that users do not call
_VALUE = "where the derivative is not wanted, say codipy.value(x)"


def refusal(what, instead):
    """What to say of an active value that was to leave as a plain one.

    Parameters
    ----------
    what : str
        What would have been done.
    instead : str
        What to do, where nothing better is known.

    Returns
    -------
    str
        It names the user's line, and the variable that is written to or the library function that asked.
    """
    plain = f"{what} would lose its derivative: {instead}"
    try:
        return _explained(what, instead, list(_frames(sys._getframe(1)))) or plain
    except Exception:  # reads other people's frames and files: what goes wrong here must not hide the error itself
        return plain


def in_rebound_code():
    """Whether rebound code runs here, or has called what runs here.

    Returns
    -------
    bool
        What it prints is to be the text of the plain run.
    """
    # 0.11 us for each function on the stack; a walk that ended before the last would now and then give another text.
    return any(map(_rebinds, _frames(sys._getframe())))


def asked_by_users():
    """Whether rebound code runs here, and what has called codipy is no library that is as it was.

    Returns
    -------
    bool
        What is computed is what that code says, and not what NumPy makes of a list in a library.
    """
    frame = next((frame for frame in _frames(sys._getframe()) if not _is_ours(frame)), None)
    return frame is not None and is_users(frame) and in_rebound_code()


def frames_of_users(frame):
    """The frames from `frame` on outwards that run neither codipy's code nor that of what is installed."""
    return list(filter(is_users, _frames(frame)))


def is_users(frame):
    """Whether a frame runs code of the user's, or of a library that is rebuilt, not codipy's nor what is installed."""
    return not _is_ours(frame) and not _is_installed(frame)


def runs_recorded(frame):
    """Whether the innermost frame of the user's, from `frame` on, is run by a driver, and is not its caller."""
    for found in _frames(frame):
        if _is_ours(found) and os.path.basename(found.f_code.co_filename) in _RECORDINGS:
            return False
        if is_users(found):
            return True
    return False


def _frames(frame):
    while frame is not None:
        yield frame
        frame = frame.f_back


def _explained(what, instead, frames):
    rebinds = any(map(_rebinds, frames))
    frames = [frame for frame in frames if not _is_ours(frame)]
    user = next((k for k, frame in enumerate(frames) if not _is_installed(frame)), None)
    if user is None:
        return None
    if user == 0:
        return _at_users_line(what, instead, frames[0], rebinds)
    library = [frame for frame in frames[:user] if top(frame) != "numpy"]
    if not library:
        return _at_users_line(what, instead, frames[user], rebinds)
    names = [name for name in map(_name, library) if not _PRIVATE.search(name)] or [_name(library[-1])]
    called, outer, package = names[0], names[-1], top(library[0])
    via = f" for {outer}" if outer != called else ""
    lost = f"{what} would lose its derivative, called in {called}{via} ({place(frames[user])})"
    is_ours = "__rebound__" in library[-1].f_builtins
    if (better := instead_of(names, is_ours)) is not None:
        return f"{lost}: write {better}; {_VALUE}"
    if package in _OWN_ADVICE:
        return f"{lost}: {_OWN_ADVICE[package]}"
    if package in sys.stdlib_module_names or called.startswith("scipy.sparse.") or is_ours:
        return f"{lost}: {instead}"
    if not is_rebuilt(names):
        return (f"{lost}: it ends in compiled code, so write it with NumPy's functions, or give it rules, "
                f"codipy.Primitive; {_VALUE}")  # fmt: skip
    return f'{lost}: codipy.rebind(f, modules=["{package}"]) rebuilds what is Python in it; {_VALUE}'


def _rebinds(frame):
    """Whether codipy.rebind runs a function of the user's here: also one with nothing in it to be rebuilt."""
    return "__rebound__" in frame.f_builtins or (frame.f_code.co_name == "rebound" and _is_ours(frame))


def _at_users_line(what, instead, frame, rebinds):
    is_rebound, name = "__rebound__" in frame.f_builtins, _stored_in(frame)
    why = _why_not_rebuilt(frame) if rebinds and not is_rebound else ""
    if name == "":
        return (f"a plain array of NumPy would lose a derivative ({place(frame)}): {why + '; or ' if why else ''}"
                "the source of this code is not known, so that arrays in it are as it makes them: put the code into a "
                "file, or make what is written to an array that can hold active values, `u = codipy.numpy.array(u)`")
    array = "np.array" if is_rebound else "codipy.numpy.array"
    if what.startswith("float()") and ".astype(" in place(frame):
        instead = f"of an array of objects write `{array}(objects, dtype=float)`, which keeps it"
    if name is not None and _kind_of(name, frame) == "codipy.active.array_type.Array":
        name, instead = None, "assign the number itself, not an object of which `__float__` gives it"
    if name is None or (kind := _kind_of(name, frame)) is not None and kind.startswith("scipy.sparse."):
        return f"{what} would lose its derivative ({place(frame)}): {why + '; ' if why else ''}{instead}"
    if what.startswith("complex") and kind != "ndarray":
        return f"`{name}` is an array of complex numbers ({place(frame)}): {instead}"
    if kind not in (None, "ndarray", "structured"):
        return f"`{name}` is of {kind}, which holds plain numbers only, and would lose a derivative ({place(frame)})"
    if kind == "structured":
        return _of_structured(name, array, frame)
    function = _name(frame).rpartition(".")[2]
    given = f", which `{function}` was given," if name in _arguments(frame.f_code) else ""
    return (f"`{name}` is a plain array of NumPy{given} and would lose a derivative ({place(frame)}): "
            f"{why + '; or ' if why else ''}{_cure(name, array, frame)}")


def _of_structured(name, array, frame):
    base = name.partition("[")[0]
    is_local = base in frame.f_code.co_varnames or base in frame.f_code.co_cellvars or "." in base
    return (f"`{base}` is a structured array, which holds plain numbers only ({place(frame)}): keep an array for each "
            f"field, `{base if is_local else 'own'} = {{name: {array}({base}[name]) for name in {base}.dtype.names}}`, "
            "and write to each of them")  # fmt: skip


def refused_out(kind="Array"):
    """What to say of active values that are to be written to a plain array, by ``out=`` or by an operator like ``+=``.

    Parameters
    ----------
    kind : str
        The class of arrays that can hold them.

    Returns
    -------
    str
        It names the line, and of an operator what is written to.
    """
    plain = f"out= is a plain array and would lose the derivative: leave out= away, or make it a codipy.{kind}"
    try:
        frame = next(iter(frames_of_users(sys._getframe(1))), None)
        if frame is None:
            return plain
        if _is_in_place(frame):
            return _at_users_line("", "", frame, any(map(_rebinds, _frames(frame))))
        return plain.replace("array", f"array ({place(frame)})", 1)
    except Exception:  # as in `refusal`
        return plain


def refused_operand(frame):
    """What to say of a list or tuple of active values beside a plain array, of which NumPy would make objects.

    Parameters
    ----------
    frame : frame
        Runs the operator.

    Returns
    -------
    str or None
        It names the line, and the list where that is a variable. None where the array is one of objects.
    """
    plain = "an operator with a plain array of NumPy would make objects of a list of active values: write np.array(...)"
    try:
        if _is_in_place(frame):
            return _at_users_line("", "", frame, any(map(_rebinds, _frames(frame))))
        operands = _operands(frame)
        kinds = [_kind_of(text, frame) for text in operands]
        if "objects" in kinds:
            return None
        lists = [text for text, kind in zip(operands, kinds) if kind in ("builtins.list", "builtins.tuple")]
        name = lists[0] if len(lists) == 1 else ""
        what = f"`{name}`" if name else "a list"
        return (f"{what} holds active values, and beside a plain array NumPy would make an array of objects of it "
                f"({place(frame)}): write `np.array({name or '...'})`")  # fmt: skip
    except Exception:  # as in `refusal`
        return plain


def _operands(frame):
    """Both operands of the operator that a frame runs, as they are written; nothing where that is not one line."""
    if not hasattr(frame.f_code, "co_positions"):
        return []
    first, last, start, end = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    if first is None or first != last or start is None:
        return []
    text = linecache.getline(frame.f_code.co_filename, first, frame.f_globals).encode()[start:end].decode()
    node = ast.parse(text.strip(), mode="eval").body if text else None
    return [ast.unparse(node.left), ast.unparse(node.right)] if isinstance(node, ast.BinOp) else []


def is_at_operator(frame):
    """Whether a frame runs an operator of two operands, in place or not; no comparison and no index."""
    if frame.f_lasti < 0:
        return False
    code = frame.f_code.co_code
    name = dis.opname[code[frame.f_lasti]]
    if name == "BINARY_OP":
        return code[frame.f_lasti + 1] < _INDEX
    return name.startswith(("BINARY_", "INPLACE_")) and name not in ("BINARY_SUBSCR", "BINARY_SLICE")


def is_storing(frame):
    """Whether a frame assigns to an element or to a part, ``a[...] = x``."""
    return frame.f_lasti >= 0 and frame.f_code.co_code[frame.f_lasti] in _STORES


def _is_in_place(frame):
    """Whether a frame runs ``+=`` or its like."""
    if frame.f_lasti < 0:
        return False
    code = frame.f_code.co_code
    name = dis.opname[code[frame.f_lasti]]
    return name.startswith("INPLACE_") or (name == "BINARY_OP" and code[frame.f_lasti + 1] >= _FIRST_IN_PLACE)


def _cure(name, array, frame):
    """How to get an array to fill. Assigning to a name of another function or of the module makes a new variable."""
    code, found = frame.f_code, frame.f_locals.get(name, frame.f_globals.get(name))
    dtype = getattr(found, "dtype", None)
    call = f"{array}({name})"
    if isinstance(dtype, np.dtype) and not dtype.isnative:      # a copy has its byte order
        call = f'{array}({name}, "{dtype.name}")'
    if name in code.co_varnames or name in code.co_cellvars:
        base = getattr(found, "base", None)
        seen = f"what is to be seen in the array that `{name}` is a view of, write there by an index"
        if base is None:
            seen = "it is a copy, which others that have the array do not see"
        return f"make it one that can hold active values, `{name} = {call}`; {seen}"
    if "[" in name and _is_in_place(frame) and _kind_of(name.partition("[")[0], frame) == "builtins.list":
        return f"let the list have one that can hold active values, `{name} = {call}`, before"
    return f"fill one that can hold active values, `own = {call}`"


def _arguments(code):
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _has_what_is_rebuilt(frame):
    """Whether a function names something that could be other in rebound code: else it is run as it is."""
    names = {step.argval for step in dis.get_instructions(frame.f_code) if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    own = [frame.f_globals[name] for name in names & frame.f_globals.keys()]
    own += [frame.f_locals.get(name) for name in frame.f_code.co_freevars]
    return bool(names & _REPLACED) or not all(isinstance(value, _DATA) or _is_variable(value) for value in own)


def _is_variable(value):
    return type(value).__module__.startswith("codipy.active.")


def _why_not_rebuilt(frame):
    """Why a function of the user's is as it was."""
    code, name = frame.f_code, _name(frame).rpartition(".")[2]
    if code.co_flags & _ASYNC:
        reason = "it is a coroutine"
    elif any(step.opname == "DELETE_GLOBAL" for step in dis.get_instructions(code)):
        reason = "it deletes a global"
    elif not _has_what_is_rebuilt(frame) or (frame.f_back is not None and _is_ours(frame.f_back)):
        return ""      # nothing to rebuild, or a driver was given it
    else:
        return (f"codipy.rebind did not reach `{name}`, which was running before or is called by a library: put "
                f"codipy.rebind({name}) there")  # fmt: skip
    return f"codipy.rebind left `{name}` as it is, since {reason}: let it call a function"


def _stored_in(frame):
    """What an element is being assigned to in a frame, as it is written; None where that is not what happens.

    It is an empty text where the source is not known.
    """
    if frame.f_lasti < 0:
        return None
    in_place, code = _is_in_place(frame), frame.f_code.co_code[frame.f_lasti]
    if not in_place and code not in _STORES and code != _FIELD:
        return None
    if not linecache.getline(frame.f_code.co_filename, frame.f_lineno, frame.f_globals):
        return ""
    node = _target(frame)
    if node is None:
        return None
    if in_place:
        return ast.unparse(node)
    written = ast.unparse(node.value)
    return written if code != _FIELD or _kind_of(written, frame) == "structured" else None


def _target(frame):
    """The part of the source that is assigned to: an element, or an attribute; of ``+=`` all that stands before it."""
    code, line = frame.f_code, frame.f_lineno
    if hasattr(code, "co_positions"):
        first, last, start, end = list(code.co_positions())[frame.f_lasti // 2]
        if first is not None and first == last and start is not None:
            text = linecache.getline(code.co_filename, first, frame.f_globals).encode()[start:end].decode()
            return _assigned(ast.parse(text.strip()), ast.Load)
    return _assigned(ast.parse(linecache.getline(code.co_filename, line, frame.f_globals).strip()), ast.Store)


def _assigned(tree, context):
    """The first of what a statement writes to, or of what a target read as an expression is."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign):
            return node.target
        if isinstance(node, (ast.Subscript, ast.Attribute)) and isinstance(node.ctx, context):
            return node
    return None


def _kind_of(name, frame):
    """The class of a variable, if it is found without running code of the user's."""
    first, *rest = name.partition("[")[0].split(".")
    value = frame.f_locals.get(first, frame.f_globals.get(first))
    for attribute in rest:
        value = getattr(value, "__dict__", {}).get(attribute)
    if value is None:
        return None
    kind = type(value)
    if getattr(getattr(value, "dtype", None), "names", None):
        return "structured"
    if kind is np.ndarray and value.dtype.hasobject:
        return "objects"
    if "[" in name and isinstance(value, (list, tuple, dict)):
        return None  # of an item nothing is known
    return "ndarray" if "ndarray" in [base.__name__ for base in kind.__mro__] else f"{kind.__module__}.{kind.__name__}"


def place(frame, number=None):
    """The line that a frame runs, or another of its code, and what it says."""
    number = number or frame.f_lineno
    text = linecache.getline(frame.f_code.co_filename, number, frame.f_globals).strip()
    line = f"{os.path.basename(frame.f_code.co_filename)}:{number}"
    return f"{line}: `{text}`" if text else line


def _name(frame):
    """A function as users call it: without the private modules on the way to it."""
    code, module = frame.f_code, frame.f_globals.get("__name__") or ""
    for cell in code.co_freevars:  # of a decorator's wrapper: the function that it wraps
        wrapped = frame.f_locals.get(cell)
        if type(wrapped) is FunctionType and top(frame) == (wrapped.__module__ or "").partition(".")[0]:
            return _public(wrapped.__module__, wrapped.__name__, wrapped.__qualname__)
    if (name := _method(frame)) is not None:
        return name
    return _public(module, code.co_name, getattr(code, "co_qualname", code.co_name))


def _method(frame):
    """A method as users call it, by the class of the instance, or by its name where that is what users have of it."""
    code = frame.f_code
    owner = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
    kind = owner if isinstance(owner, type) else type(owner)
    if kind.__module__.partition(".")[0] != top(frame) or not any(code.co_name in vars(base) for base in kind.__mro__):
        return None
    module, name = ".".join(kind.__module__.split(".")[:2]), getattr(owner, "name", None)
    if isinstance(name, str) and type(getattr(sys.modules.get(module), name, None)) is kind:
        return f"{module}.{name}.{code.co_name}"  # scipy.stats.norm
    return _public(kind.__module__, kind.__name__, f"{kind.__qualname__}.{code.co_name}")


def _public(module, name, qualified):
    parts, qualified = module.split("."), qualified.replace(".<locals>", "")
    for k in range(1, len(parts) + 1):
        found = getattr(sys.modules.get(".".join(parts[:k])), name, None)
        if getattr(found, "__module__", None) == module:
            return f"{'.'.join(parts[:k])}.{qualified}"
    return f"{module}.{qualified}" if module not in ("", "__main__") else qualified


def top(frame):
    """The package whose code a frame runs."""
    return (frame.f_globals.get("__name__") or "").partition(".")[0]


def _is_ours(frame):
    return is_ours(frame.f_code.co_filename)


@functools.lru_cache(maxsize=4096)
def is_ours(name):
    """Whether a file has code of codipy's, as frames name it: those of extension modules begin with the package."""
    path = Path(name)
    return _HERE in path.parents or path.suffix in (".pxd", ".pyx") and path.parts[0] == _HERE.name


def _is_installed(frame):
    name = frame.f_globals.get("__name__", "")
    if name == "__main__" or "__rebound__" in frame.f_builtins and not is_rebuilt_anyhow(name):
        return False
    return is_of_library(frame.f_code)


def is_of_library(code):
    """Whether code stands in a file of what is installed."""
    return _is_library(code.co_filename)


@functools.lru_cache(maxsize=4096)
def _is_library(name):
    path = Path(name)
    return not {"site-packages", "dist-packages"}.isdisjoint(path.parts) or _STDLIB in path.parents
