#!/bin/sh
# Writes the gauges of an audit to a file for node_exporter's textfile collector.
# Run it by cron, for example:
#
#   17 * * * *  KUBECONFIG=/etc/genname/kubeconfig /usr/local/bin/textfile.sh
#
# The first argument is the value of --collector.textfile.directory of node_exporter. The script writes a temporary file first,
# because node_exporter reads nothing from an incomplete file. It replaces the old
# file only if the last line of the new file is "# EOF". Otherwise the old file stays,
# and the alert on its age fires.
set -u
directory=${1:-/var/lib/node_exporter/textfile_collector}
new=$(mktemp "$directory/.genname.XXXXXX") || exit 1
trap 'rm -f "$new"' EXIT

kubectl-genname audit -A --top 100 -o openmetrics >"$new"
status=$?
if tail -n 1 "$new" | grep -qx '# EOF'; then
	chmod 0644 "$new" && mv "$new" "$directory/genname.prom" || status=1
fi
exit $status
