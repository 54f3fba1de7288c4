package audit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/internal/object"
	"github.com/kubectl-genname/kubectl-genname/internal/pools"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

func (b *builder) item(r *row) (v1alpha1.AuditItem, error) {
	pool := &r.Pool
	retries, why := b.odds.retries(pool)
	item := v1alpha1.AuditItem{
		PrefixRef: refOf(pool), Version: pool.Version,
		Names: pool.Names, Generated: pool.Generated, RawPrefixes: pool.RawPrefixes,
		Oldest: v1alpha1.TimeOrNil(pool.Oldest), Newest: v1alpha1.TimeOrNil(pool.Newest),
		ClientGenerated: pool.ClientGenerated, ReplicaBounded: pool.ReplicaBounded,
		GenerateNames: slices.Clone(pool.GenerateNames),
		Creators:      creatorsOf(pool.Creator), CreatorCount: pool.Creators,
		Retries: retries, Measured: measured(&r.Row),
		Orphaned: b.orphaned(&pool.Leftovers), Deleting: deleting(&pool.Leftovers),
	}
	item.Growth = b.old.growthOf(pool, b.config, retries)
	if err := errors.Join(b.forecast(&item), b.count(&item, pool)); err != nil {
		return item, err
	}
	item.Notes = notes(pool, closeText(item), why)
	return item, nil
}

// count sets the numbers of recent creates, and whether the name pool is close to failing.
func (b *builder) count(item *v1alpha1.AuditItem, pool *pools.Pool) (err error) {
	if b.config.Watched {
		return nil
	}
	item.Last10m, item.Last24h = new(last(pool, Last10m)), new(last(pool, Last24h))
	_, item.FailsInDays, err = b.closeness(pool, knownAttempts(item.Retries))
	return err
}

// forecast sets the chance that the next create fails, and the room. A stem has unlimited room.
func (b *builder) forecast(item *v1alpha1.AuditItem) error {
	item.Room.Probability = roomProbability
	if item.Naming == v1alpha1.NamingStem {
		return nil
	}
	odds := func(attempts int) (chance float64, room int64, err error) {
		model, err := modelOf(attempts)
		if err != nil {
			return 0, 0, err
		}
		room, err = b.odds.room(item.Names, attempts)
		return model.NextFails(item.Names), room, err
	}
	single, room, err := odds(1)
	item.NextCreate.NoRetry, item.Room.NoRetry = single, &room
	if err != nil || item.Attempts == nil {
		return err
	}
	chance, more, err := odds(*item.Attempts)
	item.NextCreate.ServerRetry, item.Room.ServerRetry = &chance, &more
	return err
}

func creatorsOf(m object.Creator) []v1alpha1.Creator {
	if m.Kind == "" && m.Manager == "" {
		return nil
	}
	if m.Kind != "" {
		of, _ := schema.ParseGroupVersion(m.APIVersion) // an invalid one has no group
		return []v1alpha1.Creator{{Group: of.Group, Kind: m.Kind, Name: m.Name}}
	}
	return []v1alpha1.Creator{{Manager: m.Manager, Guess: !m.Certain}}
}

// textOf returns a prefix as text for a report. Servers truncate a generateName after 58 bytes, even in the middle
// of a character. JSON would replace the bytes of such a character, and then two prefixes could look equal. So
// textOf escapes them.
func textOf(prefix string) string {
	if utf8.ValidString(prefix) {
		return prefix
	}
	var text strings.Builder
	for len(prefix) > 0 {
		r, size := utf8.DecodeRuneInString(prefix)
		if r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&text, `\x%02x`, prefix[0])
		} else {
			text.WriteString(prefix[:size])
		}
		prefix = prefix[size:]
	}
	return text.String()
}
