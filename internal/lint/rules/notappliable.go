package rules

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

const (
	lastApplied = "kubectl.kubernetes.io/last-applied-configuration"
	argoHook    = "argocd.argoproj.io/hook"
)

var notAppliable = &Rule{
	Name:   "not-appliable",
	Levels: []v1alpha1.LintLevel{v1alpha1.LintWarning},
	check: func(_ int, o Manifest, report func(Finding)) {
		if finding, is := refusedBy[applier(o)]; is && o.generates() {
			if strings.Contains(finding.Message, "%s") {
				finding.Message = fmt.Sprintf(finding.Message, path.Base(o.Tree.Kustomization))
			}
			report(finding)
		}
	},
	compare: func(in *Input, report func(*Object, Finding)) {
		for _, o := range in.Objects {
			by := in.appliedIn(o)
			if by == "" || !o.generates() || o.exported || o.hook() || o.helmHook {
				continue
			}
			finding := refusedBy[byDirectory]
			finding.Message = fmt.Sprintf(finding.Message, by)
			report(o, finding)
		}
	},
}

// applying is a tool that applies objects, and finds them by name.
type applying string

const (
	byKustomize applying = "kustomize"
	byKubectl   applying = "kubectl apply"
	byArgoCD    applying = "Argo CD"
	byHelm      applying = "Helm"
	byDirectory applying = "Flux or Argo CD, by directory"
)

const useName = "set metadata.name instead of metadata.generateName"

// refusedBy has a finding for each tool that can't apply an object with a generated name.
var refusedBy = map[applying]Finding{
	byKustomize: {
		Message: "kustomize refuses an object without a name, and %s lists this file",
		Help:    useName + ", or use kubectl genname create -k, which accepts generateName",
	},
	byKubectl: {
		Message: "kubectl apply refuses an object without a name, and this one was applied before",
		Help:    useName + ", and remove the annotation " + lastApplied,
	},
	byArgoCD: {
		Message: "Argo CD applies this object, and accepts generateName only in hooks",
		Help:    useName + ", or make the object a hook with the annotation " + argoHook,
	},
	byHelm: {
		Message: "Helm refuses an object without a name",
		Help:    useName + ", or move the object out of the chart and create it with kubectl genname create",
	},
	byDirectory: {
		Message: "%s applies all files of this directory, and needs names",
		Help:    useName + ", or move the file to another directory",
	},
}

// applier returns the tool that applies an object, or "".
func applier(o Manifest) applying {
	annotations := o.GetAnnotations()
	helm := o.Tree.Chart != "" || o.GetLabels()["app.kubernetes.io/managed-by"] == "Helm"
	switch {
	case o.Tree.Kustomization != "":
		return byKustomize
	case annotations[argoHook] != "" || o.helmHook && o.Tree.Chart == "": // Argo CD can apply a rendered Helm hook
		return ""
	case o.helmHook: // Helm deletes a hook by its name before it creates the hook again
		return byHelm
	case annotations[lastApplied] != "":
		return byKubectl
	case tracked(annotations):
		return byArgoCD
	case helm:
		return byHelm
	}
	return ""
}

func tracked(annotations map[string]string) bool {
	for _, name := range []string{"sync-wave", "sync-options", "tracking-id", "compare-options"} {
		if _, has := annotations["argocd.argoproj.io/"+name]; has {
			return true
		}
	}
	return false
}

// directory is a directory in the repository that a tool applies.
type directory struct {
	directoryKey

	by string
}

type directoryKey struct {
	path string
	deep bool
}

func appliedBy(o Manifest) []directory {
	fields := o.Unstructured.Object
	switch o.kind() {
	case schema.GroupKind{Group: "kustomize.toolkit.fluxcd.io", Kind: "Kustomization"}:
		at := directoryKey{cleaned(stringAt(fields, "spec", "path")), true}
		return []directory{{at, "the Flux Kustomization " + o.Name}}
	case schema.GroupKind{Group: "argoproj.io", Kind: "Application"}:
		var found []directory
		sources := append(listAt(fields, "spec", "sources"), mapAt(fields, "spec", "source"))
		for _, item := range sources {
			source, _ := item.(map[string]any)
			isFiltered := stringAt(source, "directory", "include")+stringAt(source, "directory", "exclude") != ""
			if at := stringAt(source, "path"); at != "" && !isFiltered {
				deep := boolAt(source, "directory", "recurse")
				found = append(found, directory{directoryKey{cleaned(at), deep}, "the Argo CD Application " + o.Name})
			}
		}
		return found
	}
	return nil
}

func cleaned(name string) string { return strings.TrimPrefix(path.Clean("/"+name), "/") }

// appliedIn returns the name of the Flux or Argo CD object that applies the directory of an object, or "". Below a
// directory with a kustomization, the kustomization decides which files are applied.
func (in *Input) appliedIn(o *Object) (by string) {
	if o.Tree.Path == "" {
		return ""
	}
	dir := cleaned(path.Dir(o.Tree.Path))
	shallow := directoryKey{dir, false}
	for o.Tree.Kustomized == "" || dir != cleaned(o.Tree.Kustomized) {
		by = cmp.Or(in.appliers[shallow], in.appliers[directoryKey{dir, true}])
		if by != "" || dir == "" {
			break
		}
		dir = cleaned(path.Dir(dir))
	}
	return by
}
