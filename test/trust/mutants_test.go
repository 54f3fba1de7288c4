package trust

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

// transport is a mutant: it simulates an error in the program by changed requests and responses.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

// renamed replaces texts of requests, and puts them back in responses. in limits it to paths that contain it.
func renamed(below http.RoundTripper, in string, pairs ...string) http.RoundTripper {
	var back []string
	for i := 0; i < len(pairs); i += 2 {
		back = append(back, pairs[i+1], pairs[i])
	}
	there, again := strings.NewReplacer(pairs...), strings.NewReplacer(back...)
	return transport(func(r *http.Request) (*http.Response, error) {
		if !strings.Contains(r.URL.Path, in) {
			return below.RoundTrip(r)
		}
		r = r.Clone(r.Context())
		r.URL.Path = there.Replace(r.URL.Path)
		if r.Body != nil {
			sent, err := io.ReadAll(r.Body)
			if err != nil {
				return nil, err
			}
			text := there.Replace(string(sent))
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		}
		resp, err := below.RoundTrip(r)
		return changed(resp, err, func(body []byte) []byte { return []byte(again.Replace(string(body))) })
	})
}

// changed changes the body of a response.
func changed(resp *http.Response, err error, change func([]byte) []byte) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	body = change(body)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// publicNames derives names from the ID of an item without its secret.
func publicNames(w *world, below http.RoundTripper) http.RoundTripper {
	return renamed(below, "", nameOf(w.items[0], w.secret), nameOf(w.items[0], derive.Secret{}))
}

// noPlace gives the second item the ID and the name of the first, as if its kind were no part of them.
func noPlace(w *world, below http.RoundTripper) http.RoundTripper {
	a, b := identityOf(w.items[0], w.secret), identityOf(w.items[1], w.secret)
	return renamed(below, "/"+w.items[1].resource(), b.id, a.id, b.name, a.name)
}

// believing accepts each listed object as the first item if prove returns true, without a check of its name and ID.
func believing(prove func(*world, *unstructured.Unstructured) bool) func(*world, http.RoundTripper) http.RoundTripper {
	return func(w *world, below http.RoundTripper) http.RoundTripper {
		want, believed := identityOf(w.items[0], w.secret), ""
		believe := func(o *unstructured.Unstructured) {
			if prove(w, o) {
				believed = o.GetName()
				o.SetName(want.name)
				o.SetAnnotations(map[string]string{derive.IDAnnotation: want.id})
			}
		}
		return transport(func(r *http.Request) (*http.Response, error) {
			if !strings.Contains(r.URL.Path, "/"+w.items[0].resource()) { // such as reviews, which run beside the others
				return below.RoundTrip(r)
			}
			if believed != "" && strings.HasSuffix(r.URL.Path, "/"+want.name) {
				r = r.Clone(r.Context())
				r.URL.Path = strings.TrimSuffix(r.URL.Path, want.name) + believed
			}
			resp, err := below.RoundTrip(r)
			if r.Method != http.MethodGet {
				return resp, err
			}
			return changed(resp, err, func(body []byte) []byte {
				object := &unstructured.Unstructured{}
				if json.Unmarshal(body, &object.Object) != nil {
					return body
				}
				if items, is := object.Object["items"].([]any); is {
					for _, each := range items {
						believe(&unstructured.Unstructured{Object: each.(map[string]any)})
					}
				} else if object.GetName() == believed {
					believe(object)
				}
				body, _ = json.Marshal(object.Object)
				return body
			})
		})
	}
}

// neverTaken can't read an object with another ID, so the outcome stays unknown.
func neverTaken(w *world, below http.RoundTripper) http.RoundTripper {
	return transport(func(r *http.Request) (*http.Response, error) {
		resp, err := below.RoundTrip(r)
		if err != nil || r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/"+fixed.Name) || resp.StatusCode != http.StatusOK {
			return resp, err
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body = io.NopCloser(bytes.NewReader(body))
		if err == nil && !bytes.Contains(body, []byte(idOf(fixed, w.secret))) {
			return oncetest.GatewayTimeout(nil)
		}
		return resp, err
	})
}

// withoutSecret is a subject that ignores its secret.
func withoutSecret(s subject) subject {
	return func(w *world) []claim {
		defer func(secret derive.Secret) { w.secret = secret }(w.secret)
		w.secret = derive.Secret{}
		return s(w)
	}
}

// Each mutant that accepts a copied annotation as a proof breaks a property, even with a secret.
func TestMutants(t *testing.T) {
	controlled := keyed("Job")
	controlled.owner = "6b1f2d0e-8a55-4f4b-9a43-0c2f5d1f7a10"
	for name, test := range map[string]struct {
		model
		least least
	}{
		"IDs and names from a hash, library":  {model{subject: withoutSecret(library), items: kinds, budget: 1}, least{p1: 4, p3: 15}},
		"IDs and names from a hash, command":  {model{subject: withoutSecret(command), items: job, budget: 1}, least{p1: 2, p3: 5, p4: 1}},
		"names from the public hash, library": {model{subject: library, items: job, mutant: publicNames, budget: 1}, least{p3: 5}},
		"names from the public hash, command": {model{subject: command, items: job, mutant: publicNames, budget: 1}, least{p3: 5}},
		"no name check": {model{subject: command, items: job, budget: 2, mutant: believing(func(w *world, o *unstructured.Unstructured) bool {
			return o.GetAnnotations()[derive.IDAnnotation] == idOf(w.items[0], w.secret)
		})}, least{p1: 1}},
		"no place, library": {model{subject: library, items: kinds, mutant: noPlace, budget: 1}, least{p1: 1}},
		"no place, command": {model{subject: command, items: kinds, mutant: noPlace, budget: 1}, least{p1: 1}},
		"the label is trusted": {model{subject: command, items: job, budget: 1, mutant: believing(func(_ *world, o *unstructured.Unstructured) bool {
			return o.GetLabels()[derive.RunLabelKey] != ""
		})}, least{p1: 1}},
		"an owner's UID is a proof": {model{subject: command, items: []item{controlled}, budget: 1, mutant: believing(func(_ *world, o *unstructured.Unstructured) bool {
			return len(o.GetOwnerReferences()) > 0
		})}, least{p1: 1}},
		"a digest is a proof": {model{subject: command, items: job, budget: 2, mutant: believing(func(w *world, o *unstructured.Unstructured) bool {
			return o.GetAnnotations()[derive.DigestAnnotation] == w.digests[idOf(w.items[0], w.secret)]
		})}, least{p1: 1}},
		"another ID is unknown forever": {model{subject: command, items: []item{fixed}, mutant: neverTaken, budget: 1}, least{p5: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.secret = first
			test.least.check(t, test.model.explore(t).notes)
		})
	}
}
