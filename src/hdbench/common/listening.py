"""The sockets on which pages are served."""

import errno
import socket

from hdbench.errors import HdbenchError


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens on a port; 0 for any that is free.

    Raises:
        HdbenchError: the port is taken, or cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        why = "is taken" if taken else f"of {host}: cannot be listened on: {error.strerror}"
        raise HdbenchError(f"port {port} {why}: choose another one with --port") from error
