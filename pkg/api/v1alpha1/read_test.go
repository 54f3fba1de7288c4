package v1alpha1

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
)

// saved is an audit's report, without the fields that its readers don't use.
const saved = `{"apiVersion": "genname.dev/v1alpha1", "kind": "AuditReport",
	"server": {"gitVersion": "v1.34.4", "attempts": 8, "attemptsSource": "metric"},
	"items": [{"group": "batch", "version": "v1", "resource": "jobs", "namespace": "ci", "prefix": "nightly-",
		"names": 121, "attempts": null, "attemptsSource": "unknown"}],
	"complete": true}`

func TestReadAuditReport(t *testing.T) {
	report, err := ReadAuditReport([]byte(saved))
	if err != nil {
		t.Fatal(err)
	}
	item := report.Items[0]
	if !report.Complete || *report.Server.Attempts != 8 || len(report.Items) != 1 ||
		item.Resource != "jobs" || item.Namespace != "ci" || item.Prefix != "nightly-" || item.Names != 121 || item.Attempts != nil {
		t.Errorf("complete %t, %d attempts, items %+v, want true, 8, and one with 121 jobs of nightly- in ci", report.Complete, *report.Server.Attempts, report.Items)
	}
}

// The report of a watch also has prefixes whose objects were all deleted.
func TestReadAuditReportOfAWatch(t *testing.T) {
	report, err := ReadAuditReport([]byte(saved))
	if err != nil {
		t.Fatal(err)
	}
	report.Items[0].Names, report.Items[0].Measured = 0, &Measured{Creates: 50, Deletes: 50}
	written, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	if read, err := ReadAuditReport(written); err != nil || read.Items[0].Names != 0 {
		t.Errorf("%+v, want one item with 0 names: %v", read, err)
	}
}

func TestReadAuditReportRefuses(t *testing.T) {
	replace := func(old, by string) string {
		t.Helper()
		if !strings.Contains(saved, old) {
			t.Fatalf("%q is not in the saved report", old)
		}
		return strings.Replace(saved, old, by, 1)
	}
	for _, test := range []struct{ name, data, want string }{
		{"empty", " \n", "is empty"},
		{"a table", "RESOURCE   PREFIX\n", "is not a JSON object"},
		{"a list", "[]", "is not a JSON object"},
		{"cut short", saved[:len(saved)-20], "is cut short"},
		{"cut short early", saved[:20], "is cut short"},
		{"two reports", saved + saved, "has something after its end, like the next report of a watch: one is read"},
		{"garbled", replace(`"items": [`, `"items": (`), "is not valid: invalid character '(' looking for beginning of value"},
		{"no kind", `{}`, "has no kind and apiVersion, as every AuditReport has"},
		{"another kind", replace("AuditReport", "CollisionReport"), "is kind CollisionReport of genname.dev/v1alpha1, not AuditReport of genname.dev/v1alpha1"},
		{"another group", replace("genname.dev/v1alpha1", "v1"), "is kind AuditReport of v1, not AuditReport of genname.dev/v1alpha1"},
		{"a newer version", replace("v1alpha1", "v1beta1"), "is of version genname.dev/v1beta1, of which this plugin knows only genname.dev/v1alpha1: a newer plugin may read it"},
		{"no items", replace(`"items"`, `"rows"`), "has no items"},
		{"items twice", replace(`"complete"`, `"items": [], "complete"`), `duplicate field "items"`},
		{"no names", replace(`"names": 121,`, ``), "items[0]: names is 0, which is not from 1 to 14348907"},
		{"more names than there are", replace(`121`, `14348908`), "items[0]: names is 14348908, which is not from 1 to 14348907"},
		{"names in words", replace(`121`, `"121"`), "is not valid: json: cannot unmarshal string into Go struct field AuditItem.items.names of type int64"},
		{"no prefix", replace(`nightly-`, ``), "items[0]: has no prefix"},
		{"no resource", replace(`jobs`, ``), "items[0]: has no resource"},
		{"no attempts", replace(`"attempts": 8`, `"attempts": 0`), "server: attempts is 0, which is not from 1 to 1024"},
		{"a source of attempts that is none", replace(`unknown`, `rumor`), `items[0]: attemptsSource is "rumor", which is none of metric, version, default, flag, unknown`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, err := ReadAuditReport([]byte(test.data)); err == nil || err.Error() != test.want {
				t.Errorf("the error is\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}

func TestMaxNames(t *testing.T) {
	if size, err := analyze.NamePoolSize(analyze.SuffixLength); err != nil || size != maxNames {
		t.Errorf("%d, want %d: %v", size, maxNames, err)
	}
}

// A report that is read without an error is usable. Its numbers are in their ranges,
// and it can be written and read again.
func FuzzReadAuditReport(f *testing.F) {
	f.Add([]byte(saved))
	f.Add([]byte(saved[:100]))
	f.Add([]byte(`{"apiVersion":"genname.dev/v1","kind":"AuditReport","items":[]}`))
	f.Add([]byte(`{"apiVersion":"genname.dev/v1alpha1","kind":"AuditReport","server":{"attemptsSource":"unknown"},"items":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		report, err := ReadAuditReport(data)
		if err != nil {
			return
		}
		for _, item := range report.Items {
			if item.Names < 0 || item.Names > maxNames || item.Names == 0 && item.Measured == nil || item.Attempts != nil && *item.Attempts < 1 {
				t.Errorf("%d names, measured %t, want 0 to %d, 0 only if measured, and at least 1 attempt", item.Names, item.Measured != nil, maxNames)
			}
		}
		written, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ReadAuditReport(written); err != nil {
			t.Errorf("what was read cannot be read again: %v\n%s", err, written)
		}
	})
}
