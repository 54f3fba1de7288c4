// Package buildinfo has the name and the version of the program. The package knows no command.
package buildinfo

import "runtime/debug"

// Name is the name of the plugin, as in "kubectl genname".
const Name = "genname"

// release is the version of a release build, set by the linker.
var release string

// Version returns the version of the release. After "go install", the result is the version of the module. Other builds
// have the version "devel".
func Version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
