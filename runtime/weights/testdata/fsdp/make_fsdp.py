"""Makes the FSDP checkpoints beside this script as verl's checkpoint manager does, and the whole tensors they hold.

Needs torch, transformers, safetensors. Run in this directory:
    python make_fsdp.py
"""

import json
import os
import shutil
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
from safetensors.torch import save_file
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, ShardedStateDictConfig, StateDictType, fully_shard
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from transformers import Qwen3Config, Qwen3ForCausalLM

# Vocabulary 21 and head width 4 leave uneven and empty shards on 2, 4 and 8 ranks.
CONFIG = Qwen3Config(
    vocab_size=21, hidden_size=8, intermediate_size=12, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1,
    head_dim=4, tie_word_embeddings=True, max_position_embeddings=64, eos_token_id=3, dtype="bfloat16",
)


def model():
    torch.manual_seed(7)
    m = Qwen3ForCausalLM(CONFIG).float()
    for p in m.parameters():
        torch.nn.init.normal_(p, std=0.5)
    # Equal on every rank once sharded, and a tie of bfloat16 rounding.
    torch.nn.init.constant_(m.model.norm.weight, 1.00390625)
    return m


def fsdp2(m, mesh):
    fully_shard(m.model.layers[0], mesh=mesh)
    fully_shard(m, mesh=mesh)
    return m.state_dict()


def fsdp1(m, mesh):
    m = FullyShardedDataParallel(m, device_mesh=mesh, use_orig_params=True, device_id=torch.device("cpu"))
    with FullyShardedDataParallel.state_dict_type(m, StateDictType.SHARDED_STATE_DICT, ShardedStateDictConfig(offload_to_cpu=True)):
        return m.state_dict()


def by_hand(m, mesh):
    """Placements that FSDP does not choose: the second dimension, and replicas."""
    state = {}
    for name, value in m.state_dict().items():
        placement = Shard(1) if "proj" in name else Replicate() if "norm" in name else Shard(0)
        state[name] = distribute_tensor(value, mesh, [placement])
    return state


def untied(m, mesh):
    """The configuration ties two tensors that differ in one value."""
    state = by_hand(m, mesh)
    head = m.state_dict()["lm_head.weight"].clone()
    head[20, 7] += 1
    state["lm_head.weight"] = distribute_tensor(head, mesh, [Shard(0)])
    return state


def plain_mesh(m, mesh):
    """torch up to 2.8 pickles a mesh's tensor of ranks, not a layout."""
    type(mesh).__getstate__ = lambda self: {
        "device_type": "cpu", "mesh": self.mesh.to(torch.int32), "mesh_dim_names": ("fsdp",),
        "_flatten_mesh_list": tuple(self.mesh.flatten().tolist()), "_thread_id": None, "_dim_group_names": ["0"], "_coordinate_on_dim": list(self.get_coordinate()),
    }
    return fsdp2(m, mesh)


def rank_main(rank, world, folder, how, shape, names, store):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)
    torch.set_num_threads(1)
    mesh = init_device_mesh("cpu", shape, mesh_dim_names=names)
    state = how(model(), mesh)
    torch.save(state, folder / f"model_world_size_{world}_rank_{rank}.pt")
    dist.barrier()
    dist.destroy_process_group()


def checkpoint(name, how, shape, names):
    world = int(torch.tensor(shape).prod())
    folder = Path(name)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "huggingface").mkdir(parents=True)
    CONFIG.architectures = ["Qwen3ForCausalLM"]
    CONFIG.save_pretrained(folder / "huggingface")
    (folder / "huggingface" / "generation_config.json").write_text('{\n  "eos_token_id": [3, 5]\n}\n')
    (folder / "fsdp_config.json").write_text(json.dumps({"FSDP_version": 2, "world_size": world}))
    with tempfile.TemporaryDirectory() as temp:
        children = []
        for rank in range(world):
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    rank_main(rank, world, folder, how, shape, names, Path(temp) / "store")
                    code = 0
                finally:
                    os._exit(code)
            children.append(pid)
        assert all(os.waitpid(pid, 0)[1] == 0 for pid in children), name


if __name__ == "__main__":
    whole = {k: v.clone() for k, v in model().state_dict().items() if k != "lm_head.weight"}
    save_file(whole, "whole.f32.safetensors", metadata={"format": "pt"})
    save_file({k: v.to(torch.bfloat16) for k, v in whole.items()}, "whole.bf16.safetensors", metadata={"format": "pt"})
    for world in (1, 2, 4, 8):
        checkpoint(f"fsdp2-{world}", fsdp2, (world,), ("fsdp",))
    checkpoint("fsdp1-2", fsdp1, (2,), ("fsdp",))
    checkpoint("hsdp-4", fsdp2, (2, 2), ("ddp", "fsdp"))
    for how in (by_hand, untied, plain_mesh):
        checkpoint(how.__name__.replace("_", "-") + "-2", how, (2,), ("fsdp",))
