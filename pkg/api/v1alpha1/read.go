package v1alpha1

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/json"
)

// The ranges of numbers in a saved report. See ReadAuditReport.
const (
	maxNames    = 27 * 27 * 27 * 27 * 27
	maxAttempts = 1024
)

// ReadAuditReport reads an AuditReport that was saved as JSON. It returns an error if the report is truncated, has
// another kind or version, or has numbers that no audit writes. It ignores fields that this version doesn't know,
// because new fields don't change the meaning of others.
func ReadAuditReport(data []byte) (*AuditReport, error) {
	var kind metav1.TypeMeta
	if err := decode(data, &kind); err != nil {
		return nil, err
	}
	if err := checkKind(kind, "AuditReport"); err != nil {
		return nil, err
	}
	report := &AuditReport{}
	if err := decode(data, report); err != nil {
		return nil, err
	}
	return report, report.check()
}

// ReadLintReport reads a LintReport that was saved as JSON. It returns an error if the report is
// truncated, or has another kind or version. It ignores fields that this version doesn't know.
func ReadLintReport(data []byte) (*LintReport, error) {
	report := &LintReport{}
	if err := decode(data, report); err != nil {
		return nil, err
	}
	return report, checkKind(report.TypeMeta, "LintReport")
}

// decode reads one JSON value, in which no field may be repeated.
func decode(data []byte, into any) error {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return errors.New("is empty")
	}
	if data[0] != '{' {
		return errors.New("is not a JSON object")
	}
	strict, err := json.UnmarshalStrict(data, into, json.DisallowDuplicateFields)
	if syntax, offset := json.SyntaxErrorOffset(err); syntax && offset >= int64(len(data)) {
		return errors.New("is cut short")
	}
	switch {
	case err == nil:
		return errors.Join(strict...)
	case strings.Contains(err.Error(), "after top-level value"):
		return errors.New("has something after its end, like the next report of a watch: one is read")
	}
	return fmt.Errorf("is not valid: %w", err)
}

// checkKind returns an error if a value has another kind or version.
func checkKind(t metav1.TypeMeta, want string) error {
	gv, err := schema.ParseGroupVersion(t.APIVersion)
	switch {
	case t.Kind == "" || t.APIVersion == "":
		return fmt.Errorf("has no kind and apiVersion, as every %s has", want)
	case err != nil:
		return fmt.Errorf("is not valid: %w", err)
	case gv.Group != GroupVersion.Group || t.Kind != want:
		return fmt.Errorf("is kind %s of %s, not %s of %s", t.Kind, t.APIVersion, want, GroupVersion)
	case gv != GroupVersion:
		return fmt.Errorf("is of version %s, of which this plugin knows only %s: a newer plugin may read it",
			gv, GroupVersion)
	}
	return nil
}

// check returns an error about the first value in the report that no audit writes.
func (r *AuditReport) check() error {
	if r.Items == nil {
		return errors.New("has no items")
	}
	if err := r.Server.checkRetries(); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	for i, item := range r.Items {
		if err := item.check(); err != nil {
			return fmt.Errorf("items[%d]: %w", i, err)
		}
	}
	return nil
}

// check returns an error about the first value in the item that no audit writes.
func (i AuditItem) check() error {
	gone := i.Names == 0 && i.Measured != nil // all objects that a watch saw were deleted
	switch {
	case i.Resource == "":
		return errors.New("has no resource")
	case i.Prefix == "":
		return errors.New("has no prefix")
	case !gone && (i.Names < 1 || i.Names > maxNames):
		return fmt.Errorf("names is %d, which is not from 1 to %d", i.Names, maxNames)
	}
	return i.checkRetries()
}

// sources are the values of attemptsSource.
var sources = []string{
	string(SourceMetric), string(SourceVersion), string(SourceDefault), string(SourceFlag), string(SourceUnknown),
}

// checkRetries returns an error for values that no audit writes.
func (r Retries) checkRetries() error {
	if r.Attempts != nil && (*r.Attempts < 1 || *r.Attempts > maxAttempts) {
		return fmt.Errorf("attempts is %d, which is not from 1 to %d", *r.Attempts, maxAttempts)
	}
	if !slices.Contains(sources, string(r.AttemptsSource)) {
		return fmt.Errorf("attemptsSource is %q, which is none of %s", r.AttemptsSource, strings.Join(sources, ", "))
	}
	return nil
}

// Finite returns the value of a field for x. It is nil if JSON can't represent x.
func Finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// TimeOrNil returns the value of a field for a time, in UTC. The zero time stands for an unknown time, and gives nil.
func TimeOrNil(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return new(metav1.NewTime(t.UTC()))
}
