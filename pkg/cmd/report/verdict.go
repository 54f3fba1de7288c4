package report

import (
	"fmt"

	"github.com/kubectl-genname/kubectl-genname/internal/finished"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/report"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// states are the texts of the verdicts about one prefix.
var states = map[v1alpha1.CollisionState]string{
	v1alpha1.CollisionOK:      "No problem: %s, and %s.",
	v1alpha1.CollisionRisk:    "Creates might fail: %s, and %s.",
	v1alpha1.CollisionFailing: "A problem: %s, and %s.",
}

// isSingle reports whether a report has one prefix. Such a report has one item for each number of creates.
func isSingle(r *v1alpha1.CollisionReport, config report.Config) bool {
	return len(r.Items) == len(config.Creates)
}

// verdictOf returns the first sentences.
func verdictOf(report *v1alpha1.CollisionReport, config report.Config) string {
	chance := chanceOf(closest(report), config.Probability)
	if !isSingle(report, config) {
		return verdictOfSeveral(report, len(report.Items)/len(config.Creates), chance)
	}
	item := report.Items[0]
	verdict := namesOf(item)
	if length := report.NamePool.SuffixLength; length != names.SuffixLength {
		verdict += " " + fmt.Sprintf("Its suffixes have %s.", humanize.Count(length, "character"))
	}
	return verdict + " " + fmt.Sprintf(states[report.Verdict.State], attemptsOf(report), chance)
}

func namesOf(item v1alpha1.CollisionItem) string {
	count := humanize.Count(item.Existing, "name")
	switch {
	case item.Prefix != "":
		if item.Existing == 0 {
			count = "no names"
		}
		return fmt.Sprintf("%s has %s.", item.PrefixRef, count)
	case item.Existing == 0:
		return "A new prefix has no names."
	}
	return fmt.Sprintf("A prefix has %s.", count)
}

func attemptsOf(report *v1alpha1.CollisionReport) string {
	server := "a server of Kubernetes 1.32 or later"
	if report.Server.AttemptsSource == v1alpha1.SourceFlag {
		server = "a server"
	}
	if version := report.Server.GitVersion; version != nil {
		server = fmt.Sprintf("this server (%s)", *version)
	}
	attempts := report.Items[0].Policy(v1alpha1.PolicyServer).Attempts
	if attempts == nil {
		return fmt.Sprintf("%s tries an unknown number of names per create, at least 1", server)
	}
	sentence := fmt.Sprintf("%s tries %s per create", server, humanize.Count(*attempts, "name"))
	if report.Server.AttemptsSource == v1alpha1.SourceFlag {
		sentence += " (--server-attempts)"
	}
	return sentence
}

func chanceOf(item v1alpha1.CollisionItem, probability float64) string {
	policy := item.InForce()
	atMost := ""
	if item.Policy(v1alpha1.PolicyServer).Attempts == nil {
		atMost = "at most "
	}
	room := report.RoomOf(policy)
	if report.StateOf(room) == v1alpha1.CollisionFailing {
		chance := humanize.Odds(*policy.NextCreateFails)
		return fmt.Sprintf("the next create fails with a chance of %s%s", atMost, chance)
	}
	return fmt.Sprintf("after %s the chance that any has failed is %s%s", humanize.Count(room, "more create"),
		atMost, humanize.ChanceOf(probability))
}

// verdictOfSeveral returns the verdict about several prefixes, with the chance for the one closest to a failure.
func verdictOfSeveral(report *v1alpha1.CollisionReport, prefixes int, chance string) string {
	v, all := report.Verdict, humanize.Count(prefixes, "prefix")
	closest := v.Closest.String()
	verdict := fmt.Sprintf("No problem with %s: even under %s, which has the least room, %s.", all, closest, chance)
	if v.State != v1alpha1.CollisionOK {
		format, number := "Creates might fail under %s of %s: under %s, %s.", v.Risk
		if v.State == v1alpha1.CollisionFailing {
			format, number = "A problem with %s of %s: under %s, %s.", v.Failing
		}
		verdict = fmt.Sprintf(format, humanize.Grouped(number), all, closest, chance)
	}
	if v.AttemptsUnknown > 0 {
		verdict += " " + fmt.Sprintf("The server's attempts are unknown for %s. The report assumes 1.",
			humanize.Count(v.AttemptsUnknown, "prefix"))
	}
	return verdict
}

// closest returns an item of the prefix with the least room.
func closest(report *v1alpha1.CollisionReport) v1alpha1.CollisionItem {
	for _, item := range report.Items {
		if item.PrefixRef == report.Verdict.Closest.PrefixRef {
			return item
		}
	}
	return report.Items[0]
}

// hints returns advice on how to avoid failures, if failures are likely.
func hints(r *v1alpha1.CollisionReport) (lines []string) {
	item := closest(r)
	client := item.Policy(v1alpha1.PolicyClient)
	if r.Verdict.State == v1alpha1.CollisionOK {
		return nil
	}
	if report.StateOf(report.RoomOf(client)) == v1alpha1.CollisionOK {
		lines = append(lines, terminal.Sprintf("To try up to %s per create, use:",
			humanize.Count(*client.Attempts, "name")), "  kubectl genname create -f FILENAME")
	}
	if r.Verdict.State == v1alpha1.CollisionFailing && item.Prefix != "" &&
		finished.Outlives(item.GroupResource()) {
		lines = append(lines, "To see which old objects you can delete, run:",
			"  kubectl genname prune "+item.Argument()+" --older-than=24h")
	}
	return lines
}
