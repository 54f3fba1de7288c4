package cmd

import "runtime/debug"

// release is the version of a release build, set by the linker.
var release string

// Version is this program's version: that of the release, or of the module as
// "go install" knows it, or "devel".
func Version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
