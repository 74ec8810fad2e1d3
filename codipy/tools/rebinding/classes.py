# SPDX-License-Identifier: Apache-2.0
"""Twins of the user's classes: subclasses with rebuilt methods, and instances seen through them.

The twin T' of a class T derives from T and from the twins of T's bases, in this order, so the methods of an instance
are found in T', T, B', B, ...: T' has all methods of T rebuilt, and the original `super()` of T leads on to B'.
``isinstance(x, T')`` holds for instances of T, too. Class attributes are T's own, and setting one sets T's.

An instance of T that rebound code finds is seen as one of T' with the same ``__dict__``: what either sets, both have,
and slots beside it are those of the instance. That is not possible for instances without a ``__dict__`` or with data of
a built-in class, and a ``__del__`` would run for what is only looked through: these are left alone, as are classes with
a metaclass of their own, exceptions and enumerations. Their methods are diverted, see `opaque.py`.

Who lists ``T.__subclasses__()`` outside sees T'.

Rejected: copies of classes instead of subclasses, of which no instance would be one of T for anybody else; setting
``__class__`` of instances, which other threads would see.
"""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import functools
import inspect
import weakref
from operator import is_not
from types import FunctionType, MemberDescriptorType

from codipy.numpy.standins import STANDINS, pass_for
from codipy.tools.rebinding.ancestry import origin_of
from codipy.tools.rebinding.hooks import gives_plain
from codipy.tools.rebinding.overloads import Overloaded
from codipy.tools.rebinding.replacements import guarded
from codipy.tools.rebinding.unit import ClassUnit, Seen, Unit
from codipy.tools.rebinding.view import ATOMS

__all__ = ["Twins", "can_be_seen_through"]

_HEAP_TYPE = 1 << 9
_FOREIGN = {"builtins", "typing", "abc"}
_ORIGIN, _TRANSLATE = "__codipy_origin__", "__codipy_translate__"
_ANNOTATIONS = {"__annotations__", "__annotate_func__", "__annotations_cache__"}  # from Python 3.14 on the latter two
_OWN = _ANNOTATIONS | {"__parameters__", "__type_params__"}  # of a class alone, which no subclass inherits
_METHODS = (FunctionType, staticmethod, classmethod, property, functools.cached_property,
            functools.partialmethod, functools.singledispatchmethod)  # fmt: skip
_KEPT = {"__class_getitem__", "__init_subclass__", "__getstate__", "__setstate__", "__reduce__", "__reduce_ex__",
         "__class__"}  # of a proxy


class _TwinMeta(type):
    """What makes a twin pass for its original. Classes that rebound code derives from twins are ordinary ones."""

    def __instancecheck__(cls, instance):
        origin = vars(cls).get(_ORIGIN)
        return super().__instancecheck__(instance) if origin is None else isinstance(instance, origin)

    def __subclasscheck__(cls, subclass):
        origin = vars(cls).get(_ORIGIN)
        if origin is None:
            return super().__subclasscheck__(subclass)
        return type.__subclasscheck__(origin, subclass)  # an abstract original asks its subclasses, of which we are one

    def __subclasses__(cls):
        origin = vars(cls).get(_ORIGIN)
        if origin is None:
            return super().__subclasses__()
        found = [each for each in type.__subclasses__(origin) if _ORIGIN not in vars(each)]
        return [vars(cls)[_TRANSLATE](each) for each in found]

    def __eq__(cls, other):
        # A table keyed by classes has the originals for keys. Not of generic classes: `typing` has tables of its own,
        # by which `Box[float]` of the twin would be that of the original.
        origin = vars(cls).get(_ORIGIN)
        return cls is other or (origin is not None and origin is other and not hasattr(origin, "__parameters__"))

    def __hash__(cls):
        origin = vars(cls).get(_ORIGIN, cls)
        return type.__hash__(cls if hasattr(origin, "__parameters__") else origin)

    def __setattr__(cls, name, value):
        origin = vars(cls).get(_ORIGIN)
        if origin is None:
            return super().__setattr__(name, value)
        if name in vars(cls):  # a method was replaced: the twin is made anew when rebound code is entered next
            super().__delattr__(name)
        rebinder = vars(cls)[_TRANSLATE].__self__
        original = rebinder.original_of_member(value)
        setattr(origin, name, original)  # the class is everybody's
        if original is not value:
            super().__setattr__(name, value)
            rebinder.opaque.divert_if_recorded(getattr(original, "__func__", original))

    def __delattr__(cls, name):
        origin = vars(cls).get(_ORIGIN)
        if origin is None or name in vars(cls):
            super().__delattr__(name)
        if origin is not None:
            delattr(origin, name)


class _AbstractTwinMeta(_TwinMeta, abc.ABCMeta):
    """The same for abstract classes."""


pass_for(_TwinMeta, STANDINS[type])  # the class of a class
pass_for(_AbstractTwinMeta, abc.ABCMeta)


class _Attribute:
    """An attribute of an instance that holds something to be translated whenever it is read."""

    def __init__(self, name, twin, rebinder):
        self.name, self.twin, self.rebinder = name, twin, rebinder

    def __get__(self, instance, owner):
        if instance is None:
            return getattr(origin_of(self.twin), self.name)
        try:
            value = vars(instance)[self.name]
        except KeyError:
            return getattr(super(self.twin, instance), self.name)
        return self.rebinder.at_run_time(value)

    def __set__(self, instance, value):
        vars(instance)[self.name] = self.rebinder.original_of(value)

    def __delete__(self, instance):
        try:
            del vars(instance)[self.name]
        except KeyError:
            raise AttributeError(self.name) from None


class _Slot:
    """A slot of an instance that is seen through a twin: what either sets, both have."""

    def __init__(self, original, twins):
        self.original, self.twins = original, twins

    def __get__(self, instance, owner):
        if instance is None:
            return self.original
        return self.twins.rebinder.at_run_time(self.original.__get__(self.twins.original_of(instance), owner))

    def __set__(self, instance, value):
        for each in self._both(instance):
            self.original.__set__(each, value)

    def __delete__(self, instance):
        for each in self._both(instance):
            self.original.__delete__(each)

    def _both(self, instance):
        seen_through = self.twins.original_of(instance)
        return (instance,) if seen_through is instance else (instance, seen_through)


class Twins:
    """The twins of one rebinder."""

    def __init__(self, rebinder):
        self.rebinder, self._seen = rebinder, weakref.WeakValueDictionary()
        self._originals, self._references = {}, {}
        self.met = None  # a dict of units by address while arguments are translated: of classes that are left alone

    def of_class(self, cls):
        """The unit of a class, whose `new` is the class itself if no method needs to be rebuilt; None for others'."""
        if _ORIGIN in vars(cls) or not self.rebinder.scope.owns_class(cls) or not _can_be_derived(cls):
            return None
        held = Unit()
        twins = [self.rebinder.translate(base, held) for base in cls.__bases__]
        known = self.rebinder.known(cls)  # a method of a base may have asked for it
        if known is not None:
            return known
        bases = [twin for twin, base in zip(twins, cls.__bases__) if twin is not base and _ORIGIN in vars(twin)]
        meta = _AbstractTwinMeta if isinstance(cls, abc.ABCMeta) else _TwinMeta
        members = {"__slots__": (), "__doc__": cls.__doc__}
        members |= {"__module__": cls.__module__, "__qualname__": cls.__qualname__}
        if cls.__eq__ is object.__eq__ and cls.__hash__ is object.__hash__ and _has_only_a_dict(cls):
            members |= {"__eq__": _same, "__hash__": self._hashing()}
        elif dataclasses.is_dataclass(cls) and cls.__dataclass_params__.eq and "__eq__" in vars(cls):
            members |= {"__eq__": _equal_fields, "__hash__": cls.__hash__}
        twin = _derived(meta, cls, bases, members)
        for name in _OWN & vars(cls).keys():
            type.__setattr__(twin, name, vars(cls)[name])
        type.__setattr__(twin, _TRANSLATE, self.rebinder.at_run_time)
        type.__setattr__(twin, _ORIGIN, cls)  # not before: what is set by now is the twin's own
        unit = ClassUnit(cls, twin)
        unit.links = held.links
        self.rebinder.remember(cls, unit)  # before its methods are translated, which may refer to it
        changed, watched = bool(bases), {}
        for name, slot in _slots_of(cls):
            type.__setattr__(twin, name, _Slot(slot, self))
        for name, value in list(vars(cls).items()):
            is_data = type(value) in ATOMS or (name.startswith("__") and not _is_method(value))
            if name in _KEPT or name in _OWN or name in members or is_data:
                continue
            watched[name] = value
            rebuilt = guarded(value, gives_plain(name, self._member(value, unit)))
            if name in ("__array_ufunc__", "__array_function__") and type(value) is FunctionType:
                rebuilt = _asked(rebuilt, self.rebinder.at_run_time)
            if rebuilt is not value:
                changed = True
                if hasattr(rebuilt, "__set_name__"):
                    rebuilt.__set_name__(unit.twin, name)
                type.__setattr__(unit.twin, name, rebuilt)
        unit.watch.set(watched.keys(), watched.values())
        others = [name for name in vars(cls).keys() - watched.keys() if not name.startswith("__")]
        if others:  # numbers, sets: the class has them, and what comes in their place
            cover = functools.partial(_values_but_of, cls, others)
            unit.opening = self.rebinder.opaque.look(cls, unit, cover)
        if not changed and not unit.taken:
            unit.new = cls
        return unit

    def _member(self, value, unit):
        """A method or the like with its functions rebuilt."""
        translate = self.rebinder.translate
        if isinstance(value, (staticmethod, classmethod)):
            f = translate(value.__func__, unit)
            return value if f is value.__func__ else type(value)(f)
        if type(value) is property:
            parts = value.fget, value.fset, value.fdel
            rebuilt = [translate(part, unit) for part in parts]
            return property(*rebuilt, value.__doc__) if any(map(is_not, rebuilt, parts)) else value
        if type(value) is functools.cached_property:
            f = translate(value.func, unit)
            return value if f is value.func else functools.cached_property(f)
        if type(value) is functools.partialmethod:
            f = translate(value.func, unit)
            return value if f is value.func else functools.partialmethod(f, *value.args, **value.keywords)
        if type(value) is functools.singledispatchmethod:
            return Overloaded(value, self.rebinder)
        return translate(value, unit)

    def of_instance(self, instance):
        """The unit of an instance of a user's class seen through the twin; None if it is left alone."""
        cls = type(instance)
        if not can_be_seen_through(cls):
            return None
        class_unit = self.rebinder.known(cls)
        if class_unit is None:
            held = Unit()  # the unit of a class lives as long as something is linked to it
            self.rebinder.translate(cls, held)
            class_unit = self.rebinder.known(cls)
        if class_unit is None:
            return None
        attributes = self._translated(vars(instance), class_unit.twin)
        if class_unit.new is cls and not attributes:
            if self.met is not None:
                self.met[id(class_unit)] = class_unit
            return None
        seen = self._seen.get(id(vars(instance)))  # which it keeps: `is` holds as long as somebody has it
        if type(seen) is not class_unit.twin:
            seen = object.__new__(class_unit.twin)
            object.__setattr__(seen, "__dict__", vars(instance))
            _copy_slots(cls, instance, seen)  # for as long as it outlives the instance
            with contextlib.suppress(TypeError):  # there are no weak references to it
                self._seen[id(vars(instance))] = seen
                self._keep(instance, seen)
        unit = Seen(seen, self.rebinder.opaque)
        unit.links.append(class_unit)
        self.rebinder.remember(instance, unit)
        cover = functools.partial(self._translated, vars(instance), class_unit.twin)
        unit.opening = self.rebinder.opaque.look(vars(instance), unit, cover)
        with contextlib.suppress(TypeError):  # there are no weak references to it
            unit.opening.whose = weakref.ref(instance), cls
        return unit

    def _translated(self, variables, twin):
        """The values of attributes that are translated whenever they are read, from now on through `twin`."""
        found = []
        for name, value in list(variables.items()):
            if self.rebinder.leads_on(value):
                if type(name) is str and not isinstance(vars(twin).get(name), (_Attribute, property)):
                    type.__setattr__(twin, name, _Attribute(name, twin, self.rebinder))
                if type(vars(twin).get(name)) is _Attribute:
                    found.append(value)
        return found

    def _keep(self, instance, seen):
        """Know the instance for as long as something is seen of it, which keeps its attributes anyhow."""
        key = id(vars(instance))

        def forget(reference):
            if self._references.get(key) is reference:
                del self._references[key], self._originals[key]

        self._originals[key], self._references[key] = instance, weakref.ref(seen, forget)

    def _hashing(self):
        """A ``__hash__``: what is seen of an instance has that of the instance, which may be a key already."""
        return lambda seen: object.__hash__(self.original_of(seen))

    def original_of(self, seen):
        """The instance that is seen through a twin; `seen` itself if it was made of the twin."""
        variables = getattr(seen, "__dict__", None)
        original = self._originals.get(id(variables))
        return original if original is not None and vars(original) is variables else seen


def _asked(method, translate):
    """An ``__array_ufunc__`` or ``__array_function__`` that is told of the function as rebuilt code knows it.

    ``ufunc is np.add`` is true there, too.
    """

    @functools.wraps(method)
    def ask(self, function, *args, **kwargs):
        return method(self, translate(function), *args, **kwargs)

    return ask


def _values_but_of(cls, names):
    return [value for name, value in list(vars(cls).items()) if name not in names]


def _same(self, other):
    """Equality by identity, of instances of which more than one view may exist."""
    return True if getattr(other, "__dict__", None) is vars(self) else NotImplemented


def _equal_fields(self, other):
    """What `dataclass` writes, for twins and originals alike."""
    if origin_of(type(other)) is not origin_of(type(self)):
        return NotImplemented
    names = [field.name for field in dataclasses.fields(self) if field.compare]
    return tuple(getattr(self, name) for name in names) == tuple(getattr(other, name) for name in names)


def _is_method(value):
    return isinstance(value, _METHODS) or hasattr(value, "cache_parameters")


def can_be_seen_through(cls):
    """Whether instances of a class are seen through a twin, if they are the user's."""
    return bool(cls.__flags__ & _HEAP_TYPE) and _can_be_seen(cls) and not hasattr(cls, "__del__") and (
        _can_be_derived(cls))  # fmt: skip


def _can_be_derived(cls):
    """Whether nothing of the user's runs, and nothing is entered anywhere, when a subclass is made."""
    return type(cls) in (type, abc.ABCMeta) and not issubclass(cls, BaseException)


def _derived(meta, cls, bases, members):
    """A subclass, of which an ``__init_subclass__`` of the user's hears nothing."""
    if not any("__init_subclass__" in vars(base) and base.__module__ not in _FOREIGN for base in cls.__mro__):
        return meta(cls.__name__, (cls, *bases), members)
    made = []

    class Shield:
        """Stands before the class in the order of methods; what is derived from the twin later is heard of."""

        __slots__ = ()

        def __init_subclass__(cls, **options):
            if made:
                super().__init_subclass__(**options)

    made.append(meta(cls.__name__, (Shield, cls, *bases), members))
    return made[0]


def _slots_of(cls):
    """The names of the slots that a class or its bases have, and what reads them."""
    if not _can_be_seen(cls):
        return
    for base in cls.__mro__[:-1]:
        for name, value in list(vars(base).items()):
            if type(value) is MemberDescriptorType and inspect.getattr_static(cls, name) is value:
                yield name, value


def _copy_slots(cls, instance, seen):
    for _, slot in _slots_of(cls):
        with contextlib.suppress(AttributeError):  # nothing is in it
            slot.__set__(seen, slot.__get__(instance))


def _can_be_seen(cls):
    """Whether all that an instance holds is in its ``__dict__`` and in slots."""
    return cls.__dictoffset__ != 0 and all(base.__flags__ & _HEAP_TYPE for base in cls.__mro__[:-1])


def _has_only_a_dict(cls):
    """Whether all that an instance holds is in its ``__dict__``."""
    for base in cls.__mro__[:-1]:
        slots = vars(base).get("__slots__", ())
        slots = (slots,) if isinstance(slots, str) else slots
        if not base.__flags__ & _HEAP_TYPE or not {"__dict__", "__weakref__"}.issuperset(slots):
            return False
    return cls.__dictoffset__ != 0
