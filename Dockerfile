# The container image of Ringside: the program, what it needs to run, and nothing else.
#
#   docker build --build-arg "REVISION=$(git rev-parse HEAD)" --tag ringside:0.1.0 .
#
# scripts/image makes the same without docker or a registry, of a ringside that is built already: it
# takes the last stage from here and the folder `image-root` from scripts/image-root.
ARG DEBIAN=docker.io/library/debian:12-slim

FROM ${DEBIAN} AS build
WORKDIR /source
COPY scripts scripts
RUN scripts/setup
COPY . .
RUN scripts/build
ARG SOURCE_DATE_EPOCH=0
RUN scripts/image-root --date "$SOURCE_DATE_EPOCH" /image

FROM scratch AS image-root
COPY --from=build /image /

FROM scratch
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="Ringside" \
      org.opencontainers.image.description="A sharded HTTP cache sidecar" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=image-root --chown=0:0 / /
USER 65532:65532
EXPOSE 8080 9090
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/ringside"]
