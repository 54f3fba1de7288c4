package censustest

import (
	"encoding/json"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Creator is the creator of an object, like decode.Creator.
type Creator struct {
	APIVersion, Kind, Name, Manager string
	Certain                         bool
}

// CreatorOf returns the creator of an object: its controller, else the field manager of its
// generateName, else the oldest field manager.
func CreatorOf(o metav1.ObjectMeta) Creator {
	for _, owner := range o.OwnerReferences {
		if owner.Controller != nil && *owner.Controller && owner.Kind != "" {
			return Creator{head(owner.APIVersion), head(owner.Kind), head(owner.Name), "", true}
		}
	}
	var oldest *metav1.ManagedFieldsEntry
	for i, entry := range o.ManagedFields {
		if entry.Manager == "" || entry.Subresource != "" {
			continue
		}
		if owns(entry.FieldsV1) {
			return Creator{Manager: head(entry.Manager), Certain: true}
		}
		if oldest == nil || timeOf(entry).Before(timeOf(*oldest)) {
			oldest = &o.ManagedFields[i]
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
