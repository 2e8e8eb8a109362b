"""Writes the small policy that the TypeScript side tests its decoding against, with PyTorch's figures:
`python -m tests.make_decode_fixtures FOLDER`. The folder is test/fixtures/onnx-policy in this repository.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from prime_learner.decode_graph import export_for_decoding
from prime_learner.model import ModelShape, new_model
from prime_learner.tokenizer import as_fast_tokenizer, load_tokenizer
from tests.make_fixtures import ENTRIES, TOKENIZER

SHAPE = ModelShape(hidden=32, layers=2, heads=4, kv_heads=2, feed_forward=48, context=512)


def small_model() -> torch.nn.Module:
    model = new_model(SHAPE, ENTRIES, seed=1).eval()
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for weight in model.parameters():
            # Biases start at zero and norms at one: a forgotten one would not show.
            weight.add_(torch.randn(weight.shape, generator=generator) * 0.25)
    return model


def log_probabilities(model: torch.nn.Module, ids: list[int]) -> torch.Tensor:
    """fp64 [length, vocabulary]: of what follows each place."""
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([ids])).logits[0].double()
    return torch.log_softmax(logits, dim=-1)


def philox(key: int, low: int, high: int) -> tuple[int, int]:
    """Philox 2x32 with 10 rounds, as in src/core/policies/onnx/worker/random.ts."""
    mask = 0xFFFFFFFF
    a, b = low & mask, high & mask
    for number in range(10):
        product = a * 0xD256D193
        a, b = (product >> 32) ^ ((key + number * 0x9E3779B9) & mask) ^ b, product & mask
    return a, b


def uniform(seed: int, place: int) -> float:
    a, b = philox(seed & 0xFFFFFFFF, place, seed >> 32)
    return float((a >> 5) * 0x4000000 + (b >> 6)) / 2.0**53


def processed(scores: torch.Tensor, sampling: dict[str, float]) -> torch.Tensor:
    """Probabilities after temperature, top k and top p, in this order."""
    weights = torch.softmax(scores / sampling["temperature"], dim=-1)
    order = torch.argsort(weights, descending=True, stable=True)
    keep = order[: int(sampling["topK"])] if sampling["topK"] > 0 else order
    held = torch.cumsum(weights[keep] / weights[keep].sum(), dim=0)
    keep = keep[(held - weights[keep] / weights[keep].sum()) < sampling["topP"]]
    limited = torch.zeros_like(weights)
    limited[keep] = weights[keep]
    return limited / limited.sum()


def sample(
    model: torch.nn.Module, ids: list[int], count: int, seed: int, sampling: dict[str, float]
) -> dict[str, object]:
    """Draws as the decoder does. `edges`: how far each draw was from giving another token."""
    ids = list(ids)
    drawn: list[int] = []
    values: list[float] = []
    edges: list[float] = []
    for _ in range(count):
        weights = processed(log_probabilities(model, ids)[-1], sampling)
        ends = torch.cumsum(weights, dim=0)
        chance = uniform(seed, len(ids))
        token = int(torch.nonzero(ends > chance)[0])
        edges.append(round(float(min(ends[token] - chance, chance - ends[token] + weights[token])), 7))
        drawn.append(token)
        values.append(round(float(torch.log(weights[token])), 9))
        ids.append(token)
    return {"ids": drawn, "logprobs": values, "edges": edges}


def cases(model: torch.nn.Module) -> list[dict[str, object]]:
    """Random prompts of ragged lengths, below and beyond a chunk of 128: greedy, and two sampled turns with
    an observation between them."""
    made: list[dict[str, object]] = []
    generator = torch.Generator().manual_seed(3)

    def random_ids(count: int) -> list[int]:
        drawn: list[int] = torch.randint(7, ENTRIES, (count,), generator=generator).tolist()
        return drawn

    for number, length in enumerate((1, 2, 7, 31, 32, 33, 64, 90, 127, 128, 129, 150, 200, 255, 256, 300)):
        prompt = random_ids(length)
        ids = list(prompt)
        margins: list[float] = []
        for _ in range(24):
            best = torch.topk(log_probabilities(model, ids)[-1], 2)
            margins.append(round(float(best.values[0] - best.values[1]), 6))
            ids.append(int(best.indices[0]))
        plain = {"temperature": 1.0, "topP": 1.0, "topK": -1}
        sampling = plain if number % 2 == 0 else {"temperature": 0.7, "topP": 0.9, "topK": 50}
        seed = number * 0x1234_5678_9
        first = sample(model, prompt, 20, seed, sampling)
        observation = random_ids(3 + 11 * number)
        known = first["ids"]
        assert isinstance(known, list)
        second = sample(model, [*prompt, *known, *observation], 20, seed, sampling)
        made.append(
            {
                "prompt": prompt,
                "greedy": ids[length:],
                "margins": margins,
                "seed": seed,
                "sampling": sampling,
                "first": first,
                "observation": observation,
                "second": second,
            }
        )
    return made


def main() -> None:
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    model = small_model()
    model.save_pretrained(folder)
    (folder / "generation_config.json").unlink(missing_ok=True)
    as_fast_tokenizer(load_tokenizer(TOKENIZER), SHAPE.context).save_pretrained(folder)
    export_for_decoding(folder)
    (folder.parent / f"{folder.name}.json").write_text(
        json.dumps({"cases": cases(model)}, separators=(",", ":")) + "\n", "utf-8"
    )


if __name__ == "__main__":
    main()
