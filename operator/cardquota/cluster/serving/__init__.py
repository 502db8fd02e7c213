"""HTTP servers of ours: how they listen, and the certificates that they show and demand."""

from .bounds import (
    IDLE,
    MOST,
    REQUEST_WITHIN,
    SMALL,
    BodyBudget,
    BodyHold,
    BodyLimits,
    BodyTooLargeError,
    BusyError,
    Connection,
    Connections,
    HttpAnswer,
    HttpCall,
    HttpHandler,
)
from .http2_connection import STREAMS
from .http_server import PROTOCOLS, HttpServer
from .tls import client_context, load, server_context, trusting_context
