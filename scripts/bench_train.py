"""One model's training step in PyTorch, for scripts/bench-train.sh.

Prints tokens/s and the peak of memory of forward, backward and AdamW on
segments of one length, a loss on every token, in float32.
"""

import argparse
import json
import pathlib
import resource
import time

import torch
from transformers import AutoConfig, AutoModelForCausalLM


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("--model", required=True, help="folder; without weights in it they are random")
    flags.add_argument("--tokens", type=int, default=3072)
    flags.add_argument("--segment", type=int, default=256)
    flags.add_argument("--threads", type=int, default=2)
    flags.add_argument("--seconds", type=float, default=20)
    flags.add_argument("--compile", action="store_true")
    flags = flags.parse_args()
    torch.set_num_threads(flags.threads)
    if list(pathlib.Path(flags.model).glob("*.safetensors")):
        model = AutoModelForCausalLM.from_pretrained(flags.model, dtype=torch.float32)
    else:
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(flags.model), dtype=torch.float32)
    model.train()
    vocab = model.config.vocab_size
    ids = torch.tensor([i * 7919 % vocab for i in range(flags.tokens)]).view(-1, flags.segment)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5)

    def loss():
        logits = model(input_ids=ids, use_cache=False).logits[:, :-1]
        return torch.nn.functional.cross_entropy(logits.reshape(-1, vocab), ids[:, 1:].reshape(-1))

    forward = torch.compile(loss) if flags.compile else loss

    def step():
        optimiser.zero_grad()
        forward().backward()
        optimiser.step()

    step()
    begin, processor, steps = time.time(), time.process_time(), 0
    while steps == 0 or time.time() - begin < flags.seconds:
        step()
        steps += 1
    print(json.dumps({
        "peer": "torch " + torch.__version__ + (" compiled" if flags.compile else " eager"),
        "tokens_per_second": round(flags.tokens * steps / (time.time() - begin), 1),
        "tokens_per_cpu_second": round(flags.tokens * steps / (time.process_time() - processor), 1),
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }))


if __name__ == "__main__":
    main()
