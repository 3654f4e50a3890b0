"""The tools as they are declared to an MCP client: names, descriptions, schemas of arguments, hints."""

from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from paste_proxy.events.values import Json
from paste_proxy.tools.workbench.editing import Edit, Write
from paste_proxy.tools.workbench.globbing import Glob
from paste_proxy.tools.workbench.listing import List
from paste_proxy.tools.workbench.reading import Read
from paste_proxy.tools.workbench.running import Run
from paste_proxy.tools.workbench.searching import Grep
from paste_proxy.tools.workbench.workspace import Unable


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A tool. Its arguments are a pydantic model, whose docstring describes the tool to the LLM."""

    name: str
    title: str
    arguments: type[BaseModel]
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    open_world: bool = False
    """Whether it may reach beyond the workspace."""

    def listed(self) -> dict[str, Json]:
        """Its entry in `tools/list`."""
        return {
            "name": self.name,
            "title": self.title,
            "description": " ".join((self.arguments.__doc__ or "").split()),
            "inputSchema": _schema(self.arguments),
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.read_only,
                "destructiveHint": self.destructive,
                "idempotentHint": self.read_only or self.idempotent,
                "openWorldHint": self.open_world,
            },
        }

    def read(self, arguments: dict[str, Json]) -> BaseModel:
        """A call's arguments; those that it does not know, which some clients add, are let be.

        Raises:
            Unable: one is missing, or is not what it should be.
        """
        try:
            return self.arguments.model_validate(arguments)
        except ValidationError as fault:
            wrong = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in fault.errors())
            known = ", ".join(self.arguments.model_fields)
            raise Unable(f"{wrong}. The arguments of {self.name} are {known}") from None


READING = (
    Declared(name="read", title="Read a file", arguments=Read, read_only=True),
    Declared(name="list", title="List a folder", arguments=List, read_only=True),
    Declared(name="glob", title="Find files by name", arguments=Glob, read_only=True),
    Declared(name="grep", title="Search in files", arguments=Grep, read_only=True),
)
ALL = (
    *READING,
    Declared(name="edit", title="Edit a file", arguments=Edit, destructive=True),
    Declared(name="write", title="Write a file", arguments=Write, destructive=True, idempotent=True),
    Declared(name="run", title="Run a command", arguments=Run, destructive=True, open_world=True),
)


def _schema(arguments: type[BaseModel]) -> dict[str, Json]:
    schema = arguments.model_json_schema()
    properties: dict[str, Json] = {name: _property(each) for name, each in schema["properties"].items()}
    return {"type": "object", "properties": properties, "required": schema.get("required", [])}


def _property(schema: dict[str, Json]) -> dict[str, Json]:
    """Without its title, which is its name, and without null: an argument that is not given is left out."""
    choices = schema.pop("anyOf", None)
    if isinstance(choices, list) and isinstance(choices[0], dict):
        schema = {**choices[0], **schema}
    return {key: value for key, value in schema.items() if key != "title" and value is not None}
