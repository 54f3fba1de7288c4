package create

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/digest"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
)

// Config is what a run shall do.
type Config struct {
	Cluster Cluster
	// Copies is how often an object with generateName is created, at least 1.
	Copies int
	// Concurrency is the number of creates in flight, at least 1: copies of one
	// document and, with Overlap, all objects with generated names between two that
	// have names of their own.
	Concurrency int
	Overlap     bool
	// ServerNaming lets the server pick all names.
	ServerNaming bool
	// Key makes the run repeatable; empty for a run that is not.
	Key idempotency.Key
	// DryRun says whether objects are sent, and stored.
	DryRun DryRun
	// SuffixLength is the number of random characters of the names that the
	// Cluster uses, and Attempts how many names it tries per object.
	SuffixLength, Attempts int
	// Whole reads objects that are there already, to be shown whole.
	Whole bool
	// States reads the states of the first MaxStates objects that exist.
	States bool
	// ReadGrace is how long reading goes on after an interrupt, so that what is
	// not attempted can be counted.
	ReadGrace time.Duration
}

// DryRun is what a run does instead of creating.
type DryRun int

const (
	// NoDryRun creates.
	NoDryRun DryRun = iota
	// ClientDryRun sends nothing.
	ClientDryRun
	// ServerDryRun has the server check, and store nothing.
	ServerDryRun
)

// Cluster is where objects go.
type Cluster interface {
	// Create is that of a exactlyonce.Creator.
	Create(ctx context.Context, c Creation) (exactlyonce.Result, error)
	// Find lists what earlier runs with the key have created of a resource in a
	// namespace (empty for one of the cluster).
	Find(ctx context.Context, resource schema.GroupVersionResource, namespace string) ([]idempotency.Existing, error)
	// Get reads an object of the document's type and namespace, or returns a
	// NotFound.
	Get(ctx context.Context, d *Document, name string) (*unstructured.Unstructured, error)
	// MayGet reports whether the user may read objects of a resource in a
	// namespace; it is true if that cannot be found out.
	MayGet(ctx context.Context, resource schema.GroupVersionResource, namespace string) bool
	// Verbs are what can be done with a resource, or with a subresource
	// ("jobs/status"); nil if there is none, or that is not known.
	Verbs(resource schema.GroupVersionResource) []string
	// Responds reports whether the server responds at all.
	Responds(ctx context.Context) bool
}

// Creation is one object that is to be created.
type Creation struct {
	Document *Document
	ID       exactlyonce.ID
	// Briefly sends the object once and, if its outcome is unknown, reads it back
	// once: exactlyonce.WithRetryTimeout(0).
	Briefly bool
	// Events is called before every retry.
	Events func(exactlyonce.Event)
}

// Item is one step of the input: a document, or, without one, a place to wait.
type Item struct {
	Document *Document
	// Reached is called, where there is no Document, once nothing that came
	// before is in flight any more. changed reports whether anything was created
	// since the last such place.
	Reached func(changed bool)
}

// Document is one object of the input. One with a generated name is created as
// often as Config.Copies says.
type Document struct {
	Object  *unstructured.Unstructured
	Mapping *meta.RESTMapping
	// Namespace is where the object goes, also if it cannot say so; empty for
	// one of the cluster.
	Namespace string
	// Source is where the object was read, for errors.
	Source string

	// Template is what its copies have in common.
	Template exactlyonce.Template

	// Number is where the document stands in the input, 1 for the first, and
	// Copies how often it is to be created. Run sets them.
	Number, Copies int

	canCarryID bool // else the server will refuse it
	generated  bool
	byServer   bool // the server picks the name
	refused    bool // one of the copies, as the others would be
	rechecking int  // copies that were refused, and are rechecked
	place      idempotency.Place

	// In a run with a key:

	digest digest.Sum
	first  int // number of the first copy among equal documents
}

// Namespaced reports whether the object lies in a namespace.
func (d *Document) Namespaced() bool { return d.Mapping.Scope.Name() == meta.RESTScopeNameNamespace }

// Reference returns the object under name; where the server picks it, under its
// prefix.
func (d *Document) Reference(name string) string {
	if name == "" {
		name = d.Object.GetName() + d.Object.GetGenerateName()
	}
	return reference.Name(d.Mapping, name)
}

// Argument returns Reference with the namespace, as arguments of kubectl.
func (d *Document) Argument(name string) string {
	if !d.Namespaced() {
		return d.Reference(name)
	}
	return reference.In(d.Reference(name), d.Namespace)
}
