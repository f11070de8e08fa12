"""Check the loopback interface, through which a notebook's process reaches its kernel."""

from __future__ import annotations

import socket

ADDRESS = "127.0.0.1"
#: Seconds to wait for an answer, which normally comes immediately.
PATIENCE = 5


def require_loopback() -> None:
    """Raise an OSError, which says what to do, if 127.0.0.1 cannot be reached.

    Without this check, the caller would wait for the kernel until its start times out.
    """
    try:
        with socket.create_server((ADDRESS, 0)) as server:
            socket.create_connection(server.getsockname(), PATIENCE).close()
    except OSError as error:
        raise OSError(
            error.errno,
            f"{error.strerror or error}: notebooks run in kernels, which are reached at this "
            "address; switch the loopback interface on (`ip link set lo up`), or run the command "
            "where local network connections are allowed",
            ADDRESS,
        ) from None
