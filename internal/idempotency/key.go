package idempotency

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/digest"
)

// These prefixes separate the hashes from each other and from all others. A change of a derivation
// needs a new version.
const (
	runDomain      = "genname.dev/run/v1\x00"
	creationDomain = "genname.dev/creation/v1\x00"
)

// Key is the user's name of a run. It isn't a secret, but only its hashes leave the process.
type Key string

// RunLabel is the value of the label of all objects of the run. It is "v1-" and the first 128 bits
// of SHA-256(domain ‖ key) in hexadecimal.
func (k Key) RunLabel() string {
	return v1(sha256.Sum256([]byte(runDomain + string(k))))
}

// Place is a resource type, and a namespace unless the type is cluster-scoped.
type Place struct {
	Resource  schema.GroupResource
	Namespace string
}

// CreationID is the ID of the n-th object (0, 1, …) among those of the run with the same place and
// digest. It is "v1-" and the first 128 bits, in hexadecimal, of
//
//	SHA-256(domain ‖ frame(key) ‖ frame(resource.group) ‖ frame(namespace) ‖ frame(digest) ‖ n)
//
// frame puts the length before the bytes. Lengths and n are 64-bit big-endian integers.
func (k Key) CreationID(place Place, content digest.Sum, n int) string {
	data := []byte(creationDomain)
	for _, part := range []string{string(k), place.Resource.String(), place.Namespace, string(content[:])} {
		data = binary.BigEndian.AppendUint64(data, uint64(len(part)))
		data = append(data, part...)
	}
	return v1(sha256.Sum256(binary.BigEndian.AppendUint64(data, uint64(n))))
}

func v1(hash [sha256.Size]byte) string { return "v1-" + hex.EncodeToString(hash[:16]) }
