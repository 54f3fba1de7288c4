package lint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/manifest"
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/buildinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
)

const (
	sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"
	homepage    = "https://github.com/kubectl-genname/kubectl-genname"
)

// sarif is an object of SARIF 2.1.0. It has the fields that GitHub reads (docs.github.com: SARIF support for code
// scanning).
type sarif = map[string]any

// printSARIF prints SARIF 2.1.0. Silenced findings are suppressed results.
func (o *options) printSARIF(result *lint.Result) error {
	results, seen := []sarif{}, map[string]int{}
	for _, f := range result.Findings {
		hash := fingerprint(o.repository.artifact(f.Object.File), f)
		seen[hash]++
		one := sarif{
			"ruleId": f.Rule.Name, "ruleIndex": slices.Index(rules.All, f.Rule), "level": f.Level,
			"message": sarif{"text": fmt.Sprintf("%s (%s). Fix: %s.", f.Message, title(f.Object), f.Help)},
			"locations": []sarif{{
				"physicalLocation": o.repository.place(f.Object.File, f.Position),
				"logicalLocations": []sarif{{"fullyQualifiedName": qualifiedName(f.Object), "kind": "resource"}},
			}},
			"relatedLocations":    relatedLocations(o.repository, f),
			"partialFingerprints": sarif{"primaryLocationLineHash": fmt.Sprintf("%s:%d", hash, seen[hash])},
		}
		if f.Silence != nil {
			kind := "inSource"
			if isKnown(f) {
				kind = "external"
			}
			one["suppressions"] = []sarif{{"kind": kind, "justification": f.Silence.Reason}}
		}
		results = append(results, one)
	}
	encoder := json.NewEncoder(output.InertJSON(o.Out))
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(sarif{"$schema": sarifSchema, "version": "2.1.0", "runs": []sarif{{
		"tool": sarif{"driver": sarif{
			"name": "kubectl-genname", "version": buildinfo.Version(), "informationUri": homepage,
			"rules": sarifRules(),
		}},
		"columnKind": "unicodeCodePoints", "results": results, "invocations": []sarif{invocation(o.repository, result)},
	}}})
}

func relatedLocations(repository repository, f lint.Finding) []sarif {
	found := []sarif{}
	for _, r := range f.Related {
		found = append(found, sarif{
			"physicalLocation": repository.place(r.Object.File, r.Position),
			"message":          sarif{"text": title(r.Object) + " (" + r.About + ")"},
		})
	}
	return found
}

func invocation(r repository, result *lint.Result) sarif {
	notices := []sarif{}
	for _, u := range result.Unreadable {
		notice := sarif{"level": "error", "message": sarif{"text": unreadable(u).Error()}}
		if u.Line > 0 {
			notice["locations"] = []sarif{{"physicalLocation": r.place(u.File, manifest.Position{Line: u.Line})}}
		}
		notices = append(notices, notice)
	}
	return sarif{"executionSuccessful": len(notices) == 0, "toolExecutionNotifications": notices}
}

func sarifRules() []sarif {
	var found []sarif
	for _, rule := range rules.All {
		page := rule.Page()
		found = append(found, sarif{
			"id": rule.Name, "name": rule.Name,
			"shortDescription":     sarif{"text": page.Finds},
			"fullDescription":      sarif{"text": page.Why},
			"help":                 sarif{"text": page.Fix, "markdown": page.Text},
			"helpUri":              homepage + "/blob/main/docs/rules/" + rule.Name + ".md",
			"defaultConfiguration": sarif{"level": rule.Levels[0]},
			"properties":           sarif{"tags": []string{"kubernetes", "names"}, "precision": "very-high"},
		})
	}
	return found
}

// fingerprint identifies a finding by rule, file, object and field, so text that is inserted above
// it doesn't matter.
func fingerprint(artifact sarif, f lint.Finding) string {
	object := qualifiedName(f.Object)
	sum := sha256.Sum256(fmt.Append(nil, f.Rule.Name, "\x00", artifact["uri"], "\x00", object, "\x00", f.Path))
	return hex.EncodeToString(sum[:8])
}

func qualifiedName(o rules.Object) string {
	name := o.Name
	if name == "" {
		name = o.GenerateName + "*"
	}
	return strings.Join([]string{o.Kind.GroupKind().String(), o.Namespace, name}, "/")
}

// path returns a file relative to the repository, with slashes. The path is absolute for a file outside the
// repository, "stdin" for stdin, and a URL as it is.
func (r repository) path(file string) string {
	switch {
	case file == stdin:
		return "stdin"
	case isURL(file):
		return file
	}
	if relative, inside := r.relative(file); inside {
		return filepath.ToSlash(relative)
	}
	if absolute, err := filepath.Abs(file); err == nil {
		file = absolute
	}
	return filepath.ToSlash(file)
}

// place is a physicalLocation.
func (r repository) place(file string, at manifest.Position) sarif {
	region := sarif{"startLine": at.Line}
	if at.Column > 0 {
		region["startColumn"] = at.Column
	}
	return sarif{"artifactLocation": r.artifact(file), "region": region}
}

func (r repository) artifact(file string) sarif {
	if isURL(file) {
		return sarif{"uri": file}
	}
	path := r.path(file)
	if filepath.IsAbs(filepath.FromSlash(path)) {
		return sarif{"uri": (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(path, "/")}).String()}
	}
	return sarif{"uri": (&url.URL{Path: path}).String(), "uriBaseId": "%SRCROOT%"}
}
