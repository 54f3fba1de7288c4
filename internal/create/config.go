package create

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/digest"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
)

// Config configures a run.
type Config struct {
	Cluster Cluster
	// Copies is the number of creates per object with generateName, at least 1.
	Copies int
	// Concurrency is the number of creates in flight, at least 1. They are copies of one document. With
	// Overlap, they can also be objects with generated names of several documents, but only between two
	// documents with fixed names.
	Concurrency int
	Overlap     bool
	// ServerNaming lets the server pick all names.
	ServerNaming bool
	// Key makes the run repeatable. It is empty for a run without a key.
	Key idempotency.Key
	// DryRun decides whether the run sends objects, and whether the server stores them.
	DryRun DryRun
	// Attempts is the number of names that the Cluster tries per object.
	Attempts int
	// Whole makes the run read existing objects, so that they can be printed whole.
	Whole bool
	// States reads the states of the first MaxStates objects that exist.
	States bool
}

// DryRun is the dry-run mode of a run.
type DryRun int

const (
	// NoDryRun creates objects.
	NoDryRun DryRun = iota
	// ClientDryRun sends nothing.
	ClientDryRun
	// ServerDryRun makes the server check objects without storing them.
	ServerDryRun
)

// Cluster is the cluster that gets the objects.
type Cluster interface {
	// Create creates an object, as exactlyonce.Creator does.
	Create(ctx context.Context, c Creation) (exactlyonce.Result, error)
	// Find lists the objects of a resource type in a namespace that earlier runs with the key created. The
	// namespace is empty for cluster-scoped objects.
	Find(ctx context.Context, resource schema.GroupVersionResource, namespace string) ([]idempotency.Existing, error)
	// Get reads an object of the document's type and namespace, or returns a NotFound error.
	Get(ctx context.Context, d *Document, name string) (*unstructured.Unstructured, error)
	// MayGet reports whether the user can read objects of a resource type in a namespace. It is true if
	// the check fails.
	MayGet(ctx context.Context, resource schema.GroupVersionResource, namespace string) bool
	// Verbs returns the verbs of a resource type, or of a subresource ("jobs/status"). It is nil if there
	// are none, or if discovery failed.
	Verbs(resource schema.GroupVersionResource) []string
	// Responds reports whether the server responds.
	Responds(ctx context.Context) bool
}

// Creation is an object to create.
type Creation struct {
	Document *Document
	ID       exactlyonce.ID
	// Briefly sends the object once. If the outcome is unknown, it reads the object back once. It stands
	// for exactlyonce.WithRetryTimeout(0).
	Briefly bool
	// Events is called before every retry.
	Events func(exactlyonce.Event)
}

// Item is one step of the input: a document, or a point at which the run waits.
type Item struct {
	Document *Document
	// Reached is called if there is no Document, when nothing earlier is in flight anymore. changed
	// reports whether the run has created anything since the previous such point.
	Reached func(changed bool)
}

// Document is one object of the input. A document with a generated name is created Config.Copies
// times.
type Document struct {
	Object  *unstructured.Unstructured
	Mapping *meta.RESTMapping
	// Namespace is the namespace of the object, even if the object does not contain it. It is empty for
	// cluster-scoped objects.
	Namespace string
	// Source is the place where the object was read, for errors.
	Source string

	// Template is the common part of its copies.
	Template exactlyonce.Template

	// Number is the position of the document in the input, from 1. Copies is the number of copies to
	// create. Run sets both.
	Number, Copies int

	canCarryID bool // else the server will refuse the object
	generated  bool
	byServer   bool // the server picks the name
	refused    bool // a copy was refused for a reason that holds for all copies
	rechecking int  // copies that are rechecked after a refusal
	place      *place

	// In a run with a key:

	digest digest.Sum
	first  int // number of the first copy among equal documents
}

// Namespaced reports whether the object has a namespace.
func (d *Document) Namespaced() bool { return d.Mapping.Scope.Name() == meta.RESTScopeNameNamespace }

// Reference returns the object under name. If name is empty, it uses the object's own name or its
// prefix.
func (d *Document) Reference(name string) string {
	if name == "" {
		name = d.Object.GetName() + d.Object.GetGenerateName()
	}
	return reference.Name(d.Mapping, name)
}

// Argument returns Reference and the namespace as arguments of kubectl.
func (d *Document) Argument(name string) string {
	if !d.Namespaced() {
		return d.Reference(name)
	}
	return reference.In(d.Reference(name), d.Namespace)
}
