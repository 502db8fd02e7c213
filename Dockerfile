# The image of the operator and of the node agent: a wheel with its pinned dependencies, nothing of
# the build, no root (the agent's pod asks for it).
FROM python:3.11-slim AS build
WORKDIR /src
RUN python -m venv /opt/cardquota
COPY constraints.txt pyproject.toml README.md LICENSE ./
COPY operator operator
COPY webhooks webhooks
COPY node node
RUN pip wheel --no-cache-dir --no-deps --constraint constraints.txt --wheel-dir /wheels . \
 && /opt/cardquota/bin/pip install --no-cache-dir --constraint constraints.txt "$(ls /wheels/*.whl)[node]"

FROM python:3.11-slim
COPY --from=build /opt/cardquota /opt/cardquota
ENV PATH=/opt/cardquota/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
# The same numbers as in manifests/base/deployment.yaml.
USER 65532:65532
EXPOSE 9443 8080
ENTRYPOINT ["cardquota"]
CMD ["run"]
