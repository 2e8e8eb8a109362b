"""Rows that begin alike: their common beginning is computed once.

The attempts of a group start from the same prompt, and a choice of a policy that replies from a set has the
same prompt however late in an attempt it comes. With a prompt of 900 tokens and replies of 60, a group of
eight attempts with ten choices each is 77,000 tokens as rows and 5,700 with the prompt once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .first_fit import check_fits, first_fit
from .rows import TrainingRow


@dataclass(frozen=True)
class Family:
    rows: tuple[int, ...]
    """Indices, ascending; one at least."""
    shared: int
    """Tokens of the common beginning, none of them learnt. 0: nothing is shared, and it is one row."""


def plan_families(
    rows: Sequence[TrainingRow], capacity: int
) -> tuple[tuple[Family, ...], ...]:
    """Families for each pack of at most `capacity` tokens, common beginnings counted once.

    A family that is larger than a pack becomes several, each with the beginning. Packs come first fit, the
    largest family first; the plan is a pure function of the rows.

    Raises:
        InputError: a row is longer than `capacity`.
    """
    pieces = [
        (cost, family)
        for members, shared in _alike(rows)
        for cost, family in _cut(rows, members, shared, capacity)
    ]
    pieces.sort(key=lambda piece: piece[1].rows[0])
    packs = first_fit([cost for cost, _ in pieces], capacity)
    return tuple(tuple(pieces[at][1] for at in sorted(indices)) for indices in packs)


def _alike(rows: Sequence[TrainingRow]) -> list[tuple[list[int], int]]:
    """Indices of rows with the same beginning, and its length."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for index, row in enumerate(rows):
        groups.setdefault(_beginning(row), []).append(index)
    return [(members, len(beginning)) for beginning, members in groups.items()]


def _beginning(row: TrainingRow) -> tuple[int, ...]:
    """What stands before the first learnt token, without the last token of that: what is predicted from
    it differs from row to row, so it belongs to each of them."""
    first = next((at for at, learnt in enumerate(row.loss_mask) if learnt == 1), 0)
    return tuple(row.ids[: max(0, first - 1)])


def _cut(
    rows: Sequence[TrainingRow], members: Sequence[int], shared: int, capacity: int
) -> list[tuple[int, Family]]:
    """Families of these rows that fit a pack each, with their tokens."""
    made: list[tuple[int, Family]] = []
    current: list[int] = []
    cost = shared
    for index in members:
        length = len(rows[index].ids)
        check_fits(length, capacity)
        if current and (shared == 0 or cost + length - shared > capacity):
            made.append(_family(current, shared, cost))
            current, cost = [], shared
        current.append(index)
        cost += length - shared
    made.append(_family(current, shared, cost))
    return made


def _family(members: Sequence[int], shared: int, cost: int) -> tuple[int, Family]:
    return cost, Family(tuple(members), shared if len(members) > 1 else 0)
