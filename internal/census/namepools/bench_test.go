package namepools

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/census/censustest"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
)

// BenchmarkCreators measures the cost of windows and creators: the time to decode and count a page
// with them, relative to the time without them. It takes the fastest of all passes, so that other load
// does not matter. A scan also receives and decrypts pages, so their share is smaller there.
func BenchmarkCreators(b *testing.B) {
	for _, p := range []struct {
		name        string
		perPrefix   int
		controllers bool
		minCount    int64
	}{
		{"20 prefixes", 500, false, 10},
		{"own prefixes", 1, false, 10},
		{"own prefixes, all kept", 1, false, 1},
		{"of controllers", 500, true, 10},
		{"own prefixes, of controllers", 1, true, 10},
		{"own prefixes, of controllers, all kept", 1, true, 1},
		{"ten of each, of controllers", 10, true, 10},
	} {
		b.Run(p.name, func(b *testing.B) {
			page := benchmarkPage(10_000, p.perPrefix, p.controllers)
			buffer := make([]byte, decode.BufferSize)
			least := [2]time.Duration{time.Hour, time.Hour}
			for b.Loop() {
				for with := range least {
					began := time.Now()
					countPage(b, page, buffer, p.minCount, with == 1)
					least[with] = min(least[with], time.Since(began))
				}
			}
			b.ReportMetric(float64(least[0].Nanoseconds())/10_000, "ns/object-without")
			b.ReportMetric(float64(least[1])/float64(least[0]), "of-without")
		})
	}
}

func countPage(b *testing.B, page, buffer []byte, minCount int64, creators bool) {
	rules := &Rules{MinCount: minCount, CreatorsFrom: minCount, AtOnce: 1 << 14}
	var asked decode.Asked
	stems := NewStems(rules, func(ID, *Tally) {})
	if creators {
		now := time.Now().Unix()
		rules.Since = []int64{now - 600, now - 3600, now - 86400, now - 7*86400}
		asked.Creator = stems.WantsCreator
	}
	if _, err := decode.List(bytes.NewReader(page), buffer, asked, stems.Add); err != nil {
		b.Fatal(err)
	}
	stems.Finish()
}

// benchmarkPage returns sorted objects as pipelines create them, perPrefix with each prefix.
func benchmarkPage(objects, perPrefix int, controllers bool) []byte {
	list := &metav1.PartialObjectMetadataList{
		TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"},
	}
	fields := metav1.NewFieldsV1(`{"f:data":{".":{},"f:log":{},"f:result":{}},"f:metadata":{"f:generateName":{},"f:labels":{".":{},` +
		`"f:app.kubernetes.io/managed-by":{},"f:app.kubernetes.io/name":{},"f:pipeline":{},"f:run":{}},` +
		`"f:ownerReferences":{".":{},"k:{\"uid\":\"0d0f0f6e-2d4b-4f6f-9c58-2d5f4f5a9a11\"}":{}}}}`)
	yes := true
	for i := range objects {
		prefix := fmt.Sprintf("run-%08d-", i/perPrefix)
		created := metav1.NewTime(time.Unix(1_700_000_000+int64(i*7919%objects), 0))
		o := metav1.ObjectMeta{
			Namespace: "team", Name: prefix + orderedSuffix(i), GenerateName: prefix, CreationTimestamp: created,
			UID: "00000000-0000-4000-8000-000000000000", ResourceVersion: "123456789",
			Labels: map[string]string{
				"app.kubernetes.io/name": "report", "app.kubernetes.io/managed-by": "pipelines",
				"pipeline": fmt.Sprint("pipeline-", i%97), "run": fmt.Sprint(i),
			},
			ManagedFields: []metav1.ManagedFieldsEntry{{
				Manager: "pipelines", Operation: "Update", APIVersion: "v1", Time: &created, FieldsType: "FieldsV1", FieldsV1: fields,
			}},
		}
		if controllers {
			o.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: "batch/v1", Kind: "Job", Name: strings.TrimSuffix(prefix, "-"),
				UID: "0d0f0f6e-2d4b-4f6f-9c58-2d5f4f5a9a11", Controller: &yes,
			}}
		}
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: o})
	}
	return censustest.Protobuf(list)
}

// orderedSuffix returns a suffix for i. The suffixes have the order of i.
func orderedSuffix(i int) string {
	const alphabet = "2456789bcdfghjklmnpqrstvwxz"
	b := []byte("22222")
	for j := len(b) - 1; i > 0; j, i = j-1, i/len(alphabet) {
		b[j] = alphabet[i%len(alphabet)]
	}
	return string(b)
}
