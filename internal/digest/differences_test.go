package digest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifferences(t *testing.T) {
	for name, test := range map[string]struct {
		manifest, stored string
		want             []string
	}{
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
		"at most three":        {`{a: 1, b: 1, c: 1, d: 1}`, `{}`, []string{"a", "b", "c"}},
		"a missing map":        {`{spec: {a: {b: c}}}`, `{spec: {}}`, []string{"spec.a"}},
		"another length":       {`{args: [a, b]}`, `{args: [a]}`, []string{"args"}},
		"another type":         {`{a: [1]}`, `{a: {b: 1}}`, []string{"a"}},
		"what a server drops":  {`{a: null, b: {}, c: [], d: {e: null}, f: "", g: false, h: 0}`, `{}`, nil},
		"a removed field":      {`{a: 1}`, `{a: 1, b: 2}`, nil},
		"quantities":           {`{cpu: 1000m, memory: 1024Mi, n: 0.5}`, `{cpu: "1", memory: 1Gi, n: 500m}`, nil},
		"another quantity":     {`{cpu: 100m}`, `{cpu: 200m}`, []string{"cpu"}},
		"durations":            {`{wait: 60m}`, `{wait: 1h0m0s}`, nil},
		"another duration":     {`{wait: 2h30m}`, `{wait: 1h0m0s}`, []string{"wait"}},
		"a value that is gone": {`{a: x}`, `{a: null}`, []string{"a"}},
		"keys with dots": {
			`{metadata: {annotations: {example.com/a: x}, labels: {app: b}}}`, `{metadata: {annotations: {example.com/a: y}, labels: {app: a}}}`,
			[]string{`metadata.annotations["example.com/a"]`, "metadata.labels.app"},
		},
		"the plugin's and kubectl's": {
			`{metadata: {annotations: {kubernetes.io/change-cause: x, genname.dev/creation-id: y}}}`, `{metadata: {}}`, nil,
		},
		"stringData":         {`{kind: Secret, stringData: {a: x}, data: {b: eQ==}}`, `{kind: Secret, data: {a: eA==, b: eQ==}}`, nil},
		"another stringData": {`{kind: Secret, stringData: {a: z}}`, `{kind: Secret, data: {a: eA==}}`, []string{"data.a"}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Differences(object(t, test.manifest), object(t, test.stored), 3)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
