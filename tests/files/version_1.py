# SPDX-License-Identifier: Apache-2.0
"""Writes the files of version 1 that stay in this folder: `python -m tests.files.version_1`, once, and never again."""

from pathlib import Path

import numpy as np

import codipy
from tests.strategies import STRATEGIES

# By strategy, the gradients of the inputs: exact numbers, whatever the machine.
GRADIENTS = dict.fromkeys(STRATEGIES, [[7.0], [2.0, 2.0, 6.0, 16.0], [9.0, 16.0, 0.0, 0.0]])


def recorded(strategy):
    """Every kind of record, of numbers that are exact."""
    tape = codipy.Tape(strategy)
    with tape:
        a = tape.register_input(2.0)
        x = tape.register_input(np.array([1.0, 2.0, 3.0, 4.0]))
        m = tape.register_input(np.array([[1.0, 2.0], [3.0, 4.0]]))
        y = np.concatenate([x[:2] * a, np.ones(1)])  # 2 4 1
        z = np.where(x > 2.0, x * x, x)[2:]  # 9 16
        w = m @ z  # 41 91
        tape.register_output(y.sum() + w[0] * 1.0 + a * a)
    return tape


def main():
    for strategy in STRATEGIES:
        recorded(strategy).save(Path(__file__).parent / f"version_1_{strategy}.tape")


if __name__ == "__main__":
    main()
