"""The sockets on which pages are served."""

import errno
import socket

from hdbench.errors import HdbenchError, os_reason


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens on a port; 0 for any that is free.

    Raises:
        HdbenchError: the port is taken, or cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise HdbenchError(
                "port {port} is taken: choose another one with --port", port=port
            ) from error
        raise HdbenchError(
            "port {port} of {host}: cannot be listened on: {why}: choose another one with --port",
            port=port,
            host=host,
            why=os_reason(error),
        ) from error
