"""Things of different sizes into packs of one size."""

from __future__ import annotations

from collections.abc import Sequence

from .strict import InputError


def first_fit(costs: Sequence[int], capacity: int) -> list[list[int]]:
    """Indices for each pack of at most `capacity`, each into the first with room; larger ones come first,
    equal ones in their order. No cost is above `capacity` (see `check_fits`)."""
    packs: list[list[int]] = []
    free: list[int] = []
    for index in sorted(range(len(costs)), key=lambda at: (-costs[at], at)):
        cost = costs[index]
        place = next((at for at, room in enumerate(free) if room >= cost), None)
        if place is None:
            packs.append([index])
            free.append(capacity - cost)
        else:
            packs[place].append(index)
            free[place] -= cost
    return packs


def check_fits(tokens: int, capacity: int) -> None:
    """Raises InputError: a row has more tokens than a pack holds."""
    if tokens > capacity:
        raise InputError(
            f"a row has {tokens} tokens but a pack holds {capacity}: raise tokens_per_pack or leave it out"
        )
