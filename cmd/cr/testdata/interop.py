"""huggingface_hub against cr's hub and cr's cache, and the other way round.

usage: interop.py CR WORKDIR, with HF_ENDPOINT naming a hub that has the model
org/tiny and the dataset org/rows. Prints OK at the end.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys

from huggingface_hub import HfApi, HfFileSystem, hf_hub_download, snapshot_download
from huggingface_hub.errors import RemoteEntryNotFoundError, RepositoryNotFoundError, RevisionNotFoundError

CR, work = sys.argv[1], pathlib.Path(sys.argv[2])
MODEL = "org/tiny"


def cr(*args, **env):
    done = subprocess.run([CR, "--json", "-q", "download", *args], capture_output=True, text=True, env={**os.environ, **env})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def fetched(result):
    return [f["path"] for f in result["files"] if f["fetched"]]


def tree(root):
    """Every file's hash and every link's target; a listing by its content."""
    found = {}
    for folder, _, names in os.walk(root):
        for name in names:
            path = pathlib.Path(folder) / name
            relative = str(path.relative_to(root))
            if path.is_symlink():
                found[relative] = os.readlink(path)
            elif path.parent.name == "trees":
                found[relative] = json.loads(path.read_text())
            elif ".locks" not in relative and name != "CACHEDIR.TAG":
                found[relative] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


# The hub's API as the client reads it.
api = HfApi()
info = api.model_info(MODEL, files_metadata=True)
weights = next(s for s in info.siblings if s.rfilename == "model.safetensors")
assert len(info.sha) == 40 and weights.lfs.sha256 and weights.lfs.size == weights.size
assert {f.path for f in api.list_repo_tree(MODEL, recursive=True)} == {s.rfilename for s in info.siblings}
assert [f.path for f in api.list_repo_tree("org/rows", repo_type="dataset")] == ["data"]
assert {f.path for f in api.get_paths_info(MODEL, ["config.json", "none"])} == {"config.json"}
for call, error in [
    (lambda: api.model_info("no/no"), RepositoryNotFoundError),
    (lambda: api.model_info(MODEL, revision="other"), RevisionNotFoundError),
    (lambda: hf_hub_download(MODEL, "none", cache_dir=work / "none"), RemoteEntryNotFoundError),
]:
    try:
        call()
    except error:
        continue
    raise AssertionError(error)
files = HfFileSystem()
assert files.cat("datasets/org/rows/data/rows.jsonl") == b"{}\n"
with files.open(f"{MODEL}/model.safetensors", "rb") as f:
    f.seek(weights.size - 7)
    assert len(f.read()) == 7

# Each reads the other's cache without fetching a byte, and both write the same.
cr(MODEL, HF_HUB_CACHE=str(work / "ours"))
whole = snapshot_download(MODEL, cache_dir=work / "ours", local_files_only=True)
assert sorted(os.listdir(whole)) == sorted(s.rfilename for s in info.siblings)
snapshot_download(MODEL, cache_dir=work / "theirs")
again = cr(MODEL, HF_HUB_CACHE=str(work / "theirs"))
assert not fetched(again), again
assert not fetched(cr(MODEL, "--verify", HF_HUB_CACHE=str(work / "theirs"), HF_HUB_OFFLINE="1"))
ours, theirs = tree(work / "ours"), tree(work / "theirs")
assert ours == theirs, {k: (ours.get(k), theirs.get(k)) for k in ours.keys() | theirs.keys() if ours.get(k) != theirs.get(k)}

# And a folder: neither replaces what the other put there.
cr(MODEL, "--dir", str(work / "folder"))
stamp = os.stat(work / "folder/model.safetensors").st_mtime_ns
snapshot_download(MODEL, local_dir=work / "folder")
assert os.stat(work / "folder/model.safetensors").st_mtime_ns == stamp
snapshot_download(MODEL, local_dir=work / "folder2")
assert not fetched(cr(MODEL, "--dir", str(work / "folder2")))
print("OK")
