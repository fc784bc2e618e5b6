"""The code interpreter as a tool of verl's agent loop."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from verl.tools.base_tool import BaseTool
from verl.tools.schemas import ToolResponse

from .reward import UNAVAILABLE
from .sandbox import BadRequest, Sandbox, SandboxUnavailable

_PYTHON = ("", "python", "py", "python3")


class SandboxTool(BaseTool):
    """Runs a program in the sandbox and shows the model what it printed.

    config: url; token (CR_SANDBOX_TOKEN where none is given); timeout, the seconds
    a program may run, and what the model asks for counts up to it; max_wait, the
    seconds to try again in while the sandbox is away; concurrency, the requests
    that one worker has open at a time.

    The step reward is 0 for a call that was executed and reward.UNAVAILABLE for
    one that the sandbox could not run, so that the reward function can count the
    former and does not score an answer that met the latter.
    """

    def __init__(self, config, tool_schema):
        super().__init__(config, tool_schema)
        self.timeout = float(config.get("timeout", 30))
        self.sandbox = Sandbox(config["url"], config.get("token"), float(config.get("max_wait", 600)))
        self.threads = ThreadPoolExecutor(int(config.get("concurrency", 64)), thread_name_prefix="sandbox")

    async def execute(self, instance_id, parameters, **kwargs):
        """verl's call: the reply, the step reward, metrics. agent_data goes unused."""
        fault, code, limit = self._arguments(parameters)
        if fault:
            return ToolResponse(text=f"Error: {fault}; nothing was run."), 0.0, {"infra_error": 0}
        body = {"language": "python", "code": code, "run_timeout": limit, "cr": {"prelude": True}}
        loop = asyncio.get_running_loop()
        try:
            answer = await loop.run_in_executor(
                self.threads, self.sandbox.post, "/run_code", body, limit + self.sandbox.max_wait
            )
            if answer.get("status") == "SandboxError" or not isinstance(_run(answer), dict):
                raise SandboxUnavailable(answer.get("message") or "the sandbox's answer tells of no run")
        except (SandboxUnavailable, BadRequest) as e:
            print(f"cr_verl: tool call not run: {e}", flush=True)
            return ToolResponse(text="Error: the sandbox is not available; nothing was run."), UNAVAILABLE, {"infra_error": 1}
        return ToolResponse(text=describe(answer, limit)), 0.0, {"infra_error": 0}

    def _arguments(self, parameters):
        """What is wrong with a call, the program, and its time limit in seconds."""
        if not isinstance(parameters, dict):
            return 'arguments must be a JSON object with the string "code"', "", 0
        code, language = parameters.get("code"), parameters.get("language") or ""
        if not isinstance(code, str) or not code.strip():
            return 'argument "code" must be a string with the program', "", 0
        if not isinstance(language, str) or language.strip().lower() not in _PYTHON:
            return f"language {language!r} cannot be run here; use python", "", 0
        try:
            asked = float(parameters.get("timeout") or self.timeout)
        except (TypeError, ValueError):
            asked = 0.0
        if not asked > 0:
            return 'argument "timeout" must be a positive number of seconds', "", 0
        return "", code, min(max(asked, 1.0), self.timeout)


def _run(answer):
    return answer.get("run_result") or answer.get("compile_result")


def describe(answer, limit):
    """A run as cr's own interpreter shows it: stdout, stderr, how it ended."""
    run = _run(answer)
    parts = []
    for name in ("stdout", "stderr"):
        if text := (run.get(name) or "").rstrip("\n"):
            parts.append(f"{name}:\n{text}\n")
    text = "".join(parts) or "no output\n"
    status = (answer.get("cr") or {}).get("status")
    signal = (answer.get("cr") or {}).get("signal")
    if run.get("status") == "TimeLimitExceeded":
        return f"{text}killed: time limit of {limit:g} s exceeded"
    if status == "MLE":
        return f"{text}killed: memory limit exceeded"
    if status == "OLE":
        return f"{text}killed: output limit exceeded"
    if signal:
        return f"{text}killed by signal {signal}"
    return f"{text}exit status: {run.get('return_code')}"
