# SPDX-License-Identifier: Apache-2.0
"""``scipy.spatial.transform`` as `codipy.scipy` and rebound code have it: `Rotation` and `Slerp` of active values.

SciPy computes the quaternions of every step, to its last bit; the derivatives are those of the formulas in
`quaternions`. Rejected: to rebuild SciPy's class, which is Python from 1.17 on alone, and ends in compiled loops.
"""

from __future__ import annotations

import functools

import numpy as np
import scipy.spatial.transform

from codipy.active.array import Array
from codipy.active.array import plain as value_of
from codipy.numpy.allocation import as_numbers
from codipy.numpy.arguments import holds_active, refuse, value_tree
from codipy.numpy.decisions import decision, keep
from codipy.numpy.modules import module_for
from codipy.scipy import quaternions
from codipy.scipy.kernels.exact import with_values_of

__all__ = ["FUNCTIONS", "STANDINS", "Rotation", "Slerp", "transform"]

_ORIGINAL, _SLERP = scipy.spatial.transform.Rotation, scipy.spatial.transform.Slerp


def _refuse(name, instead):
    refuse(f"scipy.spatial.transform.{name}", instead)


def _raw(q):
    """SciPy's, of quaternions as they are."""
    return _ORIGINAL(np.array(q, float), normalize=False)


def _own(*args):
    """Plain copies: SciPy's loops ask for arrays that they could write to."""
    return [np.array(x) if isinstance(x, np.ndarray) else x for x in value_tree(list(args))]


def _made(x):
    return x._plain() if isinstance(x, Rotation) else x


def _angles(angles, seq, degrees):
    """With an axis for the letters of `seq`, in radians."""
    angles = as_numbers(angles)
    if len(seq) == 1 and not (angles.ndim and angles.shape[-1] == 1 and angles.ndim > 1):
        angles = angles[..., None]
    return angles * (np.pi / 180) if degrees else angles


def _kept_quaternion(name, run, operands, formula):
    exact = run(*map(np.array, value_tree(list(operands))))
    formula = np.reshape(formula, np.shape(exact))
    found = with_values_of(f"Rotation.{name}", run, operands, quaternions.aligned(formula, exact))
    keep(quaternions.OPPOSITE, (formula, found))
    return Rotation._of(found)


def _order(times, knots):
    return (np.searchsorted(knots, times),)


_ORDER = decision("scipy.spatial.transform intervals", _order)


class Rotation:
    """What stands for SciPy's class: itself where nothing is active."""

    def __init__(self, quat, normalize=True, copy=True, scalar_first=False):
        made = _ORIGINAL(*_own(quat), normalize=normalize, copy=copy, scalar_first=scalar_first)
        self._rotation, self._q = made, None
        if holds_active((quat,)):
            own = as_numbers(quat)
            own = np.roll(own, -1, axis=-1) if scalar_first else own
            self._q = Rotation.from_quat(own)._q if normalize else own
            self._rotation = None

    @property  # type: ignore[misc]
    def __class__(self):
        return _ORIGINAL

    @classmethod
    def _of(cls, q):
        """Of quaternions, or of a rotation of SciPy's."""
        new = cls.__new__(cls)
        is_ours = type(q) is Array and q.is_active
        new._rotation, new._q = (None, q) if is_ours else (q if isinstance(q, _ORIGINAL) else _raw(value_of(q)), None)
        return new

    def _plain(self):
        return self._rotation if self._q is None else _raw(value_of(self._q))

    def _quaternion(self):
        return self._rotation.as_quat() if self._q is None else self._q

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if self._q is not None and name not in ("single", "shape"):
            _refuse(f"Rotation.{name}", "of active values there is no derivative: say codipy.value of its values")
        return getattr(self._plain(), name)

    # Made of other things.

    @staticmethod
    def from_quat(quat, *, scalar_first=False):
        """Of quaternions, which are normalised."""
        if not holds_active((quat,)):
            return Rotation._of(_ORIGINAL.from_quat(*_own(quat), scalar_first=scalar_first))
        quat = as_numbers(quat)
        own = np.roll(quat, -1, axis=-1) if scalar_first else quat
        return _kept_quaternion("from_quat", lambda q: _ORIGINAL.from_quat(q, scalar_first=scalar_first).as_quat(),
                                (quat,), quaternions.normalised(own))  # fmt: skip

    @staticmethod
    def from_matrix(matrix, **options):
        """Of matrices, of the nearest rotations to them."""
        if not holds_active((matrix,)):
            return Rotation._of(_ORIGINAL.from_matrix(*_own(matrix), **options))
        matrix = as_numbers(matrix)
        return _kept_quaternion("from_matrix", lambda m: _ORIGINAL.from_matrix(m, **options).as_quat(), (matrix,),
                                quaternions.from_matrix(matrix, options.get("assume_valid", False)))  # fmt: skip

    @staticmethod
    def from_rotvec(rotvec, degrees=False):
        """Of vectors along the axis, as long as the angle."""
        if not holds_active((rotvec,)):
            return Rotation._of(_ORIGINAL.from_rotvec(*_own(rotvec), degrees=degrees))
        rotvec = as_numbers(rotvec)
        formula = quaternions.from_rotvec(rotvec * (np.pi / 180) if degrees else rotvec)
        return _kept_quaternion("from_rotvec", lambda v: _ORIGINAL.from_rotvec(v, degrees=degrees).as_quat(), (rotvec,),
                                formula)  # fmt: skip

    @staticmethod
    def from_mrp(mrp):
        """Of modified Rodrigues parameters."""
        if not holds_active((mrp,)):
            return Rotation._of(_ORIGINAL.from_mrp(*_own(mrp)))
        mrp = as_numbers(mrp)
        return _kept_quaternion("from_mrp", lambda p: _ORIGINAL.from_mrp(p).as_quat(), (mrp,),
                                quaternions.from_mrp(mrp))  # fmt: skip

    @staticmethod
    def from_euler(seq, angles, degrees=False):
        """Of angles about axes."""
        if not holds_active((angles,)):
            return Rotation._of(_ORIGINAL.from_euler(seq, *_own(angles), degrees=degrees))
        angles = as_numbers(angles)
        return _kept_quaternion("from_euler", lambda a: _ORIGINAL.from_euler(seq, a, degrees=degrees).as_quat(),
                                (angles,), quaternions.from_euler(seq, _angles(angles, seq, degrees)))  # fmt: skip

    @staticmethod
    def concatenate(rotations):
        """One after another."""
        if isinstance(rotations, Rotation):
            return rotations
        rotations = [x if type(x) is Rotation else Rotation._of(x) for x in rotations]
        if all(x._q is None for x in rotations):
            return Rotation._of(_ORIGINAL.concatenate([x._rotation for x in rotations]))
        return Rotation._of(np.concatenate([np.atleast_2d(as_numbers(x._quaternion())) for x in rotations]))

    # Other things of it.

    def _given(self, name, args, formula):
        run = functools.partial(_called, name=name, args=args)
        return with_values_of(f"Rotation.{name}", run, (self._q,), formula(self._q))

    def as_quat(self, canonical=False, *, scalar_first=False):
        """Quaternions."""
        if self._q is None:
            return self._rotation.as_quat(canonical, scalar_first=scalar_first)
        signs = 1.0
        if canonical:
            signs = np.where(np.sum(self._plain().as_quat() * self._plain().as_quat(canonical=True), axis=-1) < 0, -1.0,
                             1.0)[..., None]  # fmt: skip
            keep(_SIGNS, (self._q,))
        found = self._q * signs
        return np.roll(found, 1, axis=-1) if scalar_first else found

    def as_matrix(self):
        """Matrices."""
        return self._rotation.as_matrix() if self._q is None else self._given("as_matrix", (), quaternions.to_matrix)

    def as_rotvec(self, degrees=False):
        """Vectors along the axis, as long as the angle."""
        if self._q is None:
            return self._rotation.as_rotvec(degrees)
        factor = 180 / np.pi if degrees else 1.0
        return self._given("as_rotvec", (degrees,), lambda q: quaternions.to_rotvec(q) * factor)

    def as_mrp(self):
        """Modified Rodrigues parameters."""
        return self._rotation.as_mrp() if self._q is None else self._given("as_mrp", (), quaternions.to_mrp)

    def as_euler(self, seq, degrees=False, **options):
        """Angles about axes."""
        if self._q is None:
            return self._rotation.as_euler(seq, degrees, **options)
        exact, factor = self._plain().as_euler(seq, **options), 180 / np.pi if degrees else 1.0
        formula = quaternions.to_euler(self._q, seq, exact)
        found = self._given("as_euler", (seq, degrees), lambda q: formula * factor)
        keep(quaternions.JUMPED, (formula, found / factor))
        return found

    def magnitude(self):
        """Angles."""
        return self._rotation.magnitude() if self._q is None else self._given("magnitude", (), quaternions.magnitude)

    def apply(self, vectors, inverse=False):
        """Rotate vectors."""
        if self._q is None and not holds_active((vectors,)):
            return self._rotation.apply(*_own(vectors), inverse=inverse)
        operands = q, vectors = as_numbers(self._quaternion()), as_numbers(vectors)
        matrices = quaternions.to_matrix(q)
        matrices = np.swapaxes(matrices, -1, -2) if inverse else matrices
        return with_values_of("Rotation.apply", lambda q, vectors: _raw(q).apply(vectors, inverse), operands,
                              np.sum(matrices * vectors[..., None, :], axis=-1))  # fmt: skip

    def _with(self, name, operands, formula, function):
        def run(*plain):
            return function(*map(_raw, plain)).as_quat()

        return _kept_quaternion(name, run, operands, formula(*operands))

    def __mul__(self, other):
        if not isinstance(other, _ORIGINAL):
            return NotImplemented
        other = other if type(other) is Rotation else Rotation._of(other)
        if self._q is None and other._q is None:
            return Rotation._of(self._rotation * other._rotation)
        operands = as_numbers(self._quaternion()), as_numbers(other._quaternion())
        return self._with("__mul__", operands, quaternions.composed, lambda p, q: p * q)

    def __rmul__(self, other):
        return Rotation._of(other) * self if isinstance(other, _ORIGINAL) else NotImplemented

    def __pow__(self, n, modulus=None):
        if holds_active((n,)):
            _refuse("Rotation.__pow__", "write Rotation.from_rotvec(n * r.as_rotvec()) for an active exponent")
        if self._q is None:
            return Rotation._of(pow(self._rotation, value_of(n), modulus))
        return self._with("__pow__", (self._q,), lambda q: quaternions.from_rotvec(n * quaternions.to_rotvec(q)),
                          lambda r: pow(r, n, modulus))  # fmt: skip

    def inv(self):
        """The rotation back."""
        if self._q is None:
            return Rotation._of(self._rotation.inv())
        return self._with("inv", (self._q,), lambda q: q * np.array([-1.0, -1.0, -1.0, 1.0]), lambda r: r.inv())

    def mean(self, weights=None, **options):
        """That which is nearest to all."""
        if self._q is None and not holds_active((weights,)):
            return Rotation._of(self._rotation.mean(*_own(weights), **options))
        if options.get("axis") is not None:
            _refuse("Rotation.mean", "of active values it is the mean of all: leave axis= out")
        q = as_numbers(self._quaternion())
        operands = q, np.ones(q.size // 4) if weights is None else as_numbers(weights)
        return _kept_quaternion("mean", lambda q, w: _raw(q).mean(w).as_quat(), operands, quaternions.mean(*operands))

    def approx_equal(self, other, *args, **kwargs):
        """Whether rotations are near each other now."""
        return self._plain().approx_equal(_made(other), *args, **kwargs)

    def __getitem__(self, indexer):
        if self._q is None:
            return Rotation._of(self._rotation[indexer])
        self._plain()[indexer]      # raises what SciPy does
        return Rotation._of(self._q[indexer])

    def __setitem__(self, indexer, value):
        if self._q is None and getattr(value, "_q", None) is None:
            self._rotation[indexer] = _made(value)
        else:
            _refuse("Rotation.__setitem__", "take Rotation.concatenate of the parts for active ones")

    def __len__(self):
        return len(self._plain())

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    def __bool__(self):
        return True

    def __repr__(self):
        return repr(self._plain())


def _called(q, *, name, args):
    return getattr(_raw(q), name)(*args)


def _signs(q):
    return (np.sign(np.sum(_raw(q).as_quat() * _raw(q).as_quat(canonical=True), axis=-1)),)


_SIGNS = decision("scipy.spatial.transform signs", _signs)


def _of_scipy(name):
    """What has no derivative, and makes rotations."""
    original = getattr(_ORIGINAL, name)

    @functools.wraps(original)
    def function(*args, **kwargs):
        if holds_active(args) or holds_active(kwargs):
            _refuse(f"Rotation.{name}", "of active values there is no derivative: take from_rotvec or from_euler")
        found = original(*_own(*map(_made, args)), **value_tree(kwargs))
        if isinstance(found, tuple):
            return tuple(Rotation._of(x) if isinstance(x, _ORIGINAL) else x for x in found)
        return Rotation._of(found)

    return staticmethod(function)


for _name in ("align_vectors", "create_group", "from_davenport", "identity", "random"):
    if hasattr(_ORIGINAL, _name):
        setattr(Rotation, _name, _of_scipy(_name))


class Slerp:
    """Between rotations, along the shortest way; by times too."""

    def __init__(self, times, rotations):
        self._times, self._rotations = times, rotations if type(rotations) is Rotation else Rotation._of(rotations)
        self._made = _SLERP(*_own(times), self._rotations._plain())

    @property  # type: ignore[misc]
    def __class__(self):
        return _SLERP

    @classmethod
    def of(cls, made):
        """Of what SciPy has made, which does not know the last of its rotations."""
        new = cls.__new__(cls)
        last = made.rotations[-1] * _ORIGINAL.from_rotvec(made.rotvecs[-1])
        new._made, new._times = made, made.times
        new._rotations = Rotation._of(_ORIGINAL.concatenate([made.rotations, last]))
        return new

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        if holds_active((self._times, self._rotations._q)):
            _refuse(f"Slerp.{name}", "of active values there is no derivative: take what it was made of")
        return getattr(self._made, name)

    def __call__(self, times):
        own = self._rotations._q
        if not holds_active((times, self._times, own)):
            return Rotation._of(self._made(*_own(times)))
        knots, at, q = as_numbers(self._times), as_numbers(times), as_numbers(self._rotations._quaternion())
        keep(_ORDER, (at, knots))
        place = np.clip(np.searchsorted(value_of(knots), value_of(at)) - 1, 0, len(value_of(knots)) - 2)
        share = (at - knots[place]) / (knots[place + 1] - knots[place])
        back = q[place] * np.array([-1.0, -1.0, -1.0, 1.0])
        turn = quaternions.to_rotvec(quaternions.composed(back, q[place + 1]))
        formula = quaternions.composed(q[place], quaternions.from_rotvec(turn * share[..., None]))
        made = self._made

        def run(q, knots, at):
            same = own is None and not holds_active((self._times,))
            return (made if same else _SLERP(knots, _raw(q)))(at).as_quat()

        return _kept_quaternion("Slerp", run, (q, knots, at), formula)


FUNCTIONS = {"Rotation": Rotation, "Slerp": Slerp}
STANDINS = {_ORIGINAL: Rotation._of, _SLERP: Slerp.of}
transform = module_for(scipy.spatial.transform, FUNCTIONS)
