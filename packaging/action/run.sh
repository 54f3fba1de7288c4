#!/usr/bin/env bash
# Runs COMMAND with ARGS. Writes the exit code, and the names that create prints, to
# GITHUB_OUTPUT.
set -uo pipefail

case $COMMAND in
lint | create) ;;
*) echo "error: the input command must be lint or create, not \"$COMMAND\"" >&2; exit 1 ;;
esac
read -r -d '' -a args <<<"$ARGS" || true # splits ARGS into words, and executes nothing in it
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
