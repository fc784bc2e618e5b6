"""The reward of an answer: the share of a problem's tests that its program passes.

verl calls a reward function in a pool of threads and waits for it, so these are
plain functions and may take their time. The keyword arguments come from
reward_kwargs in verl's configuration; Settings lists them, and one that it does
not know is an error.
"""

from dataclasses import dataclass

from . import extract, tests
from .sandbox import BadRequest, Sandbox, SandboxUnavailable

# What verl itself may pass by keyword, of no use here.
_VERLS_OWN = ("reward_router_address", "reward_model_tokenizer")

# The step reward by which the tool reports a call that never ran.
UNAVAILABLE = -1.0


class Unjudged(Exception):
    """An answer without a verdict, by no fault of its own."""


@dataclass(frozen=True)
class Settings:
    sandbox_url: str = "http://localhost:8080"
    sandbox_token: str | None = None  # CR_SANDBOX_TOKEN where none is given
    language: str = "python"
    extract: str = "verl"  # verl, last, lcb
    score: str = "share"  # share of tests passed, or strict: 1 for all, else 0
    timeout: float = 30.0  # seconds of a program on one test
    compile_timeout: float = 30.0
    total_timeout: float = 300.0  # seconds of all tests together
    max_wait: float = 600.0  # seconds to try again in while the sandbox is away
    infra: str = "stop"  # stop the run, or zero: score 0 with infra_error 1
    bonus: float = 0.005  # compute_reward: for each tool call
    max_calls: int = 4  # compute_reward: calls that count

    def __post_init__(self):
        for name, choices in (("extract", ("verl", "last", "lcb")), ("score", ("share", "strict")), ("infra", ("stop", "zero"))):
            if getattr(self, name) not in choices:
                raise ValueError(f"{name}={getattr(self, name)!r}: want one of {', '.join(choices)}")


def compute_score(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    """The reward for correctness alone.

    The result's keys are the same for every answer, as verl wants them: score;
    acc, 1 where all tests passed; passed and tests, their numbers; no_code;
    infra_error, 1 where the answer could not be judged and infra is zero.
    """
    return _judge(data_source, solution_str, ground_truth, extra_info or {}, _settings(kwargs))


def compute_reward(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    """The reward for correctness plus bonus for each tool call, up to max_calls.

    Beside the keys of compute_score: code_score, tool_calls, tool_bonus. The bonus
    does not look at correctness; an answer that could not be judged gets none.
    """
    settings = _settings(kwargs)
    extra_info = extra_info or {}
    result = _judge(data_source, solution_str, ground_truth, extra_info, settings)
    calls = tool_calls(extra_info)
    bonus = min(calls, max(settings.max_calls, 0)) * settings.bonus * (1 - result["infra_error"])
    code = result["score"]
    return {**result, "score": code + bonus, "code_score": code, "tool_calls": calls, "tool_bonus": bonus}


def tool_calls(extra_info):
    """How many tool calls of an answer were executed, failed ones included.

    The published patch counts them in tool_call_count; without it, verl's list of
    step rewards has one entry for each.
    """
    if (count := extra_info.get("tool_call_count")) is not None:
        return max(int(count), 0)
    for name in ("tool_rewards", "tool_calls", "tool_call_names"):
        if (calls := extra_info.get(name)) is not None:
            return len(calls)
    return 0


def _settings(kwargs):
    return Settings(**{name: value for name, value in kwargs.items() if name not in _VERLS_OWN})


def _judge(data_source, solution, ground_truth, extra_info, settings):
    try:
        if UNAVAILABLE in list(extra_info.get("tool_rewards") or ()):
            raise SandboxUnavailable("a tool call of the answer never ran")
        return _verdict(solution, tests.read(ground_truth), settings)
    except (SandboxUnavailable, BadRequest, tests.BadTests) as e:
        if settings.infra == "stop":
            raise Unjudged(f"{data_source} {extra_info.get('index', '')}: {e}") from e
        print(f"cr_verl: not judged, scored 0 (infra=zero): {data_source}: {e}", flush=True)
        return _result(infra_error=1)


def _verdict(solution, cases, settings):
    code = extract.program(solution, settings.extract)
    if not code.strip():
        return _result(tests=len(cases["input"]), no_code=1)
    fence = "`" * 3
    body = {
        "completion": f"{fence}{settings.language}\n{code}\n{fence}",
        "config": {
            "language": settings.language,
            "compile_timeout": settings.compile_timeout,
            "run_timeout": settings.timeout,
            "provided_data": {"test_cases": cases},
            "extra": {"run_all_cases": True, "total_timeout": settings.total_timeout},
        },
    }
    sandbox = Sandbox(settings.sandbox_url, settings.sandbox_token, settings.max_wait)
    # The service may have others to serve first; waiting is not the program's fault.
    answer = sandbox.post("/common_evaluate_batch", body, settings.total_timeout + settings.max_wait)
    return _counted(answer, len(cases["input"]), settings.score)


def _counted(answer, want, score):
    """The result of a verdict that has one outcome for each test; others are none."""
    outcomes = answer.get("tests") or []
    if not isinstance(outcomes, list) or not all(_is_outcome(outcome) for outcome in outcomes):
        raise SandboxUnavailable("the sandbox's answer is no verdict")
    for outcome in outcomes:
        info = outcome.get("exec_info") or {}
        if info.get("status") == "SandboxError" and "Timeout" not in (info.get("message") or ""):
            raise SandboxUnavailable(f"the sandbox failed on a test: {info.get('message')}")
    if len(outcomes) != want:
        raise SandboxUnavailable(f"the sandbox answered for {len(outcomes)} of {want} tests")
    passed = sum(outcome["passed"] for outcome in outcomes)
    acc = float(passed == want)
    return _result(score=passed / want if score == "share" else acc, acc=acc, passed=passed, tests=want)


def _is_outcome(outcome):
    return isinstance(outcome, dict) and isinstance(outcome.get("passed"), bool) and isinstance(outcome.get("exec_info") or {}, dict)


def _result(score=0.0, acc=0.0, passed=0, tests=0, no_code=0, infra_error=0):
    return {"score": score, "acc": acc, "passed": passed, "tests": tests, "no_code": no_code, "infra_error": infra_error}
