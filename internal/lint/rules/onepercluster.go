package rules

import (
	"fmt"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/lint/derived"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

var onePerCluster = &Rule{
	Name:   "one-per-cluster",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintWarning},
	Finds:  "only one object can have this value, so a second create fails",
	Why: `An object with generateName is made to be created more than once. A node port or a cluster IP can be
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
	check: func(in *Input, o Object, tell func(Finding)) {
		if !o.generates() {
			return
		}
		for _, single := range singles(in, o) {
			tell(Finding{
				Level: v1alpha1.LintWarning,
				Message: fmt.Sprintf("only one object can have %s, so a second %s %s",
					single.what, o.GetKind(), single.fate),
				Path: single.path,
			})
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
			About: "Only one Pod can mount the claim.",
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

func singles(in *Input, o Object) []single {
	var found []single
	content := o.Object.Object
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
	return append(found, mounts(in, o)...)
}

// mounts returns the claims for one Pod that the object's Pods mount.
func mounts(in *Input, o Object) []single {
	var found []single
	pods, has := podTemplates[o.kind()]
	if !has {
		return nil
	}
	volumes := slices.Concat(pods, []string{"spec", "volumes"})
	for i, item := range listAt(o.Object.Object, volumes...) {
		volume, _ := item.(map[string]any)
		name := stringAt(volume, "persistentVolumeClaim", "claimName")
		if name != "" && in.index.oneWriter[nameKey{claim, o.GetNamespace(), name}] {
			found = append(found, single{
				"the claim " + name, "waits until the first one is deleted",
				pathOf(volumes, i, "persistentVolumeClaim", "claimName"),
			})
		}
	}
	return found
}

// forOnePod reports whether a claim says that one Pod only can mount it.
func forOnePod(o Object) bool {
	modes := listAt(o.Object.Object, "spec", "accessModes")
	return o.kind() == claim && len(modes) == 1 && modes[0] == "ReadWriteOncePod"
}
