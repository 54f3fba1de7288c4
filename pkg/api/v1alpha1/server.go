package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AttemptsSource is the source of the number of attempts per create.
type AttemptsSource string

const (
	// SourceMetric means that the server's metric kubernetes_feature_enabled has the number.
	SourceMetric AttemptsSource = "metric"
	// SourceVersion means that the server's version supports only this number.
	SourceVersion AttemptsSource = "version"
	// SourceDefault means that the number is the default of the server's version, or of
	// current versions without a server. An administrator might have changed it.
	SourceDefault AttemptsSource = "default"
	// SourceFlag means that you set the number by a flag.
	SourceFlag AttemptsSource = "flag"
	// SourceUnknown means that the number is not known.
	SourceUnknown AttemptsSource = "unknown"
)

// Retries is the number of attempts that a server makes per create.
type Retries struct {
	// Attempts is the number of names that the server tries per create, including the
	// first; null if unknown.
	Attempts *int `json:"attempts"`
	// AttemptsSource is the source of attempts: metric (the server's metric
	// kubernetes_feature_enabled), version (the server's version supports only this
	// number), default (the default of the server's version), flag (--server-attempts) or
	// unknown.
	AttemptsSource AttemptsSource `json:"attemptsSource"`
}

// VersionReport holds the versions of client and server, and the number of attempts that the
// server makes per create.
type VersionReport struct {
	metav1.TypeMeta `json:",inline"`

	Client ClientVersion `json:"client"`
	// Server describes the server; null if no server was contacted.
	Server *ServerVersion `json:"server"`
}

// ClientVersion describes the plugin.
type ClientVersion struct {
	// GitVersion is the version of the plugin.
	GitVersion string `json:"gitVersion"`
	// GoVersion is the Go version that built the plugin.
	GoVersion string `json:"goVersion"`
	// Platform is the operating system and architecture of the plugin: linux/amd64.
	Platform string `json:"platform"`
}

// ServerVersion describes an API server.
type ServerVersion struct {
	// GitVersion is the server's version.
	GitVersion string `json:"gitVersion"`
	// Major is the first number of the version.
	Major string `json:"major"`
	// Minor is the second number of the version, with the characters that a vendor
	// appends: 29+.
	Minor string `json:"minor"`
	// EmulationMajor is the first number of the version that the server emulates; absent
	// before Kubernetes 1.33.
	EmulationMajor string `json:"emulationMajor,omitempty"`
	// EmulationMinor is the second number of that version.
	EmulationMinor string `json:"emulationMinor,omitempty"`
	// GoVersion is the Go version that built the server.
	GoVersion string `json:"goVersion,omitempty"`
	// Platform is the operating system and architecture of the server.
	Platform string `json:"platform,omitempty"`

	Retries `json:",inline"`
}
