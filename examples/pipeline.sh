#!/usr/bin/env bash
# A step of a pipeline that starts a migration once per commit, however often
# the step is repeated, and whatever happens to it or to the network.
# Usage: pipeline.sh NAMESPACE COMMIT
set -uo pipefail
namespace=$1 commit=$2

for try in 1 2 3; do
	job=$(kubectl genname create -n "$namespace" -f migration.yaml --idempotency-key="migrate-$commit" -o name)
	code=$?
	case $code in
	0) break ;;
	4) echo "try $try: it may be there; with the same key it is safe to ask again" >&2 ;;
	*) exit "$code" ;; # refused, or interrupted: stderr says why
	esac
done
[ "$code" -eq 0 ] || exit "$code"
echo "$job"
# kubectl wait -n "$namespace" --for=condition=complete --timeout=10m "$job"
