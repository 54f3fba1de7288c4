// Package censustest has test data for the census: a population of objects and their lists as servers
// encode them. Its oracle counts the objects in a simpler way than the census. It imports nothing of
// the code that it tests, and no program imports it.
package censustest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

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

// SuffixOf returns a suffix for a number. Numbers below a million have different suffixes.
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

// Creator is the creator of an object, like object.Creator.
type Creator struct {
	APIVersion, Kind, Name, Manager string
	Certain                         bool
}

// CreatorOf returns the creator of an object: its controller, else the field manager of its generateName, else the
// oldest field manager. The result has the manager even if there is a controller.
func CreatorOf(o metav1.ObjectMeta) Creator {
	creator := managerOf(o.ManagedFields)
	for _, owner := range o.OwnerReferences {
		if (owner.Controller != nil && *owner.Controller || head(owner.Name) == o.Name) && owner.Kind != "" {
			return Creator{head(owner.APIVersion), head(owner.Kind), head(owner.Name), creator.Manager, true}
		}
	}
	return creator
}

func managerOf(entries []metav1.ManagedFieldsEntry) Creator {
	var oldest *metav1.ManagedFieldsEntry
	for i, entry := range entries {
		if entry.Manager == "" || entry.Subresource != "" {
			continue
		}
		if owns(entry.FieldsV1) {
			return Creator{Manager: head(entry.Manager), Certain: true}
		}
		if oldest == nil || timeOf(entry).Before(timeOf(*oldest)) {
			oldest = &entries[i]
		}
	}
	if oldest == nil {
		return Creator{}
	}
	return Creator{Manager: head(oldest.Manager)}
}

// timeOf returns the time of an entry. An entry without a time counts as the latest.
func timeOf(entry metav1.ManagedFieldsEntry) time.Time {
	if entry.Time.IsZero() {
		return time.Unix(1<<40, 0)
	}
	return entry.Time.Time
}

func owns(fields *metav1.FieldsV1) bool {
	var parsed struct {
		Metadata map[string]any `json:"f:metadata"`
	}
	if fields == nil || json.Unmarshal(fields.GetRawBytes(), &parsed) != nil {
		return false
	}
	_, owned := parsed.Metadata["f:generateName"]
	return owned
}

func head(text string) string {
	return strings.ToValidUTF8(text[:min(len(text), 253)], "")
}
