package digest

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	var o unstructured.Unstructured
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return &o
}

func sum(t *testing.T, text string) Sum {
	t.Helper()
	d, err := Of(object(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

const demo = `{apiVersion: v1, kind: ConfigMap, metadata: {generateName: demo-, namespace: default}, data: {b: "1", a: "<&>"}}`

// Fields that tools and servers write don't change a digest. The user's content does.
func TestDigest(t *testing.T) {
	want := sum(t, demo)
	for name, same := range map[string]string{
		"order":  `{kind: ConfigMap, data: {a: "<&>", b: "1"}, metadata: {namespace: default, generateName: demo-}, apiVersion: v1}`,
		"status": strings.Replace(demo, ", data:", ", status: {x: 1}, data:", 1),
		"what servers fill in and tools write": strings.Replace(demo, "generateName", `resourceVersion: "7", uid: u, labels: {genname.dev/run: x},
			annotations: {genname.dev/creation-id: x, kubectl.kubernetes.io/last-applied-configuration: x, kubernetes.io/change-cause: x}, generateName`, 1),
	} {
		if sum(t, same) != want {
			t.Errorf("%s: another digest", name)
		}
	}
	for name, other := range map[string]string{
		"value":                               strings.Replace(demo, `"1"`, `"2"`, 1),
		"type":                                strings.Replace(demo, `"1"`, `1`, 1),
		"generateName":                        strings.Replace(demo, "demo-", "demo2-", 1),
		"annotation":                          strings.Replace(demo, "generateName", "annotations: {genname.development: x}, generateName", 1),
		"ours, but not written by the plugin": strings.Replace(demo, "generateName", "annotations: {genname.dev/ignore: truncated-prefix}, generateName", 1),
		"label":                               strings.Replace(demo, "generateName", "labels: {a: b}, generateName", 1),
		"null":                                strings.Replace(demo, ", data:", ", immutable: null, data:", 1),
	} {
		if sum(t, other) == want {
			t.Errorf("%s: the same digest", name)
		}
	}
}

// A status that the server stores as it is given belongs to the content.
func TestDigestWithStatus(t *testing.T) {
	stored := func(text string) Sum {
		d, err := WithStatus(object(t, text))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	phase := strings.Replace(demo, ", data:", ", status: {phase: A}, data:", 1)
	if stored(demo) != sum(t, demo) || stored(phase) == stored(demo) || stored(phase) == stored(strings.Replace(phase, "A", "B", 1)) {
		t.Error("the status is not part of the digest")
	}
}

// A digest must never change, and neither must kubectl's name of its annotation.
func TestChangeCauseIsKubectls(t *testing.T) {
	if changeCause != genericclioptions.ChangeCauseAnnotation {
		t.Errorf("kubectl writes %s", genericclioptions.ChangeCauseAnnotation)
	}
}

// The digest looks, and does not touch.
func TestDigestLeavesTheObjectAlone(t *testing.T) {
	o := object(t, strings.Replace(demo, "generateName", "annotations: {genname.dev/creation-id: x}, generateName", 1))
	before, _ := yaml.Marshal(o)
	if _, err := Of(o); err != nil {
		t.Fatal(err)
	}
	if after, _ := yaml.Marshal(o); string(after) != string(before) {
		t.Errorf("it became\n%s", after)
	}
}
