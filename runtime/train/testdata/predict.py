"""What transformers makes of a saved folder: the logits of a list of ids.

    predict.py DIR IDS.json OUT.json [ADAPTER]

IDS.json is a list of token ids, or an object with "text" to be encoded by the
folder's tokenizer. OUT.json gets the ids and the log-probability of each but
the first.
"""

import json
import pathlib
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

torch.set_num_threads(2)
folder, source, out = sys.argv[1:4]
ids = json.loads(pathlib.Path(source).read_text())
if isinstance(ids, dict):
    ids = AutoTokenizer.from_pretrained(folder)(ids["text"])["input_ids"]
model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager")
if len(sys.argv) > 4:
    from peft import PeftModel

    model = PeftModel.from_pretrained(model, sys.argv[4])
with torch.no_grad():
    logp = torch.log_softmax(model(input_ids=torch.tensor([ids])).logits[0], -1)
pathlib.Path(out).write_text(json.dumps({"ids": ids, "logp": [logp[i, ids[i + 1]].item() for i in range(len(ids) - 1)]}))
