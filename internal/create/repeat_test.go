package create

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

const key = idempotency.Key("k")

// idOf returns the ID of the n-th copy of configmaps/a/x- under the key.
func idOf(n int) exactlyonce.ID { return copyOf("configmaps/a/x-", 0, n) }

// copyOf returns the ID of a copy of a document. number counts the documents with the same name.
func copyOf(text string, number, copied int, secrets ...derive.Secret) exactlyonce.ID {
	d := document(text)
	secret := append(secrets, derive.Secret{})[0]
	o := derive.Object{
		Kind: d.Object.GetKind(), Namespace: d.Namespace, GenerateName: d.Object.GetGenerateName(), Name: d.Object.GetName(),
		Document: number, Copy: copied,
	}
	id := secret.ID(derive.FromKey(string(key)), o)
	return exactlyonce.Derive(exactlyonce.Derivation{
		Creation: id, Secret: secret, Run: key.RunLabel(), Digest: secret.Digest(id, o, d.Object.Object),
	})
}

// existing returns an object of the run as a list returns it.
func existing(text string, number, copied int, secrets ...derive.Secret) idempotency.Existing {
	id, d := copyOf(text, number, copied, secrets...), document(text)
	e := idempotency.Existing{
		Name: d.Object.GetName(), GenerateName: d.Object.GetGenerateName(), ID: id.String(), Digest: id.Digest,
	}
	if e.Name == "" {
		e.Name = id.Name(e.GenerateName, 0)
	}
	return e
}

// secretOf returns a secret of 32 equal characters.
func secretOf(character string) derive.Secret {
	secret, err := derive.ParseSecret(strings.Repeat(character, 32))
	if err != nil {
		panic(err)
	}
	return secret
}

func withKey(c *cluster) settings {
	config := configOf(c)
	config.Key, config.Concurrency = key, 1
	return config
}

// A run with a key creates the missing objects. Documents of one generateName are numbered. An existing object has the
// label of the run, so that a wait for it watches only the objects of the run.
func TestRepeatably(t *testing.T) {
	there := existing("configmaps/a/x-", 0, 1)
	c := &cluster{existing: []idempotency.Existing{there}}
	config := withKey(c)
	config.Copies = 2
	expect(t, words(func(yield func(Event) bool) {
		for e := range begin(t.Context(), config, input("configmaps/a/x-", "configmaps/a/x-")) {
			if o, is := e.(Outcome); is && o.Outcome == protocol.Found && o.Object.GetLabels()[exactlyonce.RunLabel] != key.RunLabel() {
				t.Errorf("%s has the labels %v, want that of the run", o.Name, o.Object.GetLabels())
			}
			yield(e)
		}
	}), "created x-", "exists "+there.Name, "created x-", "created x-", "end 2")
	for i, want := range []exactlyonce.ID{idOf(0), copyOf("configmaps/a/x-", 1, 0), copyOf("configmaps/a/x-", 1, 1)} {
		if c.ids[i] != want {
			t.Errorf("create %d is under %v, want %v", i, c.ids[i], want)
		}
	}
}

// A later run creates an object again that its TTL has deleted.
func TestTTL(t *testing.T) {
	seconds := map[string]any{"ttlSecondsAfterFinished": int64(5)}
	for _, test := range []struct {
		group, want string
		spec        map[string]any
	}{
		{"", "ttlSecondsAfterFinished", map[string]any{"runPolicy": seconds}},
		{"", "ttlStrategy", map[string]any{"ttlStrategy": map[string]any{"secondsAfterSuccess": int64(5)}}},
		{"", "timeToLiveSeconds", map[string]any{"timeToLiveSeconds": int64(5)}},
		{"", "", map[string]any{"ttlSecondsAfterFinished": nil, "runPolicy": "a"}},
		{"ray.io", "", seconds}, // deletes only the cluster of a RayJob
	} {
		d := document("jobs/a/x-")
		d.Object.Object["spec"], d.Mapping.Resource.Group = test.spec, test.group
		wanted := []string{"created x-", "end 1"}
		if test.want != "" {
			wanted = append([]string{"warning jobs with " + test.want +
				" are deleted after they finish. A later run with this key creates them again."}, wanted...)
		}
		expect(t, words(begin(t.Context(), withKey(&cluster{}), func(yield func(*Document, error) bool) { yield(d, nil) })),
			wanted...)
	}
}

// The cases are the table of docs/concepts/threat-model.md, about objects that have the run's label.
func TestListedObjects(t *testing.T) {
	first, second := secretOf("1"), secretOf("2")
	with := func(e idempotency.Existing, change func(*idempotency.Existing)) idempotency.Existing {
		change(&e)
		return e
	}
	restored := func(e *idempotency.Existing) { e.GenerateName = "" }
	moved := func(e *idempotency.Existing) { e.Name = "x-b2c4d5f6g7" }
	mine, under := existing("configmaps/a/x-", 0, 0), existing("configmaps/a/x-", 0, 0, first)
	for name, test := range map[string]struct {
		secrets  []derive.Secret
		existing []idempotency.Existing
		want     string // the first event
	}{
		"expected":                         {nil, []idempotency.Existing{mine}, "exists " + mine.Name},
		"expected, restored":               {nil, []idempotency.Existing{with(mine, restored)}, "exists " + mine.Name},
		"no digest":                        {nil, []idempotency.Existing{with(mine, func(e *idempotency.Existing) { e.Digest = "" })}, "exists " + mine.Name},
		"a digest of another version":      {nil, []idempotency.Existing{with(mine, func(e *idempotency.Existing) { e.Digest = "d2-0" })}, "exists " + mine.Name},
		"another digest":                   {nil, []idempotency.Existing{with(mine, func(e *idempotency.Existing) { e.Digest = "d1-0" })}, "problem 1 unexpected objects of the key, like configmaps/" + mine.Name + " -n a"},
		"not in the input":                 {nil, []idempotency.Existing{existing("configmaps/a/y-", 0, 0)}, "problem 1 unexpected objects of the key, like configmaps/" + existing("configmaps/a/y-", 0, 0).Name + " -n a"},
		"a fixed name not in the input":    {nil, []idempotency.Existing{existing("configmaps/a/own", 0, 0)}, "problem 1 unexpected objects of the key, like configmaps/own -n a"},
		"a copy too many":                  {nil, []idempotency.Existing{existing("configmaps/a/x-", 0, 1)}, "problem 1 unexpected objects of the key, like configmaps/" + existing("configmaps/a/x-", 0, 1).Name + " -n a"},
		"too many, restored":               {nil, []idempotency.Existing{with(existing("configmaps/a/x-", 1, 0), restored)}, "problem 1 unexpected objects of the key, like configmaps/" + existing("configmaps/a/x-", 1, 0).Name + " -n a"},
		"the ID under another name":        {nil, []idempotency.Existing{with(mine, moved)}, ignored("1 object", "configmaps/x-b2c4d5f6g7 -n a", false)},
		"another ID":                       {nil, []idempotency.Existing{with(mine, func(e *idempotency.Existing) { e.ID = "v1-other" })}, ignored("1 object", "configmaps/"+mine.Name+" -n a", false)},
		"no ID":                            {nil, []idempotency.Existing{{Name: "y"}, {Name: "z"}}, ignored("2 objects", "configmaps/y -n a", false)},
		"of a controller":                  {nil, []idempotency.Existing{{Name: "y", Owned: true}}, "created x-"},
		"made with a secret":               {nil, []idempotency.Existing{under}, "problem other secrets: configmaps/" + under.Name + " -n a"},
		"claims a secret, beside ours":     {nil, []idempotency.Existing{under, mine}, ignored("1 object", "configmaps/"+under.Name+" -n a", false)},
		"made with a secret, and adopted":  {nil, []idempotency.Existing{with(under, func(e *idempotency.Existing) { e.Owned = true })}, "problem other secrets: configmaps/" + under.Name + " -n a"},
		"a copy of a former object":        {[]derive.Secret{second, first}, []idempotency.Existing{under, existing("configmaps/a/x-", 0, 0, second)}, ignored("1 object", "configmaps/"+under.Name+" -n a", true)},
		"made with this secret":            {[]derive.Secret{first}, []idempotency.Existing{under}, "exists " + under.Name},
		"made without a secret":            {[]derive.Secret{first}, []idempotency.Existing{mine}, ignored("1 object", "configmaps/"+mine.Name+" -n a", true)},
		"made with another secret":         {[]derive.Secret{second}, []idempotency.Existing{under}, ignored("1 object", "configmaps/"+under.Name+" -n a", true)},
		"made with a former secret":        {[]derive.Secret{second, first}, []idempotency.Existing{under}, "exists " + under.Name},
		"made with both":                   {[]derive.Secret{second, first}, []idempotency.Existing{under, existing("configmaps/a/y-", 0, 0, second)}, "problem other secrets: configmaps/" + under.Name + " -n a, configmaps/" + existing("configmaps/a/y-", 0, 0, second).Name + " -n a"},
		"not in the input, former secret":  {[]derive.Secret{second, first}, []idempotency.Existing{existing("configmaps/a/y-", 0, 0, first)}, "problem 1 unexpected objects of the key, like configmaps/" + existing("configmaps/a/y-", 0, 0, first).Name + " -n a"},
		"another digest, under the secret": {[]derive.Secret{first}, []idempotency.Existing{with(under, func(e *idempotency.Existing) { e.Digest = "d1s-0" })}, "problem 1 unexpected objects of the key, like configmaps/" + under.Name + " -n a"},
	} {
		c := &cluster{existing: test.existing}
		config := withKey(c)
		config.Secrets = test.secrets
		reported := words(begin(t.Context(), config, input("configmaps/a/x-")))
		if reported[0] != test.want {
			t.Errorf("%s: %q, want %q", name, reported, test.want)
		}
		creates := strings.HasPrefix(test.want, "warning") || strings.HasPrefix(test.want, "created")
		creates = creates && !slices.ContainsFunc(reported, func(line string) bool { return strings.HasPrefix(line, "exists ") })
		if creates != (len(c.sent) == 1) {
			t.Errorf("%s: sent %q", name, c.sent)
		}
	}
}

// If the document of an object was changed and the object can't be read, the run doesn't compare them.
func TestUnreadableChange(t *testing.T) {
	c := &cluster{existing: []idempotency.Existing{existing("configmaps/a/x-", 0, 0)}}
	c.get = func(string) (*unstructured.Unstructured, error) { return nil, errForbidden }
	changed := document("configmaps/a/x-")
	changed.Object.SetLabels(map[string]string{"a": "b"})
	var found *UnexpectedError
	for e := range begin(t.Context(), withKey(c), func(yield func(*Document, error) bool) { yield(changed, nil) }) {
		if problem, is := e.(Problem); is {
			errors.As(problem.Err, &found)
		}
	}
	if found == nil || found.Change != nil {
		t.Errorf("%+v, want an error without a change", found)
	}
}

// A run reads the states of at most MaxStates existing objects. It reads fewer if a refusal stops the run before.
func TestStatesAreBounded(t *testing.T) {
	for name, test := range map[string]struct {
		states      bool
		err         error
		least, most int
	}{
		"none":    {false, nil, 0, 0},
		"all":     {true, nil, MaxStates, MaxStates},
		"refused": {true, errForbidden, 0, MaxStates},
	} {
		synctest.Test(t, func(t *testing.T) {
			var reads atomic.Int32
			c := &cluster{takes: time.Second, ends: fails(exactlyonce.Result{}, test.err)}
			c.get = func(string) (*unstructured.Unstructured, error) {
				time.Sleep(time.Second / 10)
				reads.Add(1)
				return document("Pod/a/x").Object, nil
			}
			config := withKey(c)
			config.Copies, config.Concurrency, config.States = 3*MaxStates, 2, test.states
			for n := 1; n < config.Copies; n++ {
				c.existing = append(c.existing, existing("Pod/a/x-", 0, n))
			}
			reported := words(begin(t.Context(), config, input("Pod/a/x-")))
			if read := int(reads.Load()); read < test.least || read > test.most || len(reported) != config.Copies+1 {
				t.Errorf("%s: %d states were read, %d events", name, read, len(reported))
			}
		})
	}
}

// The run compares all objects that the caller waits for, even if they are many or their type has no states.
func TestAwaitedObjectsAreCompared(t *testing.T) {
	c := &cluster{get: func(string) (*unstructured.Unstructured, error) { return document("Pod/a/other").Object, nil }}
	config, documents := withKey(c), []string{"Pod/a/x-", "Other/a/y-", "Secret/a/z-"}
	config.Copies, config.Awaits = 2*MaxStates, func(m *meta.RESTMapping) bool { return m.Resource.Resource != "Secret" }
	for _, text := range documents {
		for n := range config.Copies {
			e := existing(text, 0, n)
			e.Digest = ""
			c.existing = append(c.existing, e)
		}
	}
	compared := map[string]int{}
	for e := range begin(t.Context(), config, func(yield func(*Document, error) bool) {
		for _, text := range documents {
			d := document(text)
			d.Object.Object["data"] = map[string]any{"a": "x"}
			_ = yield(d, nil)
		}
	}) {
		if o, is := e.(Outcome); is && len(o.Changes) > 0 {
			compared[o.Document.Mapping.Resource.Resource+o.State]++
		}
	}
	if diff := cmp.Diff(map[string]int{"Pod" + running: config.Copies, "Other": config.Copies}, compared); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// If an existing object is gone when the run reads it or its state, the run creates the object again. The
// 404 of a load balancer doesn't mean that an object is gone.
func TestGoneWhenRead(t *testing.T) {
	there := existing("Pod/a/x-", 0, 0)
	for name, reads := range map[string]func(*Config){
		"whole":   func(c *Config) { c.FullObjects = true },
		"state":   func(c *Config) { c.States = true },
		"awaited": func(c *Config) { c.Awaits = func(*meta.RESTMapping) bool { return true } },
	} {
		t.Run(name, func(t *testing.T) {
			c := &cluster{existing: []idempotency.Existing{there}}
			config := withKey(c)
			reads(&config.Config)
			expect(t, words(begin(t.Context(), config, input("Pod/a/x-"))), "created x-", "end 1")
			c.get = func(name string) (*unstructured.Unstructured, error) {
				return nil, apierrors.NewGenericServerResponse(404, "get", schema.GroupResource{Resource: "pods"}, name, "default backend - 404", 0, true)
			}
			expect(t, words(begin(t.Context(), config, input("Pod/a/x-"))), "exists "+there.Name, "end 1")
		})
	}
}

// Eight places are listed concurrently. A slow search is reported, and an interrupt stops it.
func TestLooking(t *testing.T) {
	var documents []string
	for n := range 20 {
		documents = append(documents, fmt.Sprintf("configmaps/%02d/x-", n))
	}
	for name, test := range map[string]struct {
		takes, interruptAfter, want time.Duration
		late, notAttempted          int
	}{
		"soon":        {time.Millisecond, 0, 3 * time.Millisecond, 0, 0},
		"late":        {2 * time.Second, 0, 6 * time.Second, 1, 0},
		"interrupted": {time.Hour, time.Minute, time.Minute, 1, 20},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				if test.interruptAfter > 0 {
					time.AfterFunc(test.interruptAfter, interrupt)
				}
				c := &cluster{findTakes: test.takes}
				start, late, notAttempted, last := time.Now(), 0, 0, Searching{}
				for e := range begin(ctx, withKey(c), input(documents...)) {
					switch e := e.(type) {
					case Searching:
						if last = e; e.Late {
							late++
						}
					case Outcome:
						notAttempted += missedIn(e)
					case Problem:
						t.Error(e.Err)
					}
				}
				if took := time.Since(start); took != test.want || c.mostFinds != findAtOnce {
					t.Errorf("it took %s, %d at once", took, c.mostFinds)
				}
				if late != test.late || notAttempted != test.notAttempted || last != (Searching{Places: 20, Done: 20 - notAttempted}) {
					t.Errorf("%d times late, %d not attempted, at last %+v", late, notAttempted, last)
				}
			})
		})
	}
}

// If another run creates an object after the list, the create finds the object by its name. Then the run
// reports the object as existing, and compares it.
func TestFoundByName(t *testing.T) {
	c := &cluster{ends: fails(exactlyonce.Result{Outcome: protocol.Found, Name: "x-11111", Object: document("Pod/a/x-").Object}, nil)}
	var found []Outcome
	changed := document("Pod/a/x-")
	changed.Object.Object["spec"] = map[string]any{"a": "b"}
	expect(t, words(func(yield func(Event) bool) {
		for e := range begin(t.Context(), withKey(c), func(yield func(*Document, error) bool) { yield(changed, nil) }) {
			if o, is := e.(Outcome); is {
				found = append(found, o)
			}
			yield(e)
		}
	}), "exists x-11111", "end 1")
	if len(found) != 1 || found[0].State != running || !slices.Equal(found[0].Changes, []string{"spec"}) {
		t.Errorf("the object is not compared: %+v", found)
	}
}

// A dry run with a secret shows the names of existing objects. It hides the name and the ID of an object that it
// would create, although a server dry run sends both. The sessions and test/e2e have dry runs without a secret.
func TestDryRunsWithASecret(t *testing.T) {
	secret := secretOf("1")
	for dryRun, test := range map[DryRun]struct {
		want string
		sent []exactlyonce.ID
	}{
		ClientDryRun: {"shown x-<secret>x-", nil},
		ServerDryRun: {"created x-", []exactlyonce.ID{copyOf("configmaps/a/x-", 0, 1, secret)}},
	} {
		there := existing("configmaps/a/x-", 0, 0, secret)
		c := &cluster{existing: []idempotency.Existing{there}}
		config := withKey(c)
		config.DryRun, config.Copies, config.Secrets = dryRun, 2, []derive.Secret{secret}
		expect(t, words(func(yield func(Event) bool) {
			for e := range begin(t.Context(), config, input("configmaps/a/x-")) {
				if o, is := e.(Outcome); is && o.Outcome == Shown && len(o.Object.GetAnnotations())+len(o.Object.GetLabels()) > 0 {
					t.Errorf("annotations %v and labels %v, want none", o.Object.GetAnnotations(), o.Object.GetLabels())
				}
				yield(e)
			}
		}), "exists "+there.Name, test.want, "end 1")
		if !slices.Equal(c.ids, test.sent) {
			t.Errorf("sent as %v, want %v", c.ids, test.sent)
		}
	}
}

// A server copies the name, for example into the labels of a Job's Pods, and a webhook can copy the ID. A server dry run
// with a secret shows neither of them.
func TestRedact(t *testing.T) {
	id := copyOf("Job/a/x-", 0, 0, secretOf("1"))
	name := id.Name("x-", 0)
	for stored, result := range map[string]exactlyonce.Result{
		name: {Outcome: protocol.Created}, "picked": {Outcome: protocol.Failed},
	} {
		result.Name, result.Object = name, document("Job/a/"+stored).Object
		result.Object.SetAnnotations(map[string]string{exactlyonce.Annotation: id.Creation})
		result.Object.Object["spec"] = map[string]any{"labels": map[string]any{"job-name": name}, "args": []any{"--id=" + id.Creation, int64(1)}}
		config := withKey(&cluster{ends: fails(result, map[protocol.Outcome]error{protocol.Failed: errRenamed}[result.Outcome])})
		config.DryRun, config.Secrets = ServerDryRun, []derive.Secret{secretOf("1")}
		config.start(t.Context(), func(_ *Session, e Event) {
			o, is := e.(Outcome)
			text := fmt.Sprint(o.Object)
			if is && (strings.Contains(text, name) || strings.Contains(text, id.Creation) || !strings.Contains(text, "job-name:x-<secret>")) {
				t.Errorf("%s: %s, want no name and no ID", o.Outcome, text)
			}
		}, "Job/a/x-")
	}
}

// If the plugin can't read objects back, it lets the server name them, and refuses a key.
func TestNaming(t *testing.T) {
	for name, test := range map[string]struct {
		document string
		verbs    []string
		key      idempotency.Key
		want     []string
	}{
		"no get":            {"things/a/x-", []string{"create", "list"}, "", []string{"warning the server picks the names of things, because their API has no verb get. " + textLostResponse, "created x-", "end 1"}},
		"nameless":          {"configmaps/a/", []string{"create", "get"}, "", []string{"created ", "end 1"}},
		"nameless, and key": {"configmaps/a/", []string{"create", "get"}, "k", []string{"problem the plugin can't pick names of configmaps, because an object has neither a name nor a generateName, or labels or annotations that are not maps", "end 1"}},
		"no get, and key":   {"things/a/x-", []string{"create", "list"}, "k", []string{"problem the plugin can't pick names of things, because their API has no verb get", "end 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &cluster{verbs: test.verbs}
			config := configOf(c)
			config.Key = test.key
			expect(t, words(begin(t.Context(), config, input(test.document))), test.want...)
			if len(c.ids) > 0 && c.ids[0].String() != "" {
				t.Errorf("its id is %q", c.ids[0])
			}
		})
	}
}

// Listed objects are reported as existing, even if others are refused, or after an interrupt, unless they must be read.
func TestExistsInTheEnd(t *testing.T) {
	there := existing("configmaps/a/x-", 0, 2)
	exists := "exists " + there.Name
	for _, test := range []struct {
		refused, interrupted, whole bool
		want                        []string
	}{
		{true, false, false, []string{"failed x-", "2 not attempted", exists, "end 1"}},
		{false, true, false, []string{"created x-", "2 not attempted", exists, "end 1"}},
		{false, true, true, []string{"created x-", "3 not attempted", "end 1"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			c := &cluster{existing: []idempotency.Existing{there}, takes: time.Second}
			if test.refused {
				c.ends = fails(exactlyonce.Result{}, errForbidden)
			}
			if test.interrupted {
				c.during = func(string) { interrupt() }
			}
			config := withKey(c)
			config.Copies, config.FullObjects = 4, test.whole
			expect(t, words(begin(ctx, config, input("configmaps/a/x-"))), test.want...)
		})
	}
}
