// Package pods selects the Pods of Jobs, and finds out why they don't run. It only sends lists, and keeps no Pod.
package pods

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
)

// Owner is a Job, or a single Pod that represents itself.
type Owner struct {
	Namespace, Name string
	UID             types.UID
	Job             bool
	// Selector selects the Pods of a Job with manualSelector. Pods of other Jobs have the label job-name.
	Selector string
}

// Source selects Pods of a namespace.
type Source struct {
	Namespace string
	Options   metav1.ListOptions // label and field selectors
	Owners    []Owner
	// Of returns the owner of a Pod, or nil if the source doesn't have this owner.
	Of func(*corev1.Pod) *Owner
}

// maxNamed is the largest number of Jobs that one label selector names.
const maxNamed = 20

// Sources returns the selectors with which the Pods of the owners can be listed.
func Sources(owners []Owner) (sources []Source) {
	type place struct {
		namespace, selector string
		jobs                bool
	}
	at := map[place]int{}
	for _, o := range owners {
		p := place{o.Namespace, o.Selector, o.Job}
		if _, has := at[p]; !has {
			at[p] = len(sources)
			sources = append(sources, Source{Namespace: o.Namespace})
		}
		sources[at[p]].Owners = append(sources[at[p]].Owners, o)
	}
	for p, i := range at {
		sources[i].Options = options(p.jobs, p.selector, sources[i].Owners)
		sources[i].Of = of(sources[i].Owners)
	}
	return sources
}

func of(owners []Owner) func(*corev1.Pod) *Owner {
	byUID := make(map[types.UID]*Owner, len(owners))
	for i := range owners {
		byUID[owners[i].UID] = &owners[i]
	}
	return func(pod *corev1.Pod) *Owner {
		if controller := metav1.GetControllerOf(pod); controller != nil && byUID[controller.UID] != nil {
			return byUID[controller.UID]
		}
		return byUID[pod.UID]
	}
}

func options(jobs bool, selector string, owners []Owner) (options metav1.ListOptions) {
	var names []string
	for _, o := range owners {
		names = append(names, o.Name)
	}
	slices.Sort(names)
	switch {
	case selector != "":
		options.LabelSelector = selector
	case jobs && len(names) <= maxNamed:
		options.LabelSelector = "job-name in (" + strings.Join(names, ",") + ")"
	case jobs:
		options.LabelSelector = "job-name"
	case len(names) == 1:
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", names[0]).String()
	}
	return options
}
