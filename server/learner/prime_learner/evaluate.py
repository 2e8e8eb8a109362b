"""Held-out loss and accuracy under teacher forcing, by what the learnt tokens are part of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from tokenizers import Tokenizer
from torch.nn import functional
from transformers import Qwen2ForCausalLM

from .attention import learnt_logits, use_packed_attention
from .conversation import ARGUMENT_ID, CALL_ID, END_CALL_ID, END_OF_TURN_ID, START_ID, VALUE_ID
from .packing import pack, plan_packs
from .rows import TrainingRow

VALUES = ("path", "old_str", "new_str")
LABELS = ("call_name", *VALUES, "other")


@dataclass(frozen=True)
class Span:
    """A whole value with the tag behind it: to get it right is also to end it in the right place."""

    label: str
    start: int
    end: int
    """Behind the tag."""


@dataclass(frozen=True)
class Labelled:
    labels: tuple[str, ...]
    """One of LABELS for each id; tags and keys are `other`."""
    values: tuple[Span, ...]
    """Of `old_str` and `new_str`."""


def label_parts(tokenizer: Tokenizer, ids: Sequence[int]) -> Labelled:
    """What each id is part of. Tags are ids of their own, so they say it, as they do for the parser."""
    labels = ["other"] * len(ids)
    values: list[Span] = []
    part, key, start = "other", "", 0

    def close(at: int) -> None:
        if part in ("old_str", "new_str"):
            values.append(Span(part, start, at + 1))

    for at, token in enumerate(ids):
        if token in (CALL_ID, ARGUMENT_ID, VALUE_ID, END_CALL_ID, END_OF_TURN_ID, START_ID):
            if token == VALUE_ID:
                key = tokenizer.decode(list(ids[start:at]), skip_special_tokens=False)
            else:
                close(at)
            part = {CALL_ID: "call_name", VALUE_ID: key if key in VALUES else "other"}.get(
                token, "other"
            )
            start = at + 1
        else:
            labels[at] = part
    return Labelled(tuple(labels), tuple(values))


@dataclass
class _Sum:
    tokens: int = 0
    loss: float = 0.0
    right: int = 0

    def as_fields(self) -> dict[str, object]:
        if self.tokens == 0:
            return {"tokens": 0, "loss": None, "accuracy": None}
        return {
            "tokens": self.tokens,
            "loss": self.loss / self.tokens,
            "accuracy": self.right / self.tokens,
        }


@dataclass
class _Exact:
    values: int = 0
    exact: int = 0

    def as_fields(self) -> dict[str, object]:
        rate = self.exact / self.values if self.values else None
        return {"values": self.values, "exact": self.exact, "rate": rate}


@dataclass
class _Sums:
    parts: dict[str, _Sum] = field(default_factory=lambda: {label: _Sum() for label in LABELS})
    exact: dict[str, _Exact] = field(
        default_factory=lambda: {"old_str": _Exact(), "new_str": _Exact()}
    )


@torch.no_grad()
def evaluate_loss(
    model: Qwen2ForCausalLM,
    tokenizer: Tokenizer,
    rows: Sequence[TrainingRow],
    tokens_per_pack: int,
) -> dict[str, object]:
    """Fields of the `done` event: `overall`, `parts` by label, `exact` for old_str and new_str.

    loss: nats per learnt token; accuracy: share of learnt tokens that are the likeliest; exact: share
    of whole values, each with the tag that ends it, all of whose tokens are the likeliest. In a row with
    choices "likeliest" is among these, what the set forces is right, and values that it forces as a whole
    are not counted.

    Raises:
        InputError: a row is longer than a pack.
    """
    use_packed_attention(model)
    model.eval()
    sums = _Sums()
    for indices in plan_packs([len(row.ids) for row in rows], tokens_per_pack):
        chosen = [rows[index] for index in indices]
        packed = pack(chosen)
        logits = learnt_logits(model, packed)
        wanted = packed.ids[packed.loss_mask]
        losses: list[float] = functional.cross_entropy(logits, wanted, reduction="none").tolist()
        right: list[bool] = (logits.argmax(-1) == wanted).tolist()
        at = 0
        for row in chosen:
            count = row.learnt_tokens
            _add(sums, tokenizer, row, losses[at : at + count], right[at : at + count])
            at += count
    overall = _Sum(
        tokens=sum(part.tokens for part in sums.parts.values()),
        loss=sum(part.loss for part in sums.parts.values()),
        right=sum(part.right for part in sums.parts.values()),
    )
    return {
        "rows": len(rows),
        "overall": overall.as_fields(),
        "parts": {label: part.as_fields() for label, part in sums.parts.items()},
        "exact": {label: exact.as_fields() for label, exact in sums.exact.items()},
    }


def _add(
    sums: _Sums, tokenizer: Tokenizer, row: TrainingRow, losses: Sequence[float], right: Sequence[bool]
) -> None:
    labelled = label_parts(tokenizer, row.ids)
    places = [at for at, learnt in enumerate(row.loss_mask) if learnt]
    is_right = dict(zip(places, right, strict=True))
    for at, loss, hit in zip(places, losses, right, strict=True):
        part = sums.parts[labelled.labels[at]]
        part.tokens += 1
        part.loss += loss
        part.right += int(hit)
    for span in labelled.values:
        learnt = [at for at in range(span.start, span.end) if at in is_right]
        whole = span.end - span.start if row.choices is None else 1
        if len(learnt) >= whole:
            exact = sums.exact[span.label]
            exact.values += 1
            exact.exact += int(all(is_right[at] for at in learnt))
