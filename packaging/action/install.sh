#!/usr/bin/env bash
# Downloads the release VERSION from RELEASES, checks the checksum of the archive, and
# adds the program to the PATH of later steps. The checksum must be SHA256, or the value
# in the checksums.txt of the release if SHA256 is not set.
set -euo pipefail

fail() {
	printf 'error: %s\n' "$1" >&2
	exit 1
}
build="Build the plugin in a step of your workflow instead (docs/install.md)."

[[ $VERSION =~ ^v[0-9]+\.[0-9]+\.[0-9]+[-0-9A-Za-z.]*$ ]] ||
	fail "the input version must be a release like v1.0.0, not \"$VERSION\". The releases are here:
  ${RELEASES%/download}"
case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "this action can't install a release on $(uname -s), only on Linux and macOS. $build" ;;
esac
case $(uname -m) in
x86_64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no release for the processor $(uname -m), only for amd64 and arm64. $build" ;;
esac

dir=$(mktemp -d "${RUNNER_TEMP:-/tmp}/genname.XXXXXX")
archive=kubectl-genname_${VERSION}_${os}_${arch}.tar.gz
fetch() {
	curl --fail --silent --show-error --location --retry 3 --output "$folder/$1" "$RELEASES/$VERSION/$1" ||
		fail "can't download $1 (see above). Check that the release $VERSION exists:
  ${RELEASES%/download}"
}
fetch "$archive"
if [[ -z ${SHA256:-} ]]; then
	fetch checksums.txt
	SHA256=$(awk -v name="$archive" '$2 == name { print $1 }' "$folder/checksums.txt")
	[[ -n $SHA256 ]] ||
		fail "the checksums.txt of the release $VERSION has no $archive. Use another release:
  ${RELEASES%/download}"
fi
if command -v sha256sum >/dev/null; then
	sum=$(sha256sum "$dir/$archive")
else
	sum=$(shasum -a 256 "$dir/$archive")
fi
[[ ${sum%% *} == "$SHA256" ]] ||
	fail "$archive has the SHA-256 ${sum%% *}, but the expected value is $SHA256.
Check the input sha256, if you set it. Otherwise don't use the archive, because it isn't the one that was released."
mkdir "$folder/bin"
tar -xzf "$folder/$archive" -C "$folder/bin" kubectl-genname
echo "$folder/bin" >>"$GITHUB_PATH"
