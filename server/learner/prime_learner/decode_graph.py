"""The graph that the embedded policy decodes with: `model.onnx`, a few kB, over `model.safetensors`.

`export.py` writes the network in standard operators with its weights inside, for any runtime. This graph
is for decoding fast in ONNX Runtime: the cache is only read, and new keys and values are given out by
themselves, so that no step copies a cache; only the last token gets logits; operators are fused ones.
The weights stay in the file that transformers reads and writes: a new version is a new
`model.safetensors` next to the same graph, and nothing is traced again.

The graph depends on the shape of the model and on the places in the weights' file. Transposed and joined weights are made by ONNX Runtime
when it opens the graph (constant folding), which takes milliseconds at this size.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from .strict import InputError

OPSET = 20
GRAPH_FILE = "model.onnx"
WEIGHTS_FILE = "model.safetensors"


POLICY_FILES = (
    "config.json",
    GRAPH_FILE,
    WEIGHTS_FILE,
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
)
"""What a policy folder holds besides export.json and policy.json. Tokenizer files may come later."""


@dataclass(frozen=True)
class DecodeManifest:
    """export.json of a policy folder: what the runtime allocates by, and what it checks."""

    version: int
    vocabulary: int
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    context: int
    weights_header: str
    """sha256 of the header of model.safetensors (its length included): the graph's offsets hold for it."""
    files: Mapping[str, str]
    """Name → sha256, of those `POLICY_FILES` that were there."""


@dataclass(frozen=True)
class _Shape:
    vocabulary: int
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    context: int


@dataclass
class _Graph:
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    initializers: list[onnx.TensorProto] = field(default_factory=list)

    def add(
        self, operator: str, inputs: Sequence[str], output: str | Sequence[str], domain: str = "", **attributes: object
    ) -> str:
        outputs = [output] if isinstance(output, str) else list(output)
        self.nodes.append(
            helper.make_node(operator, list(inputs), outputs, name=outputs[0], domain=domain, **attributes)
        )
        return outputs[0]

    def constant(self, name: str, kind: int, shape: Sequence[int], values: Sequence[float]) -> str:
        self.initializers.append(helper.make_tensor(name, kind, list(shape), list(values)))
        return name


def export_for_decoding(folder: Path) -> DecodeManifest:
    """Writes `model.onnx` and `export.json` into a folder that holds a Qwen2 model in fp32 as
    `save_pretrained` and warm-start leave it. Takes milliseconds.

    B sequences with S new tokens each, C cache slots, K kv heads, D head size, G heads for each kv head:

    Inputs: `input_ids`, `position_ids` int64 [B, S]; `newest` int64 [B, 1], which of the new tokens gives the
    logits; `cache_bias` float32 [B, 1, 1, C], 0 for a slot that may be seen and -1e9 otherwise; `new_bias`
    float32 [1, 1, G · S, S], the same for new tokens (causal); `past_key_values.{layer}.{key,value}` float32
    [B, K, C, D]. Outputs: `logits` float32 [B, V]; `new.{layer}.{key,value}` float32 [B, K, S, D], which the
    caller puts into its cache. So a step copies nothing but its new tokens.

    Raises:
        InputError: a file is missing, another architecture, or weights that are not fp32.
    """
    config = _read_config(folder / "config.json")
    header, tensors = _read_header(folder / WEIGHTS_FILE)
    heads = _whole(config, "num_attention_heads")
    shape = _Shape(
        vocabulary=_whole(config, "vocab_size"),
        layers=_whole(config, "num_hidden_layers"),
        heads=heads,
        kv_heads=_whole(config, "num_key_value_heads"),
        head_size=_whole(config, "hidden_size") // heads,
        context=_whole(config, "max_position_embeddings"),
    )
    model = _build(shape, config, tensors)
    # Not checked by onnx.checker: it does not know the operators that ONNX Runtime adds.
    (folder / GRAPH_FILE).write_bytes(model.SerializeToString(deterministic=True))
    present = [name for name in POLICY_FILES if (folder / name).is_file()]
    manifest = DecodeManifest(
        version=2,
        **asdict(shape),
        weights_header=hashlib.sha256(header).hexdigest(),
        files={name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in present},
    )
    (folder / "export.json").write_text(json.dumps(asdict(manifest), indent=1) + "\n", "utf-8")
    return manifest


def _build(
    shape: _Shape, config: Mapping[str, object], tensors: Mapping[str, onnx.TensorProto]
) -> onnx.ModelProto:
    graph = _Graph()
    epsilon = config["rms_norm_eps"]

    def weight(name: str) -> str:
        if name not in tensors:
            raise InputError(f"{WEIGHTS_FILE} has no tensor {name}: not a Qwen2 model of this layout")
        if all(known.name != name for known in graph.initializers):
            graph.initializers.append(tensors[name])
        return name

    def linear(hidden: str, names: Sequence[str], output: str) -> str:
        """[B, S, in] with the joined weights [out, in] → [B, S, out]"""
        joined = weight(names[0])
        if len(names) > 1:
            joined = graph.add("Concat", [weight(name) for name in names], f"{output}.joined", axis=0)
        turned = graph.add("Transpose", [joined], f"{output}.turned", perm=[1, 0])
        return graph.add("MatMul", [hidden, turned], output)

    cos, sin = _rotation(graph, shape, config)
    graph.constant("one", TensorProto.INT64, [1], [1])
    q, kv = shape.heads * shape.head_size, shape.kv_heads * shape.head_size
    graph.constant("qkv_sizes", TensorProto.INT64, [3], [q, kv, kv])
    graph.constant("query_heads", TensorProto.INT64, [4], [0, 0, shape.heads, shape.head_size])
    graph.constant("kv_heads", TensorProto.INT64, [4], [0, 0, shape.kv_heads, shape.head_size])
    graph.constant("flat", TensorProto.INT64, [3], [0, 0, q])
    # [B, heads, S, D] and [B, kv heads, G · S, D] hold the same memory.
    graph.constant("k_and_rest_and_d", TensorProto.INT64, [3], [shape.kv_heads, -1, shape.head_size])
    graph.constant("heads_and_rest_and_d", TensorProto.INT64, [3], [shape.heads, -1, shape.head_size])
    batch = graph.add("Shape", ["input_ids"], "batch_size", start=0, end=1)
    graph.add("Concat", [batch, "k_and_rest_and_d"], "grouped", axis=0)
    graph.add("Concat", [batch, "heads_and_rest_and_d"], "ungrouped", axis=0)
    graph.add("Concat", [graph.add("Shape", ["past_key_values.0.key"], "slots_count", start=2, end=3), graph.add("Shape", ["input_ids"], "new_count", start=1, end=2)], "old_and_new", axis=0)
    embeddings = weight("model.embed_tokens.weight")
    residual = graph.add("Gather", [embeddings, "input_ids"], "embedded", axis=0)
    normed = graph.add(
        "SimplifiedLayerNormalization",
        [residual, weight("model.layers.0.input_layernorm.weight")],
        "layer.0.normed", axis=-1, epsilon=epsilon, stash_type=1,
    )
    for layer in range(shape.layers):
        at = f"layer.{layer}"
        source = f"model.layers.{layer}"
        parts = [f"{source}.self_attn.{part}_proj" for part in "qkv"]
        product = linear(normed, [f"{part}.weight" for part in parts], f"{at}.qkv_product")
        bias = graph.add("Concat", [weight(f"{part}.bias") for part in parts], f"{at}.qkv_bias", axis=0)
        packed = graph.add("Add", [product, bias], f"{at}.qkv")
        mixed = _attention(graph, shape, layer, packed, cos, sin)
        attended = linear(mixed, [f"{source}.self_attn.o_proj.weight"], f"{at}.attended")
        normed, residual = _add_and_norm(
            graph, attended, residual, weight(f"{source}.post_attention_layernorm.weight"), f"{at}.middle", epsilon
        )
        gate = linear(normed, [f"{source}.mlp.gate_proj.weight"], f"{at}.gate")
        up = linear(normed, [f"{source}.mlp.up_proj.weight"], f"{at}.up")
        opened = graph.add("Mul", [gate, graph.add("Sigmoid", [gate], f"{at}.sigmoid")], f"{at}.silu")
        down = linear(
            graph.add("Mul", [opened, up], f"{at}.gated"), [f"{source}.mlp.down_proj.weight"], f"{at}.down"
        )
        last = layer == shape.layers - 1
        following = "model.norm.weight" if last else f"model.layers.{layer + 1}.input_layernorm.weight"
        normed, residual = _add_and_norm(
            graph, down, residual, weight(following), f"layer.{layer + 1}", epsilon
        )
    # Only the last token is sampled from.
    picked = graph.add("GatherND", [normed, "newest"], "newest_hidden", batch_dims=1)
    tied = config.get("tie_word_embeddings") is True
    head = embeddings if tied else weight("lm_head.weight")
    graph.add("MatMul", [picked, graph.add("Transpose", [head], "head", perm=[1, 0])], "logits")

    cache = ["batch", shape.kv_heads, "slots", shape.head_size]
    names = [f"{layer}.{part}" for layer in range(shape.layers) for part in ("key", "value")]
    values = helper.make_tensor_value_info
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "decode",
            [
                values("input_ids", TensorProto.INT64, ["batch", "new"]),
                values("position_ids", TensorProto.INT64, ["batch", "new"]),
                values("newest", TensorProto.INT64, ["batch", 1]),
                values("cache_bias", TensorProto.FLOAT, ["batch", 1, 1, "slots"]),
                values("new_bias", TensorProto.FLOAT, [1, 1, "group_times_new", "new"]),
                *(values(f"past_key_values.{name}", TensorProto.FLOAT, cache) for name in names),
            ],
            [
                values("logits", TensorProto.FLOAT, ["batch", shape.vocabulary]),
                *(values(f"new.{name}", TensorProto.FLOAT, ["batch", shape.kv_heads, "new", shape.head_size]) for name in names),
            ],
            graph.initializers,
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)],
        ir_version=9,
        producer_name="prime_learner",
    )


def _attention(graph: _Graph, shape: _Shape, layer: int, packed: str, cos: str, sin: str) -> str:
    """[B, S, (heads + 2 kv heads) · D] → [B, S, heads · D]. Heads share keys in groups of G.

    Scores over the cache and over the new tokens are computed apart and joined only in the softmax:
    keys and values of the cache are read where the caller holds them and never copied.
    """
    at = f"layer.{layer}"
    query, key, value = (f"{at}.{part}" for part in ("query", "key", "value"))
    graph.add("Split", [packed, "qkv_sizes"], [f"{query}_flat", f"{key}_flat", f"{value}_flat"], axis=2)
    for name, split in ((query, "query_heads"), (key, "kv_heads"), (value, "kv_heads")):
        graph.add("Reshape", [f"{name}_flat", split], f"{name}_split")
        new = f"new.{layer}.value" if name == value else f"{name}_turned"
        graph.add("Transpose", [f"{name}_split"], new, perm=[0, 2, 1, 3])
    new_key, new_value = f"new.{layer}.key", f"new.{layer}.value"
    for name, output in ((query, f"{query}_rotated"), (key, new_key)):
        graph.add("RotaryEmbedding", [f"{name}_turned", "position_ids", cos, sin], output, domain="com.microsoft")
    grouped = graph.add("Reshape", [f"{query}_rotated", "grouped"], f"{query}_grouped")
    scale = shape.head_size**-0.5
    scores = []
    for side, keys, bias in (
        ("old", f"past_key_values.{layer}.key", "cache_bias"),
        ("new", new_key, "new_bias"),
    ):
        raw = graph.add("FusedMatMul", [grouped, keys], f"{at}.{side}_raw", domain="com.microsoft", transB=1, alpha=scale)
        scores.append(graph.add("Add", [raw, bias], f"{at}.{side}_scores"))
    joined = graph.add("Concat", scores, f"{at}.scores", axis=-1)
    graph.add("Softmax", [joined], f"{at}.weights", axis=-1)
    graph.add("Split", [f"{at}.weights", "old_and_new"], [f"{at}.old_weights", f"{at}.new_weights"], axis=3)
    old = graph.add("MatMul", [f"{at}.old_weights", f"past_key_values.{layer}.value"], f"{at}.old_mixed")
    new = graph.add("MatMul", [f"{at}.new_weights", new_value], f"{at}.new_mixed")
    both = graph.add("Add", [old, new], f"{at}.mixed_grouped")
    heads = graph.add("Reshape", [both, "ungrouped"], f"{at}.mixed_heads")
    turned = graph.add("Transpose", [heads], f"{at}.mixed_turned", perm=[0, 2, 1, 3])
    return graph.add("Reshape", [turned, "flat"], f"{at}.mixed")


def _add_and_norm(
    graph: _Graph, addend: str, residual: str, scale: str, output: str, epsilon: object
) -> tuple[str, str]:
    """Returns the normed sum and the sum."""
    graph.add(
        "SkipSimplifiedLayerNormalization",
        [addend, residual, scale],
        [f"{output}.normed", "", "", f"{output}.sum"],
        domain="com.microsoft", epsilon=epsilon,
    )
    return f"{output}.normed", f"{output}.sum"


def _rotation(graph: _Graph, shape: _Shape, config: Mapping[str, object]) -> tuple[str, str]:
    """cos and sin [context, head size / 2]. The frequencies are rounded to fp32 before they are multiplied,
    as transformers does."""
    parameters = config.get("rope_parameters") or {}
    assert isinstance(parameters, Mapping)
    base = parameters.get("rope_theta", config.get("rope_theta", 10000.0))
    if parameters.get("rope_type", "default") != "default" or not isinstance(base, (int, float)):
        raise InputError("config.json: only plain rotary positions (rope_type default) are supported")
    half = shape.head_size // 2
    frequencies = [1.0 / float(base) ** (2 * index / shape.head_size) for index in range(half)]
    graph.constant("frequencies", TensorProto.FLOAT, [1, half], frequencies)
    for name, value in (("first_place", 0.0), ("last_place", float(shape.context)), ("place_step", 1.0)):
        graph.constant(name, TensorProto.FLOAT, [], [value])
    places = graph.add("Range", ["first_place", "last_place", "place_step"], "places")
    column = graph.add("Unsqueeze", [places, "one"], "places_column")
    angles = graph.add("Mul", [column, "frequencies"], "angles")
    return graph.add("Cos", [angles], "cos"), graph.add("Sin", [angles], "sin")


def _read_header(path: Path) -> tuple[bytes, dict[str, onnx.TensorProto]]:
    """The header of a safetensors file (8 bytes of length, JSON) and its tensors as references into it."""
    if not path.is_file():
        raise InputError(f"{path} is missing")
    with path.open("rb") as file:
        header = file.read(8)
        length = int.from_bytes(header, "little")
        header += file.read(length)
    tensors: dict[str, onnx.TensorProto] = {}
    for name, entry in json.loads(header[8:]).items():
        if name == "__metadata__":
            continue
        if entry["dtype"] != "F32":
            raise InputError(f"{path}: {name} is {entry['dtype']}; only fp32 weights (F32) are supported")
        begin, end = entry["data_offsets"]
        tensor = onnx.TensorProto(
            name=name, data_type=TensorProto.FLOAT, dims=entry["shape"], data_location=TensorProto.EXTERNAL
        )
        for key, value in (("location", path.name), ("offset", 8 + length + begin), ("length", end - begin)):
            tensor.external_data.add(key=key, value=str(value))
        tensors[name] = tensor
    return header, tensors


def _read_config(path: Path) -> Mapping[str, object]:
    if not path.is_file():
        raise InputError(f"{path} is missing")
    config = json.loads(path.read_text("utf-8"))
    if config.get("model_type") != "qwen2":
        raise InputError(f"{path}: model_type {config.get('model_type')}; only qwen2 is supported")
    if config.get("hidden_act") != "silu" or config.get("use_sliding_window"):
        raise InputError(f"{path}: only silu without sliding windows is supported")
    assert isinstance(config, Mapping)
    return config


def _whole(config: Mapping[str, object], key: str) -> int:
    value = config.get(key)
    if not isinstance(value, int):
        raise InputError(f"config.json: {key} must be a whole number")
    return value


def main() -> None:
    """`python -m prime_learner.decode_graph FOLDER`"""
    try:
        manifest = export_for_decoding(Path(sys.argv[1]))
    except InputError as error:
        sys.exit(str(error))
    print(json.dumps(asdict(manifest)))


if __name__ == "__main__":
    main()
