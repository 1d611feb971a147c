# One image for all processes; the command picks the main: `services/smtp.ts`, `services/worker.ts`, …
# The back end is TypeScript that Node runs as it is; only the panel is built.
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --no-audit --no-fund --loglevel=error \
 && find node_modules -depth \( -name '*.md' -o -name '*.map' -o -name '*.d.ts' -o -name '*.d.cts' -o -name '*.d.mts' -o -name test -o -name tests -o -name docs -o -name '.github' \) -exec rm -rf {} +

FROM ${NODE_IMAGE} AS panel
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --no-audit --no-fund --loglevel=error
COPY tsconfig.json ./
COPY services services
COPY scripts scripts
RUN node scripts/build-panel.ts

FROM ${NODE_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Postwright" \
      org.opencontainers.image.description="Self-hosted mail sending and subscriptions" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production APP_HOST=0.0.0.0 NODE_OPTIONS="--disable-warning=ExperimentalWarning"
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY package.json LICENSE ./
COPY services services
COPY operator operator
COPY scripts/admin.ts scripts/admin.ts
COPY --from=panel /app/services/panel/dist services/panel/dist
# A high user id that no host user has; nothing below /app is writable for it.
USER 10001:10001
ENTRYPOINT ["node"]
CMD ["services/panel.ts"]
