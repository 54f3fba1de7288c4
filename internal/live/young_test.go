package live

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
	"github.com/kubectl-genname/kubectl-genname/internal/census/decode"
	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
)

// A prefix that is new during the watch is counted from its first name on, without a list.
func TestBeginning(t *testing.T) {
	server := newFakeServer(t, 1)
	random := rand.New(rand.NewPCG(1, 1))
	add := func(prefix string) object {
		o := object{Namespace: "prod", Name: generated(prefix, random), GenerateName: prefix}
		server.change("/api/v1/pods", "ADDED", o)
		return o
	}
	add("other-") // so that the type is watched
	e := start(t, server, pods)
	lists := func() int {
		server.mu.Lock()
		defer server.mu.Unlock()
		return server.lists
	}
	before := lists()
	for range 4 {
		add("new-")
	}
	server.change("/api/v1/pods", "DELETED", add("new-"))
	add("new-")
	eventually(t, func() string { return e.differs(map[string]int64{"pods prod/new-": 5}) })
	for _, row := range e.Snapshot().Rows {
		if row.Pool.Prefix == "new-" && (row.Creates != 6 || row.Deletes != 1 || row.Pool.Generated != 5) {
			t.Errorf("%+v", row)
		}
	}
	if n := lists() - before; n != 0 {
		t.Errorf("%d lists", n)
	}
}

// The name pools that have begun last keep their counters. A name pool that reaches
// MinCount keeps it, too, and one that has lost it gets another one then.
func TestYoungMakeRoom(t *testing.T) {
	k := newTestStore()
	random := rand.New(rand.NewPCG(1, 1))
	add := func(prefix string, times int) (in namepools.ID) {
		for range times {
			o := decode.Object{Namespace: "prod", Name: generated(prefix, random), GenerateName: prefix}
			k.at.version++
			k.change(changed{version: k.at.version, what: decode.Added, object: o})
			in, _ = namepools.Of(&o)
		}
		return in
	}
	big, slow := add("big-", 5), add("slow-", 2)
	for i := range 2 * maxYoung {
		add(fmt.Sprintf("once-%d-", i), 1)
	}
	if n := len(k.pools.counters); n != maxYoung+1 {
		t.Errorf("%d counters, want %d", n, maxYoung+1)
	}
	if c := k.pools.counters[big]; c == nil || c.pool.Names != 5 || c.seen.creates != 5 {
		t.Errorf("%+v", c)
	}
	if n := k.pools.few.of(hashOf(slow)); n != (number{2, 2}) {
		t.Errorf("%+v", n)
	}
	add("slow-", 3)
	if c := k.pools.counters[slow]; c == nil || c.pool.Names != 5 || c.pool.Generated != 5 || c.young {
		t.Errorf("%+v", c)
	}
}

// The first of a name pool is no rate yet, and shows its creator.
func TestBegin(t *testing.T) {
	k := newTestStore()
	at := time.Unix(1_700_000_001, 0)
	event := changed{7, decode.Added, decode.Object{
		Namespace: "prod", Name: "web-7f-bcdfg", GenerateName: "web-7f-", Created: 1_700_000_000,
		Creator: decode.Creator{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-7f"},
	}, at, at}
	k.change(event)
	in, _ := namepools.Of(&event.object)
	begun := k.pools.counters[in]
	want := census.NamePool{
		Resource: pods, Namespace: "prod", Prefix: "web-7f-", SuffixLength: 5, Names: 1, Generated: 1, RawPrefixes: 1,
		Oldest: time.Unix(1_700_000_000, 0).UTC(), Newest: time.Unix(1_700_000_000, 0).UTC(),
		Creator: census.Creator{Kind: "ReplicaSet", Name: "web-7f"}, Creators: 1, ReplicaBounded: true,
	}
	if begun == nil || fmt.Sprint(begun.poolOf(pods, in)) != fmt.Sprint(want) || begun.seen.creates != 1 || begun.seen.rates.creates[0] != 0 {
		t.Errorf("%+v\nwant %+v", begun, want)
	}
	event.object.Creator.Kind, event.object.Name, event.version = "Job", "web-7f-bcdfh", 8
	k.change(event)
	if begun.seen.creates != 2 || begun.seen.rates.creates[0] == 0 || begun.pool.ReplicaBounded {
		t.Errorf("%+v", begun)
	}
}

// A name pool that a list after a gap has raised to MinCount isn't dropped to make room.
func TestYoungOverAGap(t *testing.T) {
	k := newTestStore()
	now := time.Unix(1_700_000_000, 0)
	add := func(prefix string) namepools.ID {
		o := decode.Object{Namespace: "prod", Name: prefix + "bcdfg", GenerateName: prefix}
		k.at.version++
		k.change(changed{k.at.version, decode.Added, o, now, now})
		in, _ := namepools.Of(&o)
		return in
	}
	raised := add("raised-")
	more := newCounter(census.NamePool{Names: 500, Generated: 500})
	k.ReplaceAfterGap(&listing{
		began: now.Add(time.Minute), counters: map[namepools.ID]*counter{raised: more}, version: 10, facts: facts{objects: 500},
	}, 0, nil)
	for i := range 2 * maxYoung {
		add(fmt.Sprintf("once-%d-", i))
	}
	if c := k.pools.counters[raised]; c == nil || c.pool.Names != 500 {
		t.Errorf("%+v", c)
	}
}
