package censustest

import (
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pages is a server of one list, which it serves page by page. It makes each object for its page, so the list can be
// long. The servers of other tests have states, watches and faults, which one server for all would have to combine.
type Pages struct {
	Objects int
	Object  func(i int) metav1.ObjectMeta // in the order of storage
}

func (p Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	limit, _ := strconv.Atoi(q.Get("limit"))
	from, _ := strconv.Atoi(q.Get("continue"))
	list := &metav1.PartialObjectMetadataList{
		TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"},
		ListMeta: metav1.ListMeta{ResourceVersion: "1"},
	}
	to := min(from+limit, p.Objects)
	if remaining := int64(p.Objects - to); remaining > 0 {
		list.Continue, list.RemainingItemCount = strconv.Itoa(to), &remaining
	}
	for i := from; i < to; i++ {
		list.Items = append(list.Items, metav1.PartialObjectMetadata{ObjectMeta: p.Object(i)})
	}
	if strings.Contains(r.Header.Get("Accept"), "protobuf") {
		w.Header().Set("Content-Type", "application/vnd.kubernetes.protobuf")
		_, _ = w.Write(Protobuf(list))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(JSON(list))
}
