package census

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/test/fakeapi"
)

// visited records the results of committed visitors.
type visited struct {
	mu    sync.Mutex
	names []string
	open  int // visitors that were not committed
}

type visitor struct {
	to    *visited
	names []string
}

func (v *visited) begin(Resource) Visitor {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.open++
	return &visitor{to: v}
}

func (v *visitor) Visit(o *object.Object) error {
	v.names = append(v.names, o.Namespace+"/"+o.Name+" "+o.UID+" "+o.CreationID)
	return nil
}

func (v *visitor) Commit() {
	v.to.open--
	v.to.names = append(v.to.names, v.names...)
}

// owned returns objects in two namespaces with all fields of Identity.
func owned(n int) (objects []metav1.ObjectMeta, want []string) {
	for i := range n {
		o := metav1.ObjectMeta{
			Namespace: []string{"a", "b"}[i%2], Name: fmt.Sprintf("run-%05d", i), GenerateName: "run-",
			UID: "uid", Annotations: map[string]string{"genname.dev/creation-id": fmt.Sprint(i)},
		}
		objects = append(objects, o)
		want = append(want, fmt.Sprintf("%s/%s uid %d", o.Namespace, o.Name, i))
	}
	slices.Sort(want)
	return objects, want
}

// If a visitor returns an error, Visit skips the list and commits no visitor.
func TestVisitorFails(t *testing.T) {
	a := &fakeapi.Server{}
	objects, _ := owned(10)
	a.Set(objects)
	var got visited
	failing := func(r Resource) Visitor {
		return failingVisitor{got.begin(r)}
	}
	s := &Scanner{Config: a.Start(t), RetryTimeout: time.Second}
	summary, err := s.Visit(t.Context(), []Resource{configMaps}, "", decode.Options{}, failing)
	if err != nil || len(summary.Skipped) != 1 || len(got.names) > 0 {
		t.Errorf("%v %+v, %d committed", err, summary, len(got.names))
	}
}

type failingVisitor struct{ Visitor }

func (failingVisitor) Visit(*object.Object) error { return decode.Malformed("no") }

// A Reader requests whole objects. It gets one object by its name, or all objects of a namespace.
func TestReader(t *testing.T) {
	var asked []string
	config := (&fakeapi.Server{Fault: func(_ int, w http.ResponseWriter, r *http.Request) bool {
		asked = append(asked, r.Header.Get("Accept")+" "+r.URL.Query().Get("fieldSelector")+r.URL.Query().Get("labelSelector"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, `{"kind":"ConfigMapList","metadata":{"resourceVersion":"1"},"items":[`+
			`{"metadata":{"name":"one","namespace":"a"},"data":{"k":"v"}},{"metadata":{"name":"two","namespace":"a"}}]}`)
		return true
	}}).Start(t)
	reader, err := (&Scanner{Config: config, RetryTimeout: time.Second}).Reader()
	if err != nil {
		t.Fatal(err)
	}
	var raw []string
	take := func(o *object.Object) error {
		var whole struct{ Data map[string]string }
		err := json.Unmarshal(o.Raw, &whole)
		raw = append(raw, o.Name+whole.Data["k"])
		return err
	}
	options := decode.Options{Raw: true}
	if err := reader.Get(t.Context(), configMaps, "a", "one", options, take); err != nil || !slices.Equal(raw, []string{"onev"}) {
		t.Errorf("get: %v %q", err, raw)
	}
	var got visited
	reader.Selector = "app in (x,y)"
	err = reader.List(t.Context(), configMaps, "a", options, func() Visitor { return got.begin(configMaps) })
	if err != nil || len(got.names) != 2 {
		t.Errorf("list: %v %q", err, got.names)
	}
	if want := []string{"application/json metadata.name=one", "application/json app in (x,y)"}; !slices.Equal(asked, want) {
		t.Errorf("%q, want %q", asked, want)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	err = reader.Get(gone, configMaps, "a", "one", options, take)
	if !errors.Is(err, context.Canceled) || SkippedBy(gone, configMaps, "a", err).Reason != Interrupted {
		t.Errorf("%v after an interrupt", err)
	}
}

// Sizes sends one request for one object per type. A type that can't be listed is skipped. If the server reports no
// number of objects, the size is not Known.
func TestSizes(t *testing.T) {
	for _, known := range []bool{true, false} {
		a := &fakeapi.Server{NoCounts: !known}
		a.Set(inOrder(3))
		forbidden := configMaps
		forbidden.Resource = "secrets"
		a.Fault = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/api/v1/secrets" {
				return false
			}
			fakeapi.Fail(w, http.StatusForbidden, "")
			return true
		}
		s := &Scanner{Config: a.Start(t)}
		sizes, skipped, err := s.Sizes(t.Context(), []Resource{forbidden, configMaps}, "")
		if err != nil || len(sizes) != 1 || len(skipped) != 1 || skipped[0].Reason != Forbidden {
			t.Fatalf("sizes %+v, skipped %+v, want 1 size, and 1 type as forbidden: %v", sizes, skipped, err)
		}
		want := Size{Resource: configMaps, Objects: 1, ResourceVersion: sizes[0].ResourceVersion}
		if known {
			want.Objects, want.Known = 3, true
		}
		if sizes[0] != want || want.ResourceVersion == "" {
			t.Errorf("%+v, want %+v with a resourceVersion", sizes[0], want)
		}
		if diff := cmp.Diff([]int64{1, 1}, limitsOf(t, a)); diff != "" {
			t.Errorf("asked for (-want +got)\n%s", diff)
		}
	}
}

// If the conversion webhook of a type fails, the census reads the type in another version after 15 s. If no other
// version works, the census skips the type after two minutes at most.
func TestConversionWebhook(t *testing.T) {
	for _, test := range []struct {
		broken  string // versions that fail
		objects int64
		within  time.Duration
	}{
		{"v2", 3, 16 * time.Second},
		{"v1 v2", 0, 32 * time.Second},
	} {
		t.Run(test.broken, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := &fakeapi.Server{Fault: func(_ int, w http.ResponseWriter, r *http.Request) bool {
					if r.URL.Path == "/apis/example.com" {
						_ = json.NewEncoder(w).Encode(metav1.APIGroup{Versions: []metav1.GroupVersionForDiscovery{{Version: "v2"}, {Version: "v1"}}})
						return true
					}
					version := strings.Split(r.URL.Path, "/")[3]
					if !strings.Contains(test.broken, version) {
						return false
					}
					fakeapi.Fail(w, http.StatusInternalServerError, "conversion webhook for example.com/v1, Kind=Widget failed: connection refused")
					return true
				}}
				config := server.StartPipe(t)
				for i := range 3 {
					server.Change("/apis/example.com/v1/widgets", "ADDED", metav1.ObjectMeta{Namespace: "prod", Name: fmt.Sprint("w-", i)})
				}
				scanner := &Scanner{Config: config, Version: "v1.36.0"}
				widgets := Resource{
					GroupVersionResource: schema.GroupVersionResource{Group: "example.com", Version: "v2", Resource: "widgets"}, Namespaced: true,
				}
				began := time.Now()
				_, summary, err := scanner.Count(t.Context(), []Resource{widgets}, "")
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); took > test.within {
					t.Errorf("the count took %v, want at most %v", took, test.within)
				}
				if summary.Objects != test.objects || len(summary.Skipped) > 0 != (test.objects == 0) {
					t.Errorf("%d objects, want %d. Skipped: %+v", summary.Objects, test.objects, summary.Skipped)
				}
				for _, s := range summary.Skipped {
					if want := "gave up after 15s: conversion webhook"; !strings.Contains(s.Message, want) {
						t.Errorf("the message is %q, want %q in it", s.Message, want)
					}
				}
			})
		})
	}
}
