"""Run verl's own tool agent loop and reward manager on scripted turns.

    python agent_loop.py COMPOSED.yaml TOKENIZER CASES.json RESULTS.json

in a bundle's folder. A case has the problem's prompt and ground_truth and the
turns that the model is to answer; null lets a small random model of Qwen3's shape
answer by itself. vLLM is not there: the tokens come from here, everything else is
verl's. The result of a case is what the loop and the reward made of it.
"""

import asyncio
import inspect
import json
import sys

import numpy as np
import torch
from omegaconf import OmegaConf
from transformers import AutoTokenizer

from verl import DataProto
from verl.experimental.agent_loop import agent_loop as loops
from verl.experimental.agent_loop.tool_agent_loop import ToolAgentLoop
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
from verl.trainer.ppo.reward import get_custom_reward_fn
from verl.utils.dataset.rl_dataset import RLHFDataset
from verl.workers.rollout.replica import TokenOutput


class Server:
    """Stands where verl's inference servers stand."""

    def __init__(self, tokenizer, turns):
        self.tokenizer, self.turns = tokenizer, list(turns or [])
        self.model = None if turns else random_model(tokenizer)

    async def generate(self, request_id, *, prompt_ids, sampling_params, **kwargs):
        if self.model is None:
            return TokenOutput(token_ids=self.tokenizer.encode(self.turns.pop(0) + "<|im_end|>"))
        torch.manual_seed(0)
        out = self.model.generate(torch.tensor([prompt_ids]), max_new_tokens=24, do_sample=True)
        return TokenOutput(token_ids=out[0, len(prompt_ids) :].tolist())


def random_model(tokenizer):
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    return Qwen3ForCausalLM(Qwen3Config(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=64, num_hidden_layers=2,
        num_attention_heads=2, num_key_value_heads=1, head_dim=16, eos_token_id=tokenizer.eos_token_id,
    ))


def tool_loop(config, tokenizer, server):
    wanted = inspect.signature(loops.AgentLoopBase.__init__).parameters
    kwargs = {"dataset_cls": RLHFDataset}
    if "dataset_config" in wanted:
        kwargs["dataset_config"] = config.data
    else:
        kwargs["data_config"] = loops.DictConfigWrap(config.data)
    if hasattr(loops, "ToolListWrap"):
        from verl.tools.tool_registry import load_all_tools

        path = config.actor_rollout_ref.rollout.multi_turn.tool_config_path
        kwargs["tools"] = loops.ToolListWrap(load_all_tools(path, None))
    if "hf_model_type" in wanted:
        kwargs["hf_model_type"] = "qwen3"
    return ToolAgentLoop(loops.DictConfigWrap(config), server, tokenizer, None, **kwargs)


async def episode(config, tokenizer, case):
    loop = tool_loop(config, tokenizer, Server(tokenizer, case["turns"]))
    prompt = [{"role": "user", "content": case["prompt"]}]
    out = await loop.run({"temperature": 1.0}, raw_prompt=prompt, index=0, extra_info={})
    result = {
        "text": tokenizer.decode(out.response_ids),
        "unmasked": tokenizer.decode([t for t, m in zip(out.response_ids, out.response_mask) if m]),
        "masked": tokenizer.decode([t for t, m in zip(out.response_ids, out.response_mask) if not m]),
        "num_turns": out.num_turns,
    }
    manager = NaiveRewardManager(config, tokenizer, get_custom_reward_fn(config))
    ids = torch.tensor([out.response_ids])
    data = DataProto.from_dict(
        tensors={"responses": ids, "attention_mask": torch.ones_like(ids)},
        non_tensors={
            "data_source": np.array(["apps"], dtype=object),
            "reward_model": np.array([{"ground_truth": case["ground_truth"], "style": "rule"}], dtype=object),
            "extra_info": np.array([{}], dtype=object),
            "tool_extra_fields": np.array([out.extra_fields], dtype=object),
            "__num_turns__": np.array([out.num_turns]),
        },
    )
    try:
        result["reward"] = await manager.run_single(data)
    except Exception as e:
        result["error"] = f"{type(e).__name__}: {e}"
    return result


async def main(composed, tokenizer, cases, results):
    config = OmegaConf.load(composed)
    tokenizer = AutoTokenizer.from_pretrained(tokenizer)
    with open(cases) as f:
        done = [await episode(config, tokenizer, case) for case in json.load(f)]
    with open(results, "w") as f:
        json.dump(done, f, default=float)


asyncio.run(main(*sys.argv[1:]))
