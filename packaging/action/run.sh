#!/usr/bin/env bash
# Runs COMMAND with ARGS, and puts the names of what create made, and the exit code,
# into GITHUB_OUTPUT.
set -uo pipefail

case $COMMAND in
lint | create) ;;
*) echo "command must be lint or create, not $COMMAND" >&2; exit 1 ;;
esac
read -r -d '' -a args <<<"$ARGS" || true # words, and nothing that a shell would carry out
code=0
if [[ $COMMAND == create ]]; then
	names=$(kubectl-genname create "${args[@]}" -o name) || code=$?
	printf '%s\n' "$names"
	end=END-$RANDOM$RANDOM$RANDOM
	printf 'names<<%s\n%s\n%s\n' "$end" "$names" "$end" >>"$GITHUB_OUTPUT"
else
	kubectl-genname "$COMMAND" "${args[@]}" || code=$?
fi
echo "exit-code=$code" >>"$GITHUB_OUTPUT"
exit "$code"
