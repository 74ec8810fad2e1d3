# SPDX-License-Identifier: Apache-2.0
"""Random programs of floats, some statements of which stand in a function that is called twice."""

import math
import random


class Scalars:
    """A random program of three floats, as text.

    The inner function takes some variables and sees all others, and gives back those that are read later; `wrap` is
    called with it.
    """

    ROWS = ("{a} + {b}", "{a} - 0.5 * {b}", "{a} * {b}", "m.sin({a}) * {b}", "m.exp(-{a} * {a})", "{a}", "0.25",
            "{a} / (1.5 + {b} * {b})", "m.sqrt({a} * {a} + 1.0)", "m.cos({a} + {b} * {c})")

    def __init__(self, seed):
        self.draw = random.Random(seed)
        names, lines = ["x", "y", "z"], []
        for k in range(self.draw.randint(2, 12)):
            names.append(f"v{k}")
            lines.append(f"v{k} = {self.row(names[:-1])}")
        given = self.draw.sample(names, self.draw.randint(1, 3))
        inner, steps = list(names), []
        for k in range(self.draw.randint(1, 12)):
            steps.append(f"w{k} = {self.row(inner)}")
            inner.append(f"w{k}")
        results = self.draw.sample(inner, self.draw.randint(1, 4))
        tuple_of = "".join(f"{name}, " for name in results)
        again = "".join(f"r{k}, " for k in range(len(results)))
        body = [*lines, f"def part({', '.join(given)}):", *("    " + line for line in steps),
                f"    return {tuple_of}", "part = wrap(part)", f"{again} = part({', '.join(given)})",
                f"x = {self.row([*names, *again.split(', ')[:-1]])}",
                f"s = sum(part({', '.join(self.draw.choice(names) for _ in given)}))", f"t = sum([{again}])",
                "return s * t + x * y - z"]
        self.source = "def f(x, y, z):\n" + "".join(f"    {line}\n" for line in body)

    def row(self, names):
        return self.draw.choice(self.ROWS).format(**{k: self.draw.choice(names) for k in "abc"})

    def compiled(self, wrap, m=math):
        module = {"m": m, "math": math, "wrap": wrap}
        exec(self.source, module)
        return module["f"]
