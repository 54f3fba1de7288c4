#!/usr/bin/env bash
# Downloads the release VERSION of REPOSITORY from RELEASES, verifies the archive, and adds the
# program to the PATH of later steps. The checksum of the archive must be SHA256, or the value in the
# checksums.txt of the release if SHA256 is empty. With gh and GH_TOKEN, it also verifies
# that the release workflow built the archive.
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
# --proto also refuses redirects to other protocols.
fetch() {
	curl --proto '=https' --tlsv1.2 --fail --silent --show-error --location --retry 3 --output "$dir/$1" "$RELEASES/$VERSION/$1" ||
		fail "can't download $1 (see above). Check that the release $VERSION exists:
  ${RELEASES%/download}"
}
fetch "$archive"
if [[ -z ${SHA256:-} ]]; then
	fetch checksums.txt
	SHA256=$(awk -v name="$archive" '$2 == name { print $1 }' "$dir/checksums.txt")
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

if [[ -n ${GH_TOKEN:-} ]] && gh attestation --help >/dev/null 2>&1; then
	gh attestation verify "$dir/$archive" --repo "$REPOSITORY" \
		--cert-identity "https://github.com/$REPOSITORY/.github/workflows/release.yaml@refs/tags/$VERSION" ||
		fail "can't verify that the release workflow of $REPOSITORY built $archive (see above). Don't use the archive."
else
	echo "Warning: the provenance of $archive is not verified, because gh is not installed or has no token." >&2
fi
mkdir "$dir/bin"
tar -xzf "$dir/$archive" -C "$dir/bin" kubectl-genname
echo "$dir/bin" >>"$GITHUB_PATH"
