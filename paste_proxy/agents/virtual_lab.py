"""Virtual-Lab behind the sidecar.

    sidecar = Sidecar("http://127.0.0.1:8377")
    through(sidecar)
    run_meeting(...)

Meetings search PubMed one call after the other; with their LLM behind the sidecar too (`OPENAI_BASE_URL`)
the further searches of a turn run while the first is waited for. Needs Python 3.12, as Virtual-Lab does.
"""

from typing import Any

from paste_proxy.agents.optional import package
from paste_proxy.agents.sdk import Sidecar

_PACKAGE = "virtual-lab"


def through(sidecar: Sidecar) -> None:
    """From now on this process's meetings call their tool through the sidecar.

    Raises:
        ImportError: virtual-lab is not installed.
    """
    utils: Any = package("virtual_lab.utils", of=_PACKAGE, wanted_by=__name__)
    constants = package("virtual_lab.constants", of=_PACKAGE, wanted_by=__name__)
    utils.run_pubmed_search = sidecar.tool(name=constants.PUBMED_TOOL_NAME)(utils.run_pubmed_search)
