package lint

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-genname/kubectl-genname/internal/lint"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/output"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// The part of JUnit's XML that GitLab and Jenkins read.
type (
	junitSuites struct {
		XMLName  xml.Name      `xml:"testsuites"`
		Name     string        `xml:"name,attr"`
		Tests    int           `xml:"tests,attr"`
		Failures int           `xml:"failures,attr"`
		Errors   int           `xml:"errors,attr"`
		Skipped  int           `xml:"skipped,attr"`
		Suites   []*junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		ClassName string        `xml:"classname,attr"`
		File      string        `xml:"file,attr"`
		Time      string        `xml:"time,attr"`
		Failure   *junitProblem `xml:"failure"`
		Error     *junitProblem `xml:"error"`
		Skipped   *junitProblem `xml:"skipped"`
		Out       string        `xml:"system-out,omitempty"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// printJUnit prints a suite for each file with objects, and a case for each finding in it. A case fails if --fail-on
// includes the level of its finding. A case with a finding of a lower level passes with a remark. A file without
// findings has one case that passes.
func (o *options) printJUnit(result *lint.Result) error {
	all := junitSuites{Name: "kubectl genname lint"}
	suites := map[string]*junitSuite{}
	suite := func(file string) *junitSuite {
		if suites[file] == nil {
			suites[file] = &junitSuite{Name: file}
			all.Suites = append(all.Suites, suites[file])
		}
		return suites[file]
	}
	for _, f := range result.Findings {
		suite(f.Object.File).add(o.junitCaseOf(f))
	}
	for _, u := range result.Unreadable {
		suite(u.File).add(junitCase{
			Name: "read", ClassName: u.File, File: u.File, Time: "0",
			Error: &junitProblem{Message: terminal.OneLine(unreadable(u).Error()), Type: "unreadable"},
		})
	}
	for _, file := range result.Read {
		if suites[file] == nil {
			suite(file).add(junitCase{Name: "names", ClassName: file, File: file, Time: "0"})
		}
	}
	for _, s := range all.Suites {
		all.Tests, all.Failures, all.Errors, all.Skipped =
			all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors, all.Skipped+s.Skipped
	}
	if _, err := io.WriteString(o.Out, xml.Header); err != nil {
		return err
	}
	encoder := xml.NewEncoder(output.InertXML(o.Out))
	encoder.Indent("", "  ")
	if err := encoder.Encode(all); err != nil {
		return err
	}
	_, err := fmt.Fprintln(o.Out)
	return err
}

func (o *options) junitCaseOf(f lint.Finding) junitCase {
	file := f.Object.File
	lines := []string{fmt.Sprintf("%s: %s (%s)", placeOf(file, f.Position), f.Message, title(f.Object))}
	lines = append(lines, related(f)...)
	text := strings.Join(append(lines, fmt.Sprintf("help: %s", f.Help)), "\n")
	one := junitCase{
		Name:      terminal.OneLine(fmt.Sprintf("%s: %s, line %d", f.Rule.Name, title(f.Object), f.Line)),
		ClassName: file, File: file, Time: "0",
	}
	switch {
	case f.Silence != nil:
		one.Skipped = &junitProblem{Message: terminal.OneLine(f.Silence.Reason)}
	case o.failing(f.Level):
		one.Failure = &junitProblem{terminal.OneLine(f.Message), string(f.Level), terminal.Printable(text)}
	default:
		one.Out = terminal.Printable(string(f.Level) + ": " + text)
	}
	return one
}

func (s *junitSuite) add(one junitCase) {
	one.ClassName = strings.ReplaceAll(one.ClassName, ".", "_") // for Jenkins, a dot ends the name of a package
	s.Cases = append(s.Cases, one)
	s.Tests++
	switch {
	case one.Failure != nil:
		s.Failures++
	case one.Error != nil:
		s.Errors++
	case one.Skipped != nil:
		s.Skipped++
	}
}
