"""Where gemini-cli finds its LLM: by how it signs in."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from paste_proxy.agents.wrap.settings_file import Settings, read_env_file, text

_DEVELOPER = "https://generativelanguage.googleapis.com"
_CODE_ASSIST = "https://cloudcode-pa.googleapis.com"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An LLM endpoint and the environment variable that names it."""

    upstream: str
    variable: str
    sign_in: str = ""
    """The way to sign in that settings must name, since the client goes by the variable otherwise."""


def endpoint(settings: Settings, env: Mapping[str, str]) -> Endpoint | None:
    """The endpoint in use; None if the client has yet to ask how to sign in."""
    chosen = text(settings, "security", "auth", "selectedType")
    match chosen or _from_environment(env):
        case "oauth-personal" | "compute-default-credentials" | "cloud-shell":
            upstream = env.get("CODE_ASSIST_ENDPOINT") or _CODE_ASSIST
            return Endpoint(upstream=upstream, variable="CODE_ASSIST_ENDPOINT")
        case "vertex-ai":
            upstream = env.get("GOOGLE_VERTEX_BASE_URL") or _vertex(env)
            return Endpoint(upstream=upstream, variable="GOOGLE_VERTEX_BASE_URL")
        case "gemini-api-key" | "gateway" as way:
            given = env.get("GOOGLE_GEMINI_BASE_URL")
            needed = "" if chosen or given else way
            return Endpoint(upstream=given or _DEVELOPER, variable="GOOGLE_GEMINI_BASE_URL", sign_in=needed)
    return None


def env_file(folder: Path, home: Path) -> dict[str, str]:
    """The variables of the one `.env` file that the client reads: the nearest, `.gemini/.env` first."""
    for place in (folder, *folder.parents, home):
        for path in (place / ".gemini/.env", place / ".env"):
            if path.is_file():
                return read_env_file(path)
    return {}


def _from_environment(env: Mapping[str, str]) -> str:
    if env.get("GOOGLE_GENAI_USE_GCA") == "true":
        return "oauth-personal"
    if env.get("GOOGLE_GENAI_USE_VERTEXAI") == "true":
        return "vertex-ai"
    if env.get("GOOGLE_GEMINI_BASE_URL"):
        return "gateway"
    if env.get("GEMINI_API_KEY"):
        return "gemini-api-key"
    if env.get("CLOUD_SHELL") == "true" or env.get("GEMINI_CLI_USE_COMPUTE_ADC") == "true":
        return "compute-default-credentials"
    return ""


def _vertex(env: Mapping[str, str]) -> str:
    location = env.get("GOOGLE_CLOUD_LOCATION", "")
    if location in ("us", "eu"):
        return f"https://aiplatform.{location}.rep.googleapis.com"
    if location in ("", "global") or not env.get("GOOGLE_CLOUD_PROJECT"):
        return "https://aiplatform.googleapis.com"
    return f"https://{location}-aiplatform.googleapis.com"
