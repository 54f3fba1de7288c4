package audit

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/analyze"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

// RetriesOf returns the attempts per create in one API, and a note about them, which can be empty.
type RetriesOf func(schema.GroupVersion) (retries v1alpha1.Retries, note string)

// Odds calculates the chances of failures in name pools. Only one goroutine can use it at the same time.
type Odds struct {
	retriesOf RetriesOf
	rooms     map[roomKey]int64 // a cache, because a calculation is slow
}

type roomKey struct {
	attempts int
	names    int64
}

// NewOdds returns the odds at the attempts of a server.
func NewOdds(retriesOf RetriesOf) *Odds { return &Odds{retriesOf, map[roomKey]int64{}} }

// retries returns the attempts per create in a name pool, and a note about them, which can be empty. The server
// doesn't retry client-generated names. kubectl genname create retries them itself, but other clients don't.
func (o *Odds) retries(pool *pools.Pool) (retries v1alpha1.Retries, why string) {
	byClient := func(attempts int) v1alpha1.Retries {
		return v1alpha1.Retries{Attempts: &attempts, AttemptsSource: v1alpha1.SourceDefault}
	}
	switch {
	case pool.Naming == object.ByStem: // its names aren't random
		return v1alpha1.Retries{AttemptsSource: v1alpha1.SourceUnknown}, ""
	case pool.ClientGenerated:
		return byClient(1), ""
	case pool.HasCreationID && pool.Creators == 1:
		return byClient(names.DefaultAttempts), ""
	}
	return o.retriesOf(schema.GroupVersion{Group: pool.Group, Version: pool.Version})
}

// knownAttempts returns the attempts per create, or 1 if they are unknown.
func knownAttempts(retries v1alpha1.Retries) int {
	if retries.Attempts == nil {
		return 1
	}
	return *retries.Attempts
}

func modelOf(attempts int) (analyze.Model, error) {
	size, err := analyze.NamePoolSize(names.SuffixLength)
	if err != nil {
		return analyze.Model{}, err
	}
	return analyze.NewModel(size, attempts)
}

// nextFails returns the chance that the next create in a name pool fails with the attempts
// in force. Unknown attempts count as one. Names of a stem aren't random, so their chance is 0.
func (o *Odds) nextFails(pool *pools.Pool) (float64, error) {
	if pool.Naming == object.ByStem {
		return 0, nil
	}
	retries, _ := o.retries(pool)
	model, err := modelOf(knownAttempts(retries))
	return model.NextFails(pool.Names), err
}

// Room returns the attempts per create in a name pool, and its room as in AuditItem.Room. attempts is nil
// if unknown. Then Room returns the room with one attempt.
func (o *Odds) Room(pool pools.Pool) (attempts *int, room int64, err error) {
	retries, _ := o.retries(&pool)
	room, err = o.room(pool.Names, knownAttempts(retries))
	return retries.Attempts, room, err
}

// roomProbability is the chance of any failure that defines the room. maxRooms limits the remembered rooms.
const roomProbability, maxRooms = 0.001, 1 << 14

func (o *Odds) room(names int64, attempts int) (int64, error) {
	key := roomKey{attempts, names}
	if room, known := o.rooms[key]; known {
		return room, nil
	}
	model, err := modelOf(attempts)
	if err != nil {
		return 0, err
	}
	room, err := model.Room(names, roomProbability)
	if err != nil {
		return 0, err
	}
	if len(o.rooms) == maxRooms {
		clear(o.rooms)
	}
	o.rooms[key] = room
	return room, nil
}
