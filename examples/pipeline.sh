#!/usr/bin/env bash
# A step of a pipeline that starts a migration once per commit, however often
# the step is repeated, and whatever happens to it or to the network.
# Usage: pipeline.sh NAMESPACE COMMIT
set -uo pipefail
namespace=$1 commit=$2

for pause in ${PAUSES:-10 30 60} end; do # seconds; what was wrong needs time to end
	job=$(kubectl genname create -n "$namespace" -f migration.yaml --idempotency-key="migrate-$commit" -o name)
	code=$?
	[ "$code" -eq 4 ] && [ "$pause" != end ] || break # 0: it is there; else it was refused, or interrupted
	echo "it may be there; with the same key it is safe to ask again, in $pause s" >&2
	sleep "$pause"
done
[ "$code" -eq 0 ] || exit "$code" # stderr says why, and what to do
echo "$job"
# kubectl wait -n "$namespace" --for=condition=complete --timeout=10m "$job"
