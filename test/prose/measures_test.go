package prose

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSentences(t *testing.T) {
	const page = `---
title: x
---
# A heading is no sentence
One sentence here, with ` + "`code; here`" + `. A [second; one](https://example.com) follows:
it has **a splice**.

| a | table; no |
|---|---|

1. An item of a list
2. Too short

` + "```console\n$ no sentence either\n```\n"
	want := []string{
		"One sentence here, with CODE.", "A second; one follows: it has a splice.", "An item of a list",
	}
	got := Sentences(page)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if v := Of(got); v["median"] != 5 || v["longest"] != 8 || round(v["spliced"]) != 33.3 || v["over25"] != 0 {
		t.Errorf("%v", v)
	}
}

func TestMeasures(t *testing.T) {
	long := strings.Repeat("word ", 30) + "end."
	v := Of([]string{"What is said here is what nobody says so.", long, "So who may read it is told.", "A plain short sentence."})
	want := Values{"median": 8, "p90": 9, "longest": 31, "over25": 25, "spliced": 0, "what": 50, "said": 75, "nobody": 50}
	v["what"], v["said"], v["nobody"] = round(v["what"]), round(v["said"]), round(v["nobody"])
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if v := Of(nil); v["longest"] != 0 || v["median"] != 0 {
		t.Errorf("nothing has %v", v)
	}
}

func TestMessageSentences(t *testing.T) {
	m := Message{Text: "Warning: --compare: %s: the audit skipped %d types, which takes 5%%. Grant list on them:\n  kubectl auth can-i; x"}
	want := []string{"the audit skipped CODE types, which takes 5%.", "Grant list on them:"}
	if diff := cmp.Diff(want, m.Sentences()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
