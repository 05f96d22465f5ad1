"""Sends requests: the key, retries, problems, and digests of bundles. Nothing but the standard library."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import random
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

#: After how many seconds at most a refused request is sent again.
LONGEST = 30.0


class AnswerError(Exception):
    """The answer breaks the contract: of another media type, or of other bytes than it was announced with."""


class Problem(Exception):
    """An error that the service answered with (RFC 9457). code is stable, and callers branch on it."""

    def __init__(self, status: int, document: Mapping[str, Any], retry_after: float = 0.0) -> None:
        self.status = status
        self.document = dict(document)
        self.code: str = self.document.get("code", "")
        self.detail: str = self.document.get("detail", f"the answer was {status}, without a problem document")
        self.place: str = self.document.get("place", "")
        self.request_id: str = self.document.get("request_id", "")
        self.retry_after = retry_after
        super().__init__(": ".join(part for part in (self.code, self.detail) if part))


@dataclass(frozen=True)
class Event:
    """One event of a stream. To go on later, give the id of the last one."""

    id: str
    name: str
    data: dict[str, Any]


class _Refuse(urllib.request.HTTPRedirectHandler):
    """The service never redirects: anyone who does is not to get the request."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Transport:
    """Speaks to one service with one key. It shows the key to no printer."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        allow_plaintext: bool = False,
        timeout: float = 90.0,
        attempts: int = 4,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
            raise ValueError("the URL may have only a scheme, a host and a path; pass the key separately")
        if parts.scheme == "http" and not allow_plaintext and not _loopback(parts.hostname):
            raise ValueError("http would send the key unencrypted; use https, or allow_plaintext")
        if not key or any(not "!" <= c <= "~" for c in key):
            raise ValueError("the key is empty, or has spaces or characters other than printable ASCII")
        self._base = url.rstrip("/")
        self._authorization = lambda: "Bearer " + key
        self._timeout, self._attempts, self._sleep = timeout, attempts, sleep
        self._opener = urllib.request.build_opener(_Refuse)

    def __repr__(self) -> str:
        return f"<graphkernel client of {self._base}>"

    @staticmethod
    def segment(text: str) -> str:
        """Writes a parameter of a path."""
        if text in ("", ".", ".."):
            raise ValueError(f"{text!r} cannot be a part of a path")
        return urllib.parse.quote(text, safe="")

    @staticmethod
    def segments(text: str) -> str:
        """Writes a parameter of a path that has parts."""
        if any(part in ("", ".", "..") for part in text.split("/")):
            raise ValueError(f"{text!r} cannot be the end of a path")
        return urllib.parse.quote(text, safe="/")

    def json(self, method: str, path: str, **options: Any) -> Any:
        """Sends a request and reads the object that answers it."""
        media, data, _ = self._send(method, path, **options)
        if media != "application/json":
            raise AnswerError(f"{method} {path}: the answer is {media}, want application/json")
        try:
            value = json.loads(data)
        except ValueError as error:
            raise AnswerError(f"{method} {path}: {error}") from error
        if not isinstance(value, dict):
            raise AnswerError(f"{method} {path}: the answer is no object")
        return value

    def text(self, method: str, path: str, **options: Any) -> str:
        """Sends a request that is answered in plain text."""
        return self._send(method, path, **options)[1].decode()

    def raw(self, method: str, path: str, **options: Any) -> bytes:
        """Sends a request and returns the bytes of the answer. Those of a bundle are held against the digest
        that they were announced with."""
        _, data, headers = self._send(method, path, **options)
        tag = headers.get("ETag", "").strip('"')
        if len(tag) == 64 and hashlib.sha256(data).hexdigest() != tag:
            raise AnswerError(f"{method} {path}: the bytes are not those of the digest {tag}")
        return data

    def events(self, method: str, path: str, **options: Any) -> Iterator[Event]:
        """Reads a stream of events until it is cut."""
        with self._open(self._request(method, path, **options)) as answer:
            fields: dict[str, str] = {}
            for raw in answer:
                line = raw.decode().rstrip("\r\n")
                name, _, value = line.partition(":")
                if name:
                    fields[name] = value.removeprefix(" ")
                elif not line:
                    if "data" in fields:
                        yield Event(fields.get("id", ""), fields.get("event", ""), json.loads(fields["data"]))
                    fields = {}

    def _request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, str | None] | None = None,
        body: Any = None,
        media: str = "",
        once: bool = False,
        keyless: bool = False,
    ) -> urllib.request.Request:
        url = self._base + path
        given = {name: _parameter(value) for name, value in (query or {}).items() if value is not None}
        if given:
            url += "?" + urllib.parse.urlencode(given)
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body, ensure_ascii=False).encode()
        request = urllib.request.Request(url, data=data, method=method, headers={"User-Agent": "graphkernel-python", "Accept-Encoding": "identity"})
        if data is not None:
            request.add_header("Content-Type", media)
        for name, value in (headers or {}).items():
            if value is not None:
                request.add_header(name, value)
        if not keyless:
            request.add_unredirected_header("Authorization", self._authorization())
        return request

    def _open(self, request: urllib.request.Request, keyless: bool = False) -> Any:
        try:
            return self._opener.open(request, timeout=self._timeout)
        except urllib.error.HTTPError as error:
            if keyless and error.code == 503 and error.headers.get_content_type() == "application/json":
                return error  # how the service is, which is not well
            raise self._problem(error) from None

    def _send(self, method: str, path: str, **options: Any) -> tuple[str, bytes, Any]:
        once, keyless = options.get("once", False), options.get("keyless", False)
        request = self._request(method, path, **options)
        attempt = 0
        while True:
            attempt += 1
            try:
                with self._open(request, keyless) as answer:
                    return answer.headers.get_content_type(), answer.read(), answer.headers
            except Problem as problem:
                wait = problem.retry_after
                if problem.status not in (429, 503) or not 0 < wait <= LONGEST or self._last(attempt, once, keyless):
                    raise
            except (HTTPException, OSError):
                wait = min(5.0, 0.1 * 2 ** (attempt - 1))
                if self._last(attempt, once, keyless):
                    raise
            self._sleep(wait * (1 + random.random() / 4))

    def _last(self, attempt: int, once: bool, keyless: bool) -> bool:
        return once or keyless or attempt >= self._attempts

    @staticmethod
    def _problem(error: urllib.error.HTTPError) -> Exception:
        if 300 <= error.code < 400:
            return AnswerError(f"the service redirects to {error.headers.get('Location', '')[:200]}")
        document: Any = {}
        if error.headers.get_content_type() == "application/problem+json":
            try:
                document = json.loads(error.read(1 << 20))
            except ValueError:
                pass
        after = error.headers.get("Retry-After", "")
        return Problem(error.code, document if isinstance(document, dict) else {}, float(after) if after.isdigit() else 0.0)


def _parameter(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return ",".join(value)
    return str(value)
