#!/usr/bin/env bash
# A tour of kubectl genname. "make demo" runs it beside a control plane of its
# own; it needs a cluster in KUBECONFIG that may be filled and has the Job
# controller, and kubectl and the plugin on PATH.
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '\n# %s\n' "$@"; }
run() {
	printf '$ %s\n' "$*"
	"$@"
}
# few runs a command and shows the first lines of what it prints.
few() {
	printf '$ %s | head -n 3\n' "$*"
	"$@" > "$out"
	head -n 3 "$out"
}
out=$(mktemp)
trap 'rm -f "$out"' EXIT

say "A Job with a generated name, created exactly once."
run cat job.yaml
run kubectl genname create -f job.yaml

say "Once per key, however often a pipeline runs it."
run kubectl genname create -f migration.yaml --idempotency-key commit-4f1d2e8
run kubectl genname create -f migration.yaml --idempotency-key commit-4f1d2e8

say "A Job whose Pods the Job controller makes, with generated names."
run kubectl create -f render.yaml
run kubectl wait --timeout=3m --for=jsonpath={.status.active}=40 job/render-frames

say "Hundreds of objects under several prefixes: a Job, a ConfigMap, a custom resource."
run kubectl create -f backup-crd.yaml
run kubectl wait --timeout=3m --for=condition=Established crd/backups.example.com
few kubectl genname create -f job.yaml --count 120
few kubectl genname create -f configmap.yaml --count 300
few kubectl genname create -f backup.yaml --count 200

say "Two prefixes that the server's cut at 58 bytes makes one."
few kubectl genname create -f long-prefixes.yaml --count 40

say "kubectl knows each object by its name, its prefix, and the mark of its creation."
few kubectl get backups -o custom-columns=NAME:.metadata.name,PREFIX:.metadata.generateName,ID:.metadata.annotations.genname\\.dev/creation-id

say "Which prefixes fill up, how fast, who fills them, and when a create is to be expected to fail."
run kubectl genname audit

say "The same as a script sees it."
run kubectl genname audit jobs -o jsonpath='{range .items[*]}{.prefix}{" "}{.names}{" "}{.nextCreate.noRetry}{"\n"}{end}'

say "The odds of one prefix, from what exists now."
run kubectl genname report jobs/nightly-report-

say "The odds without a cluster, for a million creates."
run kubectl genname report --creates 500,1000000

say "What this server does on a conflict, and how that is known."
run kubectl genname version
