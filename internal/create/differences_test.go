package create

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"sigs.k8s.io/yaml"
)

// parsed returns a document of a manifest.
func parsed(t *testing.T, text string) *Document {
	t.Helper()
	var o unstructured.Unstructured
	data, err := yaml.YAMLToJSON([]byte(text))
	if err == nil {
		err = json.Unmarshal(data, &o.Object) // whole numbers are int64, as in a client
	}
	if err != nil {
		t.Fatal(err)
	}
	return &Document{Object: &o, Mapping: &meta.RESTMapping{GroupVersionKind: o.GroupVersionKind()}}
}

// A comparison ends when it has maxFields paths. Another user can change every item of a long list.
func TestDifferencesOfALongList(t *testing.T) {
	var wanted, stored []any
	for i := range 1000 {
		wanted, stored = append(wanted, []any{int64(i)}), append(stored, []any{int64(-1), int64(-1)})
	}
	compared := 0
	c := comparison{most: maxFields, grows: func(string) bool { compared++; return true }}
	if c.compare("", wanted, stored); len(c.paths) != maxFields || compared > 10*len(wanted) {
		t.Errorf("%d comparisons of lists: %q", compared, c.paths)
	}
}

// compared is a manifest, the stored object, and the fields that differ.
type compared struct {
	manifest, stored string
	want             []string
}

func compare(t *testing.T, fields func(*Document, *unstructured.Unstructured) []string, all map[string]compared) {
	for name, test := range all {
		t.Run(name, func(t *testing.T) {
			d := parsed(t, test.manifest)
			before := d.Object.DeepCopy()
			if diff := cmp.Diff(test.want, fields(d, parsed(t, test.stored).Object)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, d.Object); diff != "" {
				t.Errorf("the document was changed:\n%s", diff)
			}
		})
	}
}

func TestDifferences(t *testing.T) {
	compare(t, (*Document).differences, map[string]compared{
		"what a server adds": {
			`{kind: Job, metadata: {generateName: a-}, spec: {template: {spec: {containers: [{name: c, image: i}]}}}}`,
			`{kind: Job, metadata: {generateName: a-, name: a-x, uid: u, creationTimestamp: t, labels: {genname.dev/run: r}},
			  spec: {backoffLimit: 6, template: {spec: {dnsPolicy: ClusterFirst, containers: [{name: c, image: i, imagePullPolicy: Always}]}}}, status: {active: 1}}`,
			nil,
		},
		"values": {
			`{spec: {image: b, list: [{a: 1}, {a: 3}], flag: true}}`, `{spec: {image: a, list: [{a: 1}, {a: 2}], flag: false}}`,
			[]string{"spec.flag", "spec.image", "spec.list[1].a"},
		},
		"at most three":  {`{a: 1, b: 1, c: 1, d: 1}`, `{}`, []string{"a", "b", "c"}},
		"a missing map":  {`{spec: {a: {b: c}}}`, `{spec: {}}`, []string{"spec.a"}},
		"another length": {`{args: [a, b]}`, `{args: [a]}`, []string{"args"}},
		"injected items": {
			`{containers: [{name: a, image: i}, {name: b}], tolerations: [{key: x}], env: []}`,
			`{containers: [{name: proxy}, {name: b}, {name: a, image: i}], tolerations: [{key: y}, {key: x, effect: z}], env: [{a: 1}]}`, nil,
		},
		"names that occur twice": {
			`{mounts: [{name: a, path: /x}, {name: a, path: /y}]}`, `{mounts: [{name: a, path: /y}, {name: a, path: /x}]}`, nil,
		},
		"injected items at the end":   {`{volumes: [{name: a}, {name: b}, {p: 3}]}`, `{volumes: [{name: a}, {name: b}, {p: 3}, {name: proxy}]}`, nil},
		"an injected finalizer":       {`{metadata: {finalizers: [a, b]}}`, `{metadata: {finalizers: [a, x, b]}}`, nil},
		"a changed item":              {`{containers: [{name: a, image: i}]}`, `{containers: [{name: z}, {name: a, image: j}]}`, []string{"containers[0].image"}},
		"an item after a changed one": {`{containers: [{name: a, image: i}]}`, `{containers: [{name: a, image: j}, {name: z}]}`, []string{"containers[0].image"}},
		"missing items":               {`{env: [{name: a}, {b: 1}]}`, `{env: [{name: z}, {d: 1}, {d: 2}]}`, []string{"env[0]", "env[1]"}},
		"an added subject": {
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, subjects: [{kind: User, name: a}]}`,
			`{subjects: [{kind: User, name: a}, {kind: User, name: b}]}`,
			[]string{"subjects"},
		},
		"an added rule": {
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, rules: [{verbs: [get], resources: [pods]}]}`,
			`{rules: [{verbs: [get], resources: [pods]}, {verbs: ["*"], resources: ["*"]}]}`,
			[]string{"rules"},
		},
		"an added rule of a ClusterRole": {`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, rules: []}`, `{rules: [{verbs: [get]}]}`, []string{"rules"}},
		"a rule of an aggregated ClusterRole": {
			`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, aggregationRule: {a: b}, rules: []}`, `{aggregationRule: {a: b}, rules: [{verbs: [get]}]}`, nil,
		},
		"added ingress": {
			`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {ingress: [{from: [{podSelector: {}}]}]}}`,
			`{spec: {ingress: [{from: [{podSelector: {}}]}, {}]}}`,
			[]string{"spec.ingress"},
		},
		"ingress where none was allowed":  {`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, spec: {ingress: []}}`, `{spec: {ingress: [{}]}}`, []string{"spec.ingress"}},
		"a token's Secret":                {`{apiVersion: v1, kind: ServiceAccount, secrets: [{name: a}]}`, `{secrets: [{name: a}, {name: b}]}`, nil},
		"an added Secret":                 {`{apiVersion: v1, kind: Other, secrets: [{name: a}]}`, `{secrets: [{name: a}, {name: b}]}`, []string{"secrets"}},
		"lists of a custom type":          {`{apiVersion: example.com/v1, kind: Thing, a: [{b: 1}], args: [x]}`, `{a: [{b: 1}, {b: 2}], args: [x, y]}`, nil},
		"a missing item of a custom type": {`{apiVersion: example.com/v1, kind: Thing, args: [x, y]}`, `{args: [x]}`, []string{"args[1]"}},
		"items in another order":          {`{c: [{a: 1}, {a: 2}]}`, `{c: [{a: 2}, {a: 1}]}`, []string{"c[1].a"}},
		"names that are no text":          {`{c: [{name: {}}]}`, `{c: [{name: {}}]}`, nil},
		"another type":                    {`{a: [1]}`, `{a: {b: 1}}`, []string{"a"}},
		"what a server drops":             {`{a: null, labels: {}, limits: {}, c: [], d: {e: null}, f: "", g: false, h: 0}`, `{d: {}}`, nil},
		"values that it adds instead":     {`{limit: null, d: {account: ""}, list: [{e: ""}]}`, `{limit: 6, d: {account: default}, list: [{e: x}]}`, nil},
		"empty text": {
			`{data: {a: ""}, labels: {example.com/a: ""}, env: [{name: a, value: ""}]}`,
			`{data: {a: x}, labels: {example.com/a: x}, env: [{name: a, value: x}]}`,
			[]string{"data.a", "env[0].value", `labels["example.com/a"]`},
		},
		"an empty map that is gone": {`{volumes: [{name: a, emptyDir: {}}]}`, `{volumes: [{name: a, hostPath: {path: /}}]}`, []string{"volumes[0].emptyDir"}},
		"a removed field":           {`{a: 1}`, `{a: 1, b: 2}`, nil},
		"quantities":                {`{cpu: 1000m, memory: 1024Mi, n: 0.5, i: 1000000.0}`, `{cpu: "1", memory: 1Gi, n: 500m, i: 1000000}`, nil},
		"another quantity":          {`{cpu: 100m}`, `{cpu: 200m}`, []string{"cpu"}},
		"a number with too many digits": {
			`{a: 1, b: 1e-9, c: 0}`, `{a: "1e999999999", b: "-1E+999999999", c: "1e-999999999"}`, []string{"a", "b", "c"},
		},
		"text like a quantity": {
			`{args: ["1.10", 60m], labels: {app: "1.0"}, env: [{name: a, value: 1000m}]}`, `{args: ["1.1", 1h0m0s], labels: {app: "1"}, env: [{name: a, value: "1"}]}`,
			[]string{"args[0]", "args[1]", "env[0].value"},
		},
		"text that is no quantity of a server": {`{version: "1.10"}`, `{version: "1.1"}`, []string{"version"}},
		"durations":                            {`{wait: 60m}`, `{wait: 1h0m0s}`, nil},
		"another duration":                     {`{wait: 2h30m}`, `{wait: 1h0m0s}`, []string{"wait"}},
		"a value that is gone":                 {`{a: x}`, `{a: null}`, []string{"a"}},
		"keys with dots": {
			`{metadata: {annotations: {example.com/a: x}, labels: {app: b}}}`, `{metadata: {annotations: {example.com/a: y}, labels: {app: a}}}`,
			[]string{`metadata.annotations["example.com/a"]`, "metadata.labels.app"},
		},
		"the plugin's and kubectl's": {
			`{metadata: {annotations: {` + genericclioptions.ChangeCauseAnnotation + `: x, genname.dev/creation-id: y, genname.dev/lint-disable: z}}}`,
			`{metadata: {}}`, nil,
		},
		"stringData":         {`{apiVersion: v1, kind: Secret, stringData: {a: x}, data: {b: eQ==}}`, `{apiVersion: v1, kind: Secret, data: {a: eA==, b: eQ==}}`, nil},
		"another stringData": {`{apiVersion: v1, kind: Secret, stringData: {a: z}}`, `{apiVersion: v1, kind: Secret, data: {a: eA==}}`, []string{"data.a"}},
	})
}

// An object that exists is compared with the defaults of Jobs and Pods, too. Queues set suspend, and
// controllers remove finalizers.
func TestChanges(t *testing.T) {
	const job = `apiVersion: batch/v1, kind: Job, metadata: {generateName: a-, finalizers: [x]}`
	compare(t, (*Document).changes, map[string]compared{
		"as stored":              {`{` + job + `, spec: {}}`, `{` + job + `, spec: {completions: 1, parallelism: 1, suspend: false}}`, nil},
		"a Job without work":     {`{` + job + `, spec: {}}`, `{` + job + `, spec: {completions: 0, parallelism: 1}}`, []string{"spec.completions"}},
		"a Job that can't start": {`{` + job + `, spec: {}}`, `{` + job + `, spec: {completions: 1, parallelism: 0}}`, []string{"spec.parallelism"}},
		"a short deadline": {
			`{` + job + `, spec: {}}`, `{` + job + `, spec: {completions: 1, parallelism: 1, activeDeadlineSeconds: 1}}`, []string{"spec.activeDeadlineSeconds"},
		},
		"its own deadline":      {`{` + job + `, spec: {activeDeadlineSeconds: 1}}`, `{` + job + `, spec: {completions: 1, parallelism: 1, activeDeadlineSeconds: 1}}`, nil},
		"a work queue":          {`{` + job + `, spec: {parallelism: 2}}`, `{` + job + `, spec: {parallelism: 2}}`, nil},
		"a bounded work queue":  {`{` + job + `, spec: {parallelism: 2}}`, `{` + job + `, spec: {parallelism: 2, completions: 1}}`, []string{"spec.completions"}},
		"Kueue":                 {`{` + job + `, spec: {suspend: true}}`, `{` + job + `, spec: {completions: 1, parallelism: 1, suspend: false}}`, nil},
		"Kueue and MPI":         {`{apiVersion: kubeflow.org/v2beta1, kind: MPIJob, spec: {runPolicy: {suspend: true, a: 1}}}`, `{spec: {runPolicy: {suspend: false, a: 1}}}`, nil},
		"a CronJob":             {`{apiVersion: batch/v1, kind: CronJob, spec: {suspend: true}}`, `{spec: {suspend: false}}`, []string{"spec.suspend"}},
		"a deadline of a Pod":   {`{apiVersion: v1, kind: Pod, spec: {}}`, `{spec: {activeDeadlineSeconds: 5}}`, []string{"spec.activeDeadlineSeconds"}},
		"another type":          {`{apiVersion: v1, kind: ConfigMap, data: {a: x}}`, `{data: {a: y}}`, []string{"data.a"}},
		"an exported status":    {`{` + job + `, status: {active: 1}}`, `{status: {succeeded: 1}}`, nil},
		"a finalizer":           {`{` + job + `}`, `{spec: {}}`, nil},
		"nulls and empty text":  {`{` + job + `, spec: {completions: null, backoffLimit: null, a: {account: ""}}}`, `{spec: {completions: 1, parallelism: 1, backoffLimit: 6, a: {account: default}}}`, nil},
		"the owner was removed": {`{metadata: {ownerReferences: [{uid: a}]}}`, `{metadata: {}}`, []string{"metadata.ownerReferences"}},
	})
}

// The field managers are returned only if each path was written by a manager after the creation.
func TestChangedBy(t *testing.T) {
	entry := func(manager, fields string) string { return `{manager: ` + manager + `, fieldsV1: ` + fields + `}` }
	const creation = `{manager: kubectl-create, fieldsV1: {"f:metadata": {"f:annotations": {"f:genname.dev/creation-id": {}}}, "f:data": {".": {}, "f:a": {}}}}`
	image := func(container string) string {
		return `{"f:spec": {"f:containers": {"k:{\"name\":\"` + container + `\"}": {"f:image": {}}}}}`
	}
	const levels = 4000 // other users write managedFields, so the work must not depend on their depth
	deep := strings.Repeat(`{".": {}, "f:data": `, levels) + "{}" + strings.Repeat("}", levels)
	d := parsed(t, `{spec: {containers: [{name: c, image: i}, {name: sidecar, image: i}], tolerations: [{key: k}], args: [a]}}`)
	for name, test := range map[string]struct {
		entries string
		paths   []string
		want    []string
	}{
		"the creator":           {creation, []string{"data.a"}, nil},
		"an editor":             {creation + `, ` + entry("editor", `{"f:data": {"f:a": {}}}`), []string{"data.a"}, []string{"editor"}},
		"only another field":    {creation + `, ` + entry("editor", `{"f:data": {"f:ab": {}}}`), []string{"data.a"}, nil},
		"only the parent":       {creation + `, ` + entry("editor", `{"f:data": {".": {}}}`), []string{"data.a"}, nil},
		"one of two fields":     {creation + `, ` + entry("editor", `{"f:data": {"f:b": {}}}`), []string{"data.a", "data.b"}, nil},
		"two managers":          {creation + `, ` + entry("second", `{"f:data": {"f:b": {}}}`) + `, ` + entry("first", `{"f:data": {"f:a": {}}}`), []string{"data.a", "data.b"}, []string{"first", "second"}},
		"an item of a list":     {creation + `, ` + entry("editor", image("c")), []string{"spec.containers[0].image"}, []string{"editor"}},
		"another item":          {creation + `, ` + entry("editor", image("sidecar")), []string{"spec.containers[0].image"}, nil},
		"two items":             {creation + `, ` + entry("editor", image("c")) + `, ` + entry("injector", image("sidecar")), []string{"spec.containers[1].image"}, []string{"injector"}},
		"an item without name":  {creation + `, ` + entry("editor", `{"f:spec": {"f:tolerations": {}}}`), []string{"spec.tolerations[0].key"}, nil},
		"an item that is text":  {creation + `, ` + entry("editor", `{"f:spec": {"f:args": {}}}`), []string{"spec.args[0]"}, nil},
		"many levels":           {creation + `, ` + entry("editor", deep), []string{"data.data"}, []string{"editor"}},
		"a map":                 {creation + `, ` + entry("editor", `{"f:data": {"f:a": {}}}`), []string{"data"}, []string{"editor"}},
		"a key with brackets":   {creation + `, ` + entry("editor", `{"f:data": {"f:a.b": {}}}`), []string{`data["a.b"]`}, []string{"editor"}},
		"invalid fields":        {creation + `, ` + entry("editor", `{"f:data": {"i:x": {}}}`), []string{"data.a"}, nil},
		"no managers":           {``, []string{"data.a"}, nil},
		"no field that differs": {creation, nil, nil},
	} {
		stored := parsed(t, `{metadata: {managedFields: [`+test.entries+`]}}`).Object
		if diff := cmp.Diff(test.want, d.changedBy(stored, test.paths)); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}
