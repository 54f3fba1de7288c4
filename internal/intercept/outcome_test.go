package intercept

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/oncetest"
)

const (
	isCreated = "created (201)"
	isRescued = "created, response lost (201)"
	exists    = "exists (201)"
)

// For a 201, the words show whether the object existed before the request, and whether a response was lost.
func TestWords(t *testing.T) {
	lose := func(f *fixture) { f.Next("create", "configmaps", oncetest.DropResponse) }
	for name, test := range map[string]struct {
		last func(*fixture) *fixture // sends creates, and returns the fixture that got the last one
		want string
	}{
		"stored":        {func(f *fixture) *fixture { return f.posted(generated) }, isCreated},
		"response lost": {func(f *fixture) *fixture { lose(f); return f.posted(generated) }, isRescued},
		"renamed": {func(f *fixture) *fixture {
			f.Next("create", "configmaps", oncetest.Mutate(rename, nil))
			return f.posted(generated)
		}, isCreated},
		"first run, lost":  {func(f *fixture) *fixture { lose(f); return f.run().posted(generated) }, isRescued},
		"second run":       {func(f *fixture) *fixture { f.run().posted(generated); return f.run().posted(generated) }, exists},
		"second run, lost": {func(f *fixture) *fixture { f.run().posted(generated); lose(f); return f.run().posted(generated) }, exists},
		"second run, deleted since the list, and lost": {func(f *fixture) *fixture {
			f.run().posted(of(`"k":"1"`), generated)
			run := f.run().posted(of(`"k":"1"`))
			for _, o := range f.Objects() {
				if data, _, _ := unstructured.NestedString(o.Object, "data", "k"); data == "v" {
					f.Remove(o)
				}
			}
			lose(f)
			return run.posted(generated)
		}, isRescued},
		"kept": {func(f *fixture) *fixture {
			f.abandon((*oncetest.Request).Send)
			f.proxy.Wait()
			return f.posted(generated)
		}, exists},
		"kept, response lost, and not read": {func(f *fixture) *fixture {
			f.abandon(oncetest.DropResponse)
			f.proxy.Wait()
			f.Next("get", "configmaps", oncetest.Forbidden)
			return f.posted(generated)
		}, "unknown (504)"},
		"unknown before": {func(f *fixture) *fixture {
			lose(f)
			f.Next("get", "configmaps", oncetest.Forbidden)
			return f.posted(generated, generated)
		}, exists},
		"refused before": {func(f *fixture) *fixture {
			f.Next("create", "configmaps", oncetest.StoreLate(time.Hour, oncetest.QuotaExceeded))
			f.posted(generated)
			f.Land()
			return f.posted(generated)
		}, exists},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // a refusal is rechecked for some seconds
			f := test.last(newFixture(t))
			f.mu.Lock()
			defer f.mu.Unlock()
			if got := f.ended[len(f.ended)-1]; got != test.want {
				t.Errorf("%q, want %q at the end", f.ended, test.want)
			}
		})
	}
}

// posted sends creates one after the other.
func (f *fixture) posted(bodies ...string) *fixture {
	f.t.Helper()
	for _, body := range bodies {
		f.post(body)
	}
	return f
}
