# pre-commit builds this image for the hook genname-lint-docker (.pre-commit-hooks.yaml).
FROM golang:1.26 AS build
WORKDIR /src
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /kubectl-genname ./cmd/kubectl-genname

FROM scratch
COPY --from=build /kubectl-genname /usr/bin/kubectl-genname
USER 65532:65532
