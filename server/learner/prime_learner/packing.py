"""Rows without padding: one long row, with the places where one ends and the next begins.

Order and packs are pure functions of seed and step, so the position in the data is the step number.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .first_fit import check_fits, first_fit
from .rows import TrainingRow
from .sharing import Family


@dataclass(frozen=True)
class PackedChoices:
    """All C ids that could have come at the learnt tokens with a choice, one behind the other."""

    place: Tensor
    """int64 [C]: which of the pack's N learnt tokens, in their order"""
    id: Tensor
    """int64 [C]"""
    bias: Tensor
    """float32 [C]"""


@dataclass(frozen=True)
class PackedRows:
    """S segments with T tokens together: rows, or common beginnings of rows and what is left of each."""

    ids: Tensor
    """int64 [T]"""
    positions: Tensor
    """int64 [T], from 0 in each row"""
    cu_seqlens: Tensor
    """int32 [S + 1]: segment s holds the tokens from cu_seqlens[s] up to but not including cu_seqlens[s + 1]"""
    loss_mask: Tensor
    """bool [T]"""
    row_of_token: Tensor
    """int64 [T]: which of the rows; of a common beginning the first one that has it"""
    choices: PackedChoices | None = None
    """None: no row has any."""
    parents: tuple[int | None, ...] | None = None
    """Of each segment the one that it goes on from, which has no parent itself; its children follow it at
    once. None: each segment is a row."""

    @property
    def tokens(self) -> int:
        return int(self.ids.numel())


def pack(rows: Sequence[TrainingRow], device: torch.device | None = None) -> PackedRows:
    """Lays the rows one behind the other, in their order."""
    lengths = torch.tensor([len(row.ids) for row in rows])
    ends = torch.cumsum(lengths, dim=0)
    starts = ends - lengths
    row_of_token = torch.repeat_interleave(torch.arange(len(rows)), lengths)
    positions = torch.arange(int(ends[-1])) - starts[row_of_token]
    cu_seqlens = torch.cat((torch.zeros(1, dtype=torch.int64), ends)).to(torch.int32)
    return PackedRows(
        ids=torch.tensor([token for row in rows for token in row.ids], device=device),
        positions=positions.to(device),
        cu_seqlens=cu_seqlens.to(device),
        loss_mask=torch.tensor(
            [learnt == 1 for row in rows for learnt in row.loss_mask], device=device
        ),
        row_of_token=row_of_token.to(device),
        choices=_pack_choices(rows, device),
    )


def pack_families(
    rows: Sequence[TrainingRow], families: Sequence[Family], device: torch.device | None = None
) -> PackedRows:
    """The rows of the families, in their order, with common beginnings once. Not for every forward pass:
    see `attention.can_share`."""
    ordered = [rows[index] for family in families for index in family.rows]
    if all(family.shared == 0 for family in families):
        return pack(ordered, device)
    # Of each segment: where in its row it begins and ends, the row, and the parent.
    segments: list[tuple[int, int, int, int | None]] = []
    row = 0
    for family in families:
        parent = None
        if family.shared > 0:
            parent = len(segments)
            segments.append((0, family.shared, row, None))
        for _ in family.rows:
            segments.append((family.shared, len(ordered[row].ids), row, parent))
            row += 1
    lengths = torch.tensor([end - start for start, end, _, _ in segments])
    ends = torch.cumsum(lengths, dim=0)
    mask = [ordered[of].loss_mask[start:end] for start, end, of, _ in segments]
    return PackedRows(
        ids=torch.tensor(
            [token for start, end, of, _ in segments for token in ordered[of].ids[start:end]],
            device=device,
        ),
        positions=torch.cat([torch.arange(start, end) for start, end, _, _ in segments]).to(device),
        cu_seqlens=torch.cat((torch.zeros(1, dtype=torch.int64), ends)).to(torch.int32).to(device),
        loss_mask=torch.tensor([learnt == 1 for part in mask for learnt in part], device=device),
        row_of_token=torch.repeat_interleave(
            torch.tensor([of for _, _, of, _ in segments]), lengths
        ).to(device),
        choices=_pack_choices(ordered, device),
        parents=tuple(parent for _, _, _, parent in segments),
    )


def _pack_choices(
    rows: Sequence[TrainingRow], device: torch.device | None
) -> PackedChoices | None:
    place: list[int] = []
    ids: list[int] = []
    bias: list[float] = []
    learnt = 0
    for row in rows:
        for index, choice in enumerate(row.choices or ()):
            place += [learnt + index] * len(choice.ids)
            ids += choice.ids
            bias += choice.bias
        learnt += row.learnt_tokens
    if not place:
        return None
    return PackedChoices(
        place=torch.tensor(place, device=device),
        id=torch.tensor(ids, device=device),
        bias=torch.tensor(bias, dtype=torch.float32, device=device),
    )


def plan_packs(lengths: Sequence[int], capacity: int) -> tuple[tuple[int, ...], ...]:
    """Indices of rows for each pack of at most `capacity` tokens (first fit, longest first).

    Raises:
        InputError: a row is longer than `capacity` (tokens).
    """
    for length in lengths:
        check_fits(length, capacity)
    return tuple(tuple(sorted(indices)) for indices in first_fit(lengths, capacity))


def epoch_order(count: int, seed: int, epoch: int) -> list[int]:
    """A permutation of `range(count)`: the same for the same seed and epoch on every machine."""
    order = list(range(count))
    random.Random(f"{seed}:{epoch}").shuffle(order)
    return order


def rows_of_step(step: int, rows_per_step: int, count: int, seed: int) -> tuple[int, ...]:
    """Indices of the rows of step `step` (from 0). Every row comes once before any comes again."""
    first = step * rows_per_step
    chosen: list[int] = []
    order: list[int] = []
    at_epoch = -1
    for place in range(first, first + rows_per_step):
        epoch, offset = divmod(place, count)
        if epoch != at_epoch:
            order, at_epoch = epoch_order(count, seed, epoch), epoch
        chosen.append(order[offset])
    return tuple(chosen)
