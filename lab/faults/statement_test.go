package faults

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The count finds objects that exist twice, are missing, were not reported, or were reported and don't exist.
func TestSettle(t *testing.T) {
	s := newStatement(want{"once-": 1, "twice-": 2, "lost-": 1, "double-": 1, "doubt-": 1})
	s.add(run{
		code:   4,
		stdout: "configmap/once-bbbbb created\nconfigmap/twice-bbbbb created\nconfigmap/gone-bbbbb created\n",
		stderr: "configmap/doubt-bbbbb: EOF (checking whether it exists)\n" +
			"error: outcome unknown: configmap/doubt-bbbbb -n ns: EOF\nerror: outcome unknown: configmap/twice-ccccc -n ns: EOF\n" +
			"error: not all objects were created: 3 created, 0 exist, 1 failed, 2 unknown, 0 not attempted\n",
	})
	s.add(run{
		code:   1,
		stdout: "configmap/twice-bbbbb " + exists + "\nconfigmap/twice-ccccc created\nconfigmap/double-bbbbb created\n",
		stderr: "error: stopped after a failure: 2 created, 1 exist, 7 failed, 0 unknown, 9 not attempted\n",
	})
	got := s.settle([]string{"once-bbbbb", "twice-bbbbb", "twice-ccccc", "double-bbbbb", "double-ccccc", "doubt-bbbbb"})
	want := &Result{
		Asked: 6, Reported: 5, Unknown: 1, Failed: 7, NotAttempted: 9, Present: 6, Duplicates: 1, Missing: 1,
		Unaccounted: 1, NotThere: 1, LastCode: 1,
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Result{}), cmpopts.IgnoreFields(Result{}, "Client")); diff != "" {
		t.Error(diff)
	}
	if n := s.reportedAs(exists); n != 1 {
		t.Errorf("%d were found there", n)
	}
}

// The checks reject a Result that breaks a promise.
func TestCheck(t *testing.T) {
	kept := Result{Asked: 3, Reported: 3, Present: 3, Exist: 3}
	with := func(change func(*Result)) *Result {
		r := kept
		change(&r)
		return &r
	}
	for _, test := range []struct {
		name           string
		result         *Result
		keyed, keyless bool // promise kept
	}{
		{"all there", &kept, true, true},
		{"one twice", with(func(r *Result) { r.Present, r.Duplicates = 4, 1 }), false, false},
		{"one never reported", with(func(r *Result) { r.Unaccounted = 1 }), false, false},
		{"one reported and not there", with(func(r *Result) { r.NotThere = 1 }), false, false},
		{"one lost", with(func(r *Result) { r.Missing, r.Reported = 1, 2 }), false, false},
		{"one failed", with(func(r *Result) { r.Missing, r.Reported, r.Failed, r.LastCode = 1, 2, 1, 1 }), false, true},
		{"one not attempted", with(func(r *Result) { r.Missing, r.Reported, r.NotAttempted, r.LastCode = 1, 2, 1, 1 }), false, true},
		{"a failure though all is there", with(func(r *Result) { r.LastCode = 1 }), false, false},
		{"one unknown", with(func(r *Result) { r.Reported, r.Unknown, r.LastCode = 2, 1, 4 }), false, true},
		{"one unknown, and exit code 0", with(func(r *Result) { r.Reported, r.Unknown = 2, 1 }), false, false},
		{"a POST by the last run", with(func(r *Result) { r.PostsAgain = 1 }), false, true},
		{"not all found there", with(func(r *Result) { r.Exist = 2 }), false, true},
	} {
		if err := exact(test.result); (err == nil) != test.keyed {
			t.Errorf("%s, keyed: %v", test.name, err)
		}
		if err := neverTwo(test.result); (err == nil) != test.keyless {
			t.Errorf("%s, keyless: %v", test.name, err)
		}
	}
}
