"""Serve the built book, and kernels for its pages, on this computer alone.

The pages come from one port and the kernels from another, both on 127.0.0.1. Jupyter's own server
runs the kernels. It answers only pages from the first port, and only if they send its secret token.
On the pages, the script thebe speaks directly to this server.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from speedbook.run.execution import FIGURES_DIR, kernel_environment
from speedbook.run.kernels import put_into
from speedbook.run.loopback import ADDRESS, require_loopback

if TYPE_CHECKING:
    from tornado.httputil import HTTPServerRequest
    from tornado.web import Application

#: The first page: the address ``/`` would lead there without what follows the sign #.
START = "book/preface.html"
#: Where pages find thebe. It is not part of the built book, which needs no server.
THEBE = Path(__file__).parent / "vendor" / "thebe"
THEBE_ADDRESS = "/_live/thebe/"
#: Seconds after which a kernel ends whose page is gone and that computes nothing.
IDLE = 120


@dataclass(frozen=True)
class Live:
    """What is served: the book, and the folder in which its kernels run.

    Attributes
    ----------
    root : Path
        The top folder of the book; kernels run in the folders of their notebooks.
    html : Path
        The built book.
    port : int
        The port of the pages; 0 takes a free one.
    token : str
        Anyone who knows the token can run code.
    """

    root: Path
    html: Path
    port: int = 0
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))


def built_book(root: Path) -> Path:
    """Return the folder of the built book, or raise a ValueError that says how to build it."""
    html = root / "_build" / "html"
    if not (html / START).is_file():
        raise ValueError(f"{html}: there is no built book; run `make book` first")
    if not (THEBE / "index.js").is_file():
        raise ValueError(f"{THEBE}: thebe is missing; restore it with `git checkout`")
    return html


def live_address(pages: int, kernels: int, token: str) -> str:
    """Return the address of the book, with the key to its kernels.

    The key follows the sign #, so it stays in the browser: no request, log or page contains it.

    Examples
    --------
    >>> live_address(8000, 8001, "abc")
    'http://127.0.0.1:8000/book/preface.html#live?port=8001&token=abc'
    """
    return f"http://{ADDRESS}:{pages}/{START}#live?port={kernels}&token={token}"


def serve(live: Live, ready: Callable[[str], object]) -> None:
    """Serve until Ctrl-C or a signal that ends the process; then end all kernels and return.

    Parameters
    ----------
    live : Live
        What to serve.
    ready : callable
        Called with the address as soon as both servers answer.

    Raises
    ------
    OSError
        If the port is taken, or the loopback interface is off.
    """
    require_loopback()
    _settle(live.root)
    # These read the variables that have just been set.
    from tornado.httpserver import HTTPServer
    from tornado.netutil import bind_sockets

    try:
        sockets = bind_sockets(live.port, ADDRESS)
    except OSError as error:
        cure = "without --port, a free one is taken"
        raise OSError(error.errno, f"port {live.port}: {error.strerror}; {cure}", ADDRESS) from None
    port = sockets[0].getsockname()[1]
    kernels = _kernels(live, f"http://{ADDRESS}:{port}")
    pages = HTTPServer(_pages(live.html, kernels.port))
    pages.add_sockets(sockets)

    def end(*_: object) -> None:
        # A second signal, as from shell and terminal, must not disturb the end.
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        pages.stop()
        kernels.stop(from_signal=True)

    numbers = [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if os.name == "posix" else [])]
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
    kernels.io_loop.add_callback(ready, live_address(port, kernels.port, live.token))
    kernels.start_ioloop()


def _settle(root: Path) -> None:
    """Give the server and its kernels the settings of every other run, and no place for figures."""
    settings = kernel_environment(root, root)
    settings[FIGURES_DIR] = ""
    # Without this, each extension that some package installs would be loaded.
    settings["JUPYTER_NO_CONFIG"] = "1"
    put_into(os.environ, settings)


def _kernels(live: Live, origin: str) -> Any:
    """Return Jupyter's server, bound to a free port and not yet running."""
    from jupyter_server.auth import PasswordIdentityProvider
    from jupyter_server.serverapp import ServerApp
    from jupyter_server.services.kernels.kernelmanager import AsyncMappingKernelManager
    from traitlets.config import Config

    class Kernels(AsyncMappingKernelManager):
        """Kernels that write nothing on the terminal: what a cell writes goes to its page."""

        async def start_kernel(  # type: ignore[override]
            self, *what: Any, **how: Any
        ) -> str:
            how |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            kernel: str = await super().start_kernel(*what, **how)
            return kernel

    class OwnPages(PasswordIdentityProvider):
        """Even with the token, only our own pages are answered."""

        def should_check_origin(self, handler: Any) -> bool:
            return True

    settings: Any = Config()
    settings.IdentityProvider.token = live.token
    settings.MappingKernelManager.cull_idle_timeout = IDLE
    settings.MappingKernelManager.cull_interval = IDLE // 4
    settings.MappingKernelManager.default_kernel_name = "python3"
    server = settings.ServerApp
    server.ip, server.port, server.port_retries = ADDRESS, 0, 0
    server.allow_origin = origin
    server.kernel_manager_class = Kernels
    server.identity_provider_class = OwnPages
    server.root_dir = str(live.root)
    server.jpserver_extensions = {}
    server.terminals_enabled = False
    server.open_browser = False
    # Kernels of `speedbook rerun` have the same rights; here a token guards them as well.
    server.allow_root = True
    server.log_level = "ERROR"
    app = ServerApp(config=settings)
    app.initialize(argv=[], find_extensions=False)
    app.log.propagate = False
    return app


def _pages(html: Path, kernels: int) -> Application:
    """Return the application that serves the built book and thebe."""
    from tornado.web import Application, StaticFileHandler

    # Whatever a notebook displays, its page loads nothing from another computer.
    kernel = f"http://{ADDRESS}:{kernels} ws://{ADDRESS}:{kernels}"
    policy = (
        "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; "
        f"connect-src 'self' {kernel}; frame-ancestors 'none'"
    )

    class Page(StaticFileHandler):
        def set_extra_headers(self, path: str) -> None:
            self.set_header("Content-Security-Policy", policy)
            self.set_header("Cache-Control", "no-cache")

    return Application(
        [
            (f"{THEBE_ADDRESS}(.*)", Page, {"path": str(THEBE)}),
            ("/(.*)", Page, {"path": str(html), "default_filename": "index.html"}),
        ],
        log_function=_silent,
    )


def _silent(_: HTTPServerRequest) -> None:
    """Log no requests."""
