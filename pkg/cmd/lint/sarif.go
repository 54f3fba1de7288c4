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
	"github.com/kubectl-genname/kubectl-genname/internal/lint/rules"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/buildinfo"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
)

const (
	sarifSchema  = "https://json.schemastore.org/sarif-2.1.0.json"
	sarifVersion = "2.1.0"
	homepage     = "https://github.com/kubectl-genname/kubectl-genname"
)

// The part of SARIF 2.1.0 that GitHub reads (docs.github.com: SARIF support for code scanning).
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool        sarifTool         `json:"tool"`
		Invocations []sarifInvocation `json:"invocations"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string         `json:"id"`
		Name             string         `json:"name"`
		ShortDescription sarifText      `json:"shortDescription"`
		FullDescription  sarifText      `json:"fullDescription"`
		Help             sarifHelp      `json:"help"`
		HelpURI          string         `json:"helpUri"`
		Default          sarifDefault   `json:"defaultConfiguration"`
		Properties       map[string]any `json:"properties"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifHelp struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Related      []sarifRelated     `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string  `json:"partialFingerprints"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifRelated struct {
		sarifLocation
		Message sarifText `json:"message"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI       string `json:"uri"`
		URIBaseID string `json:"uriBaseId,omitempty"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

// printSARIF prints SARIF 2.1.0. Silenced findings are suppressed results.
func (o *options) printSARIF(result *lint.Result) error {
	run := sarifRun{
		Tool: sarifTool{sarifDriver{
			Name: "kubectl-genname", Version: buildinfo.Version(), InformationURI: homepage, Rules: sarifRules(),
		}},
		ColumnKind:  "unicodeCodePoints",
		Results:     []sarifResult{},
		Invocations: []sarifInvocation{invocation(o.repository, result)},
	}
	seen := map[string]int{}
	for _, f := range result.Findings {
		artifact := o.repository.artifact(f.Object.File)
		hash := fingerprint(artifact.URI, f)
		seen[hash]++
		one := sarifResult{
			RuleID: f.Rule.Name, RuleIndex: slices.Index(rules.All, f.Rule), Level: string(f.Level),
			Message: sarifText{fmt.Sprintf("%s (%s). Fix: %s.", f.Message, title(f.Object), f.Help)},
			Locations: []sarifLocation{{
				sarifPhysical{artifact, sarifRegion{f.Line, f.Column}},
				[]sarifLogical{{qualifiedName(f.Object), "resource"}},
			}},
			Related:      relatedLocations(o.repository, f),
			Fingerprints: map[string]string{"primaryLocationLineHash": fmt.Sprintf("%s:%d", hash, seen[hash])},
		}
		if f.Silence != nil {
			kind := "inSource"
			if isKnown(f) {
				kind = "external"
			}
			one.Suppressions = []sarifSuppression{{kind, f.Silence.Reason}}
		}
		run.Results = append(run.Results, one)
	}
	encoder := json.NewEncoder(output.InertJSON(o.Out))
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(sarifLog{sarifSchema, sarifVersion, []sarifRun{run}})
}

func relatedLocations(repository repository, f lint.Finding) []sarifRelated {
	var found []sarifRelated
	for _, r := range f.Related {
		found = append(found, sarifRelated{
			sarifLocation{Physical: sarifPhysical{repository.artifact(r.Object.File), sarifRegion{r.Line, r.Column}}},
			sarifText{title(r.Object) + " (" + r.About + ")"},
		})
	}
	return found
}

func invocation(r repository, result *lint.Result) sarifInvocation {
	one := sarifInvocation{Successful: len(result.Unreadable) == 0}
	for _, u := range result.Unreadable {
		notice := sarifNotification{Level: "error", Message: sarifText{unreadable(u).Error()}}
		if u.Line > 0 {
			place := sarifPhysical{r.artifact(u.File), sarifRegion{StartLine: u.Line}}
			notice.Locations = []sarifLocation{{Physical: place}}
		}
		one.Notifications = append(one.Notifications, notice)
	}
	return one
}

func sarifRules() []sarifRule {
	var found []sarifRule
	for _, rule := range rules.All {
		page := rule.Page()
		found = append(found, sarifRule{
			ID: rule.Name, Name: rule.Name,
			ShortDescription: sarifText{page.Finds},
			FullDescription:  sarifText{page.Why},
			Help:             sarifHelp{page.Fix, page.Text},
			HelpURI:          homepage + "/blob/main/docs/rules/" + rule.Name + ".md",
			Default:          sarifDefault{string(rule.Levels[0])},
			Properties:       map[string]any{"tags": []string{"kubernetes", "names"}, "precision": "very-high"},
		})
	}
	return found
}

// fingerprint identifies a finding by rule, file, object and field, so text that is inserted above
// it doesn't matter.
func fingerprint(uri string, f lint.Finding) string {
	sum := sha256.Sum256(fmt.Append(nil, f.Rule.Name, "\x00", uri, "\x00", qualifiedName(f.Object), "\x00", f.Path))
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

func (r repository) artifact(file string) sarifArtifact {
	if isURL(file) {
		return sarifArtifact{URI: file}
	}
	path := r.path(file)
	if filepath.IsAbs(filepath.FromSlash(path)) {
		return sarifArtifact{URI: (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(path, "/")}).String()}
	}
	return sarifArtifact{URI: (&url.URL{Path: path}).String(), URIBaseID: "%SRCROOT%"}
}
