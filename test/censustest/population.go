package censustest

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Population returns n objects in each namespace: with generated names, with fixed names, and with a
// generateName whose prefix their name lacks.
func Population(namespaces []string, n int) []metav1.ObjectMeta {
	var objects []metav1.ObjectMeta
	for _, ns := range namespaces {
		for i := range n {
			suffix := SuffixOf(i)
			o := metav1.ObjectMeta{Namespace: ns, CreationTimestamp: metav1.Unix(1_700_000_000+int64(i), 0)}
			switch i % 10 {
			case 0:
				o.Name = fmt.Sprintf("named-%d", i)
			case 1:
				o.Name, o.GenerateName = fmt.Sprintf("zzz-%s", suffix), "job-"
			case 2:
				o.Name = "job-" + suffix
			default:
				o.Name, o.GenerateName = "job-"+suffix, "job-"
			}
			objects = append(objects, o)
		}
	}
	return objects
}

// SuffixOf returns different suffixes for small numbers.
func SuffixOf(i int) string {
	const alphabet = "bcdfghjklmnpqrstvwxz2456789"
	suffix := make([]byte, 5)
	for j, v := 0, i*7919; j < 5; j, v = j+1, v/27 {
		suffix[j] = alphabet[v%27]
	}
	return string(suffix)
}

// JSON encodes the list in JSON as servers do.
func JSON(list *metav1.PartialObjectMetadataList) []byte {
	body, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return body
}

// Protobuf encodes the list in protobuf as servers do, in its envelope.
func Protobuf(list *metav1.PartialObjectMetadataList) []byte {
	raw, err := list.Marshal()
	if err != nil {
		panic(err)
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: list.APIVersion, Kind: list.Kind}, Raw: raw}
	body, err := unknown.Marshal()
	if err != nil {
		panic(err)
	}
	return append([]byte("k8s\x00"), body...)
}
