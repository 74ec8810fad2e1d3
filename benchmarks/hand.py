# SPDX-License-Identifier: Apache-2.0
"""Tracking of a hand, an objective that benchmarks of derivatives share, written anew from its description.

A pose of 26 numbers moves a skeleton of 22 bones: three for the rotation of the whole hand, as an axis times an angle,
three for where it is, four for each of five fingers: how far it is spread, and three joints that bend. Each vertex of
the skin follows several bones, with weights. The result is how far measured points are from their vertices.
"""
import numpy as np

FINGERS, JOINTS = 5, 4
BONES = 2 + FINGERS * JOINTS    # the whole hand, the wrist, and those of the fingers
PARENTS = [-1, 0] + [1 if k == 0 else 2 + JOINTS * f + k - 1 for f in range(FINGERS) for k in range(JOINTS)]


def rotation_about(axis):
    """Of an axis times its angle, by Rodrigues."""
    angle = np.sqrt(np.sum(axis * axis))
    x, y, z = axis / angle
    sine, cosine = np.sin(angle), np.cos(angle)
    rest = 1.0 - cosine
    return np.array([[x * x * rest + cosine, x * y * rest - z * sine, x * z * rest + y * sine],
                     [x * y * rest + z * sine, y * y * rest + cosine, y * z * rest - x * sine],
                     [x * z * rest - y * sine, y * z * rest + x * sine, z * z * rest + cosine]])


def rotation_of_joint(bend, spread):
    """About x, then about z: four by four."""
    a, b, c, d = np.cos(bend), np.sin(bend), np.cos(spread), np.sin(spread)
    return np.array([[c, -d * a, d * b, 0.0], [d, c * a, -c * b, 0.0], [0.0, b, a, 0.0], [0.0, 0.0, 0.0, 1.0]])


def transformations(pose, relatives, inverses):
    """What moves each bone's vertices from where they rest."""
    whole = np.zeros((4, 4))
    whole[:3, :3] = rotation_about(pose[:3])
    whole[:3, 3] = pose[3:6]
    whole[3, 3] = 1.0
    absolutes = [whole]
    for bone in range(1, BONES):
        own = absolutes[PARENTS[bone]] @ relatives[bone]
        if bone > 1:
            finger, joint = divmod(bone - 2, JOINTS)
            at = 6 + JOINTS * finger
            own = own if joint == 0 else own @ rotation_of_joint(pose[at + joint], pose[at] if joint == 1 else 0.0)
        absolutes.append(own)
    return np.stack([absolute @ inverse for absolute, inverse in zip(absolutes, inverses)])


def distances(pose, relatives, inverses, vertices, weights, pairs, points):
    """Of the points from their vertices."""
    moved = transformations(pose, relatives, inverses)[:, :3] @ vertices         # bones x 3 x vertices
    skin = np.sum(moved * weights[:, None, :], axis=0)
    return points - skin[:, pairs]


def hand(vertices=544, points=100, seed=2):
    """A pose, and a hand that it moves."""
    draw = np.random.default_rng(seed)
    relatives = np.tile(np.eye(4), (BONES, 1, 1))
    relatives[:, :3, 3] = 0.3 * draw.standard_normal((BONES, 3))
    absolutes = [np.eye(4)]
    for bone in range(1, BONES):
        absolutes.append(absolutes[PARENTS[bone]] @ relatives[bone])
    weights = draw.random((BONES, vertices)) ** 8
    resting = np.concatenate([draw.standard_normal((3, vertices)), np.ones((1, vertices))])
    return (0.1 + 0.2 * draw.random(6 + FINGERS * JOINTS), relatives, np.linalg.inv(np.stack(absolutes)), resting,
            weights / weights.sum(0), draw.integers(0, vertices, points), draw.standard_normal((3, points)))
