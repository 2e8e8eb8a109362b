"""AdamW or Muon over fp32 master weights, and a step that never takes in a non-finite gradient."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from pydantic import Field
from torch import nn

from .strict import InputError, Strict


class OptimizerOptions(Strict):
    matrices: Literal["adamw", "muon"] = "adamw"
    """What moves the weight matrices of the layers; embeddings, norms and biases are always AdamW's.

    muon: momentum whose matrix is made orthogonal (Jordan et al. 2024, Muon), its steps scaled to the
    size of AdamW's so that one rate serves both (Liu et al. 2025, arXiv:2502.16982).
    """
    beta1: float = Field(default=0.9, ge=0, lt=1)
    beta2: float = Field(default=0.95, ge=0, lt=1)
    weight_decay: float = Field(default=0.1, ge=0)
    """On matrices only, not on norms and biases."""
    clip_norm: float = Field(default=1.0, gt=0)


@dataclass(frozen=True)
class StepResult:
    gradient_norm: float
    """Before clipping; not finite where the step was skipped."""
    skipped: bool


class Optimizers:
    """One or two optimizers that step together."""

    def __init__(self, parts: Sequence[torch.optim.Optimizer]) -> None:
        self._parts = tuple(parts)

    def step(self, rate: float) -> None:
        for part in self._parts:
            for group in part.param_groups:
                group["lr"] = rate
            part.step()

    def state_dict(self) -> dict[str, Any]:
        return {"parts": [part.state_dict() for part in self._parts]}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        for part, saved in zip(self._parts, state["parts"], strict=True):
            part.load_state_dict(saved)


def new_optimizer(model: nn.Module, options: OptimizerOptions) -> Optimizers:
    """Raises InputError unless all weights are fp32: bf16 rounds small steps away."""
    for name, weight in model.named_parameters():
        if weight.dtype != torch.float32:
            raise InputError(f"weights must be float32 for training, but {name} is {weight.dtype}")
    weights = {name: w for name, w in model.named_parameters() if w.requires_grad}
    by_muon = [
        w
        for name, w in weights.items()
        if options.matrices == "muon" and w.ndim == 2 and _is_inside_a_layer(name)
    ]
    taken = {id(w) for w in by_muon}
    rest = [w for w in weights.values() if id(w) not in taken]
    parts: list[torch.optim.Optimizer] = [
        torch.optim.AdamW(
            [
                {"params": [w for w in rest if w.ndim >= 2], "weight_decay": options.weight_decay},
                {"params": [w for w in rest if w.ndim < 2], "weight_decay": 0.0},
            ],
            lr=0.0,
            betas=(options.beta1, options.beta2),
            foreach=True,
        )
    ]
    if by_muon:
        parts.append(
            torch.optim.Muon(
                by_muon,
                lr=0.0,
                weight_decay=options.weight_decay,
                adjust_lr_fn="match_rms_adamw",
            )
        )
    return Optimizers(parts)


def _is_inside_a_layer(name: str) -> bool:
    """Embeddings and the output are tables of rows, and no maps of one space into another."""
    return ".layers." in name


def apply_step(
    model: nn.Module, optimizer: Optimizers, rate: float, clip_norm: float, loss: float
) -> StepResult:
    """Clips, steps, and clears the gradients. Skipped where loss or gradient is not finite."""
    norm = float(nn.utils.clip_grad_norm_(model.parameters(), clip_norm))
    skipped = not (math.isfinite(loss) and math.isfinite(norm))
    if not skipped:
        optimizer.step(rate)
    model.zero_grad(set_to_none=True)
    return StepResult(norm, skipped)
