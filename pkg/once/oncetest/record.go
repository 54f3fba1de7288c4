package oncetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A Record is one request about objects and its responses.
type Record struct {
	Time        time.Time
	Verb        string
	Resource    schema.GroupVersionResource
	Subresource string
	Namespace   string
	// Name is the name in the path, or in the object of a create.
	Name string
	// Sent is the object of a create or update, as the client sent it.
	Sent *unstructured.Unstructured
	// Faulted reports whether a fault was injected.
	Faulted bool
	// Sends has the server's response to each copy of the request. Sends is empty if the server received none.
	Sends []string
	// Response is the response that the client got: the code and the message, or an error.
	Response string
}

// String returns the record in one line.
func (r Record) String() string {
	name := r.Name
	if r.Sent != nil && name == "" {
		name = r.Sent.GetGenerateName() + "*"
	}
	line := fmt.Sprintf("%s %s %s %s: %s", r.Time.UTC().Format("15:04:05.000"), r.Verb,
		r.Resource.GroupResource(), strings.Trim(r.Namespace+"/"+name, "/"), r.Response)
	if !r.Faulted {
		return line
	}
	return fmt.Sprintf("%s (fault; the server's responses: %s)", line, cmp.Or(strings.Join(r.Sends, ", then "), "none"))
}

// Requests returns all requests about objects, in the order of their arrival.
func (f *Faults) Requests() []Record {
	f.mu.Lock()
	defer f.mu.Unlock()
	records := make([]Record, 0, len(f.records))
	for _, r := range f.records {
		record := *r
		record.Sends = slices.Clone(r.Sends)
		records = append(records, record)
	}
	return records
}

func (r *Request) describe(resp *http.Response, err error) string {
	if err != nil {
		return err.Error()
	}
	if r.Verb == "" || r.Verb == "watch" || r.Subresource != "" && r.Subresource != "status" { // can be a stream
		return fmt.Sprint(resp.StatusCode)
	}
	body, err := bodyOf(resp)
	var status metav1.Status
	switch {
	case err != nil:
		return fmt.Sprintf("%d, then %v", resp.StatusCode, err)
	case resp.StatusCode >= http.StatusBadRequest && json.Unmarshal(body, &status) == nil:
		return fmt.Sprintf("%d %s", resp.StatusCode, status.Message)
	case strings.Contains(resp.Header.Get("Content-Type"), "text/"):
		return fmt.Sprintf("%d in %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	return fmt.Sprint(resp.StatusCode)
}
