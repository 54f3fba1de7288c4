#!/usr/bin/env bash
# A step of a pipeline that runs a migration once per commit, and waits for it. It exits
# with 0 if the migration has succeeded, and with 5 if it has failed. You can repeat the
# step.
# Usage: pipeline.sh NAMESPACE COMMIT
set -uo pipefail
namespace=$1 commit=$2

for pause in ${PAUSES:-10 30 60} end; do # seconds
	kubectl genname create -n "$namespace" -f migration.yaml \
		--idempotency-key="prod-migrate-$commit" --wait --wait-timeout=30m -o name
	code=$?
	[ "$code" -eq 4 ] && [ "$pause" != end ] || exit "$code" # 0: the migration has succeeded
	echo "The outcome is unknown. With the same key, the step is safe to repeat. Next try in $pause s." >&2
	sleep "$pause"
done
