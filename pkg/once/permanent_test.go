package once_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

func newServerAndCreator() (*oncetest.Server, *once.Creator) {
	server := oncetest.NewServer()
	return server, creatorFor(server)
}

// Only an invalid argument, a taken name and other content are permanent.
func TestIsPermanent(t *testing.T) {
	_, invalid := once.FromKey("")
	server, creator := newServerAndCreator()
	teapot := configMap()
	teapot.Kind = "Teapot"
	_, noMatch := creator.Create(t.Context(), teapot, idOf(t))
	server.Next("create", "*", oncetest.Refuse(apierrors.NewInvalid(schema.GroupKind{Kind: "ConfigMap"}, "", nil)))
	_, refused := creator.Create(t.Context(), configMap(), idOf(t))
	if !meta.IsNoMatchError(noMatch) || !apierrors.IsInvalid(refused) {
		t.Errorf("%v, %v", noMatch, refused)
	}
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{io.EOF, false},
		{context.Canceled, false},
		{noMatch, false},
		{refused, false},
		{once.ErrUnknown, false},
		{once.ErrRefused, false},
		{once.ErrInterrupted, false},
		{once.ErrTaken, true},
		{once.ErrMismatch, true},
		{invalid, true},
		{fmt.Errorf("create a worker: %w", invalid), true},
		{errors.Join(io.EOF, once.ErrTaken), true},
	} {
		if got := once.IsPermanent(test.err); got != test.want {
			t.Errorf("%v: %t", test.err, got)
		}
	}
}

// nilContext and nilClient are pointers, whose nil isn't the nil of an interface.
type nilContext struct{ context.Context }

type nilClient struct{ once.Client }

type nilDynamic struct{ dynamic.Interface }

type nilMapper struct{ meta.RESTMapper }

// value is an object that is no pointer.
type value struct{ metav1.PartialObjectMetadata }

func (v value) DeepCopyObject() runtime.Object { return v }

func (v value) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// Pointers that are nil, and objects that can't be copied or have fields of wrong
// types, are permanent errors and no panics.
func TestNilAndOddArguments(t *testing.T) {
	server, creator := newServerAndCreator()
	working := dynamic.NewForConfigOrDie(server.Config())
	odd := func(content map[string]any) *unstructured.Unstructured {
		all := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"generateName": "demo-", "namespace": "ns"}}
		for key, in := range content {
			all[key] = in
		}
		return &unstructured.Unstructured{Object: all}
	}
	create := func(creator *once.Creator, ctx context.Context, object runtime.Object) error { //nolint:revive // in the order of tests
		_, err := creator.Create(ctx, object, idOf(t))
		return err
	}
	metadata := func(field string, in any) *unstructured.Unstructured {
		return odd(map[string]any{"metadata": map[string]any{"generateName": "demo-", "namespace": "ns", field: in}})
	}
	for name, call := range map[string]func() error{
		"context": func() error { return create(creator, (*nilContext)(nil), configMap()) },
		"client":  func() error { return create(once.New((*nilClient)(nil)), t.Context(), configMap()) },
		"dynamic client": func() error {
			return create(once.New(once.Dynamic((*nilDynamic)(nil), &nilMapper{})), t.Context(), configMap())
		},
		"mapper": func() error {
			return create(once.New(once.Dynamic(working, (*nilMapper)(nil))), t.Context(), configMap())
		},
		"zero creator":     func() error { return create(&once.Creator{}, t.Context(), configMap()) },
		"unstructured":     func() error { return create(creator, t.Context(), (*unstructured.Unstructured)(nil)) },
		"no content":       func() error { return create(creator, t.Context(), &unstructured.Unstructured{}) },
		"no metadata":      func() error { return create(creator, t.Context(), odd(map[string]any{"metadata": nil})) },
		"text as metadata": func() error { return create(creator, t.Context(), odd(map[string]any{"metadata": "none"})) },
		"generateName":     func() error { return create(creator, t.Context(), metadata("generateName", int64(1))) },
		"int": func() error {
			return create(creator, t.Context(), odd(map[string]any{"spec": map[string]any{"replicas": 3}}))
		},
		"struct in content": func() error { return create(creator, t.Context(), odd(map[string]any{"spec": corev1.PodSpec{}})) },
		"no pointer":        func() error { return create(creator, t.Context(), value{}) },
		"owner": func() error {
			_, err := once.ForOwner((*unstructured.Unstructured)(nil), "a")
			return err
		},
		"empty owner": func() error {
			_, err := once.ForOwner(&unstructured.Unstructured{}, "a")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := call(); !once.IsPermanent(err) {
				t.Errorf("%v, want a permanent error", err)
			}
		})
	}
	if verbs := verbsOf(server); verbs != "" {
		t.Errorf("requests: %s", verbs)
	}
}
