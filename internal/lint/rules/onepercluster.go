package rules

import (
	"fmt"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var onePerCluster = &Rule{
	Name:   "one-per-cluster",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintWarning},
	Finds:  "only one object can have this value, so a second copy fails or waits",
	Why: `A manifest with generateName is usually created more than once. But a node port or a cluster IP can be
allocated once, a volume is bound to one claim, and one Pod can mount a claim with the access mode
ReadWriteOncePod. The server refuses the second copy, or the copy waits until the first one is deleted.`,
	Fix: "remove the field, so that each copy gets its own value",
	Sources: []derived.Source{
		{
			Project: "k8s.io/kubernetes", Version: "v1.34.4",
			File: "pkg/registry/core/service/storage/alloc.go", Symbol: "allocateCreate",
		},
		{
			Project: "k8s.io/kubernetes", Version: "v1.34.4",
			File: "pkg/controller/volume/persistentvolume/pv_controller.go", Symbol: "syncUnboundClaim",
		},
		{
			Project: "k8s.io/kubernetes", Version: "v1.34.4",
			File:   "pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go",
			Symbol: "ReadWriteOncePod",
		},
	},
	check: func(_ int, o Manifest, report func(Finding)) {
		if !o.generates() {
			return
		}
		for _, single := range singles(o) {
			report(single.finding(o.Object))
		}
	},
	compare: func(in *Input, report func(*Object, Finding)) {
		for _, r := range in.references {
			if r.to == claim && r.from.generates() && !r.from.exported && in.claimForOnePod(r) {
				claimed := single{"the claim " + r.name, "waits until the first one is deleted", r.path}
				report(r.from, claimed.finding(*r.from))
			}
		}
	},
	Examples: []Example{
		{
			About: "A second Service can't have the same port.",
			Manifest: `apiVersion: v1
kind: Service
metadata:
  generateName: preview-
spec:
  type: NodePort
  selector: {app: preview}
  ports:
  - port: 80
    nodePort: 30080
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintWarning},
		},
		{
			About: "Only one Pod can mount the claim, so a second Pod waits.",
			Manifest: `apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
spec:
  accessModes: [ReadWriteOncePod]
  resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: Pod
metadata:
  generateName: import-
spec:
  containers: [{name: import, image: example.com/import}]
  volumes:
  - name: data
    persistentVolumeClaim:
      claimName: data
`,
			Finds: []v1alpha1.LintLevel{v1alpha1.LintWarning},
		},
		{
			About: "Each Service gets its own port, and each Pod its own claim.",
			Manifest: `apiVersion: v1
kind: Service
metadata:
  generateName: preview-
spec:
  type: NodePort
  selector: {app: preview}
  ports:
  - port: 80
---
apiVersion: v1
kind: Pod
metadata:
  generateName: import-
spec:
  containers: [{name: import, image: example.com/import}]
  volumes:
  - name: data
    ephemeral:
      volumeClaimTemplate:
        spec: {accessModes: [ReadWriteOncePod], resources: {requests: {storage: 1Gi}}}
`,
		},
	},
}

// refusedTwice is the fate of the second copy of an object with an allocated value.
const refusedTwice = "is refused by the server"

// single is something that there is one of.
type single struct {
	what, fate string
	path       []any
}

// finding returns the finding about the field.
func (s single) finding(o Object) Finding {
	return Finding{
		Level:   v1alpha1.LintWarning,
		Message: fmt.Sprintf("only one object can have %s, so a second %s %s", s.what, o.Kind.Kind, s.fate),
		Path:    s.path,
	}
}

func singles(o Manifest) []single {
	var found []single
	content := o.Unstructured.Object
	switch {
	case o.kind() == service:
		if ip := stringAt(content, "spec", "clusterIP"); ip != "" && ip != "None" {
			found = append(found, single{"the cluster IP " + ip, refusedTwice, []any{"spec", "clusterIP"}})
		}
		for i, item := range listAt(content, "spec", "ports") {
			port, _ := item.(map[string]any)
			if number, given := numberAt(port, "nodePort"); given && number > 0 {
				what := fmt.Sprintf("the node port %d", number)
				found = append(found, single{what, refusedTwice, []any{"spec", "ports", i, "nodePort"}})
			}
		}
	case o.kind() == claim:
		if volume := stringAt(content, "spec", "volumeName"); volume != "" {
			found = append(found, single{"the volume " + volume, "is never bound", []any{"spec", "volumeName"}})
		}
	}
	return found
}

// claimForOnePod reports whether a reference is to a claim that one Pod only can mount.
func (in *Input) claimForOnePod(r reference) bool {
	for _, o := range in.named[nameKey{claim, r.name}] {
		if o.forOnePod && o.Namespace == r.namespace {
			return true
		}
	}
	return false
}

// forOnePod reports whether an object is a claim that one Pod only can mount.
func forOnePod(o Manifest) bool {
	modes := listAt(o.Unstructured.Object, "spec", "accessModes")
	return o.kind() == claim && len(modes) == 1 && modes[0] == "ReadWriteOncePod"
}
