package pools

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
)

// An object's name and generateName show to which pool it belongs.
func TestOf(t *testing.T) {
	for _, test := range []struct {
		name, generateName, prefix string
		naming                     object.Naming
	}{
		{"job-x7k2p", "job-", "job-", object.FromGenerateName},
		{"job-x7k2px7k2p", "job-", "job-", object.FromGenerateName},
		{"job-x7k2px7k2", "job-", "job-", object.FromGenerateName},
		{"job-24579", "job-", "job-", object.FromGenerateName},
		{"job-x7k2", "job-", "", object.Fixed},
		{"job-x7k2p", "", "job-", object.ByClient},
		{"job-24579", "", "job-", object.ByStem},
		{"job-x7k2p", "other-", "job-", object.ByClient},
		{"web-0", "web-", "web-", object.ByStem},
		{"settings", "", "", object.Fixed},
		{"0d1ff2bb-1f5f-4c4e-9e39-3b2d1a0cbbbb", "", "", object.Fixed}, // a UUID
	} {
		prefix, naming := object.PoolOf(&object.Object{Name: test.name, GenerateName: test.generateName})
		if prefix != test.prefix || naming != test.naming {
			t.Errorf("%s of %q: %q, %v", test.name, test.generateName, prefix, naming)
		}
	}
}

// If a pool doesn't exist, a lookup of it changes nothing.
func TestLookup(t *testing.T) {
	s := New(jobs, &Rules{})
	if counts := s.Counts("n", "p-", object.ByStem); counts || len(s.namespaces) > 0 {
		t.Errorf("%v, %d namespaces", counts, len(s.namespaces))
	}
}

// Above the limit, objects with new prefixes count in one pool. Objects with known prefixes count as before.
func TestLimit(t *testing.T) {
	s := New(jobs, &Rules{Limit: 2})
	var last Member
	for i := range 5 {
		for j := range 2 {
			prefix := fmt.Sprintf("p%d-", i)
			last = s.Add(&object.Object{Namespace: "n", GenerateName: prefix, Name: prefix + "bcdf" + string("25"[j])})
			s.Add(&object.Object{Namespace: "n", Name: fmt.Sprintf("own%d-bcdf%c", i, "25"[j])})
		}
	}
	pools := collect(s)
	if len(pools) != 3 || pools[0].Prefix != Other || pools[0].Names != 6 || pools[1].Names != 2 || !s.Overflowed() {
		t.Errorf("%+v, overflowed %t, want 3 pools, %q with 6 names, then one with 2, and true", pools, s.Overflowed(), Other)
	}
	s.Remove(last, nil)
	number, _ := s.Number("n", Other, object.FromGenerateName)
	if names, counts := s.Names(number), s.Counts("n", Other, object.FromGenerateName); names != 5 || !counts || s.Objects() != 19 {
		t.Errorf("after a delete: %d names, %v, %d objects", names, counts, s.Objects())
	}
}

// A stem above the limit gets a pool only from a new list. Otherwise the pool would lack the stem's earlier objects.
func TestFreedPlace(t *testing.T) {
	s := New(jobs, &Rules{Limit: 1, MinStem: 1})
	add := func(name string) Member { return s.Add(&object.Object{Namespace: "n", Name: name}) }
	first := add("first-1")
	add("second-1")
	s.Remove(first, nil)
	s.Forget(func(uint32) bool { return true })
	add("second-2")
	if pools := collect(s); len(pools) > 0 {
		t.Errorf("%+v, want no pool that lacks an object", pools)
	}
	s.BeginList()
	for _, name := range []string{"second-1", "second-2"} {
		add(name)
	}
	if pools := collect(s); len(pools) != 1 || pools[0].Names != 2 {
		t.Errorf("%+v, want a pool with both objects of the list", pools)
	}
}

// Two generateNames share a truncated prefix until all objects of one generateName are deleted.
func TestNoLongerShared(t *testing.T) {
	s, prefix := New(jobs, &Rules{}), strings.Repeat("x", 58)
	job := func(i int, end string) *object.Object {
		return &object.Object{Namespace: "n", Name: prefix + "bcdf" + string("256"[i]), GenerateName: prefix + end}
	}
	members := []Member{s.Add(job(0, "-a-")), s.Add(job(1, "-a-")), s.Add(job(2, "-b-"))}
	for i, test := range []struct {
		end    string
		shared int
	}{{"-a-", 2}, {"-a-", 1}} {
		s.Remove(members[i], job(i, test.end))
		if pools := collect(s); len(pools) != 1 || pools[0].RawPrefixes != test.shared {
			t.Errorf("after %d deletes: %+v, want one pool with %d generateNames", i+1, pools, test.shared)
		}
	}
}

// An audit of a million prefixes needs memory for each pool (lab/benchmarks.md). This test limits the memory of a pool.
func TestMemory(t *testing.T) {
	const prefixes, most = 125_000, 140
	s := New(jobs, &Rules{})
	before := heap()
	for i := range prefixes {
		job := fmt.Sprintf("import-%07d", i)
		s.Add(&object.Object{
			Namespace: "n", GenerateName: job + "-", Name: job + "-x7k2p", Created: 1_790_000_000,
			Creator: object.Creator{APIVersion: "batch/v1", Kind: "Job", Name: job, Certain: true},
		})
	}
	each := (heap() - before) / prefixes
	runtime.KeepAlive(s)
	if each > most {
		t.Errorf("a pool takes %d bytes, want %d at most", each, most)
	}
	t.Logf("%d bytes", each)
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
