package live

import (
	"fmt"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census"
)

// A counter keeps all that a list says of a name pool.
func TestCounterKeepsThePool(t *testing.T) {
	for _, s := range []census.NamePool{
		{
			Resource: pods, Namespace: "prod", Prefix: "run-", SuffixLength: suffixLength,
			Names: 1 << 30, Generated: 1 << 29, RawPrefixes: census.MaxRawPrefixes, Creators: census.MaxCreators,
			Recent: [census.MaxWindows]int64{1, 2, 1 << 30}, GenerateNames: []string{"run-a-", "run-b-"},
			Oldest: time.Unix(1, 0).UTC(), Newest: time.Unix(1<<40, 0).UTC(),
			Creator: census.Creator{Kind: "Job", Name: "nightly", Manager: "m", Certain: true, HasCreationID: true},
		},
		{Resource: nodes, Prefix: "few-", SuffixLength: 8, Names: 1, ClientGenerated: true, ReplicaBounded: true},
	} {
		if got := newCounter(s).poolOf(s.Resource, idOf(s)); !reflect.DeepEqual(got, s) {
			t.Errorf("%+v, want %+v", got, s)
		}
	}
}

// bytesOfCounter is the memory of a counter without events, with its name and its place.
// docs/internals/watch-engine.md has this number.
const bytesOfCounter = 200

// A hundred thousand counters take no more than bytesOfCounter each. They hold none of the
// memory that they were counted in.
func TestCounterMemory(t *testing.T) {
	const many = 100_000
	before := heapInUse()
	b := newBatch(&Policy{MinCount: 5}, time.Now(), nil, false)
	for i := range many {
		// As the census has it, whose prefixes are parts of names.
		name := fmt.Sprintf("run-%08x-24567", i)
		b.Add(census.NamePool{
			Resource: pods, Namespace: "prod", Prefix: name[:len(name)-suffixLength], SuffixLength: suffixLength, Names: 10,
			Creator: census.Creator{Manager: fmt.Sprint("pipelines-", i%10)},
		})
	}
	k := newTestStore()
	k.Replace(b.complete(census.Listed{}), watched)
	each := (heapInUse() - before) / many
	t.Logf("a counter takes %d bytes", each)
	if each > bytesOfCounter || each < bytesOfCounter/2 {
		t.Errorf("want %d at most", bytesOfCounter)
	}
	runtime.KeepAlive(k)
}

func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // frees after the second run the values that unique has dropped
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
