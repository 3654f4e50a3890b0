"""Without its package, a wrapper can be imported and says what is missing when it is used."""

from importlib import import_module

import pytest

from paste_proxy import Sidecar


@pytest.mark.parametrize(
    ("module", "package"),
    [
        ("openai_agents", "openai-agents"),
        ("langchain", "langchain-core"),
        ("smolagents", "smolagents"),
        ("pydantic_ai", "pydantic-ai"),
        ("google_adk", "google-adk"),
    ],
)
def test_a_missing_framework_is_named(module: str, package: str) -> None:
    with pytest.raises(ImportError, match=f"agents.{module} needs the package {package}.*pip install {package}"):
        import_module(f"paste_proxy.agents.{module}").through(Sidecar(), [])


def test_a_missing_virtual_lab_is_named() -> None:
    with pytest.raises(ImportError, match="pip install virtual-lab"):
        import_module("paste_proxy.agents.virtual_lab").through(Sidecar())


def test_a_fault_within_a_package_is_not_taken_for_its_absence(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("packages")
    (folder / "smolagents.py").write_text("import something_else_that_is_missing\n")
    monkeypatch.syspath_prepend(str(folder))
    with pytest.raises(ModuleNotFoundError, match="something_else"):
        import_module("paste_proxy.agents.smolagents").through(Sidecar(), [])
