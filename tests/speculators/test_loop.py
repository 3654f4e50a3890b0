"""A speculator that is the sidecar itself would be asked about its own questions without end."""

import socket
from pathlib import Path

from tests.proxy.test_serve import refused


async def test_an_endpoint_that_is_the_sidecar_itself_is_refused(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    path = tmp_path / "paste.toml"
    path.write_text(f'[speculator]\nmodel = "m"\nbase_url = "http://localhost:{port}/v1"\n')
    code, said = await refused("--config", str(path), "--port", str(port), cwd=tmp_path)
    assert (code, "speculator.base_url" in said, "the sidecar itself" in said) == (2, True, True)


async def test_an_endpoint_on_another_machine_is_refused_unless_that_is_meant(tmp_path: Path) -> None:
    path = tmp_path / "paste.toml"
    path.write_text('[speculator]\nmodel = "m"\nbase_url = "https://models.example/v1"\n')
    code, said = await refused("--config", str(path), cwd=tmp_path)
    assert (code, "remote = true" in said) == (2, True)
