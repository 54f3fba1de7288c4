#!/usr/bin/env bash
# Runs COMMAND with ARGS, wrap with a program of ARGS, and create with KEY, SECRET, WAIT and LOGS. Writes the exit code, and the names that create prints, to
# GITHUB_OUTPUT. The runner executes no workflow commands in the output, because the output has
# names from files and clusters. The annotations of "lint -o github" are the exception. Lint
# escapes the text in them.
#
# KEY and SECRET are "-" if the step doesn't set them. An empty one is an error of the plugin: GitHub gives workflows of
# forks empty secrets, and a variable in the key may be empty.
set -uo pipefail

case $COMMAND in
lint | create | wrap) ;;
*) echo "error: the input command must be lint, create or wrap, not \"$COMMAND\"" >&2; exit 1 ;;
esac
read -r -d '' -a words <<<"$ARGS" || true # splits ARGS into words, and executes nothing in it
if [[ $COMMAND == create ]]; then
	case $LOGS,$WAIT in
	true,true | true,false) words+=(--wait --logs) ;;
	false,true) words+=(--wait) ;;
	false,false) ;;
	*) echo "error: the inputs wait and logs must be true or false" >&2; exit 1 ;;
	esac
	[[ $KEY == - ]] || export GENNAME_IDEMPOTENCY_KEY=$KEY
	[[ $SECRET == - ]] || export GENNAME_IDEMPOTENCY_SECRET=$SECRET
fi
unset KEY SECRET
# The runner reads stdout and stderr apart. A line of stderr that it reads after the token that resumes commands could be
# a command, so all output is on stdout.
exec 2>&1
token() { od -An -N16 -tx1 /dev/urandom | tr -d ' \n'; }
resume='' code=0
if [[ $COMMAND != lint || ! " ${words[*]-} " =~ \ (-o|--output)[\ =]?github\  ]]; then
	resume=$(token)
	echo "::stop-commands::$resume"
fi
if [[ $COMMAND == create ]]; then
	names=$(kubectl-genname create "${words[@]}" -o name) || code=$?
	printf '%s\n' "$names"
	end=$(token)
	printf 'names<<%s\n%s\n%s\n' "$end" "$names" "$end" >>"$GITHUB_OUTPUT"
elif [[ $COMMAND == wrap ]]; then
	kubectl-genname wrap -- "${words[@]}" || code=$?
else
	kubectl-genname lint "${words[@]}" || code=$?
fi
[[ -z $resume ]] || echo "::$resume::"
echo "exit-code=$code" >>"$GITHUB_OUTPUT"
exit "$code"
