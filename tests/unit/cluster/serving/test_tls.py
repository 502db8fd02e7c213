"""The certificate of the server, taken anew while it serves."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from cardquota.cluster.serving import load, server_context

from ...webhooks.endpoint import Endpoint


def a_pair(
    number: int, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | None = None
) -> tuple[bytes, bytes]:
    """A certificate of its own making with this serial number, and its key."""
    key = key or ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(number)
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM), key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


async def connect(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return await asyncio.open_connection("127.0.0.1", port, ssl=context)


def serial(writer: asyncio.StreamWriter) -> int:
    found = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    return x509.load_der_x509_certificate(found).serial_number


@asynccontextmanager
async def listening(context: ssl.SSLContext) -> AsyncIterator[int]:
    """The port of the webhooks."""
    http = Endpoint().server.http_for(lambda _: True)
    await http.start("127.0.0.1", 0, context)
    yield http.addresses[0][1]
    await http.stop(0.1)


async def test_a_key_of_another_type_leaves_nothing_of_the_one_before() -> None:
    """In one context an RSA certificate would be served on, beside the EC one that replaced it."""
    old = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    context = server_context(*a_pair(1, old))
    async with listening(context) as port:
        for number, key in ((2, None), (3, old), (4, None)):
            load(context, *a_pair(number, key))
            _, writer = await connect(port)
            assert serial(writer) == number
            writer.close()
            await writer.wait_closed()
        with pytest.raises(ssl.SSLError):
            load(context, a_pair(5)[0], a_pair(6)[1])
        _, writer = await connect(port)
        assert serial(writer) == 4
        writer.close()
        await writer.wait_closed()


def test_old_protocols_are_not_spoken() -> None:
    assert server_context(*a_pair(1)).minimum_version >= ssl.TLSVersion.TLSv1_2


def test_no_tickets_are_made_that_nobody_keeps() -> None:
    assert server_context(*a_pair(1)).num_tickets == 0
