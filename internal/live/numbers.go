package live

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
)

// number is all that is kept of a name pool without a counter.
type number struct{ names, generated int32 }

// numbers are those of all name pools without a counter, by a hash of their ID. There may
// be millions, and nearly all are small. So an entry of small has nine bytes, and no padding.
type numbers struct {
	small map[poolHash][2]uint8
	large map[poolHash]number // those that don't fit into an entry
}

// poolHash is a hash of a name pool. Two of a million name pools have the same once in
// 144,000 times.
type poolHash [7]byte

var hashSeed = maphash.MakeSeed()

func hashOf(id namepools.ID) poolHash {
	var hash [8]byte
	binary.NativeEndian.PutUint64(hash[:], maphash.Comparable(hashSeed, id))
	return poolHash(hash[:])
}

func (all *numbers) of(hash poolHash) number {
	if n, is := all.small[hash]; is {
		return number{int32(n[0]), int32(n[1])}
	}
	return all.large[hash]
}

// set sets the number of a name pool. One without names takes no memory.
func (all *numbers) set(hash poolHash, n number) {
	all.remove(hash)
	small := [2]uint8{uint8(n.names), uint8(n.generated)}
	switch {
	case n.names <= 0:
	case n == number{int32(small[0]), int32(small[1])}:
		if all.small == nil {
			all.small = map[poolHash][2]uint8{}
		}
		all.small[hash] = small
	default:
		if all.large == nil {
			all.large = map[poolHash]number{}
		}
		all.large[hash] = n
	}
}

func (all *numbers) remove(hash poolHash) {
	delete(all.small, hash)
	delete(all.large, hash)
}

func (all *numbers) each(take func(poolHash, number)) {
	for hash, n := range all.small {
		take(hash, number{int32(n[0]), int32(n[1])})
	}
	for hash, n := range all.large {
		take(hash, n)
	}
}
