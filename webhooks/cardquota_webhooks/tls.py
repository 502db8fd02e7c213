"""The server's TLS context, from PEM in memory. It accepts a new certificate while serving."""

import ssl
import tempfile
from pathlib import Path


def server_context(cert_pem: bytes, key_pem: bytes) -> ssl.SSLContext:
    """A context for TLS 1.2 and later. Raises ssl.SSLError for an unusable pair."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # The standard library reads key and certificate only from files. The folder is private (0700)
    # and deleted before this returns.
    with tempfile.TemporaryDirectory(prefix="cardquota-") as folder:
        pair = Path(folder) / "pair.pem"
        pair.touch(mode=0o600)
        pair.write_bytes(key_pem + b"\n" + cert_pem)
        context.load_cert_chain(pair)
    return context


def load(context: ssl.SSLContext, cert_pem: bytes, key_pem: bytes) -> None:
    """Serve only this certificate, from the next connection on.

    Raises ssl.SSLError for an unusable pair; then nothing changes.
    """
    # Not loaded into the context itself: that keeps one certificate per type of key, so an RSA one
    # would still be served beside the EC one that replaced it.
    fresh = server_context(cert_pem, key_pem)

    def take_fresh(connection: ssl.SSLObject, _: str | None, __: ssl.SSLContext) -> None:
        connection.context = fresh

    context.sni_callback = take_fresh
