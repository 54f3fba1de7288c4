package once_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
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
		t.Errorf("%v, %v, want no match and invalid", noMatch, refused)
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
			t.Errorf("%v: %t, want %t", test.err, got, test.want)
		}
	}
}

// nilContext and nilClient become nil pointers in an interface, which differ from a nil interface.
type nilContext struct{ context.Context }

type nilClient struct{ once.Client }

type nilDynamic struct{ dynamic.Interface }

type nilMapper struct{ meta.RESTMapper }

// value is an object that is no pointer.
type value struct{ metav1.PartialObjectMetadata }

func (v value) DeepCopyObject() runtime.Object { return v }

func (v value) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// embedding has the DeepCopyObject of the type that it embeds, so a copy has another type.
type embedding struct{ corev1.ConfigMap }

// For bad arguments, Create returns a permanent error at once, and never panics. Bad arguments are nil pointers, and
// objects that can't be copied, have fields of wrong types, or can't be created.
func TestArguments(t *testing.T) {
	server, creator := newServerAndCreator()
	dynamicClient := dynamic.NewForConfigOrDie(server.Config())
	with := func(change func(*corev1.ConfigMap)) *corev1.ConfigMap {
		object := configMap()
		change(object)
		return object
	}
	odd := func(field string, in any) *unstructured.Unstructured {
		content := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"generateName": "demo-", "namespace": "ns"}}
		if name, of, found := strings.Cut(field, "."); found {
			content[name].(map[string]any)[of] = in
		} else {
			content[field] = in
		}
		return &unstructured.Unstructured{Object: content}
	}
	for name, object := range map[string]runtime.Object{
		"nil": nil, "nil pointer": (*corev1.ConfigMap)(nil), "nil unstructured": (*unstructured.Unstructured)(nil),
		"no content": &unstructured.Unstructured{}, "no pointer": value{}, "a list": &corev1.ConfigMapList{},
		"a name":            with(func(o *corev1.ConfigMap) { o.Name = "mine" }),
		"no generateName":   with(func(o *corev1.ConfigMap) { o.GenerateName = "" }),
		"no namespace":      with(func(o *corev1.ConfigMap) { o.Namespace = "" }),
		"no kind":           with(func(o *corev1.ConfigMap) { o.TypeMeta = metav1.TypeMeta{} }),
		"from a cache":      with(func(o *corev1.ConfigMap) { o.ResourceVersion = "7" }),
		"metadata only":     &metav1.PartialObjectMetadata{TypeMeta: configMap().TypeMeta, ObjectMeta: configMap().ObjectMeta},
		"no metadata":       odd("metadata", nil),
		"text as metadata":  odd("metadata", "none"),
		"annotations":       odd("metadata.annotations", "none"),
		"generateName":      odd("metadata.generateName", int64(1)),
		"int":               odd("spec", map[string]any{"replicas": 3}),
		"struct in content": odd("spec", corev1.PodSpec{}),
		"NaN":               odd("spec", map[string]any{"share": math.NaN()}),
		"embeds an object":  &embedding{*configMap()},
	} {
		if result, err := creator.Create(t.Context(), object, idOf(t)); !once.IsPermanent(err) || result.Outcome != "" || errors.Is(err, once.ErrTaken) {
			t.Errorf("the object %s: %+v, %v; want a permanent error", name, result, err)
		}
	}
	for name, creator := range map[string]*once.Creator{
		"nil": nil, "zero": {}, "nil client": once.New(nil), "nil client pointer": once.New((*nilClient)(nil)), "nil dynamic": once.New(once.Dynamic(nil, nil)),
		"nil dynamic pointer": once.New(once.Dynamic((*nilDynamic)(nil), &nilMapper{})), "nil mapper": once.New(once.Dynamic(dynamicClient, (*nilMapper)(nil))),
	} {
		if _, err := creator.Create(t.Context(), configMap(), idOf(t)); !once.IsPermanent(err) {
			t.Errorf("the creator %s: %v, want a permanent error", name, err)
		}
	}
	for name, call := range map[string]func() error{
		"nil context":         func() error { _, err := creator.Create(nil, configMap(), idOf(t)); return err }, //nolint:staticcheck // a mistake
		"nil context pointer": func() error { _, err := creator.Create((*nilContext)(nil), configMap(), idOf(t)); return err },
		"empty ID":            func() error { _, err := creator.Create(t.Context(), configMap(), once.ID{}); return err },
		"nil owner":           func() error { _, err := once.ForOwner(nil, "a"); return err },
		"nil owner pointer":   func() error { _, err := once.ForOwner((*corev1.ConfigMap)(nil), "a"); return err },
		"nil unstructured":    func() error { _, err := once.ForOwner((*unstructured.Unstructured)(nil), "a"); return err },
		"empty owner":         func() error { _, err := once.ForOwner(&unstructured.Unstructured{}, "a"); return err },
		"owner without UID":   func() error { _, err := once.ForOwner(&corev1.ConfigMap{}, "a"); return err },
		"empty key":           func() error { _, err := once.FromKey(""); return err },
		"no ID":               func() error { _, err := once.ParseID("v1-x"); return err },
	} {
		if err := call(); !once.IsPermanent(err) {
			t.Errorf("%s: %v, want a permanent error", name, err)
		}
	}
	if verbs := verbsOf(server); verbs != "" {
		t.Errorf("requests: %s", verbs)
	}
}
