"""TLS contexts from PEM in memory. A server's accepts a new certificate while it serves."""

import ssl
import tempfile
from collections.abc import Sequence
from pathlib import Path


def server_context(
    cert_pem: bytes,
    key_pem: bytes,
    *,
    clients: bytes | None = None,
    protocols: Sequence[str] = (),
) -> ssl.SSLContext:
    """A context for TLS 1.2 and later. Raises ssl.SSLError for an unusable pair or CA.

    `clients`: the CAs, PEM. Then only who shows a certificate of theirs may connect. `protocols`:
    what the caller may choose from (ALPN), the best first.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # API server and kube-scheduler keep no sessions. A ticket holds the client's certificate, and
    # two of them cost a third of our part of a handshake.
    context.num_tickets = 0
    if protocols:
        context.set_alpn_protocols(protocols)
    _load_pair(context, cert_pem, key_pem)
    if clients is not None:
        context.options |= ssl.OP_NO_TICKET  # the same for TLS 1.2
        context.verify_mode = ssl.CERT_REQUIRED
        _trust(context, clients)
    return context


def _trust(context: ssl.SSLContext, authorities: bytes) -> None:
    try:
        context.load_verify_locations(cadata=authorities.decode("ascii", errors="replace"))
    except ValueError as error:
        raise ssl.SSLError(0, f"no CA can be read: {error}") from None


def client_context(cert_pem: bytes, key_pem: bytes, *, servers: bytes) -> ssl.SSLContext:
    """A context that shows this certificate, and trusts servers of these CAs alone.

    Raises ssl.SSLError for an unusable pair or CA.
    """
    context = trusting_context(servers)
    _load_pair(context, cert_pem, key_pem)
    return context


def trusting_context(servers: bytes) -> ssl.SSLContext:
    """A context of a client that shows no certificate, and trusts servers of these CAs alone.

    Raises ssl.SSLError for CAs that cannot be read.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    _trust(context, servers)
    return context


def _load_pair(context: ssl.SSLContext, cert_pem: bytes, key_pem: bytes) -> None:
    # The standard library reads key and certificate only from files. The folder is private (0700)
    # and deleted before this returns.
    with tempfile.TemporaryDirectory(prefix="cardquota-") as folder:
        pair = Path(folder) / "pair.pem"
        pair.touch(mode=0o600)
        pair.write_bytes(key_pem + b"\n" + cert_pem)
        context.load_cert_chain(pair)


def load(
    context: ssl.SSLContext,
    cert_pem: bytes,
    key_pem: bytes,
    *,
    clients: bytes | None = None,
    protocols: Sequence[str] = (),
) -> None:
    """Serve only this certificate, and only clients of these CAs, from the next connection on.

    `clients` and `protocols` as for `server_context`, and given here whenever they were given
    there: OpenSSL looks for them in the context that takes the connection over. Raises ssl.SSLError
    for an unusable pair or CA; then nothing changes.
    """
    # Not loaded into the context itself: that keeps one certificate per type of key, so an RSA one
    # would still be served beside the EC one that replaced it.
    fresh = server_context(cert_pem, key_pem, clients=clients, protocols=protocols)

    def take_fresh(connection: ssl.SSLObject, _: str | None, __: ssl.SSLContext) -> None:
        connection.context = fresh

    context.sni_callback = take_fresh
