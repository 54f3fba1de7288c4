package create

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/conversion/queryparams"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// Config configures a run.
type Config struct {
	// Copies is the number of creates per object with generateName, at least 1.
	Copies int
	// Concurrency is the number of creates in flight, at least 1. The creates in flight are copies of one document.
	// With Overlap, they can also be objects with generated names of several documents, but only between two documents
	// with fixed names.
	Concurrency int
	Overlap     bool
	// ServerNaming lets the server pick all names.
	ServerNaming bool
	// Key makes the run repeatable. Key is empty for a run without a key.
	Key idempotency.Key
	// Secrets are the secret of the key and its former secrets. Secrets is empty for a run without a secret.
	Secrets []derive.Secret
	// DryRun decides whether the run sends objects, and whether the server stores them.
	DryRun DryRun
	// Attempts is the number of names to try per object.
	Attempts int
	// RetryTimeout limits the retries of one object, and of the search for objects of the key.
	RetryTimeout time.Duration
	// FieldManager and FieldValidation are those of metav1.CreateOptions.
	FieldManager, FieldValidation string
	// FullObjects makes the run read existing objects, so that they can be printed and compared.
	FullObjects bool
	// States reads the first MaxStates existing objects of types that have states.
	States bool
	// Awaits reports whether the caller waits for objects of a type, and so reads them anyway. The run compares
	// existing objects of these types with the input. Awaits is nil if the caller does not wait.
	Awaits func(*meta.RESTMapping) bool
}

func (c Config) creates() exactlyonce.Settings {
	posted := metav1.CreateOptions{FieldManager: c.FieldManager, FieldValidation: c.FieldValidation}
	if c.DryRun == ServerDryRun {
		posted.DryRun = []string{metav1.DryRunAll}
	}
	parameters, _ := queryparams.Convert(&posted) // Convert fails only for a type that is no struct
	return exactlyonce.Settings{
		Parameters: parameters, Attempts: c.Attempts, RetryTimeout: c.RetryTimeout, Brief: !c.FullObjects,
	}
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

// Document is one object of the input. The engine never changes it.
type Document struct {
	Object  *unstructured.Unstructured
	Mapping *meta.RESTMapping
	// Namespace is the namespace of the object, even if the object does not contain it. Namespace is empty for
	// cluster-scoped objects.
	Namespace string
	// Source is the place where the object was read, for errors.
	Source string
}

// Namespaced reports whether the object has a namespace.
func (d *Document) Namespaced() bool { return d.Mapping.Scope.Name() == meta.RESTScopeNameNamespace }

func (d *Document) place() idempotency.Place {
	return idempotency.Place{Resource: d.Mapping.Resource.GroupResource(), Namespace: d.Namespace}
}

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

// task is the work on one document.
type task struct {
	document *Document
	number   int // position in the input, from 1
	copies   int

	canCarryID bool // otherwise the server refuses the object, or a webhook names it
	generated  bool
	byServer   bool // the server picks the name
	refused    bool // a copy was refused for a reason that holds for all copies
	rechecking int  // copies that are rechecked after a refusal
	place      *place

	// The next fields are only set in a run with a key:

	identity derive.Object
	content  keyed.Content
}

// newTask returns the task of a document, which has Config.Copies copies if its name is generated.
func newTask(d *Document, c Config) *task {
	t := &task{document: d, copies: 1, canCarryID: exactlyonce.CanCarry(d.Object)}
	if t.generated = t.canCarryID && d.Object.GetName() == ""; t.generated {
		t.copies = c.Copies
	}
	return t
}

func (t *task) outcome(is protocol.Outcome) Outcome {
	return Outcome{Document: t.document, Number: t.number, Copies: 1, Result: exactlyonce.Result{Outcome: is}}
}
