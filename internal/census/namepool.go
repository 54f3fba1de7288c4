package census

import (
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/pools"
)

// NamePool is a name pool that counts, of a resource type as the server lists it.
type NamePool struct {
	Resource  Resource
	Namespace string // empty for cluster-scoped objects
	Prefix    string // the effective prefix, at most 58 bytes
	// Names is the number of objects in the name pool, including terminating ones.
	Names int64
	// Generated is the number of them with a generateName that has this prefix. RawPrefixes is the number
	// of their different generateNames. pools.MaxRawPrefixes means that or more. Only a prefix of 58 bytes can
	// have several. GenerateNames has then the first eight in byte order. Otherwise it is nil.
	Generated     int64
	RawPrefixes   int
	GenerateNames []string
	// Recent counts the Names created since each time of Scanner.Since.
	Recent [pools.Windows]int64
	// Oldest and Newest are their first and last creationTimestamp, in whole seconds. They are zero if
	// none has one.
	Oldest, Newest time.Time

	// Creator is the creator of the newest of them. Creators is the number of different creators seen.
	// pools.MaxCreators means that or more.
	Creator  Creator
	Creators int
	// ClientGenerated is true if none of them has a generateName with the prefix, and the names
	// evidently come from a client's own generator.
	ClientGenerated bool
	// ReplicaBounded is true if the number of replicas limits the number of names.
	ReplicaBounded bool

	// OwnerKind is the kind of the objects' controllers, if each has one and all have one kind. Owners
	// are then hashes of these controllers, valid in this process.
	OwnerKind string
	Owners    []uint64
}

// Creator is the creator of an object.
type Creator struct {
	// Kind and Name are the object's controller; empty if it has none.
	Kind, Name string
	// Manager is the field manager that owns the object's generateName, or else the oldest of its
	// managedFields. It is empty if there is none. It is read only for objects without a controller.
	Manager string
	// Certain is false if Manager is only the oldest of managedFields.
	Certain bool
	// HasCreationID is true if the object has a creation ID of this plugin.
	HasCreationID bool
}

// PoolOf returns a name pool of a resource type.
func PoolOf(r Resource, p *pools.Pool) NamePool {
	return NamePool{
		Resource: r, Namespace: p.Namespace, Prefix: p.Prefix,
		Names: p.Names, Generated: p.Generated, RawPrefixes: p.RawPrefixes, GenerateNames: p.GenerateNames,
		Recent: p.Recent, Oldest: p.Oldest, Newest: p.Newest,
		Creator: Creator{
			Kind: p.Creator.Kind, Name: p.Creator.Name, Manager: p.Creator.Manager,
			Certain: p.Creator.Certain, HasCreationID: p.Creator.HasCreationID,
		},
		Creators: p.Creators, ClientGenerated: p.ClientGenerated, ReplicaBounded: p.ReplicaBounded,
		OwnerKind: p.OwnerKind, Owners: p.Owners,
	}
}
