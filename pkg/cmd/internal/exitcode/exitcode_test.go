package exitcode

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

func TestDescribe(t *testing.T) {
	missing := apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "x")
	for _, test := range []struct {
		name    string
		err     error
		message string
		code    int
	}{
		{"nothing", nil, "", 0},
		{"an error", errors.New("no"), "error: no", Failed},
		{"of a server", missing, `Error from server (NotFound): pods "x" not found`, Failed},
		{"several", utilerrors.NewAggregate([]error{errors.New("a"), errors.New("b")}), "a\nb\n", Failed},
		{"kubectl's own code", cmdutil.ErrExit, "", Failed},
		{"a code", &Error{Code: Gate, Lines: []string{"2 rows above"}}, "2 rows above", Gate},
		{"a code alone", &Error{Code: Interrupted}, "", Interrupted},
		{"a code and an error", &Error{Code: Unknown, Err: missing}, `Error from server (NotFound): pods "x" not found`, Unknown},
		{
			"all of it", &Error{Code: Unknown, Err: errors.New("no"), Lines: []string{"first", "second"}},
			"error: no\nfirst\nsecond", Unknown,
		},
		{
			"several, and lines", &Error{
				Code: Failed, Err: utilerrors.NewAggregate([]error{errors.New("a"), errors.New("b")}), Lines: []string{"first"},
			}, "a\nb\nfirst", Failed,
		},
		{"below another error", fmt.Errorf("wrapped: %w", &Error{Code: Gate, Lines: []string{"2 rows above"}}), "2 rows above", Gate},
	} {
		if message, code := Describe(test.err); message != test.message || code != test.code {
			t.Errorf("%s: %d, %q, want %d, %q", test.name, code, message, test.code, test.message)
		}
	}
}

// errors.Is finds the wrapped error, and the text has all lines.
func TestErrorWraps(t *testing.T) {
	cause := errors.New("no")
	err := error(&Error{Code: Gate, Err: cause, Lines: []string{"first", "second"}})
	if !errors.Is(err, cause) || err.Error() != "no\nfirst\nsecond" {
		t.Errorf("%q, want the cause and its lines", err)
	}
	if err := (&Error{Code: Gate, Lines: []string{"first"}}); err.Error() != "first" || errors.Is(err, cause) {
		t.Errorf("%q, want first, without a cause", err)
	}
}
