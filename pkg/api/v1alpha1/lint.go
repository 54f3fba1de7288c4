package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// LintLevel is the severity of a finding.
type LintLevel string

const (
	// LintError means that the server refuses the create, or that the object does not work.
	LintError LintLevel = "error"
	// LintWarning means that the create fails under some conditions, or that the object fails later.
	LintWarning LintLevel = "warning"
	// LintNote means that a field does not do what it seems to do.
	LintNote LintLevel = "note"
)

// LintReport is the report of kubectl genname lint. It has the findings in manifests.
type LintReport struct {
	metav1.TypeMeta `json:",inline"`

	Summary LintSummary `json:"summary"`
	// Items are the findings that are not disabled, ordered by file, line and column.
	Items []LintItem `json:"items"`
	// Disabled are the findings that a comment, an annotation or the file of --baseline disables.
	Disabled []LintDisabled `json:"disabled"`
	// Unreadable are the files and documents that lint can't read.
	Unreadable []LintUnreadable `json:"unreadable"`
	// SkippedFiles are the files in directories that lint does not check.
	SkippedFiles []LintSkipped `json:"skippedFiles"`
}

// LintSummary holds the numbers of files, objects and findings.
type LintSummary struct {
	// Files is the number of files with Kubernetes objects.
	Files int `json:"files"`
	// Objects is the number of objects. Each member of a List counts as one object.
	Objects int `json:"objects"`
	// Skipped is the number of files in directories that lint does not check.
	Skipped int `json:"skipped"`
	// Exported is the number of objects that lint does not check, because they have metadata.resourceVersion, which
	// only a server sets.
	Exported int `json:"exported"`
	// Placeholders is the number of objects whose name or generateName has a variable, like ${NAME}. Lint does not
	// check the length and the characters of these names.
	Placeholders int `json:"placeholders"`
	// Findings are the numbers of findings that are not disabled, by level.
	Findings LintFindings `json:"findings"`
}

// LintDisabled is a finding that a comment or an annotation disables.
type LintDisabled struct {
	LintItem `json:",inline"`

	// Reason is the reason that the comment or the annotation gives, or "in the baseline".
	Reason string `json:"reason"`
}

// LintSkipReason is the reason why a file in a directory is not checked.
type LintSkipReason string

const (
	// LintNoObject is for files without Kubernetes objects.
	LintNoObject LintSkipReason = "no Kubernetes object"
	// LintTemplate is for templates that are not YAML yet.
	LintTemplate LintSkipReason = "template"
	// LintInvalid is for files that are not valid YAML.
	LintInvalid LintSkipReason = "invalid YAML"
	// LintLink is for links to directories.
	LintLink LintSkipReason = "symbolic link to a directory"
	// LintOutside is for links to files outside the repository, and for links that can't be followed.
	LintOutside LintSkipReason = "symbolic link out of the repository"
	// LintSpecial is for pipes, devices and the like.
	LintSpecial LintSkipReason = "no regular file"
)

// LintSkipped is a file in a directory that is not checked.
type LintSkipped struct {
	// File is the path of the file as you gave it.
	File string `json:"file"`
	// Reason is why lint does not check the file: no Kubernetes object, template, invalid YAML, symbolic link to a
	// directory, symbolic link out of the repository, or no regular file.
	Reason LintSkipReason `json:"reason"`
}

// LintUnreadable is a file, or a document of a file, that can't be read.
type LintUnreadable struct {
	// File is the path of the file as you gave it; - for stdin.
	File string `json:"file"`
	// Line is the first line of the document, starting at 1; 0 if lint can't read the whole file.
	Line int `json:"line"`
	// Message is the reason why lint can't read the file or document.
	Message string `json:"message"`
}

// LintFindings is the number of findings by level.
type LintFindings struct {
	// Error is the number of findings of the level error: the server refuses the create, or the object does not work.
	Error int `json:"error"`
	// Warning is the number of findings of the level warning: the create fails under some conditions, or the object
	// fails later.
	Warning int `json:"warning"`
	// Note is the number of findings of the level note: a field does not do what it seems to do.
	Note int `json:"note"`
}

// LintItem is one finding.
type LintItem struct {
	// Rule is the name of the rule, as in --explain and docs/rules.
	Rule string `json:"rule"`
	// Level is the severity of the finding.
	Level LintLevel `json:"level"`
	// Message is the problem and its reason.
	Message string `json:"message"`
	// Help is how to fix the problem.
	Help string `json:"help"`
	// File is the path of the file as you gave it; - for stdin.
	File string `json:"file"`
	// Line is the line of the field, starting at 1.
	Line int `json:"line"`
	// Column is the column of the field in characters, starting at 1.
	Column int `json:"column"`
	// Object is the object that has the field.
	Object LintObject `json:"object"`
	// Related are the other objects, if the finding is about several objects. The finding's file, line and column are
	// those of the first object.
	Related []LintPlace `json:"related"`
}

// LintPlace is the place of an object that a finding is about.
type LintPlace struct {
	// File is the path of the file as you gave it; - for stdin.
	File string `json:"file"`
	// Line is the line of the object's generateName, starting at 1.
	Line int `json:"line"`
	// Column is the column of the object's generateName in characters, starting at 1.
	Column int `json:"column"`
	// Object is the related object.
	Object LintObject `json:"object"`
	// About is how the object is related to the finding, in a few words.
	About string `json:"about"`
}

// LintObject is one object of a manifest.
type LintObject struct {
	// Group is the API group; empty for the core group.
	Group string `json:"group"`
	// Version is the API version.
	Version string `json:"version"`
	// Kind is the kind of the object.
	Kind string `json:"kind"`
	// Namespace is the value of metadata.namespace; empty if it is not set.
	Namespace string `json:"namespace"`
	// Name is the value of metadata.name; empty if it is not set.
	Name string `json:"name"`
	// GenerateName is the value of metadata.generateName; empty if it is not set.
	GenerateName string `json:"generateName"`
}

// DeepCopyObject implements runtime.Object, which kubectl's printers require.
func (r *LintReport) DeepCopyObject() runtime.Object { return copyOf(r) }
