# One image for all processes; the command picks the main: `services/smtp.ts`, `services/worker.ts`, …
# The back end is TypeScript without its types; only the panel is built. For a release name both bases by digest:
# --build-arg NODE_IMAGE=docker.io/library/node:24-bookworm-slim@sha256:… --build-arg BASE_IMAGE=…@sha256:…
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim
# What NODE_IMAGE itself is based on: Node alone is taken from there, without npm, yarn and headers.
ARG BASE_IMAGE=docker.io/library/debian:bookworm-slim

# The build stages run on the machine that builds, for every platform: nothing of another platform is executed.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS dependencies
WORKDIR /postwright
COPY package.json package-lock.json .npmrc ./
# Two bills of materials: what runs, and everything that took part in the build (the panel's libraries are among it).
RUN mkdir sbom \
 && npm sbom --package-lock-only --omit=dev --sbom-type=application --sbom-format=cyclonedx --loglevel=error >sbom/server.cdx.json \
 && npm sbom --package-lock-only --sbom-type=application --sbom-format=cyclonedx --loglevel=error >sbom/build.cdx.json
# Node strips no types below node_modules, so TypeScript there is of no use; .bare files are for another runtime.
# Packages with compiled code are those of the target; npm calls amd64 x64.
ARG TARGETARCH
RUN cpu="${TARGETARCH:-$(dpkg --print-architecture)}"; cpu="$(echo "$cpu" | sed s/amd64/x64/)" \
 && npm ci --omit=dev --os=linux --cpu="$cpu" --libc=glibc --no-audit --no-fund --loglevel=error \
 && find node_modules -depth \( -name '*.md' -o -name '*.map' -o -name '*.ts' -o -name '*.cts' -o -name '*.mts' -o -name '*.bare' \
      -o -name '*.tsbuildinfo' -o -name test -o -name tests -o -name docs -o -name '.github' -o -name '.*rc' \) -exec rm -rf {} +

# A high user id that no host user has; nothing below /app is writable for it. /data is there for services/all.ts: a
# volume that is mounted on it begins with its owner.
RUN install -d -o 10001 -g 10001 -m 0750 /volumes/data

FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS panel
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund --loglevel=error
COPY tsconfig.json ./
COPY services services
COPY scripts scripts
# Only set for a release, whose documents have a tag.
ARG RELEASE=
RUN RELEASE_VERSION="${RELEASE}" node scripts/build-panel.ts

# Processes then strip no types at their start, which saves each of them some 25 MiB: ADR 124.
FROM --platform=$BUILDPLATFORM ${NODE_IMAGE} AS sources
WORKDIR /app
COPY package.json LICENSE ./
COPY services services
COPY operator operator
COPY scripts/admin.ts scripts/strip-types.ts scripts/
RUN node scripts/strip-types.ts services operator scripts/admin.ts && rm scripts/strip-types.ts

# Node of the target platform. buildah before 1.29 continues with the platform of the stage above if none is named.
FROM --platform=$TARGETPLATFORM ${NODE_IMAGE} AS node

FROM --platform=$TARGETPLATFORM ${BASE_IMAGE}
ARG NODE_IMAGE
ARG BASE_IMAGE
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Postwright" \
      org.opencontainers.image.description="Self-hosted mail sending and subscriptions" \
      org.opencontainers.image.vendor="Postwright" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="https://github.com/postwright/postwright" \
      org.opencontainers.image.documentation="https://github.com/postwright/postwright/blob/main/docs/install.md" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.base.name="${BASE_IMAGE}" \
      dev.postwright.node-image="${NODE_IMAGE}" \
      dev.postwright.sbom="/app/sbom"
COPY --from=node /usr/local/bin/node /usr/local/bin/node
ENV NODE_ENV=production APP_HOST=0.0.0.0 NODE_OPTIONS="--disable-warning=ExperimentalWarning"
WORKDIR /app
COPY --from=dependencies /postwright/node_modules node_modules
COPY --from=dependencies /postwright/sbom sbom
COPY --from=sources /app ./
COPY --from=panel /app/services/panel/dist services/panel/dist
COPY --from=dependencies /volumes/ /
USER 10001:10001
# Mail and requests are short-lived garbage: ADR 41.
ENTRYPOINT ["node", "--import", "/app/services/platform/process/load-stripped.mjs", "--min-semi-space-size=16", "--max-semi-space-size=16", "--heap-growing-percent=200"]
CMD ["services/panel.ts"]
