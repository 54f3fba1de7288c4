package census

import (
	"time"

	"github.com/kubectl-genname/kubectl-genname/internal/census/namepools"
)

const (
	// MaxRawPrefixes limits the different generateNames that are counted per name pool.
	MaxRawPrefixes = namepools.MaxRawPrefixes
	// MaxCreators limits the different creators that are counted per name pool.
	MaxCreators = namepools.MaxCreators
	// MaxWindows limits the number of times in Scanner.Since.
	MaxWindows = namepools.MaxWindows
	// MinEvident is the smallest number of names that can show a client's generator.
	MinEvident = namepools.MinEvident
)

// NamePool has the names that exist in one name pool.
type NamePool struct {
	Resource  Resource
	Namespace string // empty for cluster-scoped objects
	Prefix    string // the effective prefix, at most 58 bytes
	// SuffixLength is 5, or from 6 to 11 for objects that the plugin created with --suffix-length. They
	// have their own name pool. Its Prefix is truncated so that names have 63 bytes at most.
	SuffixLength int
	// Names is the number of objects whose name is Prefix and five characters of the alphabet, whatever
	// picked the name, including terminating objects. It is 0 for a prefix that only objects with other
	// names have as generateName. With a longer suffix it is the number of objects that have a creation ID
	// annotation and a generateName with the prefix.
	Names int64
	// Generated is the number of them with a generateName that has this prefix. RawPrefixes is the number
	// of their different generateNames. MaxRawPrefixes means that or more. Only a prefix of 58 bytes can
	// have several. GenerateNames has then the first eight in byte order. Otherwise it is nil.
	Generated     int64
	RawPrefixes   int
	GenerateNames []string
	// Recent counts the Names created since each time of Scanner.Since.
	Recent [MaxWindows]int64
	// Oldest and Newest are their first and last creationTimestamp, in whole seconds. They are zero if
	// none has one.
	Oldest, Newest time.Time

	// Creator is the creator of the newest of them. Creators is the number of different creators seen.
	// MaxCreators means that or more. Only objects that are newer than all before them in the list are
	// checked.
	Creator  Creator
	Creators int
	// ClientGenerated is true if none of them has a generateName with the prefix, and the names
	// evidently come from a client's own generator.
	ClientGenerated bool
	// ReplicaBounded is true if the number of replicas limits the number of names. All creators seen are
	// ReplicaSets, ReplicationControllers or DaemonSets, or Services for EndpointSlices.
	ReplicaBounded bool

	// OwnerKind is the kind of the objects' controllers. It is set if all have one kind, and if there are
	// fewer names than Scanner.FoldBelow. Owners are hashes of these controllers, valid until Batch.Add
	// returns.
	OwnerKind string
	Owners    []uint64

	// Extra is true for a name pool that is handed over because of Scanner.All only.
	Extra bool
	// Members are the objects of a name pool of longer suffixes, as namepools.MemberOf has them.
	// They are handed over because of Scanner.All only.
	Members []uint64
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

// A Batch takes the name pools of one list. One goroutine uses it at a time, but Scan fills
// several batches at once. The name pools of a batch that is never committed are incomplete,
// or counted elsewhere. Forget them.
type Batch interface {
	Add(NamePool)
	// Begin makes a batch within this one, for a part of the list. Its Commit adds its name
	// pools to this one.
	Begin() Batch
	// Commit is called when all name pools of the list have been added, and are right. Scan
	// calls it, and Begin, for one batch at a time.
	Commit()
}

// tallied returns the name pool of a tally, as it is reported.
func tallied(r Resource, id namepools.ID, t *namepools.Tally) NamePool {
	return NamePool{
		Resource: r, Namespace: id.Namespace, Prefix: id.Prefix, SuffixLength: id.SuffixLength,
		Names: t.Names, Generated: t.Generated, Recent: t.Recent,
		RawPrefixes: t.RawPrefixes(), GenerateNames: t.GenerateNames(),
		Oldest: TimeOf(t.Oldest), Newest: TimeOf(t.Newest),
		Creator: Creator{
			Kind: t.Creator.Kind, Name: t.Creator.Name,
			Manager: t.Creator.Manager, Certain: t.Creator.Certain, HasCreationID: t.HasCreationID,
		},
		Creators: t.Creators(), ClientGenerated: t.ClientGenerated, ReplicaBounded: t.ReplicaBounded(),
		OwnerKind: t.OwnerKind(), Owners: t.Owners(), Extra: t.Extra, Members: t.Members,
	}
}

// TimeOf returns the time of Unix seconds. It is zero if they are, because the time is unknown then.
func TimeOf(seconds int64) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
