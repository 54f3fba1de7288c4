package census

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
)

// Unmentioned are the types that a census lists only if the user names them. They have many objects, and the names of
// these objects are not generated from generateName.
var Unmentioned = []Resource{
	{schema.GroupVersionResource{Version: "v1", Resource: "events"}, "Event", true},
	{schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}, "Lease", true},
}

// copies are the types whose objects also appear under another type. Events appear in two groups. OpenShift serves
// Namespaces and RBAC objects under other names, too.
var copies = map[schema.GroupResource]bool{
	{Group: "events.k8s.io", Resource: "events"}:                           true,
	{Group: "project.openshift.io", Resource: "projects"}:                  true,
	{Group: "authorization.openshift.io", Resource: "roles"}:               true,
	{Group: "authorization.openshift.io", Resource: "rolebindings"}:        true,
	{Group: "authorization.openshift.io", Resource: "clusterroles"}:        true,
	{Group: "authorization.openshift.io", Resource: "clusterrolebindings"}: true,
}

// excluded has the types whose objects never have generated names, and the reasons.
var excluded = map[schema.GroupResource]string{
	{Group: "networking.k8s.io", Resource: "ipaddresses"}: "an IPAddress is named after its address; " +
		"nothing is added to a generateName",
	{Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}: "a CustomResourceDefinition " +
		"must be named PLURAL.GROUP; a generated name is always refused",
	{Group: "project.openshift.io", Resource: "projectrequests"}: "a ProjectRequest is not stored, " +
		"and a list of them is a Status",
	{Group: "image.openshift.io", Resource: "imagestreamtags"}: ofAnImageStream,
	{Group: "image.openshift.io", Resource: "imagetags"}:       ofAnImageStream,
}

const ofAnImageStream = "a tag is a part of its ImageStream; a list of tags with a limit is not complete"

// Discover returns every type that can be listed and created, in its preferred version, except Events, Leases, copies
// and excluded types. Groups that can't be discovered are skipped. If no group can be discovered, Discover returns an
// error.
func Discover(ctx context.Context, d discovery.ServerResourcesInterfaceWithContext) ([]Resource, []Skipped, error) {
	lists, err := d.ServerPreferredResourcesWithContext(ctx)
	skipped, err := undiscovered(err)
	if ctx.Err() != nil {
		err, lists = ctx.Err(), nil // some groups might be missing
	}
	if err != nil && len(lists) == 0 {
		return nil, nil, fmt.Errorf("discover the types of the server: %w", err)
	}
	var found []Resource
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			skipped = append(skipped, Skipped{Group: list.GroupVersion, Reason: Undiscovered, Message: err.Error()})
			continue
		}
		for _, r := range list.APIResources {
			if countable(r) {
				found = append(found, resourceOf(group, r))
			}
		}
	}
	found = slices.DeleteFunc(found, func(r Resource) bool {
		return Contains(Unmentioned, r) || copies[r.GroupResource()]
	})
	found, never := withoutExcluded(found)
	return found, append(skipped, never...), nil
}

// undiscovered returns the groups in err that could not be discovered.
func undiscovered(err error) ([]Skipped, error) {
	var failed *discovery.ErrGroupDiscoveryFailed
	if !errors.As(err, &failed) {
		return nil, err
	}
	var skipped []Skipped
	for version, cause := range failed.Groups {
		skipped = append(skipped, Skipped{
			Group: version.Group, Reason: Undiscovered,
			Message: fmt.Sprintf("discover %s: %v", version, causeOf(cause)),
		})
	}
	slices.SortFunc(skipped, func(a, b Skipped) int { return strings.Compare(a.Message, b.Message) })
	return skipped, err
}

var errStale = errors.New("the server behind this API is unavailable")

// causeOf describes the cause of a failed discovery for users.
func causeOf(err error) error {
	if errors.As(err, new(discovery.StaleGroupVersionError)) {
		return errStale
	}
	return err
}

func countable(r metav1.APIResource) bool {
	return !strings.Contains(r.Name, "/") && slices.Contains(r.Verbs, "list") && slices.Contains(r.Verbs, "create")
}

// resourceOf returns the type of r. group is the group of the list that has r, but r can name another group.
func resourceOf(group schema.GroupVersion, r metav1.APIResource) Resource {
	if r.Group != "" {
		group.Group = r.Group
	}
	if r.Version != "" {
		group.Version = r.Version
	}
	return Resource{group.WithResource(r.Name), r.Kind, r.Namespaced}
}

// withoutExcluded returns the types that are not excluded, and then the excluded types with the reasons.
func withoutExcluded(resources []Resource) ([]Resource, []Skipped) {
	var skipped []Skipped
	kept := slices.DeleteFunc(resources, func(r Resource) bool {
		reason, is := excluded[r.GroupResource()]
		if is {
			skipped = append(skipped, Skipped{Group: r.Group, Resource: r.Resource, Reason: Excluded, Message: reason})
		}
		return is
	})
	return kept, skipped
}

// Resolve finds the types that a user names, with the syntax of kubectl get. One argument can have several names,
// separated by commas. A name is plural, singular or short, and can end in .GROUP or .VERSION.GROUP. Resolve returns
// each type once, in the version that is named first. Resolve skips only excluded types. For an unknown type, Resolve
// returns the same error as kubectl.
func Resolve(mapper meta.RESTMapper, args []string) ([]Resource, []Skipped, error) {
	var found []Resource
	for _, arg := range args {
		for name := range strings.SplitSeq(arg, ",") {
			mapping, err := mappingFor(mapper, name)
			if err != nil {
				return nil, nil, err
			}
			if r := resourceFor(mapping); !Contains(found, r) {
				found = append(found, r)
			}
		}
	}
	found, skipped := withoutExcluded(found)
	return found, skipped, nil
}

// Contains reports whether types has r, in any version. All versions of a type have the same objects.
func Contains(types []Resource, r Resource) bool {
	return slices.ContainsFunc(types, func(other Resource) bool { return other.GroupResource() == r.GroupResource() })
}

// Names returns the sorted names of types.
func Names(types []Resource) []string {
	names := []string{}
	for _, r := range types {
		names = append(names, r.GroupResource().String())
	}
	slices.Sort(names)
	return names
}

// ResourceOf returns the resource type of a kind.
func ResourceOf(mapper meta.RESTMapper, kind schema.GroupVersionKind) (Resource, error) {
	mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		return Resource{}, err
	}
	return resourceFor(mapping), nil
}

func resourceFor(mapping *meta.RESTMapping) Resource {
	namespaced := mapping.Scope.Name() == meta.RESTScopeNameNamespace
	return Resource{mapping.Resource, mapping.GroupVersionKind.Kind, namespaced}
}

// mappingFor resolves an argument of kubectl get, as Builder in k8s.io/cli-runtime/pkg/resource does.
func mappingFor(mapper meta.RESTMapper, name string) (*meta.RESTMapping, error) {
	versioned, resource := schema.ParseResourceArg(name)
	var kind schema.GroupVersionKind
	if versioned != nil {
		kind, _ = mapper.KindFor(*versioned)
	}
	if kind.Empty() {
		kind, _ = mapper.KindFor(resource.WithVersion(""))
	}
	if !kind.Empty() {
		return mapper.RESTMapping(kind.GroupKind(), kind.Version)
	}
	mapping, err := kindMapping(mapper, name)
	if !meta.IsNoMatchError(err) {
		return mapping, err
	}
	return nil, NoSuchType{GroupResource: resource}
}

// NoSuchType is the error for a resource type that the server doesn't have.
type NoSuchType struct {
	schema.GroupResource
	more string
}

func (e NoSuchType) Error() string {
	text := fmt.Sprintf("the server doesn't have a resource type %q", e.Resource)
	if e.Group != "" {
		text += fmt.Sprintf(" in group %q", e.Group)
	}
	return text + e.more
}

// Explain adds the reason why the API of the type can't be discovered. Without such a reason, it adds the most similar
// type. If the unknown type has a group, Explain compares the types with their groups.
func (e NoSuchType) Explain(types []Resource, skipped []Skipped) NoSuchType {
	var names []string
	for _, r := range types {
		if e.Group == "" {
			names = append(names, r.Resource)
		} else {
			names = append(names, r.GroupResource().String())
		}
	}
	e.more = humanize.DidYouMean("", strings.ToLower(e.String()), names)
	for _, s := range skipped {
		isMaybe := e.Group == "" && e.more == "" || s.Group == e.Group
		if isMaybe && s.Resource == "" && (s.Reason == Undiscovered || s.Reason == Unreachable) {
			e.more = "\n  " + s.Message
			break
		}
	}
	return e
}

// kindMapping resolves the name of a kind.
func kindMapping(mapper meta.RESTMapper, name string) (*meta.RESTMapping, error) {
	versioned, kind := schema.ParseKindArg(name)
	if versioned != nil {
		if mapping, err := mapper.RESTMapping(versioned.GroupKind(), versioned.Version); err == nil {
			return mapping, nil
		}
	}
	return mapper.RESTMapping(kind)
}

// Resource is a resource type as the server lists it.
type Resource struct {
	schema.GroupVersionResource
	Kind       string
	Namespaced bool
}

// Path returns the URL path of a list of the resource type. An empty namespace means all namespaces.
func (r Resource) Path(namespace string) []string {
	path := []string{"apis", r.Group, r.Version}
	if r.Group == "" {
		path = []string{"api", r.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	return append(path, r.Resource)
}
