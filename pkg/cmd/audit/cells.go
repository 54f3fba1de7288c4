package audit

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-genname/kubectl-genname/internal/audit"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/api/v1alpha1"
)

// prefixText returns the prefix. The prefix is in quotes if it could be confused with another prefix. For a fold,
// prefixText returns the number of owners or of prefixes.
func prefixText(r *row) string {
	if r.fold != nil {
		return foldText(r.fold)
	}
	text := r.Prefix
	if strings.ContainsAny(text, "\\\" \t(") {
		text = strconv.Quote(text)
	}
	return text
}

func foldText(f *v1alpha1.AuditFolded) string {
	count, word := f.Prefixes, "prefix"
	switch {
	case f.OwnerKind != "":
		owners := plural(f.OwnerKind)
		if f.Owners == 1 {
			owners = f.OwnerKind
		}
		return fmt.Sprintf("(%s %s)", humanize.Grouped(f.Owners), owners)
	case count == 0 && f.Measured != nil && f.Manager == "":
		return "(other names)"
	case count == 0:
		return "(fixed names)"
	case f.Largest.Naming == v1alpha1.NamingStem:
		word = "stem"
	}
	return "(" + humanize.Count(count, word) + ")"
}

// countText returns a number, or a question mark if it is unknown.
func countText(n *int64) string {
	if n == nil {
		return humanize.Unknown
	}
	return humanize.Grouped(*n)
}

// creatorText returns the creator of the newest object, and the number of other creators.
func creatorText(r *row) string {
	if len(r.Creators) == 0 {
		return humanize.Unknown
	}
	text := creatorName(r.Creators[0])
	if r.CreatorCount > 1 {
		text += fmt.Sprintf(" +%d", r.CreatorCount-1)
	}
	return text
}

// creatorName returns a creator for people.
func creatorName(creator v1alpha1.Creator) string {
	text := creator.Manager
	if creator.Kind != "" {
		text = creator.Kind + "/" + creator.Name
	}
	if creator.Guess {
		text += "?"
	}
	return text
}

// notesText returns the notes. If there is a gate, it adds the time until the gate is exceeded.
func notesText(r *row, gated bool) string {
	notes := r.Notes
	if g := r.Growth; gated && g != nil && g.DaysToGate != nil {
		when := "in " + spanText(g.DaysToGate)
		if *g.DaysToGate == 0 {
			when = "now"
		}
		notes = append([]string{fmt.Sprintf("above the gate %s", when)}, notes...)
	}
	notes = slices.Concat(notes, leftoverNotes(r))
	if setting := retentionSetting(r); setting != "" {
		notes = append(notes, setting)
	}
	return strings.Join(notes, "; ")
}

// retentionSetting returns the setting of the creator that limits the objects of a row, or "".
func retentionSetting(r *row) string {
	creator, prefix, owners := v1alpha1.Creator{}, r.Prefix, int64(1)
	switch {
	case r.fold != nil:
		creator.Kind, creator.Manager = r.fold.OwnerKind, r.fold.Manager
		owners = cmp.Or(r.fold.Owners, r.fold.Prefixes)
		if r.fold.Largest != nil {
			prefix = r.fold.Largest.Prefix
		}
	case len(r.Creators) > 0:
		creator = r.Creators[0]
	}
	return audit.RetentionSetting(r.GroupResource(), r.Names, owners, prefix, creator)
}

// spanText returns a number of days for people. nil means that there is no end.
func spanText(days *float64) string {
	const minutesOfDay, hoursOfDay, daysOfYear = 1440, 24, 365.25
	if days == nil || *days > 100*daysOfYear {
		return "more than 100y"
	}
	switch d := *days; {
	case d*minutesOfDay < 1:
		return "<1m"
	case d*minutesOfDay < 90:
		return fmt.Sprintf("%.0fm", d*minutesOfDay)
	case d*hoursOfDay < 48:
		return fmt.Sprintf("%.0fh", d*hoursOfDay)
	case d < 2*daysOfYear:
		return fmt.Sprintf("%.0fd", d)
	default:
		return fmt.Sprintf("%.0fy", d/daysOfYear)
	}
}

// attemptsText returns the attempts per create. A stem has none, because its names aren't random.
func attemptsText(r *row) string {
	if r.Naming == v1alpha1.NamingStem {
		return ""
	}
	if r.Attempts == nil {
		return humanize.Unknown
	}
	return strconv.Itoa(*r.Attempts)
}

// roomText returns the room. If the attempts are unknown, it is a lower bound.
func roomText(r *row) string {
	if r.Naming == v1alpha1.NamingStem {
		return ""
	}
	if r.Attempts == nil {
		return "≥" + humanize.Room(roomOf(r.AuditItem))
	}
	return humanize.Room(roomOf(r.AuditItem))
}

// roomOf returns the room with the attempts in force. If the attempts are unknown, roomOf returns the smaller room
// without retries.
func roomOf(i v1alpha1.AuditItem) *int64 {
	if i.Attempts == nil {
		return i.Room.NoRetry
	}
	return i.Room.ServerRetry
}

// ageText returns the age of an object, as kubectl does. The age of an object that was created after now, while the
// audit ran, is 0.
func ageText(created *metav1.Time, now time.Time) string {
	if created == nil {
		return humanize.Unknown
	}
	return duration.HumanDuration(max(now.Sub(created.Time), 0))
}

// growthText returns the growth per day since the audit of --compare: a number, a range, or a question mark.
func growthText(g *v1alpha1.Growth) string {
	switch {
	case g == nil || g.PerDay == nil:
		return humanize.Unknown
	case g.Exactly() == nil:
		return signed(*g.PerDay) + "–" + signed(g.PerDayMost)
	case g.New:
		return signed(*g.PerDay) + " (new)"
	}
	return signed(*g.PerDay)
}

// signed returns a number with its sign, without needless digits.
func signed(x float64) string {
	sign := "+"
	if x < 0 {
		sign = "-"
	}
	switch x = math.Abs(x); {
	case x == 0:
		return "0"
	case x == math.Trunc(x) && x < math.MaxInt64:
		return sign + humanize.Grouped(int64(x))
	}
	return sign + humanize.Significant(x)
}

// rateUnit is the unit of all rates on a screen.
type rateUnit struct {
	name   string
	perDay float64
}

// rateUnits are the units, the shortest first.
var rateUnits = []rateUnit{{"/s", 24 * 60 * 60}, {"/min", 24 * 60}, {"/h", 24}}

// unitOf returns the shortest unit in which the fastest of some rows changes at least once.
func unitOf(rows []row) rateUnit {
	fastest := 0.0
	for _, r := range rows {
		if m := r.Measured; m != nil && m.RatePerDay != nil {
			fastest = max(fastest, math.Abs(*m.RatePerDay))
		}
	}
	for _, unit := range rateUnits {
		if fastest >= unit.perDay {
			return unit
		}
	}
	return rateUnits[len(rateUnits)-1]
}

// text returns how fast a row grows. The rate is unknown in the first ten seconds.
func (u rateUnit) text(r *row) string {
	m := r.Measured
	if m == nil || m.RatePerDay == nil {
		return humanize.Unknown
	}
	return signed(*m.RatePerDay/u.perDay) + u.name
}

// sinceText returns the number of creates or deletes since the start. After a gap, it is a lower bound.
func sinceText(r *row, count func(*v1alpha1.Measured) int64) string {
	m := r.Measured
	if m == nil {
		return humanize.Unknown
	}
	text := humanize.Grouped(count(m))
	if m.Gaps > 0 {
		return "≥" + text
	}
	return text
}

// givingWayInWatch are the columns that a watch omits first on a narrow terminal, before it shortens any name.
var givingWayInWatch = []string{notesColumn, creatorColumn, deletedColumn}

// watchColumns returns the columns of the table of a watch. All rates have the unit of the fastest row.
func watchColumns(rows []row, namespaces bool) []column {
	unit := unitOf(rows)
	columns := append(placeColumns(namespaces),
		column{rateColumn, true, unit.text},
		column{"CREATED", true, func(r *row) string {
			return sinceText(r, func(m *v1alpha1.Measured) int64 { return m.Creates })
		}},
		column{deletedColumn, true, func(r *row) string {
			return sinceText(r, func(m *v1alpha1.Measured) int64 { return m.Deletes })
		}},
		column{"NAMES", true, func(r *row) string { return humanize.Grouped(r.Names) }},
		column{creatorColumn, false, creatorText})
	return append(columns, column{notesColumn, false, func(r *row) string { return notesText(r, false) }})
}

// unknownLines explain the question marks of some rows of a watch.
func unknownLines(rows []row) (lines []string) {
	if slices.ContainsFunc(rows, func(r row) bool { return r.Measured != nil && r.Measured.RatePerDay == nil }) {
		lines = append(lines, "RATE is ? until a prefix has been watched for 10 seconds.")
	}
	if slices.ContainsFunc(rows, func(r row) bool { return r.Measured == nil }) {
		lines = append(lines, "RATE, CREATED and DELETED are ? for types that aren't watched.")
	}
	return lines
}
