"""Makes the torch files beside this script, and the same tensors as safetensors.

Needs torch, safetensors. Run in this directory:
    python make_torch.py
"""

import collections

import torch
from safetensors.torch import save_file

torch.manual_seed(3)
base = torch.randn(6, 4)
tensors = {
    "f32": torch.randn(3, 5),
    "f16": torch.randn(7).half(),
    "bf16": torch.randn(2, 3, 2).bfloat16(),
    "i32": torch.arange(5, dtype=torch.int32),
    "scalar": torch.tensor(2.5),
    "empty": torch.zeros(0, 4),
    "rows": base[2:5],  # a part of a storage
    "turned": base.t(),  # strides that are not row-major
    "every.other": base[::2, 1::2],
    "tied": base,
    "parameter": torch.nn.Parameter(torch.randn(2, 2)),
}
torch.save(collections.OrderedDict(tensors), "state.bin")
save_file({k: v.detach().clone().contiguous() for k, v in tensors.items()}, "state.safetensors", metadata={"format": "pt"})

module = torch.nn.Linear(3, 2)
torch.save(module.state_dict(), "module.bin")  # an OrderedDict with attributes
save_file(dict(module.state_dict()), "module.safetensors", metadata={"format": "pt"})

torch.save({"state": {"w": torch.zeros(2)}}, "nested.bin")
torch.save({"w": torch.zeros(2, dtype=torch.float64)}, "double.bin")
torch.save({"w": torch.zeros(2)}, "legacy.bin", _use_new_zipfile_serialization=False)
torch.save(module, "code.bin")  # a pickled module, not its tensors

types = {
    "d2t": torch.arange(5), "t2d": torch.tensor([True, False, True]), "fc.weight": torch.randn(2, 3).bfloat16(),
    "f64": torch.randn(2, dtype=torch.float64), "i16": torch.arange(3, dtype=torch.int16), "i8": torch.arange(3, dtype=torch.int8),
    "u8": torch.arange(3, dtype=torch.uint8), "f32": torch.randn(2),
}
torch.save(types, "types.bin")
save_file(types, "types.safetensors", metadata={"format": "pt"})
