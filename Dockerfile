# The images that `make image` makes, for whoever has Docker: docker build --target operator (or node).
# The same program makes their files.
FROM debian:12-slim AS build
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates python3-venv
WORKDIR /src
COPY . .
RUN python3 -m venv /tools \
 && /tools/bin/pip install --constraint constraints.txt hatchling installer packaging typer
ENV PYTHONPATH=dev:operator

FROM build AS node-files
RUN /tools/bin/python -m cardquota_dev.image root node /image

FROM build AS operator-files
RUN /tools/bin/python -m cardquota_dev.image root operator /image

FROM scratch AS node
COPY --from=node-files /image /
ENV PATH=/opt/cardquota/bin:/usr/bin PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
EXPOSE 9446
ENTRYPOINT ["cardquota-node"]
CMD ["run"]

FROM scratch AS operator
COPY --from=operator-files /image /
ENV PATH=/opt/cardquota/bin:/usr/bin PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
EXPOSE 8080 8081 9443
ENTRYPOINT ["cardquota"]
CMD ["run"]
