"""Compose a configuration of the installed verl with overrides, as its trainers do.

    python compose.py VERSION CONFIG OVERRIDE...

prints the whole configuration as YAML. It reads verl's files and imports nothing
of it, so that hydra-core is all it needs beside them.
"""

import importlib.util
import pathlib
import sys

version, config, *overrides = sys.argv[1:]
spec = importlib.util.find_spec("verl")
if spec is None:
    sys.exit(f"this Python ({sys.executable}) has no verl: pip install verl=={version}")
root = pathlib.Path(spec.origin).parent
installed = (root / "version/version").read_text().strip()
if installed != version:
    sys.exit(f"this Python ({sys.executable}) has verl {installed}, the plan is for {version}: choose with --verl-version")
try:
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf
except ImportError as e:
    sys.exit(f"this Python ({sys.executable}) cannot compose: {e}")
try:
    with initialize_config_dir(str(root / "trainer/config"), version_base=None):
        composed = compose(config, overrides=overrides)
        text = OmegaConf.to_yaml(composed, resolve=True)
except Exception as e:
    sys.exit(f"verl {version}: " + " ".join(str(e).split()))
sys.stdout.write(text)
