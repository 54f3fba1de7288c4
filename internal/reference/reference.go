// Package reference formats names of objects as kubectl does, so that the user can copy them into the next command. The
// package receives only names, and no objects.
package reference

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Name returns an object's name as kubectl prints it, like job.batch/NAME.
func Name(mapping *meta.RESTMapping, name string) string {
	kind := mapping.GroupVersionKind
	return schema.GroupResource{Group: kind.Group, Resource: strings.ToLower(kind.Kind)}.String() + "/" + name
}

// Argument returns the object in the form of kubectl's arguments, job.batch/NAME -n NAMESPACE. It adds no namespace for
// a cluster-scoped object.
func Argument(mapping *meta.RESTMapping, namespace, name string) string {
	return In(Name(mapping, name), namespace)
}

// In returns the object as arguments for kubectl in a shell, with its namespace if it has one.
func In(object, namespace string) string {
	if namespace == "" {
		return Quote(object)
	}
	return Quote(object) + " -n " + Quote(namespace)
}

// plain matches text that needs no quotes in a shell.
var plain = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// atStart matches the beginning of a line that starts with "::". The runner of GitHub Actions executes a workflow
// command there.
var atStart = regexp.MustCompile(`^( *)::`)

// RunnerCommand matches the beginning of a command that a CI system executes even within a line. GitHub Actions uses
// "##[", Azure Pipelines "##vso[", and TeamCity "##teamcity[".
var RunnerCommand = regexp.MustCompile(`##(\w*\[)`)

// LineCommand matches the beginning of a workflow command in a text. A runner executes the command at the beginning of
// a line, even after Unicode white space.
var LineCommand = regexp.MustCompile(`(?m)^([\s\v\p{Z}\x{85}]*)::`)

// Quote returns text as one word for a shell (bash, zsh, ksh). The result is safe to print on a terminal and in the log
// of a CI system. A name from a cluster can contain $(…), an escape sequence, or ##[…].
func Quote(text string) string {
	unsafe := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	switch {
	case atStart.MatchString(text), RunnerCommand.MatchString(text), strings.ContainsFunc(text, unsafe):
		return "$'" + escaped(text) + "'"
	case plain.MatchString(text):
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Words quotes each word for a shell, and joins the words with spaces.
func Words(words ...string) string {
	var quoted []string
	for _, word := range words {
		quoted = append(quoted, Quote(word))
	}
	return strings.Join(quoted, " ")
}

func escaped(text string) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		switch {
		case b == '\'' || b == '\\':
			out.WriteByte('\\')
			out.WriteByte(b)
		case b < ' ' || b > '~':
			fmt.Fprintf(&out, `\x%02x`, b)
		default:
			out.WriteByte(b)
		}
	}
	inert := RunnerCommand.ReplaceAllString(out.String(), `\x23#$1`)
	return atStart.ReplaceAllString(inert, `$1\x3a:`)
}
