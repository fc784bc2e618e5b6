"""A client of the sandbox that never mistakes its troubles for those of a program."""

import http.client
import json
import math
import os
import random
import time
import urllib.error
import urllib.parse
import urllib.request
from email.utils import parsedate_to_datetime

FIRST_DELAY = 1.0  # seconds before the second attempt; doubles with each one
LONGEST_DELAY = 60.0


class SandboxUnavailable(Exception):
    """The sandbox gave no verdict, for all the patience it was met with."""


class BadRequest(Exception):
    """The sandbox refused a request that no repetition makes better."""


class Sandbox:
    """The service at one address.

    A request that ends in 429, 5xx, a timeout or a broken connection is sent again
    after a growing delay, or after the time that the service asks for in
    Retry-After, until max_wait seconds have gone by since the first attempt.
    """

    def __init__(self, url, token=None, max_wait=600.0):
        self.url = url.rstrip("/")
        self.token = (token or os.environ.get("CR_SANDBOX_TOKEN") or "").strip()
        self.max_wait = max_wait
        parts = urllib.parse.urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"sandbox_url={url!r}: want an address like http://localhost:8080")
        if not (self.token.isascii() and self.token.replace(" ", "").isprintable()):
            raise ValueError("the sandbox's token: want ASCII letters, digits and signs on one line")

    def post(self, path, body, timeout):
        """The JSON answer of a request; timeout is that of one attempt, in seconds."""
        deadline = time.monotonic() + self.max_wait
        delay = FIRST_DELAY
        while True:
            try:
                return self._send(path, body, timeout)
            except _Again as e:
                # Who asks for no pause at all is given one, growing, as well.
                pause = max(e.after, delay / 10) if e.after is not None else delay * random.uniform(0.75, 1.25)
                if time.monotonic() + pause > deadline:
                    raise SandboxUnavailable(f"{self.url}{path}: {e} (tried for {self.max_wait:g} s)") from None
            time.sleep(pause)
            delay = min(2 * delay, LONGEST_DELAY)

    def _send(self, path, body, timeout):
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as answer:
                decoded = json.loads(_body(answer, time.monotonic() + timeout))
        except urllib.error.HTTPError as e:
            detail = _detail(e)
            if e.code == 429 or e.code >= 500:
                raise _Again(f"HTTP {e.code} {detail[:200]}", _seconds(e.headers.get("Retry-After"))) from None
            raise BadRequest(f"{self.url}{path}: HTTP {e.code} {detail}") from None
        except (OSError, http.client.HTTPException, ValueError) as e:
            raise _Again(f"{type(e).__name__}: {e}") from None
        if not isinstance(decoded, dict):
            raise _Again("the answer is no JSON object")
        return decoded


def _detail(error):
    """The beginning of a refusal's text, as far as it comes."""
    try:
        return " ".join(error.read(2000).decode(errors="replace").split())
    except (OSError, http.client.HTTPException):
        return ""


def _body(answer, deadline):
    """All of an answer; the socket's own timeout begins anew with every byte."""
    body = bytearray()
    while chunk := answer.read1(1 << 20):
        body += chunk
        if time.monotonic() > deadline:
            raise TimeoutError("the answer never ended")
    return body


class _Again(Exception):
    """An attempt that failed for a reason that may pass."""

    def __init__(self, why, after=None):
        super().__init__(why)
        self.after = after


def _seconds(retry_after):
    """Retry-After as seconds from now: it is a number of them, or a date."""
    if not retry_after:
        return None
    try:
        seconds = float(retry_after)
        return max(0.0, seconds) if math.isfinite(seconds) else None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
