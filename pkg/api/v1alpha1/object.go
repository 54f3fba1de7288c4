package v1alpha1

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupVersion is the apiVersion of all kinds here.
var GroupVersion = schema.GroupVersion{Group: "genname.dev", Version: "v1alpha1"}

// TypeOf returns the TypeMeta of a kind.
func TypeOf(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: GroupVersion.String(), Kind: kind}
}

// DeepCopyObject implements runtime.Object, by which kubectl's printers print.
func (r *AuditReport) DeepCopyObject() runtime.Object { return copyOf(r) }

// DeepCopyObject implements runtime.Object, by which kubectl's printers print.
func (r *CollisionReport) DeepCopyObject() runtime.Object { return copyOf(r) }

// DeepCopyObject implements runtime.Object, by which kubectl's printers print.
func (r *VersionReport) DeepCopyObject() runtime.Object { return copyOf(r) }

// copyOf returns a copy made through JSON, which has the whole of a report.
func copyOf[T any](in *T) *T {
	out := new(T)
	data, err := json.Marshal(in)
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err != nil {
		panic(fmt.Sprintf("a %T is not JSON: %v", in, err)) // a programming error: no field can fail
	}
	return out
}
