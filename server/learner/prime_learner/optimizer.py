"""AdamW over fp32 master weights, and a step that never takes in a non-finite gradient."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from pydantic import Field
from torch import nn

from .strict import InputError, Strict


class OptimizerOptions(Strict):
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


def new_optimizer(model: nn.Module, options: OptimizerOptions) -> torch.optim.AdamW:
    """Raises InputError unless all weights are fp32: bf16 rounds small steps away."""
    for name, weight in model.named_parameters():
        if weight.dtype != torch.float32:
            raise InputError(f"weights must be float32 for training, but {name} is {weight.dtype}")
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    return torch.optim.AdamW(
        [
            {"params": [w for w in weights if w.ndim >= 2], "weight_decay": options.weight_decay},
            {"params": [w for w in weights if w.ndim < 2], "weight_decay": 0.0},
        ],
        lr=0.0,
        betas=(options.beta1, options.beta2),
        foreach=True,
    )


def apply_step(
    model: nn.Module, optimizer: torch.optim.Optimizer, rate: float, clip_norm: float, loss: float
) -> StepResult:
    """Clips, steps, and clears the gradients. Skipped where loss or gradient is not finite."""
    norm = float(nn.utils.clip_grad_norm_(model.parameters(), clip_norm))
    skipped = not (math.isfinite(loss) and math.isfinite(norm))
    if not skipped:
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return StepResult(norm, skipped)
