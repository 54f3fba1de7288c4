#!/usr/bin/env bash
# Runs COMMAND with ARGS, and create with KEY, SECRET, WAIT and LOGS. Writes the exit code, and the names that create prints, to
# GITHUB_OUTPUT. The runner executes no workflow commands in the output, because the output has
# names from files and clusters. The annotations of "lint -o github" are the exception. Lint
# escapes the text in them.
set -uo pipefail

case $COMMAND in
lint | create) ;;
*) echo "error: the input command must be lint or create, not \"$COMMAND\"" >&2; exit 1 ;;
esac
read -r -d '' -a words <<<"$ARGS" || true # splits ARGS into words, and executes nothing in it
[[ $COMMAND != create || -z ${KEY-} ]] || words+=("--idempotency-key=$KEY")
[[ $COMMAND != create || ${WAIT-} != true && ${LOGS-} != true ]] || words+=(--wait)
[[ $COMMAND != create || ${LOGS-} != true ]] || words+=(--logs)
[[ -z ${SECRET-} ]] || export GENNAME_IDEMPOTENCY_SECRET=$SECRET
unset SECRET
token() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }
resume='' code=0
if [[ $COMMAND == create || ! " ${words[*]-} " =~ \ (-o|--output)[\ =]?github\  ]]; then
	resume=$(token)
	echo "::stop-commands::$resume"
fi
if [[ $COMMAND == create ]]; then
	names=$(kubectl-genname create "${words[@]}" -o name) || code=$?
	printf '%s\n' "$names"
	end=$(token)
	printf 'names<<%s\n%s\n%s\n' "$end" "$names" "$end" >>"$GITHUB_OUTPUT"
else
	kubectl-genname lint "${words[@]}" || code=$?
fi
[[ -z $resume ]] || echo "::$resume::"
echo "exit-code=$code" >>"$GITHUB_OUTPUT"
exit "$code"
