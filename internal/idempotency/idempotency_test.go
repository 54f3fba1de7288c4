package idempotency

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-genname/kubectl-genname/internal/digest"
)

func sum(t *testing.T, text string) digest.Sum {
	t.Helper()
	var o unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	d, err := digest.Of(&o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const demo = `{apiVersion: v1, kind: ConfigMap, metadata: {generateName: demo-, namespace: default}, data: {b: "1", a: "<&>"}}`

// The vectors were computed without this code, from the rules in the comments. They must never
// change, because a key always means the same run.
func TestVectors(t *testing.T) {
	d := sum(t, demo)
	if got := hex.EncodeToString(d[:]); got != "b8dd7e5c96947bc20ec93d29a85990cf0ddd0d30ccff3602752dcef615c088ee" {
		t.Errorf("the digest is %s", got)
	}
	key := Key("nightly-2026-11-21")
	if got := key.RunLabel(); got != "v1-cc87036c1ba7d0ace65d62583b97767e" {
		t.Errorf("the run label is %s", got)
	}
	configMaps := Place{schema.GroupResource{Resource: "configmaps"}, "default"}
	jobs := Place{schema.GroupResource{Group: "batch", Resource: "jobs"}, "default"}
	for _, v := range []struct {
		place Place
		n     int
		want  string
	}{
		{configMaps, 0, "v1-ddce012b110d1f2255f1ac0c962a2c91"},
		{configMaps, 1, "v1-842fd077ba57c31904b840b4ae39a3d7"},
		{jobs, 0, "v1-6b7f85f6263ec923b0f85e642c590b15"},
	} {
		if got := key.CreationID(v.place, d, v.n); got != v.want {
			t.Errorf("the creation id of %s, %d is %s, want %s", v.place, v.n, got, v.want)
		}
	}
}

// The published vectors are these.
func TestPublishedVectors(t *testing.T) {
	page, err := os.ReadFile("../../docs/internals/create-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	d := sum(t, demo)
	key, place := Key("nightly-2026-11-21"), Place{schema.GroupResource{Resource: "configmaps"}, "default"}
	for _, value := range []string{
		hex.EncodeToString(d[:]), key.RunLabel(), key.CreationID(place, d, 0), key.CreationID(place, d, 1),
		key.CreationID(Place{schema.GroupResource{Group: "batch", Resource: "jobs"}, "default"}, d, 0),
	} {
		if !strings.Contains(string(page), "`"+value+"`") {
			t.Errorf("docs/internals/create-protocol.md lacks %s", value)
		}
	}
}

// No two inputs have the same id, wherever the border between their parts is.
func TestCreationIDsDiffer(t *testing.T) {
	type input struct {
		key, group, resource, namespace string
		n                               int
	}
	draw := func(t *rapid.T, label string) input {
		part := rapid.StringMatching(`[ab.]{0,3}`)
		return input{part.Draw(t, label), part.Draw(t, label), part.Draw(t, label), part.Draw(t, label), rapid.IntRange(0, 2).Draw(t, label)}
	}
	id := func(i input) string {
		return Key(i.key).CreationID(Place{schema.GroupResource{Group: i.group, Resource: i.resource}, i.namespace}, digest.Sum{}, i.n)
	}
	place := func(i input) string {
		return (schema.GroupResource{Group: i.group, Resource: i.resource}).String()
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		same := a.key == b.key && place(a) == place(b) && a.namespace == b.namespace && a.n == b.n
		if (id(a) == id(b)) != same {
			t.Fatalf("%+v and %+v", a, b)
		}
	})
}
