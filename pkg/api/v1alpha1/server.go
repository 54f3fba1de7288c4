// Package v1alpha1 is the machine-readable output of kubectl genname, the kinds AuditReport, CollisionReport,
// DuplicateReport, LintReport, PruneReport and VersionReport of genname.dev/v1alpha1, and the lines of create -o jsonl.
//
// Fields are a promise to scripts: numbers are numbers, probabilities are from
// 0 to 1, and null stands for an unknown or infinite value.
package v1alpha1

import (
	"cmp"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
)

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
	// Attempts is the number of names that the server tries per create, including the first. If a client generates the
	// names, it is the client's number: 1, or 16 for kubectl genname create. It is null if unknown, or if the names
	// aren't random.
	Attempts *int `json:"attempts"`
	// AttemptsSource is how the number of attempts was found: metric (from the server's metric
	// kubernetes_feature_enabled), version (the server's version allows only one number), default (the default of the
	// server's version, or of the client that generates the names), flag (from --server-attempts) or unknown.
	AttemptsSource AttemptsSource `json:"attemptsSource"`
}

// VersionReport holds the versions of client and server, and the number of attempts that the
// server makes per create.
type VersionReport struct {
	metav1.TypeMeta `json:",inline"`

	Client ClientVersion `json:"client"`
	// Server is the version of the server; null if the server was not contacted or did not respond.
	Server *ServerVersion `json:"server"`
}

// ClientVersion is the version of the plugin, and how it was built.
type ClientVersion struct {
	// GitVersion is the version of the plugin.
	GitVersion string `json:"gitVersion"`
	// GoVersion is the version of Go that built the plugin.
	GoVersion string `json:"goVersion"`
	// Platform is the operating system and architecture of the plugin, like linux/amd64.
	Platform string `json:"platform"`
}

// ServerVersion describes an API server.
type ServerVersion struct {
	// GitVersion is the server's version.
	GitVersion string `json:"gitVersion"`
	// Major is the first number of the server's version, like 1.
	Major string `json:"major"`
	// Minor is the second number of the server's version, like 34. Some vendors append characters, like 34+.
	Minor string `json:"minor"`
	// EmulationMajor is the first number of the Kubernetes version that the server emulates; absent before Kubernetes
	// 1.33.
	EmulationMajor string `json:"emulationMajor,omitempty"`
	// EmulationMinor is the second number of the Kubernetes version that the server emulates; absent before Kubernetes
	// 1.33.
	EmulationMinor string `json:"emulationMinor,omitempty"`
	// GoVersion is the version of Go that built the server.
	GoVersion string `json:"goVersion,omitempty"`
	// Platform is the operating system and architecture of the server.
	Platform string `json:"platform,omitempty"`

	Retries `json:",inline"`
}

// GroupVersion is the apiVersion of all kinds here.
var GroupVersion = schema.GroupVersion{Group: "genname.dev", Version: "v1alpha1"}

// ReportMetadata holds the time of a report.
type ReportMetadata struct {
	// CreationTimestamp is the server's time when the command began to read objects. With audit --watch, it is the
	// server's time when the report was made.
	CreationTimestamp metav1.Time `json:"creationTimestamp"`
}

// TypeOf returns the TypeMeta of a kind.
func TypeOf(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: GroupVersion.String(), Kind: kind}
}

// Naming is the origin of names with one prefix.
type Naming string

// The origins of names.
const (
	// NamingGenerateName means that the objects have the prefix as generateName.
	NamingGenerateName Naming = "generateName"
	// NamingClient means that a client generated the names itself, with the server's alphabet.
	NamingClient Naming = "client"
	// NamingStem means that the names end in a number, a time, a hash or a revision after the prefix.
	NamingStem Naming = "stem"
	// NamingNone means that you named the prefix, and that its names only look generated.
	NamingNone Naming = "none"
)

// PrefixRef is a prefix: a resource type, a namespace, an effective prefix or a stem, and the
// origin of its names.
type PrefixRef struct {
	// Group is the API group; empty for the core group.
	Group string `json:"group"`
	// Resource is the plural name of the resource type, like jobs.
	Resource string `json:"resource"`
	// Namespace is the namespace of the objects; empty if the resource type is cluster-scoped.
	Namespace string `json:"namespace"`
	// Prefix is the generateName, truncated to 58 bytes as the server does (a PruneReport has the whole generateName).
	// For names without a generateName, it is the part before their random characters, number, time, hash or revision.
	// It is empty if the entry is not about exactly one prefix.
	Prefix string `json:"prefix"`
	// Naming is the origin of the names: generateName (the objects have a generateName), client (a client generated the
	// names in the server's format), stem (the names end in a number, a time, a hash or a revision) or none (the
	// names might be fixed, and the audit counts them only because you named the prefix). The field is absent in other
	// reports than AuditReport, and in an entry of mostCreated that stands for an entry of folded. If a generateName
	// and a stem are equal, each has its own entry.
	Naming Naming `json:"naming,omitempty"`
}

// GroupResource returns the resource type.
func (p PrefixRef) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: p.Group, Resource: p.Resource}
}

// Argument returns the prefix as arguments of a command: jobs.batch/run- -n prod.
func (p PrefixRef) Argument() string { return reference.In(p.name(), p.Namespace) }

// String returns the prefix for a sentence: jobs.batch/run- in prod.
func (p PrefixRef) String() string { return humanize.In(p.name(), p.Namespace) }

func (p PrefixRef) name() string {
	if p.Prefix == "" {
		return p.GroupResource().String()
	}
	return p.GroupResource().String() + "/" + p.Prefix
}

// Compare orders prefixes by namespace, group, resource type, prefix and naming.
func (p PrefixRef) Compare(other PrefixRef) int {
	return cmp.Or(
		cmp.Compare(p.Namespace, other.Namespace), cmp.Compare(p.Group, other.Group),
		cmp.Compare(p.Resource, other.Resource), cmp.Compare(p.Prefix, other.Prefix),
		cmp.Compare(p.Naming, other.Naming))
}

// DeepCopyObject implements runtime.Object, by which kubectl's printers print.
func (r *AuditReport) DeepCopyObject() runtime.Object { return copyOf(r) }

// DeepCopyObject implements runtime.Object, by which kubectl's printers print.
func (r *CollisionReport) DeepCopyObject() runtime.Object { return copyOf(r) }

// DeepCopyObject implements runtime.Object, by which kubectl's printers print.
func (r *VersionReport) DeepCopyObject() runtime.Object { return copyOf(r) }

// copyOf returns a deep copy of a report. It encodes the report in JSON and decodes it again, which keeps all fields.
func copyOf[T any](in *T) *T {
	out := new(T)
	data, err := json.Marshal(in)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		panic(fmt.Sprintf("a %T is not JSON: %v", in, err)) // a programming error: no field can fail
	}
	return out
}
