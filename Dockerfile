# pre-commit builds this image for the hook genname-lint-docker (.pre-commit-hooks.yaml).
FROM golang:1.26.8@sha256:0f063af2d465d8dcae54cce04278ada488b96f77b42449c8d071e47d016cc65a AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /kubectl-genname ./cmd/kubectl-genname

FROM scratch
COPY --from=build /kubectl-genname /usr/bin/kubectl-genname
USER 65532:65532
