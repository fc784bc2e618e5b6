"""Write the tables of configuration keys that package verl checks overrides against.

    pip download --no-deps verl==0.7.0 verl==0.9.1 ...   (one at a time)
    python keys.py OUT_DIR verl-0.7.0-py3-none-any.whl verl-0.9.1-py3-none-any.whl

needs hydra-core and no verl: the YAML files of a wheel are composed as its own
entry points compose them, and its Python files are read, never run. One file a
version comes out, VERSION.keys: an outline with a key a line, indented by one
space a level. Behind a key stand its marks:

    {}  an open mapping or list, to which anything may be added
    ?   has no default and must be set
    !   composes, and is read by no code that a run of the default trainer reaches

What is read is decided by rules that err towards "read":

 1. A key whose name stands in no Python file, neither as an attribute nor as a
    string, is unread, unless its section is handed on whole (HANDED_ON) or
    another key refers to it by interpolation.
 2. The sections of legacy_reward_impl.yaml are unread once nothing that main_ppo
    imports moves them over (0.9.0).
 3. Names too common for rule 1 have a pattern of their own (PATTERNS), and the
    keys of a trainer's own section are sought in the files that read it (SCOPES).
"""

import ast
import pathlib
import re
import sys
import tempfile
import zipfile

from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, ListConfig

CONFIGS = ["sft_trainer", "sft_trainer_engine", "ppo_trainer"]

# Sections that are given to another library as they are.
HANDED_ON = [
    "engine_kwargs", "nsys", "kw_args", "ray_init", "transfer_queue", "turbo_config", "lora",
    "override_config", "override_optimizer_config", "apply_chat_template_kwargs", "sampler_kwargs",
]

# Files that only other entry points reach.
OTHER_ENTRIES = [
    "experimental/fully_async_policy", "experimental/one_step_off_policy", "experimental/separation",
    "experimental/transfer_queue", "trainer/main_eval", "trainer/main_generation",
]
# From the version on that has the new trainer, also the one it replaced.
OLD_TRAINER = ["trainer/main_ppo_v0.py", "trainer/ppo/ray_trainer.py"]

# key -> what reads it.
PATTERNS = {
    "actor_rollout_ref.rollout.multi_turn.enable": r"multi_turn(\.enable\b|\.get\(.enable)",
    "actor_rollout_ref.rollout.mode": r"(rollout|rollout_config)\.mode\b",
    "actor_rollout_ref.actor.use_torch_compile": r"config\.get\(.use_torch_compile",
    "actor_rollout_ref.ref.use_torch_compile": r"config\.get\(.use_torch_compile",
    "actor_rollout_ref.actor.grad_clip": r"config\.grad_clip\b",
    "critic.grad_clip": r"config\.grad_clip\b",
    "trainer.balance_batch": r"trainer\.(get\(.)?balance_batch\b",
    "actor_rollout_ref.rollout.val_kwargs.do_sample": r"val_kwargs\.do_sample\b",
}

# (config, section) -> the files that read its keys.
SCOPES = {
    ("sft_trainer", "trainer"): ["trainer/fsdp_sft_trainer.py", "utils/checkpoint/"],
    ("sft_trainer", "data"): ["trainer/fsdp_sft_trainer.py", "utils/dataset/"],
    ("sft_trainer_engine", "trainer"): ["trainer/sft_trainer", "utils/checkpoint/"],
    ("sft_trainer_engine", "data"): ["trainer/sft_trainer", "utils/dataset/"],
    ("ppo_trainer", "data"): ["trainer/", "utils/dataset/", "experimental/agent_loop/", "experimental/reward_loop/"],
}

INTERPOLATED = re.compile(r"\$\{(?:oc\.select:)?\s*([A-Za-z_][\w.]*)")


class Sources:
    """The Python files of one wheel that its trainers reach."""

    def __init__(self, root):
        self.root = root / "verl"
        skipped = list(OTHER_ENTRIES)
        if (self.root / "trainer/main_ppo_v0.py").exists():
            skipped += OLD_TRAINER
        self.texts = {}
        for path in sorted(self.root.rglob("*.py")):
            name = path.relative_to(self.root).as_posix()
            if not name.startswith(tuple(skipped)):
                self.texts[name] = path.read_text()
        self.names = {name: names_in(text) for name, text in self.texts.items()}

    def mentions(self, word, within=("",)):
        return any(word in names for file, names in self.names.items() if file.startswith(tuple(within)))

    def matches(self, pattern):
        return any(re.search(pattern, text) for text in self.texts.values())

    def moves_legacy_reward(self):
        return "migrate_legacy_reward_impl(" in self.texts["trainer/main_ppo.py"]


def names_in(text):
    """The attributes and strings of a Python file."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


def is_read(config, key, sources, referred):
    name = key.rsplit(".", 1)[-1]
    if key in PATTERNS:
        return sources.matches(PATTERNS[key])
    if key in referred or any(part in HANDED_ON for part in key.split(".")[:-1]):
        return True
    scope = SCOPES.get((config, key.split(".", 1)[0]), ("",)) if key.count(".") == 1 else ("",)
    return sources.mentions(name, scope)


def references(node):
    """Every key that the interpolations below node refer to."""
    found = set()
    if isinstance(node, DictConfig | ListConfig) and not node._is_interpolation() and not node._is_none():
        for key in node if isinstance(node, DictConfig) else range(len(node)):
            found |= references(node._get_node(key))
    elif node is not None and node._is_interpolation():
        found |= set(INTERPOLATED.findall(str(node._value())))
    return found


def outline(config, node, prefix, legacy, sources, referred):
    lines = []
    for name in node:
        if name == "_target_":
            continue
        child, key = node._get_node(name), prefix + name
        mapping = isinstance(child, DictConfig) and not child._is_interpolation() and not child._is_none() and len(child)
        marks = ""
        if isinstance(child, DictConfig | ListConfig) and not mapping and not child._is_none() and not child._is_interpolation():
            marks += " {}"
        elif mapping and name in HANDED_ON:
            marks += " {}"
        if child._is_missing():
            marks += " ?"
        if legacy and key.split(".")[0] in legacy or not mapping and not is_read(config, key, sources, referred):
            marks += " !"
        lines.append(" " * (key.count(".") + 1) + name + marks)
        if mapping:
            lines += outline(config, child, key + ".", legacy, sources, referred)
    return lines


def table(wheel, out):
    version = wheel.name.split("-")[1]
    lines = []
    with tempfile.TemporaryDirectory() as tmp:
        root = pathlib.Path(tmp)
        zipfile.ZipFile(wheel).extractall(root)
        folder = root / "verl/trainer/config"
        sources = Sources(root)
        for config in CONFIGS:
            if not (folder / f"{config}.yaml").exists():
                continue
            with initialize_config_dir(str(folder), version_base=None):
                composed = compose(config)
            legacy = []
            shim = folder / "legacy_reward_impl.yaml"
            if config == "ppo_trainer" and shim.exists() and not sources.moves_legacy_reward():
                legacy = re.findall(r"^(\w+):", shim.read_text(), re.M)
            lines.append(config)
            lines += outline(config, composed, "", legacy, sources, references(composed))
    (out / f"{version}.keys").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    for file in sys.argv[2:]:
        table(pathlib.Path(file), pathlib.Path(sys.argv[1]))
