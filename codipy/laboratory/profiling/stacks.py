# SPDX-License-Identifier: Apache-2.0
"""Call paths with weights, for programs that draw flame graphs."""
from __future__ import annotations

import os

__all__ = ["WEIGHTS", "collapsed", "speedscope"]

# Title, unit of speedscope, and the weight of Sums as a whole number.
WEIGHTS = {
    "bytes": ("bytes on the tape", "bytes", lambda sums: sums.bytes),
    "record": ("time of recording", "microseconds", lambda sums: round(1e6 * sums.record)),
    "reverse": ("time of the reverse sweep", "microseconds", lambda sums: round(1e6 * sums.reverse)),
}


def collapsed(profile, weight):
    """One line for each call path; of bytes what belongs to no line too, so that all sums to the tape's."""
    _, _, weigh = WEIGHTS[weight]
    lines = [(";".join(map(_named, path)), weigh(sums)) for path, sums in profile.stacks()]
    if weight == "bytes":
        lines += [(f"the tape;{title}", amount.used) for title, amount in profile.whole.items()]
    return "\n".join(f"{path} {number}" for path, number in lines if number)


def _named(frame):
    function, file, line = frame
    return f"{function} ({os.path.basename(file)}:{line})".replace(";", ",") if file else function


def speedscope(profile):
    """A file of speedscope's own format, with a profile for each weight."""
    numbers, frames = {}, []

    def number(frame):
        if frame not in numbers:
            numbers[frame] = len(frames)
            frames.append({"name": frame[0], **({"file": frame[1], "line": frame[2]} if frame[1] else {})})
        return numbers[frame]

    stacks = [([number(frame) for frame in path], sums) for path, sums in profile.stacks()]
    profiles = []
    for weight, (title, unit, weigh) in WEIGHTS.items():
        samples = [(path, weigh(sums)) for path, sums in stacks if weigh(sums)]
        if weight == "bytes":
            samples += [([number(("the tape", "", 0)), number((name, "", 0))], amount.used)
                        for name, amount in profile.whole.items() if amount.used]
        profiles.append({"type": "sampled", "name": title, "unit": unit, "startValue": 0,
                         "endValue": sum(size for _, size in samples), "samples": [path for path, _ in samples],
                         "weights": [size for _, size in samples]})
    return {"$schema": "https://www.speedscope.app/file-format-schema.json", "name": profile.function or "profile",
            "exporter": "codipy", "activeProfileIndex": 0, "shared": {"frames": frames}, "profiles": profiles}
