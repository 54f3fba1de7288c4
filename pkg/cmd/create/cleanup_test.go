package create

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
)

// The cleanup has the objects that this run created, until they have finished.
func TestCleanup(t *testing.T) {
	c := &cleanup{created: map[types.UID]wait.Object{}}
	r := results{cleanup: c, flags: &ownCreateFlags{}, facts: facts{namespaces: map[string]bool{}}, printer: &printer{format: formatLines}}
	for name, event := range map[string]create.Event{
		"a": created(demo(), "a"), "b": created(demo(), "b"), "c": created(demo(), "c"),
		"found": exists(demo(), "found", 0), "renamed": renamed(demo(), "renamed"),
	} {
		o := event.(create.Outcome)
		o.Object.SetUID(types.UID(name))
		_ = r.outcome(o)
	}
	_ = r.outcome(created(demo(), "no UID").(create.Outcome))
	for uid, outcome := range map[types.UID]wait.Outcome{"a": wait.Succeeded, "b": wait.Interrupted, "c": wait.Abandoned} {
		c.end(follow.Ended{Object: wait.Object{UID: uid}, Outcome: outcome})
	}
	if all := c.objects(); len(all) != 2 || c.created["b"].Name != "b" || c.created["c"].Namespace != "prod" {
		t.Errorf("%+v, want b and c", all)
	}
}

// The commands that stop objects are quoted, one for each namespace. Objects that are being deleted need none.
func TestAboutStopping(t *testing.T) {
	running := func(namespace, name string) wait.Ended {
		o := aJob(name)
		o.Namespace, o.UID = namespace, types.UID(namespace+name)
		return wait.Ended{Object: o, Outcome: wait.Interrupted}
	}
	late, deleting := running("ci", "late"), running("ci", "deleting")
	late.Outcome, deleting.Progress.Deleting = wait.OutOfTime, true
	e := &ending{}
	if lines := e.aboutStopping(); lines != nil {
		t.Errorf("%q", lines)
	}
	e.followed.Running = []wait.Ended{running("ci", "b"), running("ci", "$(a)"), late, deleting, running("x", "\x1b")}
	e.left = []wait.Object{e.followed.Running[0].Object}
	want := "To stop the objects, delete them:\n  kubectl delete $'job.batch/\\x1b' -n x\n  kubectl delete 'job.batch/$(a)' job.batch/b -n ci"
	if got := strings.Join(e.aboutStopping(), "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	e.followed.Running = nil
	for n := range maxShown + 2 {
		e.followed.Running = append(e.followed.Running, running("ci", fmt.Sprint(n)))
	}
	if lines := e.aboutStopping(); lines[0] != "To stop the objects, delete them (the first 10 of 13):" || strings.Count(lines[1], "job.batch/") != maxShown {
		t.Errorf("%q", lines)
	}
}
