"""Whether this machine can talk to itself, as a notebook's process and its kernel do."""

from __future__ import annotations

import socket

ADDRESS = "127.0.0.1"
#: Seconds for an answer, which comes at once where one comes.
PATIENCE = 5


def require_loopback() -> None:
    """Raise an OSError, which says what to do, where nothing can be reached at 127.0.0.1.

    Without that, a kernel that has started is waited for until the time for its start is over.
    """
    try:
        with socket.create_server((ADDRESS, 0)) as server:
            socket.create_connection(server.getsockname(), PATIENCE).close()
    except OSError as error:
        raise OSError(
            error.errno,
            f"{error.strerror or error}: notebooks run in kernels, which are reached at this "
            "address; switch the loopback interface on (`ip link set lo up`), or run this where "
            "the network of the machine itself is not shut off",
            ADDRESS,
        ) from None
