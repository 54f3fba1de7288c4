package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// LintLevel is how bad a finding is.
type LintLevel string

const (
	// LintError means that a create is refused, or that what it makes does not work.
	LintError LintLevel = "error"
	// LintWarning means that it goes wrong under circumstances, or later.
	LintWarning LintLevel = "warning"
	// LintNote means that something is not as it looks.
	LintNote LintLevel = "note"
)

// LintReport is what will go wrong with the names of manifests.
type LintReport struct {
	metav1.TypeMeta `json:",inline"`

	Summary LintSummary `json:"summary"`
	// Items are the findings, by file, line and column. Those that a comment or an
	// annotation silences are not among them.
	Items []LintItem `json:"items"`
}

// LintSummary is how much was read and found.
type LintSummary struct {
	// Files is the number of files that Kubernetes objects were read from.
	Files int `json:"files"`
	// Objects is the number of objects, those of Lists counted one by one.
	Objects int `json:"objects"`
	// Skipped is the number of files in folders that have no Kubernetes object,
	// or are templates that are no YAML yet.
	Skipped int `json:"skipped"`
	// Findings is the number of items of each level.
	Findings LintFindings `json:"findings"`
}

// LintFindings is a number of findings by level.
type LintFindings struct {
	// Error is the number of errors: a create is refused, or what it makes does
	// not work.
	Error int `json:"error"`
	// Warning is the number of warnings: it goes wrong under circumstances, or
	// later.
	Warning int `json:"warning"`
	// Note is the number of notes: something is not as it looks.
	Note int `json:"note"`
}

// LintItem is one finding.
type LintItem struct {
	// Rule is the name of the rule, as in --explain and docs/rules.
	Rule string `json:"rule"`
	// Level is how bad it is.
	Level LintLevel `json:"level"`
	// Message is what will go wrong, and why.
	Message string `json:"message"`
	// Help is what to do.
	Help string `json:"help"`
	// File is the file as it was named; - for stdin.
	File string `json:"file"`
	// Line is that of the field, from 1.
	Line int `json:"line"`
	// Column is that of the field in characters, from 1.
	Column int `json:"column"`
	// Object is the object that the field is of.
	Object LintObject `json:"object"`
}

// LintObject is an object of a manifest.
type LintObject struct {
	// Group is the API group; empty for the core group.
	Group string `json:"group"`
	// Version is that of the API.
	Version string `json:"version"`
	// Kind is the object's kind.
	Kind string `json:"kind"`
	// Namespace is what the manifest says; empty if it says none.
	Namespace string `json:"namespace"`
	// Name is what the manifest says; empty if it says none.
	Name string `json:"name"`
	// GenerateName is what the manifest says; empty if it says none.
	GenerateName string `json:"generateName"`
}

// DeepCopyObject implements runtime.Object, by which kubectl's printers print.
func (r *LintReport) DeepCopyObject() runtime.Object { return copyOf(r) }
