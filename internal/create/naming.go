package create

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
)

// serverNaming reports whether the server picks the document's name. If the plugin can't pick names,
// serverNaming returns an error for a run with a key.
func (s *Session) serverNaming(d *task) (bool, error) {
	if s.config.ServerNaming {
		return true, nil
	}
	if s.config.Key == "" && (!d.generated || s.config.DryRun == ClientDryRun) {
		return false, nil
	}
	resource := d.document.Mapping.Resource.GroupResource()
	reason := exactlyonce.OnlyServerNames(resource, s.client.Verbs(d.document.Mapping.Resource))
	if reason == "" && !d.canCarryID { // a webhook might name it, so each run would create another object
		reason = "an object has neither a name nor a generateName, or labels or annotations that are not maps"
	}
	switch {
	case reason == "":
		return false, nil
	case s.config.Key != "":
		return false, &NoClientNamingError{resource, reason, d.document.Source}
	}
	s.warn("the server picks the names of %s, because %s. "+textLostResponse, resource, reason)
	return true, nil
}

func (s *Session) id(d *task, n int) exactlyonce.ID {
	switch {
	case s.config.Key != "":
		o := d.identity
		o.Copy = n
		return s.key.ID(o, d.content)
	case !d.generated, d.byServer, s.config.DryRun == ClientDryRun:
		return exactlyonce.Untracked()
	}
	return exactlyonce.NewID()
}

// unknownSuffix replaces the end of a name that is derived from a secret, until the object is sent. A user who reads
// the name before the object exists could create the object first.
const unknownSuffix = "<secret>"

// unsentName returns the name to print for an object that has not been sent. It is the name of the first attempt, or
// empty if the server picks the name.
func unsentName(d *Document, id exactlyonce.ID) string {
	name, generateName := d.Object.GetName(), d.Object.GetGenerateName()
	switch {
	case name != "" || id.String() == "":
		return name
	case id.Secret != derive.Secret{}:
		return generateName + unknownSuffix
	}
	return id.Name(generateName, 0)
}

// stamped returns the object that a client dry run prints. In a run with a key, the object has its creation
// ID and its name. With a secret, stamped hides both.
func stamped(d *Document, id exactlyonce.ID) *unstructured.Unstructured {
	object := d.Object.DeepCopy()
	object.SetName(unsentName(d, id))
	if id.Secret == (derive.Secret{}) {
		id.Stamp(object)
	}
	return object
}

// redact hides the name and the ID in an object that a server dry run has sent, if they are derived from a secret.
// Servers and webhooks copy them, for example the name into the labels of a Job's Pods.
func redact(o Outcome) {
	if o.ID.Secret != (derive.Secret{}) {
		hidden := strings.NewReplacer(o.Name, unsentName(o.Document, o.ID), o.ID.Creation, unknownSuffix)
		replace(o.Object.Object, hidden)
	}
}

// replace changes all texts in a value, except keys.
func replace(value any, by *strings.Replacer) any {
	switch v := value.(type) {
	case string:
		return by.Replace(v)
	case []any:
		for i, item := range v {
			v[i] = replace(item, by)
		}
	case map[string]any:
		for key, field := range v {
			v[key] = replace(field, by)
		}
	}
	return value
}
