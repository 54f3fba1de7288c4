package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
)

// observation contains the results for the longest name that fits, and for a longer one.
type observation struct{ within, beyond string }

// observer creates owners and reads the objects that controllers create for them.
type observer struct{ client dynamic.Interface }

const namespace = "default"

func newObserver(ctx context.Context, config *rest.Config) (*observer, error) {
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	o := &observer{client}
	_, err = o.create(ctx, "Node", metav1.NamespaceNone, "")
	_, err2 := o.create(ctx, "ResourceClaimTemplate", namespace, "")
	return o, errors.Join(err, err2)
}

// claim is the name of a claim, and of its template, in owners.yaml.
const claim = "gpu"

// all observes every row that must be tested on real controllers. It creates all owners first, because a CronJob
// creates its Jobs only at the next minute.
func (o *observer) all(ctx context.Context) (seen map[int]observation, failure error) {
	seen = map[int]observation{}
	type owner struct {
		uid  types.UID
		name string
		err  error
	}
	owners := map[int][2]owner{}
	for i, row := range derived.Table {
		if row.ReadOnly {
			continue
		}
		var pair [2]owner
		for j, length := range []int{within(row), beyond(row)} {
			name := nameOf(i, j, length)
			uid, err := o.create(ctx, strings.TrimSpace(row.Variant+" "+row.Owner.Kind), namespace, name)
			pair[j] = owner{uid, name, err}
		}
		owners[i] = pair
	}
	for i, row := range derived.Table {
		if row.ReadOnly {
			continue
		}
		pair := owners[i]
		if pair[0].err != nil {
			failure = errors.Join(failure, fmt.Errorf("%s: %w", row.Makes, pair[0].err))
			continue
		}
		made, err := o.made(ctx, row, pair[0].uid)
		if err == nil {
			err = fits(row, pair[0].name, made)
		}
		further := ""
		if err == nil {
			further, err = o.further(ctx, row, pair[1].name, pair[1].uid, pair[1].err)
		}
		failure = errors.Join(failure, err)
		fmt.Printf("%s %s: %s; %s\n", row.Owner.Kind, row.Makes, made, further)
		seen[i] = observation{shown(made), further}
	}
	return seen, failure
}

// within returns the length of the longest name that fits and that the owner's resource type allows.
func within(row derived.Child) int { return min(row.MaxOwner(adds(row)), longest(row)) }

// beyond returns the length of a name that does not fit.
func beyond(row derived.Child) int {
	if row.Over == derived.Broken { // because a hash is sometimes shorter
		return longest(row)
	}
	return min(within(row)+1, longest(row))
}

// longest returns the length of the longest name that the owner's resource type allows.
func longest(row derived.Child) int {
	if row.Owner.Kind == "StatefulSet" || row.Owner.Kind == "Service" {
		return 63
	}
	return 253
}

// adds returns the number of bytes that the objects here add, for the index 0.
func adds(row derived.Child) int {
	switch {
	case row.Variant == derived.Indexed:
		return len("0")
	case row.Limit == derived.MaxClaim:
		return len(claim)
	}
	return 0
}

// end is the end of every owner's name. Its last letter is in no random part, so a truncated name never has it by chance.
const end = "-one"

// nameOf returns a unique name of a length.
func nameOf(row, which, length int) string {
	name := fmt.Sprintf("n%d%c-", row, 'a'+which)
	return name + strings.Repeat("x", length-len(name)-len(end)) + end
}

//go:embed owners.yaml
var manifests string

// create creates an object of owners.yaml.
func (o *observer) create(ctx context.Context, key, namespace, name string) (types.UID, error) {
	app, _, _ := strings.Cut(name, "-")
	all := map[string]map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(strings.NewReplacer("NAME", name, "APP", app).Replace(manifests)), &all); err != nil {
		return "", err
	}
	object := &unstructured.Unstructured{Object: all[key]}
	resource, _ := meta.UnsafeGuessKindToResource(object.GroupVersionKind())
	created, err := o.client.Resource(resource).Namespace(namespace).Create(ctx, object, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("create %s %s: %w", key, name, err)
	}
	return created.GetUID(), nil
}

// wait repeats find until it returns a result or an error, or the time is up.
func wait(ctx context.Context, find func() (string, error)) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	for {
		found, err := find()
		if found != "" || err != nil {
			return found, err
		}
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}
