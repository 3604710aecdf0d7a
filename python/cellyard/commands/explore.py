"""The command ``cellyard explore``: shows a scenario in the browser."""

import re
import sys
import threading
import webbrowser
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePath
from typing import Any

from cellyard.scenario import examples
from cellyard.scenario.scenario import Scenario
from cellyard.show.explorer import MEDIA_TYPES, Explorer
from cellyard.system.errors import UsageError
from cellyard.system.files import write_whole
from cellyard.system.terminal import printable

#: The only address the server listens on, which no other machine can reach.
HOST = "127.0.0.1"


#: How requests name this machine. Browsers omit port 80, and a tunnel has its own port.
NAMES = re.compile(r"(?:127\.0\.0\.1|localhost)(?::[0-9]{1,5})?", re.IGNORECASE)

#: A connection ends after this time without data, in seconds.
IDLE_SECONDS = 30


class Server(ThreadingHTTPServer):
    """A server whose requests end with it, and which tolerates browsers that disconnect."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore disconnected clients."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def command(path: Path | None, *, port: int, no_browser: bool, save: Path | None) -> int:
    """Serve the explorer until interrupted, or write it to a file; returns the exit status."""
    explorer = explorer_of(path)
    if save:
        write_whole(save, explorer.page())
        print(printable(f"wrote {save}"))
        return 0
    try:
        server = Server((HOST, port), handler(explorer.files()))
    except OSError as error:
        raise UsageError(
            f"--port {port}: {error.strerror or error}; choose another port, or omit --port to use a free one"
        ) from None
    with server:
        address = f"http://{HOST}:{server.server_port}/"
        print(f"{address}  (Ctrl-C stops the server)", flush=True)
        if not no_browser:
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()
    return 0


def explorer_of(path: Path | None) -> Explorer:
    """The explorer with all examples and, after checking it, the scenario of a file."""
    known = {name: examples.text(name) for name in examples.names()}
    if path is None:
        return Explorer(known)
    text = Scenario.read(path).source
    return Explorer(
        {path.stem: text, **{name: example for name, example in known.items() if name != path.stem}}, path.stem
    )


def handler(files: Mapping[str, bytes]) -> type[BaseHTTPRequestHandler]:
    """A request handler that serves only these files, and only to requests that name this machine."""

    class Handler(BaseHTTPRequestHandler):
        server_version = "cellyard"
        timeout = IDLE_SECONDS

        def do_GET(self) -> None:
            self._answer(self.path.partition("?")[0].removeprefix("/") or "index.html")

        def do_HEAD(self) -> None:
            self.do_GET()

        def _answer(self, name: str) -> None:
            # Refuse other names: a page elsewhere may resolve its own name to this address (DNS
            # rebinding).
            if not NAMES.fullmatch(self.headers.get("Host", "")):
                self.send_error(421)
                return
            content = files.get(name)
            if content is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Type", MEDIA_TYPES[PurePath(name).suffix])
            self.send_header("Content-Length", str(len(content)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("Cross-Origin-Resource-Policy", "same-origin")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    return Handler
