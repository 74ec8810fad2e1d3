# SPDX-License-Identifier: Apache-2.0
"""The ways to record, as pairs of strategy and granularity."""
from __future__ import annotations

from codipy.tape.strategies.table import FORWARD_STRATEGY, GRANULARITIES, STRATEGIES, check_choice

__all__ = ["settings"]


def settings(strategies=None, granularities=None, forward=False):
    """Every pair of strategy and granularity that there is, or those of a choice.

    Parameters
    ----------
    strategies, granularities : str or sequence of str, optional
        The choice; default is all. The strategy 'simple' records operations only.
    forward : bool
        Whether the strategy 'forward' is one of them, which keeps nothing that could be swept.

    Returns
    -------
    list of tuple
        (strategy, granularity)

    Raises
    ------
    ValueError
        An unknown name, or a choice that leaves nothing.
    """
    strategies = _chosen("strategy", strategies, (*STRATEGIES, FORWARD_STRATEGY) if forward else STRATEGIES)
    granularities = _chosen("granularity", granularities, GRANULARITIES)
    pairs = [(strategy, granularity) for strategy in strategies for granularity in granularities
             if (strategy, granularity) != ("simple", "statement")]
    if not pairs:
        raise ValueError("strategy 'simple' records operations only: leave granularity out or add 'operation'")
    return pairs


def _chosen(name, chosen, choices):
    if chosen is None:
        return choices
    names = [chosen] if isinstance(chosen, str) else list(chosen)
    return [check_choice(name, choice, choices) for choice in dict.fromkeys(names)]
