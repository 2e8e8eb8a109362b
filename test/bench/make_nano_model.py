"""Random weights of the embedded policy's shape, exported for our decoder and for transformers.js: FOLDER."""

import sys
from pathlib import Path

import onnx
import torch
from prime_learner.decode_graph import export_for_decoding
from prime_learner.export import export_onnx
from prime_learner.model import ModelShape, new_model

torch.set_num_threads(1)
folder = Path(sys.argv[1])
model = new_model(ModelShape(), 768, seed=1).eval()
generator = torch.Generator().manual_seed(2)
with torch.no_grad():
    for weight in model.parameters():
        weight.add_(torch.randn(weight.shape, generator=generator) * 0.05)
ours, peer = folder / "ours", folder / "peer" / "model"
for path in (ours, peer, peer / "onnx"):
    path.mkdir(parents=True)
model.save_pretrained(ours)
export_for_decoding(ours)
model.save_pretrained(peer)
export_onnx(model, peer / "onnx")

# transformers.js knows the batch by this name.
path = peer / "onnx" / "model.onnx"
graph = onnx.load(str(path))
values = [*graph.graph.input, *graph.graph.output, *graph.graph.value_info]
batch = graph.graph.input[0].type.tensor_type.shape.dim[0].dim_param
for value in values:
    for dim in value.type.tensor_type.shape.dim:
        if dim.dim_param == batch:
            dim.dim_param = "batch_size"
onnx.save(graph, str(path))
