# The gateway in a container: `docker build -t holdfast . && docker run -p 4141:4141 -e HOLDFAST_TOKEN=… -v holdfast:/data holdfast`
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
COPY bench/package.json bench/
COPY scripts scripts
COPY src/tokens src/tokens
RUN npm ci
COPY . .
RUN npm run build && npm pack --pack-destination /tmp

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOLDFAST_HOST=0.0.0.0 HOLDFAST_PORT=4141 HOLDFAST_DATA=/data HOLDFAST_LOG_FORMAT=json
WORKDIR /app
COPY --from=build /tmp/holdfast-*.tgz /tmp/
# The packed program and all that is optional for it: PostgreSQL, its queue, telemetry.
RUN npm install --omit=dev --no-fund --no-audit /tmp/holdfast-*.tgz pg-boss@12.35.0 \
      @opentelemetry/api@1.10.0 @opentelemetry/resources@3.1.0 @opentelemetry/sdk-trace@3.1.0 @opentelemetry/sdk-metrics@3.1.0 \
      @opentelemetry/exporter-trace-otlp-http@0.301.0 @opentelemetry/exporter-metrics-otlp-http@0.301.0 \
  && npm cache clean --force && rm -rf /tmp/*.tgz && mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 4141
HEALTHCHECK --interval=10s --timeout=3s CMD ["node", "-e", "fetch('http://127.0.0.1:4141/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Whoever reaches the port needs the token that stands in HOLDFAST_TOKEN.
ENTRYPOINT ["node", "node_modules/holdfast/dist/cli/main.js"]
CMD ["serve", "--token-env", "HOLDFAST_TOKEN"]
