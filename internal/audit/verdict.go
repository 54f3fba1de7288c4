package audit

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// The thresholds of the verdict.
const (
	// A prefix is close to failing if its next create fails with a chance above closeChance.
	closeChance = 0.001
	// A prefix is also close to failing if one failure is expected within closeDays.
	closeDays = 365
	// The verdict mentions a prefix with manyCreated objects of the last ten minutes, or with someCreated if they
	// are at least a tenth of all its objects, or with more than manyCreated objects of the last 24 hours.
	manyCreated, someCreated, tenth = 1000, 100, 10
	// No prefix with fewer than fewestToCompare names is close to failing. Even with one attempt, 9 names a
	// day make 3,294 names and 0.4 expected failures in a year.
	fewestToCompare = 10
	// mostCreatedShown is the largest number of prefixes in the verdict.
	mostCreatedShown = 3
)

// verdict collects the verdict while name pools are added.
type verdict struct {
	close       int64
	closest     *v1alpha1.AuditClosest
	unknown     map[string]bool // the resource types with unknown attempts
	createdMost top[v1alpha1.AuditMostCreated]
	created     int64
}

// nearer records a prefix if it is closer to a failure than all earlier prefixes.
func (v *verdict) nearer(c v1alpha1.AuditClosest) {
	if v.closest == nil || compareClosest(c, *v.closest) < 0 {
		v.closest = &c
	}
}

// compareClosest compares prefixes by the time until a failure, and by room.
func compareClosest(a, b v1alpha1.AuditClosest) int {
	days := func(c v1alpha1.AuditClosest) float64 {
		if c.FailsInDays == nil {
			return math.Inf(1)
		}
		return *c.FailsInDays
	}
	return cmp.Or(
		cmp.Compare(days(a), days(b)), cmp.Compare(a.Room, b.Room), cmp.Compare(b.NextCreate, a.NextCreate),
		cmp.Compare(b.Names, a.Names), cmp.Compare(a.Prefix, b.Prefix), a.Compare(b.PrefixRef))
}

// create notes a prefix or a fold if many of its objects are new.
func (v *verdict) create(m v1alpha1.AuditMostCreated) {
	if !IsSudden(m) && m.Last24h <= manyCreated {
		return
	}
	v.created++
	v.createdMost.add(m)
}

// IsSudden reports whether a prefix or a fold has many objects of the last ten minutes, and not only of the
// last 24 hours.
func IsSudden(m v1alpha1.AuditMostCreated) bool {
	return m.Last10m >= manyCreated || m.Last10m >= someCreated && m.Last10m*tenth >= m.Names
}

// compareCreated compares prefixes by the number of new objects. The most come first.
func compareCreated(a, b v1alpha1.AuditMostCreated) int {
	sudden := func(m v1alpha1.AuditMostCreated) int64 {
		if IsSudden(m) {
			return m.Last10m
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(sudden(b), sudden(a)), cmp.Compare(b.Last24h, a.Last24h),
		cmp.Compare(b.Names, a.Names), cmp.Compare(a.Prefix, b.Prefix), a.Compare(b.PrefixRef),
		cmp.Compare(a.OwnerKind, b.OwnerKind))
}

// addToVerdict adds a name pool to the verdict.
func (b *builder) addToVerdict(pool *pools.Pool) error {
	v := &b.verdict
	v.create(createdIn(pool))
	if pool.Naming == object.ByStem {
		return nil
	}
	retries, _ := b.odds.retries(pool)
	if retries.Attempts == nil {
		v.unknown[pool.String()] = true
	}
	attempts := knownAttempts(retries)
	chance, days, err := b.closeness(pool, attempts)
	if err != nil {
		return err
	}
	isClose := chance > closeChance || days != nil
	if isClose {
		v.close++
	} else if v.closest != nil && v.closest.Names >= pool.Names && v.closest.Attempts <= attempts {
		return nil // this prefix has more room; calculating the room is slow
	}
	room, err := b.odds.room(pool.Names, attempts)
	v.nearer(v1alpha1.AuditClosest{
		PrefixRef: refOf(pool), Names: pool.Names, Attempts: attempts,
		NextCreate: chance, Room: room, FailsInDays: days,
	})
	return err
}

func createdIn(pool *pools.Pool) v1alpha1.AuditMostCreated {
	created := v1alpha1.AuditMostCreated{
		PrefixRef: refOf(pool), Names: pool.Names, Last10m: last(pool, Last10m), Last24h: last(pool, Last24h),
	}
	if creators := creatorsOf(pool.Creator); len(creators) > 0 {
		created.Creator = &creators[0]
	}
	return created
}

// isPredictable reports whether the creates of the last 24 hours show how a name pool grows. They don't if replicas or
// machines limit the names, if the names aren't random, or if the pool is younger than a day, unless it has many
// objects of the last ten minutes.
func (b *builder) isPredictable(pool *pools.Pool) bool {
	isYoung := !pool.Oldest.IsZero() && b.config.countedAt().Sub(pool.Oldest) < day
	return pool.Naming != object.ByStem && !pool.ReplicaBounded && pool.GroupResource != nodes &&
		(!isYoung || IsSudden(createdIn(pool)))
}

// closeness returns the chance that the next create fails. days is the time until one failure is expected
// if the name pool grows each day by the creates of the last 24 hours. days is nil if that takes more than
// a year, or if the pool isn't predictable.
func (b *builder) closeness(pool *pools.Pool, attempts int) (chance float64, days *float64, err error) {
	model, err := modelOf(attempts)
	if err != nil {
		return 0, nil, err
	}
	chance = model.NextFails(pool.Names)
	if !b.isPredictable(pool) {
		return chance, nil, nil
	}
	perDay := float64(last(pool, Last24h))
	year := perDay * closeDays
	if most := model.NextFails(pool.Names + int64(year)); year*most < 1 {
		return chance, nil, nil // these creates fail with a smaller chance than the next one
	}
	expected := func(days float64) float64 { return model.ExpectedFailures(pool.Names, int64(perDay*days)) }
	if expected(closeDays) < 1 {
		return chance, nil, nil
	}
	low, high := 0.0, float64(closeDays)
	for high-low > high/1000 {
		if middle := (low + high) / 2; expected(middle) < 1 {
			low = middle
		} else {
			high = middle
		}
	}
	return chance, &high, nil
}

// verdictOn returns the verdict on all name pools. verdictOn handles the folds last.
func (b *builder) verdictOn(folded []v1alpha1.AuditFolded) *v1alpha1.AuditVerdict {
	if b.config.Watched {
		return nil
	}
	v := &b.verdict
	for _, f := range folded {
		created := v1alpha1.AuditMostCreated{
			PrefixRef: v1alpha1.PrefixRef{Group: f.Group, Resource: f.Resource, Namespace: f.Namespace},
			OwnerKind: f.OwnerKind, Names: f.Names, Last10m: *f.Last10m, Last24h: *f.Last24h,
		}
		if len(f.Creators) > 0 {
			created.Creator = &f.Creators[0]
		}
		v.create(created)
	}
	return &v1alpha1.AuditVerdict{
		CloseToFailing: v.close, Closest: v.closest,
		AttemptsUnknown:  append([]string{}, slices.Sorted(maps.Keys(v.unknown))...),
		MostCreatedCount: v.created, MostCreated: append([]v1alpha1.AuditMostCreated{}, v.createdMost.first()...),
	}
}
