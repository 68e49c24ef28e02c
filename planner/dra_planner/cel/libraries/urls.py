"""URLs.

Sources of the behavior: kubernetes/apiserver:pkg/cel/library/urls.go@v0.36.3;
golang/go:src/net/url/url.go@go1.26.8. Functions with `strict` reject a second colon in the host of
http and https URLs, as binaries built with Go 1.26 do.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from dra_planner.cel.values import CelError, MapValue, UrlValue

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.\-]*):", re.ASCII)
_BAD_ESCAPE: Final = re.compile(r"%(?![0-9a-fA-F]{2})")
_ESCAPE: Final = re.compile(rb"%([0-9a-fA-F]{2})")
_ESCAPE_IN_TEXT: Final = re.compile(r"%([0-9a-fA-F]{2})")
_HOST_KEPT: Final = re.compile(r"(?:[a-zA-Z0-9\-_.~!$&'()*+,;=:\[\]<>\"]|[^\x00-\x7f])*")
_STRICT_SCHEMES: Final = ("http", "https")
_USER: Final = re.compile(r"[a-zA-Z0-9\-._:~!$&'()*+,;=%@]*", re.ASCII)
_PORT: Final = re.compile(r"(?::[0-9]*)?", re.ASCII)
_PATH_KEPT: Final = frozenset(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~$&+,/:;=@"
)
_PATH_VALID: Final = re.compile(
    r"(?:[a-zA-Z0-9\-_.~!$&'()*+,;=:@/\[\]]|%[0-9a-fA-F]{2})*", re.ASCII
)


class _UrlError(ValueError):
    pass


def _parse(text: str, *, request: bool, strict: bool) -> UrlValue:
    if _CONTROL.search(text):
        raise _UrlError("net/url: invalid control character in URL")
    if not text and request:
        raise _UrlError("empty url")
    if text == "*":
        return UrlValue(text, "", "", "*", "", "")
    scheme, rest = _scheme(text)
    rest, _, query = (
        (rest[:-1], "?", "") if rest.endswith("?") and rest.count("?") == 1 else rest.partition("?")
    )
    if not rest.startswith("/"):
        if scheme:
            return UrlValue(text, scheme, "", "", "", query)
        if request:
            raise _UrlError("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise _UrlError("first path segment in URL cannot contain colon")
    host = ""
    if (scheme or (not request and not rest.startswith("///"))) and rest.startswith("//"):
        authority, slash, rest = rest[2:].partition("/")
        host = _authority(authority, strict=strict and scheme in _STRICT_SCHEMES)
        rest = slash + rest
    path = _unescape(rest)
    return UrlValue(text, scheme, host, path, "" if _escape(path) == rest else rest, query)


def _scheme(text: str) -> tuple[str, str]:
    if text.startswith(":"):
        raise _UrlError("missing protocol scheme")
    match = _SCHEME.match(text)
    return (match[1].lower(), text[match.end() :]) if match else ("", text)


def _authority(text: str, *, strict: bool) -> str:
    user, at, host = text.rpartition("@")
    parsed = _host(host, strict=strict)
    if at and (not _USER.fullmatch(user) or _BAD_ESCAPE.search(user)):
        raise _UrlError("net/url: invalid userinfo")
    return parsed


def _host(host: str, *, strict: bool) -> str:
    if host.rfind("[") > 0:
        raise _UrlError("invalid IP-literal")
    if host.startswith("["):
        return _literal(host)
    first, last = host.find(":"), host.rfind(":")
    if last >= 0:
        _check_port(host[first if strict else last :])
    return _unescape_host(host)


def _literal(host: str) -> str:
    """Return an IPv6 address in brackets, and the port after it. The address can have a zone after
    `%25`.
    """
    close = host.rfind("]")
    if close < 0:
        raise _UrlError("missing ']' in host")
    port = host[close + 1 :]
    _check_port(port)
    address, sign, zone = host[1:close].partition("%25")
    found = _unescape_host(address) + (_unescape_zone(sign + zone) if sign else "")
    try:
        ipaddress.IPv6Address(found)
    except ValueError:
        raise _UrlError("invalid host") from None
    return f"[{found}]{port}"


def _check_port(port: str) -> None:
    if not _PORT.fullmatch(port):
        raise _UrlError(f'invalid port "{port}" after host')


def _unescape_host(text: str) -> str:
    """Return a host. Only `%25` and non-ASCII characters can be escaped."""
    for match in _ESCAPE_IN_TEXT.finditer(text):
        if int(match[1], 16) < 0x80 and match[0] != "%25":
            raise _UrlError(f'invalid URL escape "{match[0]}"')
    return _of_host(text)


def _unescape_zone(text: str) -> str:
    """Return the zone of an address.

    Spaces and characters that don't need escaping can also be escaped.
    """
    for match in _ESCAPE_IN_TEXT.finditer(text):
        byte = int(match[1], 16)
        if (
            match[0] != "%25"
            and byte != 0x20
            and (byte >= 0x80 or not _HOST_KEPT.fullmatch(chr(byte)))
        ):
            raise _UrlError(f'invalid URL escape "{match[0]}"')
    return _of_host(text)


def _of_host(text: str) -> str:
    found = _unescape(text)  # invalid escapes are reported first
    if not _HOST_KEPT.fullmatch(_ESCAPE_IN_TEXT.sub("", text)):
        raise _UrlError("invalid character in host name")
    return found


def _unescape(text: str) -> str:
    if _BAD_ESCAPE.search(text):
        raise _UrlError("invalid URL escape")
    data = _ESCAPE.sub(lambda m: bytes([int(m[1], 16)]), text.encode())
    return data.decode("utf-8", "replace")


def _escape(path: str) -> str:
    return "".join(
        chr(b) if b in _PATH_KEPT else f"%{b:02X}" for b in path.encode("utf-8", "replace")
    )


def _url(text: str, *, strict: bool = False) -> UrlValue:
    try:
        _parse(text, request=True, strict=strict)
        before, _, fragment = text.partition("#")
        if _BAD_ESCAPE.search(fragment):
            raise _UrlError("invalid URL escape")
        return _parse(before, request=False, strict=strict)
    except _UrlError as error:
        raise CelError(
            f'URL parse error during conversion from string: parse "{text[:80]}": {error}'
        ) from None


def is_request_uri(text: str, *, strict: bool = False) -> bool:
    """Return True if a text can be the target of an HTTP request: a URL, or an absolute path."""
    try:
        _parse(text, request=True, strict=strict)
    except _UrlError:
        return False
    return True


def _hostname(url: UrlValue) -> str:
    host = _without_port(url.host)
    return host[1:-1] if host.startswith("[") and host.endswith("]") else host


def _without_port(host: str) -> str:
    colon = host.rfind(":")
    return host[:colon] if colon >= 0 and _PORT.fullmatch(host[colon:]) else host


def _port(url: UrlValue) -> str:
    colon = url.host.rfind(":")
    return url.host[colon + 1 :] if colon >= 0 and _PORT.fullmatch(url.host[colon:]) else ""


def _escaped_path(url: UrlValue) -> str:
    if url.raw_path and _PATH_VALID.fullmatch(url.raw_path):
        return url.raw_path
    return "*" if url.path == "*" else _escape(url.path)


def _query(url: UrlValue) -> MapValue:
    found: dict[str, list[Any]] = {}
    for part in url.query.split("&"):
        if not part or ";" in part:
            continue
        name, _, value = part.partition("=")
        try:
            found.setdefault(_unescape(name.replace("+", " ")), []).append(
                _unescape(value.replace("+", " "))
            )
        except _UrlError:
            continue
    return MapValue.of_strings(found)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "string_to_url": _url,
    "url_get_scheme": lambda url: url.scheme,
    "url_get_host": lambda url: url.host,
    "url_get_hostname": _hostname,
    "url_get_port": _port,
    "url_get_escaped_path": _escaped_path,
    "url_get_query": _query,
    "is_url_string": is_request_uri,
}
STRICT_COLONS: Final[dict[str, Callable[..., Any]]] = {
    "string_to_url": partial(_url, strict=True),
    "is_url_string": partial(is_request_uri, strict=True),
}
