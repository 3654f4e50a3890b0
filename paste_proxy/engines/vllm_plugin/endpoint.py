"""The HTTP side: `POST /cache-tool-output/{response_id}`, and `GET /paste/vllm`, which tells what was done."""

import os
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

from paste_proxy.engines.vllm_plugin.asked import entries_of, response_key
from paste_proxy.engines.vllm_plugin.desk import Desk
from paste_proxy.engines.vllm_plugin.probe import check_server, found
from paste_proxy.engines.vllm_plugin.serving import install
from paste_proxy.engines.vllm_plugin.settings import Settings
from paste_proxy.errors import ClientFault, OurFault

_LONGEST_BODY = 16 * 1024 * 1024


class ToolCacheEndpoint:
    """An endpoint plug-in of vLLM.

    Raises:
        OurFault: this vLLM is not supported.
    """

    name = "paste"
    required_tasks: tuple[str, ...] | None = ("generate",)

    def __init__(self, settings: Settings) -> None:
        check_server()
        self._settings, self._desk = settings, Desk(settings.cache_bytes)
        self._engine: Any = None
        self._allowed: Callable[[Any], bool] = lambda headers: True

    def attach_router(self, app: Any) -> None:
        """Add the routes."""
        route = import_module("starlette.routing").Route
        app.router.routes.append(route("/cache-tool-output/{response_id}", self._guarded(self._put), methods=["POST"]))
        app.router.routes.append(route("/paste/vllm", self._guarded(self._state), methods=["GET"]))

    async def init_state(self, engine_client: Any, state: Any, args: Any) -> None:
        """Go into chat completions.

        Raises:
            OurFault: there are several API servers, of which one alone would have the outputs.
        """
        if engine_client is None or getattr(state, "openai_serving_chat", None) is None:
            return
        if (getattr(args, "api_server_count", None) or 1) > 1:
            raise OurFault("the tool cache needs --api-server-count 1: outputs reach one API server only")
        keys = [key for key in [*(getattr(args, "api_key", None) or ()), os.environ.get("VLLM_API_KEY")] if key]
        if keys:
            guard = found("vllm.entrypoints.serve.middleware.authenticate:AuthenticationMiddleware")(None, keys)
            self._allowed = guard.verify_token
        self._engine = engine_client
        install(state.openai_serving_chat, self._desk, self._settings)

    def _guarded(self, answer: Callable[[Any], Awaitable[dict[str, Any]]]) -> Callable[[Any], Awaitable[Any]]:
        async def guarded(request: Any) -> Any:
            json_response = import_module("starlette.responses").JSONResponse
            if not self._allowed(request.headers):
                return json_response({"error": "Unauthorized"}, status_code=401)
            try:
                return json_response(await answer(request))
            except ClientFault as fault:
                return json_response({"error": str(fault)}, status_code=fault.http_status)

        return guarded

    async def _put(self, request: Any) -> dict[str, Any]:
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > _LONGEST_BODY:
                raise ClientFault(f"the body is longer than {_LONGEST_BODY} bytes")
        entries = entries_of(bytes(body), self._desk.now(), self._settings.keep_alive_s)
        return {"cached": self._desk.put(response_key(request.path_params["response_id"]), entries)}

    async def _state(self, request: Any) -> dict[str, Any]:
        shaping = await self._engine.engine_core.call_utility_async("paste_state")
        return {"tool_cache": self._desk.state(), "load_shaping": shaping}


class Off:
    """The endpoint plug-in where nothing is to be done: there is no task that it is for."""

    name = "paste"
    required_tasks: tuple[str, ...] | None = ()

    def attach_router(self, app: Any) -> None:
        """Nothing."""

    async def init_state(self, engine_client: Any, state: Any, args: Any) -> None:
        """Nothing."""
