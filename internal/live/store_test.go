package live

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
)

// All numbers that are set are kept, also if they outgrow an entry or fit into one again.
func TestNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var all numbers
	want := map[poolHash]number{}
	for range 5_000 {
		hash := hashOf(namepools.ID{SuffixLength: random.IntN(10_000)})
		n := number{random.Int32N(5), random.Int32N(5) - 1}
		if random.IntN(10) == 0 {
			n = number{random.Int32N(1 << random.IntN(25)), random.Int32N(300)}
		}
		all.set(hash, n)
		if want[hash] = n; n.names == 0 {
			delete(want, hash)
		}
		if got := all.of(hash); got != want[hash] {
			t.Fatalf("%+v, want %+v", got, want[hash])
		}
	}
	if got := toMap(&all); !maps.Equal(got, want) || len(all.small)+len(all.large) != len(want) {
		t.Errorf("%d numbers, want %d", len(got), len(want))
	}
	for hash := range want {
		all.remove(hash)
	}
	if len(all.small) != 0 || len(all.large) != 0 {
		t.Errorf("%d small and %d large numbers are left", len(all.small), len(all.large))
	}
}

// everyNumber returns the numbers of the name pools of a type without a counter, and of
// those with one.
func everyNumber(s *store) map[poolHash]number {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := toMap(&s.pools.few)
	for id, c := range s.pools.counters {
		if c.pool.Names > 0 {
			all[hashOf(id)] = number{c.pool.Names, c.pool.Generated}
		}
	}
	return all
}

func toMap(all *numbers) map[poolHash]number {
	found := map[poolHash]number{}
	all.each(func(hash poolHash, n number) { found[hash] = n })
	return found
}

// listedNumbers returns these numbers as a list has them.
func listedNumbers(t *testing.T, r *reflector) map[poolHash]number {
	t.Helper()
	begin := func() census.Batch { return newBatch(&Policy{MinCount: 1 << 30}, time.Time{}, nil, false) }
	list, skipped := r.source.list(t.Context(), r.resource, "", time.Time{}, begin)
	if len(skipped) > 0 {
		t.Fatal(skipped)
	}
	return toMap(&list.few)
}

// numbersDiffer returns how the numbers of the types differ from lists.
func (s *started) numbersDiffer(t *testing.T) string {
	t.Helper()
	for _, r := range s.types.list() {
		got, want := everyNumber(r.store), listedNumbers(t, r)
		wrong := 0
		for hash, n := range want {
			if got[hash] != n {
				wrong++
			}
		}
		if !maps.Equal(got, want) {
			return fmt.Sprintf("%s: %d of %d name pools have another number, of %d", r.resource, wrong, len(want), len(got))
		}
	}
	return ""
}

// The number of each name pool is exact, with a counter or without, and regardless of its
// earlier names. The engine reads no list for it.
func TestEveryNumber(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		server := newFakeServer(t, seed)
		c := newChurn(server, seed)
		for range 300 {
			c.step(30)
		}
		e := start(t, server, pods)
		for range 1500 {
			c.step(50)
		}
		eventually(t, func() string { return e.numbersDiffer(t) })
	}
}

// An update may add the creation ID annotation that makes a name with a longer suffix count,
// or remove it. The names follow, and no update is a create or a delete.
func TestLongSuffixes(t *testing.T) {
	t.Parallel()
	server := newFakeServer(t, 1)
	add := func(i int, marked bool) object {
		o := object{Namespace: "prod", Name: "run-2456789" + string("bcdfghjkl"[i]), GenerateName: "run-", marked: marked}
		server.change("/api/v1/pods", "ADDED", o)
		return o
	}
	update := func(o object, marked bool) {
		o.marked = marked
		server.change("/api/v1/pods", "MODIFIED", o)
	}
	first := add(0, true)
	for i := range 5 {
		add(1+i, true)
	}
	e := start(t, server, pods)
	other := add(6, false)
	names := func(names, creates, deletes int64) func() string {
		return func() string {
			for _, row := range e.Snapshot().Rows {
				if row.Pool.SuffixLength == 8 && row.Pool.Names == names && row.Creates == creates && row.Deletes == deletes {
					return ""
				}
			}
			return fmt.Sprintf("%+v, want %d names, %d creates and %d deletes", e.Snapshot().Rows, names, creates, deletes)
		}
	}
	update(first, false)
	update(first, false)
	eventually(t, names(5, 0, 0))
	update(other, true)
	update(other, true)
	eventually(t, names(6, 0, 0))
	first.marked = false
	server.change("/api/v1/pods", "DELETED", first)
	add(7, true)
	eventually(t, names(7, 1, 0))
	other.marked = true
	server.change("/api/v1/pods", "DELETED", other)
	eventually(t, names(6, 1, 1))
}

// Updates that add the creation ID annotation bring a prefix to MinCount.
func TestLongSuffixesByUpdates(t *testing.T) {
	t.Parallel()
	server := newFakeServer(t, 1)
	addRuns(server, 6) // so that the type is watched
	var all []object
	for i := range 6 {
		all = append(all, object{Namespace: "prod", Name: "few-2456789" + string("bcdfgh"[i]), GenerateName: "few-"})
		server.change("/api/v1/pods", "ADDED", all[i])
	}
	e := start(t, server, pods)
	for _, o := range all {
		o.marked = true
		server.change("/api/v1/pods", "MODIFIED", o)
	}
	eventually(t, func() string { return e.differs(map[string]int64{"pods prod/run-": 6, "pods prod/few-": 6}) })
}

// While one type waits, the events of another type count.
func TestTypesDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	server := newFakeServer(t, 1)
	addRuns(server, 6)
	random := rand.New(rand.NewPCG(1, 1))
	addJob := func() {
		server.change("/apis/batch/v1/jobs", "ADDED", object{Namespace: "prod", Name: generated("b-", random), GenerateName: "b-"})
	}
	for range 6 {
		addJob()
	}
	e := prepare(server, pods, jobs)
	held, release := make(chan struct{}), make(chan struct{})
	reached := sync.OnceFunc(func() { close(held) })
	e.Chance = func(pool census.NamePool) float64 {
		if pool.Resource == pods {
			reached()
			<-release
		}
		return 0
	}
	e.run(t)
	pod(server, generated("run-", random), "run-")
	<-held
	addJob()
	eventually(t, func() string {
		var names int64
		e.types.of(jobs.GroupResource()).store.addTo(&Snapshot{}, false, func(r Row) { names = r.Pool.Names })
		if names != 7 {
			return fmt.Sprintf("%d names", names)
		}
		return ""
	})
	close(release)
	eventually(t, func() string { return e.differs(map[string]int64{"pods prod/run-": 7, "jobs.batch prod/b-": 7}) })
}

// A namespace whose controller deletes all that is in it leaves no number, and its deletes
// are shown. It can be created again.
func TestDeletedNamespace(t *testing.T) {
	t.Parallel()
	server := newFakeServer(t, 1)
	random := rand.New(rand.NewPCG(1, 1))
	fill := func() {
		for i := range 60 {
			prefix := "run-"
			if i%10 == 0 {
				prefix = fmt.Sprintf("own-%d-", i)
			}
			o := object{Namespace: "team", Name: generated(prefix, random), GenerateName: prefix}
			server.change("/api/v1/pods", "ADDED", o)
		}
	}
	addRuns(server, 6)
	fill()
	e := start(t, server, pods)
	for _, o := range server.at("/api/v1/pods", "team", 1<<40) {
		server.change("/api/v1/pods", "DELETED", o)
	}
	eventually(t, func() string { return e.differs(map[string]int64{"pods prod/run-": 6}) })
	for _, row := range e.Snapshot().Rows {
		if row.Pool.Namespace == "team" && (row.Deletes != 54 || row.Pool.Names != 0) {
			t.Errorf("%+v", row)
		}
	}
	if few := toMap(&e.types.list()[0].store.pools.few); len(few) != 0 {
		t.Errorf("%v", few)
	}
	fill()
	eventually(t, func() string { return e.differs(map[string]int64{"pods prod/run-": 6, "pods team/run-": 54}) })
	if reported := e.notices(Gap); len(reported) > 0 {
		t.Errorf("%+v", reported)
	}
}

// manyNamespaces is how many namespaces a big cluster of tenants has.
const manyNamespaces = 20_000

// Name pools in many namespaces that reach MinCount one after the other are counted without
// a list.
func TestManyNamespaces(t *testing.T) {
	t.Parallel()
	k := newTestStore()
	list := newBatch(k.policy, time.Now(), nil, false)
	namespace := func(i int) string { return fmt.Sprintf("tenant-%05d", i) }
	for i := range manyNamespaces {
		list.Add(census.NamePool{
			Resource: pods, Namespace: namespace(i), Prefix: "run-", SuffixLength: suffixLength, Names: 2, Generated: 2,
		})
	}
	before := heapInUse()
	k.Replace(list.complete(census.Listed{Objects: 2 * manyNamespaces, Prefixed: 2 * manyNamespaces, ResourceVersion: "1"}), watched)
	random := rand.New(rand.NewPCG(1, 1))
	began, events := time.Now(), 0
	apply := func(what decode.EventType, o *decode.Object) {
		events++
		event := &decode.Event{Type: what, ResourceVersion: fmt.Sprint(1 + events), Object: o}
		if err := k.Apply(event); err != nil {
			t.Fatal(err)
		}
	}
	for range 5 {
		for i := range manyNamespaces {
			kept := &decode.Object{Namespace: namespace(i), Name: generated("run-", random), GenerateName: "run-"}
			gone := &decode.Object{Namespace: namespace(i), Name: generated("job-", random), GenerateName: "job-"}
			apply(decode.Added, kept)
			apply(decode.Added, gone)
			apply(decode.Deleted, gone)
		}
	}
	took := time.Since(began)
	rows := 0
	k.addTo(&Snapshot{}, false, func(r Row) {
		if r.Pool.Prefix != "run-" {
			return
		}
		if rows++; r.Pool.Names != 7 || r.Pool.Generated != 7 || r.Creates != 3 {
			t.Fatalf("%+v", r)
		}
	})
	if rows != manyNamespaces || len(k.inspection.asked) > 0 || k.totals.names != 7*manyNamespaces {
		t.Errorf("%d rows, %d names, %d to be inspected", rows, k.totals.names, len(k.inspection.asked))
	}
	t.Logf("%d events in %v, %v each; %d bytes more for %d counters",
		events, took, took/time.Duration(events), heapInUse()-before, len(k.pools.counters))
}
