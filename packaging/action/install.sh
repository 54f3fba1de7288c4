#!/usr/bin/env bash
# Installs the release VERSION from RELEASES, after its checksum was compared: with
# SHA256, or without it with the release's own checksums.txt.
set -euo pipefail

[[ $VERSION =~ ^v[0-9]+\.[0-9]+\.[0-9]+[-0-9A-Za-z.]*$ ]] || { echo "version must be like v1.0.0, not $VERSION" >&2; exit 1; }
case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) echo "no release for $(uname -s) here" >&2; exit 1 ;;
esac
case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) echo "no release for $(uname -m)" >&2; exit 1 ;;
esac

folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/genname.XXXXXX")
archive=kubectl-genname_${VERSION}_${os}_${arch}.tar.gz
fetch() { curl --fail --silent --show-error --location --retry 3 --output "$folder/$1" "$RELEASES/$VERSION/$1"; }
fetch "$archive"
if [[ -z ${SHA256:-} ]]; then
	fetch checksums.txt
	SHA256=$(awk -v name="$archive" '$2 == name { print $1 }' "$folder/checksums.txt")
	[[ -n $SHA256 ]] || { echo "checksums.txt of $VERSION has no $archive" >&2; exit 1; }
fi
if command -v sha256sum >/dev/null; then
	sum=$(sha256sum "$folder/$archive")
else
	sum=$(shasum -a 256 "$folder/$archive")
fi
[[ ${sum%% *} == "$SHA256" ]] || { echo "$archive has the checksum ${sum%% *}, not $SHA256" >&2; exit 1; }
mkdir "$folder/bin"
tar -xzf "$folder/$archive" -C "$folder/bin" kubectl-genname
echo "$folder/bin" >>"$GITHUB_PATH"
