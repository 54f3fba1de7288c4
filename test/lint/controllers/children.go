package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// kinds are the resources of the objects that controllers create for owners.
var kinds = map[string]schema.GroupVersionResource{
	"Pod":           {Version: "v1", Resource: "pods"},
	"Job":           {Group: "batch", Version: "v1", Resource: "jobs"},
	"ReplicaSet":    {Group: "apps", Version: "v1", Resource: "replicasets"},
	"EndpointSlice": {Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"},
	"ResourceClaim": {Group: "resource.k8s.io", Version: "v1", Resource: "resourceclaims"},
}

// made waits for the object that a controller creates for an owner. made returns the name, the label or the host name
// that the row describes.
func (o *observer) made(ctx context.Context, row derived.Child, owner types.UID) (string, error) {
	found, err := wait(ctx, func() (string, error) { return o.find(ctx, row, owner) })
	if err != nil {
		return "", fmt.Errorf("%s of %s: %w", row.Makes, row.Owner.Kind, err)
	}
	return found, nil
}

// find returns the value that made waits for, or "".
func (o *observer) find(ctx context.Context, row derived.Child, owner types.UID) (string, error) {
	kind := row.Makes
	if strings.HasSuffix(kind, " of its Pods") {
		kind = "Pod"
	}
	owners := map[types.UID]bool{owner: true}
	if row.Owner.Kind == "Deployment" && kind == "Pod" {
		sets, err := o.of(ctx, "ReplicaSet", owners)
		if err != nil {
			return "", err
		}
		for _, set := range sets {
			owners[set.GetUID()] = true
		}
	}
	children, err := o.of(ctx, kind, owners)
	if err != nil || len(children) == 0 {
		return "", err
	}
	child := children[0]
	switch {
	case strings.HasPrefix(row.Makes, "label "):
		return child.GetLabels()[strings.Fields(row.Makes)[1]], nil
	case strings.HasPrefix(row.Makes, "host name"):
		host, _, err := unstructured.NestedString(child.Object, "spec", "hostname")
		return host, err
	}
	return child.GetName(), nil
}

// of returns the objects of a kind that belong to one of the owners.
func (o *observer) of(ctx context.Context, kind string, owners map[types.UID]bool) ([]unstructured.Unstructured, error) {
	list, err := o.client.Resource(kinds[kind]).Namespace(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var found []unstructured.Unstructured
	for _, object := range list.Items {
		for _, reference := range object.GetOwnerReferences() {
			if owners[reference.UID] {
				found = append(found, object)
			}
		}
	}
	return found, nil
}

// fits returns an error unless made contains the whole name of the owner.
func fits(row derived.Child, owner, made string) error {
	if !strings.Contains(made, owner) {
		return fmt.Errorf("%s: of %s came %s", row.Makes, owner, made)
	}
	return nil
}

// further returns the result for a name that is too long.
func (o *observer) further(ctx context.Context, row derived.Child, owner string, uid types.UID, refusal error) (string, error) {
	switch row.Over {
	case derived.Refused:
		if refusal == nil {
			return "", fmt.Errorf("%s: %s was not refused", row.Makes, owner)
		}
		return "refused", nil
	case derived.Broken:
		if refusal != nil {
			return "", refusal
		}
		return wait(ctx, func() (string, error) { return o.complaint(ctx, row, uid) })
	}
	if refusal != nil {
		return "", refusal
	}
	made, err := o.made(ctx, row, uid)
	whole := row.Limit == names.MaxPrefixLength && len(made) != names.MaxLength
	if err == nil && (strings.Contains(made, owner) || whole) {
		err = fmt.Errorf("%s: nothing of %s is cut in %s", row.Makes, owner, made)
	}
	return shown(made), err
}

// complaint returns the event of a controller that can't create an object for an owner.
func (o *observer) complaint(ctx context.Context, row derived.Child, owner types.UID) (string, error) {
	made, err := o.find(ctx, row, owner)
	if made != "" || err != nil {
		return "", fmt.Errorf("%s: there is %s (%w)", row.Makes, made, err)
	}
	events, err := o.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "events"}).Namespace(namespace).
		List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(owner)})
	if err != nil {
		return "", err
	}
	for _, event := range events.Items {
		if reason, _, _ := unstructured.NestedString(event.Object, "reason"); strings.HasPrefix(reason, "Failed") ||
			strings.HasSuffix(reason, "Error") {
			return "event " + reason, nil
		}
	}
	return "", nil
}

// random matches the parts that differ between runs: random characters, hashes and times.
var random = regexp.MustCompile(`[0-9bcdfghjklmnpqrstvwxz]{5,}`)

// shown returns a name as the page shows it, with its length. shown omits the repeated part, and replaces random
// parts by X.
func shown(name string) string {
	own, rest, whole := strings.Cut(name, end)
	if whole {
		own, rest = own+end, random.ReplaceAllString(rest, "X")
	} else {
		own, rest = name[:max(0, len(name)-names.SuffixLength)], "X"
	}
	return fmt.Sprintf("%s%s (%d bytes)", strings.Replace(own, strings.Repeat("x", strings.Count(own, "x")), "…", 1), rest, len(name))
}
