package live

import (
	"hash/maphash"
	"maps"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/census/spaces"
)

// number is all that is kept of a name pool without a counter.
type number struct{ names, generated int32 }

// numbers are those of all name pools without a counter, by a hash of their ID. There may
// be millions, of which a Go map would take three times the memory. Nearly all are small: an
// entry of eight bytes has the hash and both numbers. Two of a million name pools have the
// same hash once in 36,000 times.
type numbers struct {
	buckets [][]uint64 // as many as a power of two
	entries int
	large   map[uint64]number // those that don't fit into an entry
}

const (
	// numberBits are those of a number in an entry; the rest are the hash.
	numberBits = 5
	mostNumber = 1<<numberBits - 1
	hashShift  = 2 * numberBits
	// perBucket is how many entries a bucket has on average, at most.
	perBucket = 16
)

// hashSeed is that of all hashes of the process.
var hashSeed = maphash.MakeSeed()

// hashOf returns a hash of the bits that an entry has for it.
func hashOf(id spaces.ID) uint64 { return maphash.Comparable(hashSeed, id) >> hashShift }

func (n number) isSmall() bool {
	return n.names > 0 && n.names <= mostNumber && n.generated >= 0 && n.generated <= mostNumber
}

func (n number) entry(hash uint64) uint64 {
	return hash<<hashShift | uint64(n.names)<<numberBits | uint64(n.generated)
}

func numberOf(entry uint64) number {
	return number{int32(entry >> numberBits & mostNumber), int32(entry & mostNumber)}
}

// find returns the bucket of a hash, and the place of its entry in it or -1.
func (all *numbers) find(hash uint64) (bucket *[]uint64, at int) {
	bucket = &all.buckets[hash&uint64(len(all.buckets)-1)]
	return bucket, slices.IndexFunc(*bucket, func(entry uint64) bool { return entry>>hashShift == hash })
}

// of returns the number of a name pool, zero if there is none.
func (all *numbers) of(hash uint64) number {
	if all.entries > 0 {
		if bucket, at := all.find(hash); at >= 0 {
			return numberOf((*bucket)[at])
		}
	}
	return all.large[hash]
}

// set sets the number of a name pool. One without names takes no memory.
func (all *numbers) set(hash uint64, n number) {
	all.remove(hash)
	switch {
	case n.names <= 0:
	case !n.isSmall():
		if all.large == nil {
			all.large = map[uint64]number{}
		}
		all.large[hash] = n
	default:
		if all.entries >= perBucket*len(all.buckets) {
			all.split()
		}
		bucket, _ := all.find(hash)
		*bucket = append(*bucket, n.entry(hash))
		all.entries++
	}
}

func (all *numbers) remove(hash uint64) {
	delete(all.large, hash)
	if all.entries == 0 {
		return
	}
	if bucket, at := all.find(hash); at >= 0 {
		last := len(*bucket) - 1
		(*bucket)[at] = (*bucket)[last]
		*bucket = (*bucket)[:last]
		all.entries--
	}
}

// split makes two buckets of each.
func (all *numbers) split() {
	before := all.buckets
	all.buckets = make([][]uint64, max(1, 2*len(before)))
	for i, entries := range before {
		isOther := func(entry uint64) bool { return entry>>hashShift&uint64(len(before)) != 0 }
		other := slices.DeleteFunc(slices.Clone(entries), func(entry uint64) bool { return !isOther(entry) })
		all.buckets[i], all.buckets[i+len(before)] = slices.DeleteFunc(entries, isOther), other
	}
}

// each calls a function with the number of each name pool.
func (all *numbers) each(take func(hash uint64, n number)) {
	for _, bucket := range all.buckets {
		for _, entry := range bucket {
			take(entry>>hashShift, numberOf(entry))
		}
	}
	for hash, n := range all.large {
		take(hash, n)
	}
}

// members are the objects whose names have a longer suffix and that have a creation ID
// annotation, by spaces.MemberOf. An update may add or remove the annotation.
type members map[uint64]struct{}

func (all *members) add(hashes []uint64) {
	if *all == nil && len(hashes) > 0 {
		*all = members{}
	}
	for _, hash := range hashes {
		(*all)[hash] = struct{}{}
	}
}

// merge adds other objects.
func (all *members) merge(others members) {
	if len(*all) == 0 {
		*all = others
		return
	}
	maps.Copy(*all, others)
}

// set adds or removes an object. It reports whether the object was there.
func (all *members) set(hash uint64, is bool) (was bool) {
	_, was = (*all)[hash]
	switch {
	case is && !was:
		all.add([]uint64{hash})
	case !is:
		delete(*all, hash)
	}
	return was
}
