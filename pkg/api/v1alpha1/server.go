package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AttemptsSource is how the number of names that a server tries is known.
type AttemptsSource string

const (
	// SourceMetric means that the server's gauge kubernetes_feature_enabled says it.
	SourceMetric AttemptsSource = "metric"
	// SourceVersion means that the server's version admits no other number.
	SourceVersion AttemptsSource = "version"
	// SourceDefault means that it is the default of the server's version, or of
	// current versions where no server was asked; an administrator can have changed
	// it.
	SourceDefault AttemptsSource = "default"
	// SourceFlag means that the user said it.
	SourceFlag AttemptsSource = "flag"
	// SourceUnknown means that the number is not known.
	SourceUnknown AttemptsSource = "unknown"
)

// Retries is what a server does on a conflict of a generated name.
type Retries struct {
	// Attempts is the number of names tried per create, the first included;
	// null if unknown.
	Attempts *int `json:"attempts"`
	// AttemptsSource is how that is known: metric if the server's gauge
	// kubernetes_feature_enabled says it, version if the server's version
	// admits nothing else, default if that is all that is known, flag if
	// --server-attempts says it, unknown if nothing tells.
	AttemptsSource AttemptsSource `json:"attemptsSource"`
}

// VersionReport is the versions of client and server, and what the server does
// on a conflict.
type VersionReport struct {
	metav1.TypeMeta `json:",inline"`

	Client ClientVersion `json:"client"`
	// Server is null where no server was asked.
	Server *ServerVersion `json:"server"`
}

// ClientVersion is what the plugin is.
type ClientVersion struct {
	// GitVersion is the version of the plugin.
	GitVersion string `json:"gitVersion"`
	// GoVersion is that of the Go release it was built with.
	GoVersion string `json:"goVersion"`
	// Platform is its operating system and architecture: linux/amd64.
	Platform string `json:"platform"`
}

// ServerVersion is what an API server says that it is.
type ServerVersion struct {
	// GitVersion is the server's version.
	GitVersion string `json:"gitVersion"`
	// Major is its first number.
	Major string `json:"major"`
	// Minor is its second number, with what a vendor appends: 29+.
	Minor string `json:"minor"`
	// EmulationMajor is the first number of the version that the server behaves
	// like; it is not there before Kubernetes 1.33.
	EmulationMajor string `json:"emulationMajor,omitempty"`
	// EmulationMinor is the second number of that version.
	EmulationMinor string `json:"emulationMinor,omitempty"`
	// GoVersion is that of the Go release the server was built with.
	GoVersion string `json:"goVersion,omitempty"`
	// Platform is the server's operating system and architecture.
	Platform string `json:"platform,omitempty"`

	Retries `json:",inline"`
}
