package findings

import (
	"errors"
	"io"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

func status(code int32, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message}}
}

// A POST that was not sent has stored nothing, whatever its error. The findings of responses are in
// docs/spec/findings.json, which pkg/once and internal/exactlyonce read.
func TestNotSent(t *testing.T) {
	for err, sent := range map[error]protocol.Finding{
		io.EOF: protocol.Lost, status(504, ""): protocol.Lost, status(400, ""): protocol.Rejected, status(403, ""): protocol.Denied,
	} {
		if got := OfPost(err, true); got != sent {
			t.Errorf("%v: finding %s, want %s", err, got, sent)
		}
		if got := OfPost(err, false); got != protocol.NotStored {
			t.Errorf("%v, not sent: finding %s, want %s", err, got, protocol.NotStored)
		}
	}
}

// etcd may have stored the object of a write that it refuses because its quota is used up. A tracked object is read
// after the refusal. An untracked one can't be recognized, so its outcome is unknown.
func TestRefusedByEtcdsQuota(t *testing.T) {
	full := status(http.StatusInternalServerError, "etcdserver: mvcc: database space exceeded")
	for id, want := range map[string]protocol.Finding{"r1-1": protocol.Rejected, "": protocol.Lost} {
		if seen, _ := (Sent{ID: id}).Refused("x", full, true); seen.Finding != want || !errors.Is(seen.Err, full) {
			t.Errorf("ID %q: %+v, want %s", id, seen, want)
		}
	}
}
