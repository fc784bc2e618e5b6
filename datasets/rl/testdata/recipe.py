"""The recipe as it runs, on the `datasets` library: recipe.py SOURCE.parquet DIR

Writes the three files into DIR; for speed and memory beside cr build-dataset. A
row on which the recipe would stop is dropped instead.
"""

import os
import resource
import sys
import time

import datasets
import golden


def process(row):
    try:
        kept = golden.record(row)
    except Exception:
        kept = None
    return kept or {
        "prompt": [{"role": "user", "content": row["prompt"]}],
        "solutions": [""],
        "reward_model": {"ground_truth": "", "style": "rule"},
        "data_source": row["source"],
    }


def main():
    source, out = sys.argv[1:3]
    os.makedirs(out, exist_ok=True)
    datasets.disable_progress_bars()
    begun = time.monotonic()
    rows = datasets.load_dataset("parquet", data_files=source, split="train", cache_dir=out + "/cache")
    rows = rows.map(process, remove_columns=rows.column_names).filter(lambda r: r["solutions"] != [""])
    parts = rows.train_test_split(test_size=0.01, seed=42)
    parts["train"].to_parquet(out + "/train.parquet")
    parts["test"].to_parquet(out + "/validation.parquet")
    parts["test"].to_json(out + "/validation.jsonl", orient="records", lines=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"recipe: {time.monotonic() - begun:.1f} s, {time.process_time():.1f} s of CPU, {peak} MB")


main()
