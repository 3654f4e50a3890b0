"""The plug-in's settings, as a server's environment has them."""

import subprocess
import sys

import pytest

from paste_proxy.engines.vllm_plugin.pressure import Range
from paste_proxy.engines.vllm_plugin.register import endpoints, register
from paste_proxy.engines.vllm_plugin.settings import Settings, read, switched_on
from paste_proxy.errors import InputFault, OurFault


@pytest.mark.parametrize(("said", "on"), [({}, False), ({"PASTE_VLLM": "0"}, False), ({"PASTE_VLLM": "1"}, True)])
def test_it_is_switched_on_by_name(said: dict[str, str], on: bool) -> None:
    assert switched_on(said) is on


def test_what_is_not_said_is_as_it_was() -> None:
    assert read({"PASTE_VLLM": "1"}) == Settings()
    assert read({"PASTE_VLLM_BAND": "0.1, 0.3", "PASTE_VLLM_EXACT": "1", "PASTE_VLLM_LINGER": "0"}) == Settings(
        band=Range(0.1, 0.3), exact=True, linger_s=0.0
    )


@pytest.mark.parametrize(
    ("name", "text"), [("BAND", "0.3"), ("BAND", "0.3,0.1"), ("BAND", "a,b"), ("GAMMA", "-1"), ("LONGEST", "inf")]
)
def test_a_setting_that_cannot_be_read_is_named(name: str, text: str) -> None:
    with pytest.raises(InputFault, match=f"PASTE_VLLM_{name}: {text}; expected"):
        read({f"PASTE_VLLM_{name}": text})


def test_a_server_that_merely_has_the_package_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PASTE_VLLM", raising=False)
    register()
    off = endpoints()
    assert off.required_tasks == (), "there is no task that it is for, so that vLLM skips it"


def test_an_engine_that_is_not_supported_is_refused_by_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PASTE_VLLM", "1")
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(OurFault, match=r"vLLM .* is not supported: it has no vllm.* tested is 0\.32\.0"):
        register()
    with pytest.raises(OurFault, match="is not supported"):
        endpoints()


def test_it_brings_nothing_of_the_sidecar_into_the_engine() -> None:
    names = ("settings", "probe", "scheduler", "endpoint", "register")
    code = (
        f"import sys; [__import__('paste_proxy.engines.vllm_plugin.' + name) for name in {names}];"
        "print([name for name in ('aiohttp', 'structlog', 'pydantic', 'numpy', 'openai') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
