package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/digest"
)

// These separate the hashes from each other and from all others, and version
// them: a change of a derivation is a new version.
const (
	runDomain      = "genname.dev/run/v1\x00"
	creationDomain = "genname.dev/creation/v1\x00"
)

// Key is what a user calls a run by. It is not a secret, but it is treated as
// one: only hashes of it leave the process.
type Key string

// RunLabel is the value of the label that all objects of the run carry: "v1-"
// and the first 128 bits of SHA-256(domain ‖ key) in hexadecimal.
func (k Key) RunLabel() string {
	return v1(sha256.Sum256([]byte(runDomain + string(k))))
}

// Place is where objects go: a type, and a namespace unless the type is
// cluster-scoped.
type Place struct {
	Resource  schema.GroupResource
	Namespace string
}

// CreationID is the id of the n-th object (0, 1, …) among those of the run
// that go to the same place and have the same digest: "v1-" and the first 128
// bits of
//
//	SHA-256(domain ‖ frame(key) ‖ frame(resource.group) ‖ frame(namespace) ‖ frame(digest) ‖ n)
//
// in hexadecimal, where frame puts the length before the bytes, and lengths
// and n are 64-bit big-endian integers.
func (k Key) CreationID(place Place, content digest.Sum, n int) string {
	data := []byte(creationDomain)
	for _, part := range []string{string(k), place.Resource.String(), place.Namespace, string(content[:])} {
		data = binary.BigEndian.AppendUint64(data, uint64(len(part)))
		data = append(data, part...)
	}
	return v1(sha256.Sum256(binary.BigEndian.AppendUint64(data, uint64(n))))
}

func v1(hash [sha256.Size]byte) string { return "v1-" + hex.EncodeToString(hash[:16]) }
