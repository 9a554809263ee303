"""SGLang's prefill and decode servers, from its source: both get the request at once and meet in a room."""

from heterodyne.engines.json_edit import put
from heterodyne.ports.engine_request import EngineRequest

BOOTSTRAP_PORT = 8998  # of the prefill server, unless it was started with another


class SglangTransfer:
    """The prefill server keeps the meeting place; both are told the same."""

    def pair(self, call: EngineRequest, host: str, port: int, room: int) -> EngineRequest:
        members = {
            "bootstrap_host": b'"%b"' % host.encode(),
            "bootstrap_port": b"%d" % port,
            "bootstrap_room": b"%d" % room,
        }
        return EngineRequest(call.path, put(call.body, members), call.not_carried)
