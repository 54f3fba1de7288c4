#!/usr/bin/env bash
# A tour of kubectl genname. "make demo" runs it with its own control plane. The script needs
# kubectl and the plugin on PATH, and an empty cluster with the Job controller in KUBECONFIG.
# LOSSY_KUBECONFIG is the same cluster through a proxy that loses every second response to a
# POST. If the cluster has no scheduler, NODE is the node of the Job that runs.
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '\n# %s\n' "$@"; }
run() {
	printf '$ %s\n' "$*"
	"$@"
}
# shown is like run, and prints stderr, too.
shown() { run "$@" 2>&1; }
# few runs a command, and shows the first lines of its output.
few() {
	printf '$ %s | head -n 3\n' "$*"
	"$@" > "$out"
	head -n 3 "$out"
}
work=$(mktemp -d) out=$work/out
trap 'rm -rf "$work"' EXIT
cp ./*.yaml "$work"
cd "$work"
if [ -n "${NODE:-}" ]; then
	awk -v node="$NODE" '/restartPolicy:/ {pad = $0; sub(/r.*/, "", pad); print pad "nodeName: " node} 1' migration.yaml > "$out"
	mv "$out" migration.yaml
fi

# fails runs a command that must fail, and shows its error.
fails() {
	printf '$ %s\n' "$*"
	! "$@" 2>&1 || return
}
# through runs a command that reaches the server through a load balancer, which loses the
# first response to a create.
through() { KUBECONFIG=$LOSSY_KUBECONFIG "$@"; }

say "A load balancer loses the response to a create. You repeat the command. Now there are two Jobs."
through fails kubectl create -f migration.yaml
through run kubectl create -f migration.yaml
run kubectl get jobs -o name
kubectl delete jobs,pods --all > "$out"

say "kubectl genname create reads the object back instead. There is one Job."
through shown kubectl genname create -f migration.yaml
run kubectl get jobs -o name
kubectl delete jobs,pods --all > "$out"

say "Check manifests before you create them."
fails kubectl genname lint -f both.yaml -f long-prefixes.yaml -f job.yaml

say "Create once per key, wait for the result, and exit by it. A step of a pipeline can run again."
run kubectl genname create -f migration.yaml --idempotency-key prod-migrate-4f1d2e8 --wait
run kubectl genname create -f migration.yaml --idempotency-key prod-migrate-4f1d2e8 --wait

say "A Job whose Pods the Job controller makes, with generated names."
run kubectl create -f render.yaml
run kubectl wait --timeout=3m --for=jsonpath='{.status.active}=40' job/render-frames

say "Hundreds of objects under several prefixes: a Job, a ConfigMap, a custom resource."
run kubectl create -f backup-crd.yaml
run kubectl wait --timeout=3m --for=condition=Established crd/backups.example.com
few kubectl genname create -f job.yaml --count 120
few kubectl genname create -f configmap.yaml --count 300
few kubectl genname create -f backup.yaml --count 200

say "Two prefixes that are equal after the server has truncated them at 58 bytes."
few kubectl genname create -f long-prefixes.yaml --count 40

say "Each object has its name, its prefix, and its creation ID."
few kubectl get backups -o custom-columns=NAME:.metadata.name,PREFIX:.metadata.generateName,ID:.metadata.annotations.genname\\.dev/creation-id

# The Job controller needs some time to create the 161 Pods of all Jobs: 40, 120 and 1.
for _ in {1..120}; do
	[ "$(kubectl get pods -o name | wc -l)" -lt 161 ] || break
	sleep 0.5
done

say "Which prefixes fill up, how fast, and who creates them?"
run kubectl genname audit

say "The same for a script."
run kubectl genname audit jobs -o jsonpath='{range .items[*]}{.prefix}{" "}{.names}{" "}{.nextCreate.noRetry}{"\n"}{end}'

say "The odds of one prefix, from the names that exist."
run kubectl genname report jobs/nightly-report-

say "The odds without a cluster, for a million creates."
run kubectl genname report --creates 500,1000000

say "How many names does this server try per create?"
run kubectl genname version
