// Package trust lets an adversary act against pkg/once and against create with a key. The model explores all
// histories of a bounded length on a server in memory, and checks properties. The page about the threat model
// must list exactly the attacks that the model finds.
package trust

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/lab/document"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol/choices"
	_ "github.com/kubectl-genname/kubectl-genname/test/testenv"
)

// The properties. The comments name the exceptions for a subject with a secret.
const (
	// P1: an object that was created or exists is not the adversary's, except after ours was stored under this
	// name and deleted by others.
	p1 = "P1: an object of the adversary passes as ours"
	// P2: there is at most one object of ours for each item, with or without a secret.
	p2 = "P2: two objects of ours"
	// P3: without a deletion by others, the outcomes and the requests that store objects are those of the same
	// faults without the adversary, except for fixed names.
	p3 = "P3: the adversary changes an outcome"
	// P4: --wait doesn't take the result of an object of the adversary, with the exception of P1.
	p4 = "P4: --wait takes the result of the adversary"
	// P5: an operator follows the printed advice: run again, and delete an object in the way that isn't
	// ours. This breaks no property, and in the end each item has its object.
	p5 = "P5: the advice doesn't end the trouble"
)

// Events that some histories must have. A model without them would prove nothing.
const (
	histories  = "histories"
	acted      = "the adversary acted"
	readTheirs = "a GET returned an object of the adversary"
	realID     = "it had our real ID"
	replay     = "replay after deletion"
)

// The attacks are the rows of the page about the threat model.
const (
	isFirst    = "knows the key, and creates the object of the key before you"
	takesName  = "knows the key, and creates another object with the generated name of your object"
	takesFixed = "creates another object with the fixed name of your object"
	copies     = "copies the label or the ID of your object to other objects"
	replays    = "creates an object with the name of your object after its deletion"
	stages     = "reads your objects in another cluster, where you use the same key, secret and namespace"
	readsLog   = "reads the name of your object in a log before the object exists"
)

var (
	texts  = map[derive.Secret][]byte{{}: once.NoSecret}
	first  = secretOf(strings.Repeat("1", 32))
	second = secretOf(strings.Repeat("2", 32))
)

func secretOf(text string) derive.Secret {
	secret, err := derive.ParseSecret(text)
	if err != nil {
		panic(err)
	}
	texts[secret] = []byte(text)
	return secret
}

func keyed(kind string) item {
	return item{Object: derive.Object{Group: groups[kind], Kind: kind, Namespace: "ns", GenerateName: "demo-"}, source: derive.FromKey(key)}
}

func owned(kind string) item {
	const uid = "6b1f2d0e-8a55-4f4b-9a43-0c2f5d1f7a10"
	i := keyed(kind)
	i.source, i.owner = derive.FromOwner(uid, purpose), uid
	return i
}

var groups = map[string]string{"Job": "batch"}

var fixed = item{Object: derive.Object{Kind: "ConfigMap", Namespace: "ns", Name: ownName}, source: derive.FromKey(key)}

// found has the number of histories with each note, and the results of each attack.
type found struct {
	notes   map[string]int
	effects effects
}

// effects are the results by attack.
type effects map[string]map[string]bool

func (e effects) add(attack, result string) {
	if e[attack] == nil {
		e[attack] = map[string]bool{}
	}
	e[attack][result] = true
}

// explore runs all histories.
func (m model) explore(t *testing.T) found {
	t.Helper()
	all, calm := found{map[string]int{}, effects{}}, map[string]*world{}
	synctest.Test(t, func(t *testing.T) {
		for c, more := (&choices.Choices{Depth: 1000}), true; more; more = c.Advance() {
			w := newWorld(t.Context(), m, c)
			w.play(calm)
			all.notes[histories]++
			for note := range w.notes {
				all.notes[note]++
			}
			for attack, results := range w.effects {
				for result := range results {
					all.effects.add(attack, result)
				}
			}
		}
	})
	return all
}

// play plays the history, and adds its notes. calm has the histories without an adversary by their faults.
func (w *world) play(calm map[string]*world) {
	for range 2 {
		w.claims = append(w.claims, w.run()...)
		w.check()
	}
	if len(w.gone) == 0 && !w.quiet {
		faults := fmt.Sprint(w.faults)
		if calm[faults] == nil {
			calm[faults] = newWorld(w.ctx, w.model, &choices.Choices{})
			calm[faults].quiet, calm[faults].replayed = true, w.faults
			calm[faults].play(nil)
		}
		w.compare(calm[faults])
	}
	w.follow()
}

// last returns the claims of the last run.
func (w *world) last() []claim { return w.claims[len(w.claims)-len(w.items):] }

// holder returns the attack that holds the name of an item, or "".
func (w *world) holder(i item) string {
	for _, s := range append([]derive.Secret{w.secret}, w.former...) {
		if held := w.held(i.Kind, nameOf(i, s)); held != nil && w.theirs(held.GetUID()) {
			return w.class[held.GetUID()]
		}
	}
	return ""
}

// check checks the last run.
func (w *world) check() {
	if w.warned && slices.Contains(slices.Collect(maps.Values(w.class)), copies) {
		w.effects.add(copies, "warning")
	}
	for n, c := range w.last() {
		if c.succeeded() {
			w.checkObject(p1, c.object, c.outcome)
		}
		w.checkObject(p4, c.result, c.outcome)
		switch attack := w.holder(w.items[n]); {
		case c.succeeded():
		case attack != "" && (c.outcome != nothing || attack != isFirst):
			w.effects.add(attack, c.outcome)
		case c.outcome == nothing && !slices.ContainsFunc(w.items, func(i item) bool { return w.holder(i) != "" && w.holder(i) != isFirst }):
			w.effects.add(copies, c.outcome)
		}
	}
	ours := map[string]int{}
	for _, o := range w.server.Objects() {
		if !w.theirs(o.GetUID()) {
			ours[o.GetKind()+o.GetGenerateName()]++
			w.note(p2, ours[o.GetKind()+o.GetGenerateName()] > 1)
		}
	}
}

// checkObject notes that a run believes in an object of the adversary.
func (w *world) checkObject(property string, uid types.UID, outcome string) {
	if !w.theirs(uid) {
		return
	}
	w.effects.add(w.class[uid], outcome)
	w.note(replay, w.class[uid] == replays)
	w.note(property, w.class[uid] != replays)
}

func (w *world) note(note string, is bool) {
	if is {
		w.notes[note] = true
	}
}

// compare compares the outcomes and the POSTs with those of a history without the adversary.
func (w *world) compare(calm *world) {
	for n, c := range w.claims {
		i := w.items[n%len(w.items)]
		if i.GenerateName == "" || c.outcome == calm.claims[n].outcome {
			continue
		}
		w.note(p3, true)
		if !c.succeeded() && c.outcome != nothing && !slices.ContainsFunc(w.items, func(i item) bool { return w.holder(i) != "" }) {
			w.effects.add("of no class", c.outcome)
		}
	}
	delete(w.posts, ownName)
	delete(calm.posts, ownName)
	w.note(p3, !maps.Equal(w.posts, calm.posts))
}

// follow lets an operator follow the advice of the last run, until the items exist. The adversary stops.
func (w *world) follow() {
	for w.left = 0; slices.ContainsFunc(w.last(), func(c claim) bool { return !c.succeeded() }); {
		done := len(w.claims) / len(w.items)
		if w.note(p5, done > 5); done > 5 || w.quiet {
			return
		}
		for n, c := range w.last() {
			if c.outcome == nothing && w.holder(w.items[n]) == replays {
				return // the copy has another digest: "Run the command with the earlier input"
			}
			kind, name, _ := strings.Cut(c.holder, "/")
			if held := w.held(kind, name); held != nil && w.theirs(held.GetUID()) {
				w.remove(held)
			}
		}
		w.claims = append(w.claims, w.run()...)
		w.check()
	}
}

var (
	// deeper is set by "make -f lab/Makefile adversary".
	deeper = flag.Int("deeper", 0, "how many more decisions differ from a history without faults and adversary")
	update = flag.Bool("update", false, "write the table of docs/concepts/threat-model.md")
)

// least are minimum counts of histories by note.
type least map[string]int

func (l least) check(t *testing.T, notes map[string]int) {
	t.Helper()
	t.Log(notes)
	for note, n := range l {
		if notes[note] < n {
			t.Errorf("%d histories have %q, want at least %d", notes[note], note, n)
		}
	}
}

// exploration is a model and the minimum counts of its notes. A property that isn't among them must hold.
type exploration struct {
	model
	least least
}

var (
	job    = []item{keyed("Job")}
	kinds  = []item{keyed("Job"), keyed("ConfigMap")}
	owners = []item{owned("Job"), owned("ConfigMap")}
	named  = []item{keyed("Job"), fixed}
	none   = []derive.Secret{{}}
	old    = []derive.Secret{first}
)

// With a secret, the adversary breaks no property.
var withSecret = map[string]exploration{
	"library":                    {model{subject: library, items: job, secret: first, budget: 2}, least{histories: 450, acted: 400, readTheirs: 20, realID: 6, replay: 3}},
	"library, owners":            {model{subject: library, items: owners, secret: first, budget: 1}, least{histories: 100, acted: 90}},
	"library, two kinds":         {model{subject: library, items: kinds, secret: first, budget: 1}, least{histories: 100, acted: 90}},
	"library, changed secret":    {model{subject: library, items: job, secret: second, former: old, budget: 2}, least{histories: 650, acted: 600, readTheirs: 30, realID: 9, replay: 5}},
	"command":                    {model{subject: command, items: job, secret: first, budget: 2}, least{histories: 200, acted: 180, readTheirs: 10, realID: 3, replay: 2}},
	"command, two kinds":         {model{subject: command, items: kinds, secret: first, budget: 1}, least{histories: 60, acted: 50}},
	"command, fixed name":        {model{subject: command, items: named, secret: first, budget: 1}, least{histories: 50, acted: 40, readTheirs: 8}},
	"command, only a fixed name": {model{subject: command, items: []item{fixed}, secret: first, budget: 2}, least{histories: 50, readTheirs: 20, replay: 1}},
	"command, changed secret":    {model{subject: command, items: job, secret: second, former: old, budget: 2}, least{histories: 250, acted: 230, readTheirs: 20, realID: 6, replay: 2}},
}

// Without a secret, or with one that doesn't help, the model finds the attacks.
var withoutHelp = map[string]exploration{
	"library":                    {model{subject: library, items: job, budget: 2}, least{histories: 300, acted: 250, p1: 30, p3: 150, replay: 3}},
	"library, owners":            {model{subject: library, items: owners, budget: 1}, least{histories: 60, p1: 8, p3: 20}},
	"library, leaked":            {model{subject: library, items: kinds, secret: first, leaked: first, budget: 1}, least{histories: 140, p1: 4, p3: 25}},
	"library, none so far":       {model{subject: library, items: job, secret: first, former: none, budget: 2}, least{histories: 800, p1: 50, p3: 90, replay: 4}},
	"command":                    {model{subject: command, items: job, budget: 2}, least{histories: 100, p1: 10, p3: 50, p4: 5, p5: 10, replay: 1}},
	"command, two kinds":         {model{subject: command, items: kinds, budget: 1}, least{histories: 50, p1: 4, p3: 20, p4: 2, p5: 10}},
	"command, leaked":            {model{subject: command, items: kinds, secret: first, leaked: first, budget: 1}, least{histories: 100, p1: 4, p3: 25, p4: 2, p5: 4}},
	"command, fixed name":        {model{subject: command, items: named, budget: 1}, least{histories: 40, p1: 4, p3: 15, p4: 2, p5: 10}},
	"command, only a fixed name": {model{subject: command, items: []item{fixed}, budget: 2}, least{histories: 50, p1: 2, p5: 2}},
}

// The two attacks that a secret alone doesn't prevent.
var (
	elsewhere = map[string]exploration{
		"without": {model{subject: command, items: job, staged: true, budget: 1}, least{p1: 2, p3: 10, p4: 2, p5: 7}},
		"with":    {model{subject: command, items: job, secret: first, staged: true, budget: 1}, least{p1: 2, p3: 12, p4: 2, p5: 2}},
	}
	inLogs = map[string]exploration{
		"without": {model{subject: command, items: job, logged: true, budget: 1}, least{p1: 2, p3: 10, p4: 2, p5: 7}},
		"with":    {model{subject: command, items: job, secret: first, logged: true, budget: 1}, least{p3: 10}},
	}
)

// The model finds exactly the attacks of the page about the threat model. With a secret, it finds only the attacks that
// the page lists for a secret. The page has their results, which are compared if all explorations ran.
func TestAdversary(t *testing.T) {
	var mu sync.Mutex
	columns := map[string]effects{"without": {}, "with": {}} // of the command
	ran, all := 0, 0
	t.Run("explore", func(t *testing.T) {
		for group, explorations := range map[string]map[string]exploration{
			"with": withSecret, "without": withoutHelp, "another cluster": elsewhere, "a name in a log": inLogs,
		} {
			all += len(explorations)
			for name, x := range explorations {
				t.Run(group+"/"+name, func(t *testing.T) {
					t.Parallel()
					x.budget += *deeper
					found := x.explore(t)
					x.least.check(t, found.notes)
					mu.Lock()
					ran++
					mu.Unlock()
					for _, property := range []string{p1, p2, p3, p4, p5} {
						if n := found.notes[property]; n > 0 && x.least[property] == 0 {
							t.Errorf("%d histories have %q", n, property)
						}
					}
					if strings.HasPrefix(name, "library") || strings.Contains(name, "leaked") {
						return
					}
					column := "without"
					if x.secret != (derive.Secret{}) {
						column = "with"
					}
					mu.Lock()
					defer mu.Unlock()
					for attack, results := range found.effects {
						for result := range results {
							columns[column].add(attack, result)
						}
					}
				})
			}
		}
	})
	if ran == all {
		comparePage(t, columns["without"], columns["with"])
	}
}

// comparePage compares the table of the page with the results of the attacks, or writes it.
func comparePage(t *testing.T, without, with effects) {
	t.Helper()
	if _, is := without["of no class"]; is || len(without) != 7 {
		t.Errorf("the attacks are %v", slices.Sorted(maps.Keys(without)))
	}
	table := "| the other user | your run without a secret | your run with a secret |\n|---|---|---|\n"
	for _, attack := range []string{isFirst, takesName, takesFixed, copies, replays, stages, readsLog} {
		table += fmt.Sprintf("| %s | %s | %s |\n", attack, cell(without[attack]), cell(with[attack]))
	}
	const path = "../../docs/concepts/threat-model.md"
	if *update {
		if err := document.Write(path, "attacks", table); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), document.Section("attacks", table)) {
		t.Errorf("the page has another table. Write it with -args -update:\n%s", table)
	}
}

// cell returns results as the page has them.
func cell(results map[string]bool) string {
	var words []string
	for _, each := range []struct {
		word string
		is   bool
	}{
		{"`created`", results[created]},
		{"`exists`", results[exists]},
		{"warning", results["warning"]},
		{"error", results[failed] || results[nothing]},
		{"exit code 4", results[unknown]},
	} {
		if each.is {
			words = append(words, each.word)
		}
	}
	if len(words) == 0 {
		return "not possible"
	}
	return strings.Join(words, ", ")
}
