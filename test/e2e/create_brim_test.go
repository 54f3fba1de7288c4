package e2e

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

// smallPool is the number of names of a prefix on a server with one random character.
const smallPool = 27

// A prefix is filled completely with --naming=server. Every requested object exists while names are
// free. After that, creates fail soon, and print the number of attempts.
func TestCreateToTheBrim(t *testing.T) {
	t.Parallel()
	cp := controlplane.New(t, controlplane.WithoutServerRetries, controlplane.SuffixLength(1))
	b := brim{t: t, cp: cp, namespace: harness.Namespace(t, cp), manifest: harness.File(t, "cm.yaml", configMap)}
	b.askTooMuch()
	// Below 10 objects no create fails, except in one of a million runs. The chance is the sum of (k/27)^16 for k below
	// 10, because the plugin tries 16 names.
	if b.there < 10 || b.there > smallPool {
		t.Errorf("%d objects were made before creates failed, want 10 to %d", b.there, smallPool)
	}
	// The chance to miss the last free name with 700 attempts is (26/27)^700 < 4e-12.
	b.fill(700)
	b.askForOneMore()
}

// brim fills the prefix demo- of a namespace.
type brim struct {
	t                   *testing.T
	cp                  *controlplane.ControlPlane
	namespace, manifest string
	there               int // existing objects
}

// askTooMuch requests more objects than there are names. Created and failed objects add up, and the
// failure is printed once.
func (b *brim) askTooMuch() {
	const asked = 40
	r := b.create("--count=40")
	account := sum("not all objects were created", b.there, 0, asked-b.there, 0, 0) +
		theRest("create the rest with the same command and this flag:\n  --count=%d", strconv.Itoa(asked-b.there)) + "$"
	if failures := gaveUp.FindAllString(r.Stderr, -1); r.Code != 1 || len(failures) != 1 || !regexp.MustCompile(account).MatchString(r.Stderr) {
		b.t.Errorf("exit code %d, want 1, %d failures, want 1, and the end of stderr is\n%s\nwant\n%s", r.Code, len(failures), end(r.Stderr), account)
	}
}

// fill requests as many objects as names are left.
func (b *brim) fill(attempts int) {
	left := smallPool - b.there
	if left == 0 {
		return
	}
	r := b.create(fmt.Sprintf("--count=%d", left), fmt.Sprintf("--attempts=%d", attempts))
	if r.Code != 0 || b.there != smallPool {
		b.t.Errorf("exit code %d, and %d objects are there, want %d; the end of stderr is\n%s", r.Code, b.there, smallPool, end(r.Stderr))
	}
}

func (b *brim) askForOneMore() {
	conflict := `configmaps "demo-." already exists, the server was not able to generate a unique name for the object`
	failure := `Error from server \(AlreadyExists\): error when creating ".*/cm.yaml": ` + conflict
	b.create().Expect(b.t, 1, ``, `(`+harness.Printed("%s: %v (%s)", "configmap/demo-", conflict, "asking for another name")+`){15}`+failure+`; gave up after 16 attempts\n`)
	b.create("--attempts=1").Expect(b.t, 1, ``, failure+`\n`)
	if b.there != smallPool {
		b.t.Errorf("%d objects are there, want %d", b.there, smallPool)
	}
}

// gaveUp matches the message about an object that failed.
var gaveUp = regexp.MustCompile(`(?m)^Error from server \(AlreadyExists\): .*; gave up after 16 attempts$`)

// create runs the command for two minutes at most (it takes seconds). It checks that exactly the
// printed objects were created.
func (b *brim) create(args ...string) harness.Result {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 2*time.Minute)
	defer cancel()
	u := harness.As(b.t, b.cp.Admin())
	u.Context = ctx
	r := u.Run(append([]string{"create", "--naming=server", "-n", b.namespace, "-f", b.manifest}, args...)...)

	printed := map[string]bool{}
	for line := range strings.Lines(r.Stdout) {
		printed[line] = true
	}
	objects := harness.ConfigMaps(b.t, b.cp, b.namespace)
	for _, object := range objects {
		delete(printed, "configmap/"+object.Name+" created\n")
	}
	came := len(objects) - b.there
	if lines := strings.Count(r.Stdout, "\n"); len(printed) > 0 || lines != came {
		b.t.Errorf("%d objects were created, and %d are printed: %v are not there", came, lines, printed)
	}
	b.there = len(objects)
	return r
}

// end returns the end of a text.
func end(text string) string { return text[max(0, len(text)-1000):] }
