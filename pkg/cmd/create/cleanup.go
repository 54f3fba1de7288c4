package create

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/follow"
	"github.com/kubectl-genname/kubectl-genname/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/internal/reference"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/terminal"
)

// cleanup has the objects that --delete-on-interrupt deletes: those that this run created, and that are not known to
// have finished. A finished object stays, because a later run with the key would create it again. Any goroutine can use
// cleanup. It is nil without the flag.
type cleanup struct {
	config *rest.Config // of requests that outlive an interrupt

	mu      sync.Mutex
	created map[apitypes.UID]wait.Object
}

func (o *options) newCleanup() (*cleanup, error) {
	if !o.flags.deletes {
		return nil, nil
	}
	config, err := o.conn.ToUninterruptedRESTConfig()
	return &cleanup{config: config, created: map[apitypes.UID]wait.Object{}}, err
}

func (c *cleanup) add(o create.Outcome) {
	if c == nil || o.Object == nil || o.Object.GetUID() == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.created[o.Object.GetUID()] = wait.Object{
		Mapping: o.Document.Mapping, Namespace: o.Document.Namespace, Name: likelyName(o), UID: o.Object.GetUID(),
	}
}

// end records the end of the wait for an object.
func (c *cleanup) end(e follow.Ended) {
	if e.Outcome != wait.OutOfTime && e.Outcome != wait.Interrupted && e.Outcome != wait.Abandoned {
		c.drop(e.Object.UID)
	}
}

func (c *cleanup) drop(uid apitypes.UID) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.created, uid)
}

func (c *cleanup) objects() (all []wait.Object) {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, o := range c.created {
		all = append(all, o)
	}
	return all
}

// deleteCreated deletes the objects of the cleanup, and completes the ending.
func (r *results) deleteCreated(e *ending) {
	all, gone := r.cleanup.objects(), map[apitypes.UID]bool{}
	r.voice.SetText(fmt.Sprintf("deleting %s", humanize.Count(len(all), "object")))
	var failed []string
	for d := range follow.Delete(r.cleanup.config, all) {
		object := argumentOf(d.Object)
		if d.Err != nil {
			failed = append(failed, terminal.Errorf("%s was not deleted: %v", object, apistatus.Brief(d.Err)))
			continue
		}
		r.cleanup.drop(d.Object.UID)
		gone[d.Object.UID] = true
		e.deleted = append(e.deleted, object)
		if r.printer.format == formatLines {
			r.printResult(follow.Ended{Object: d.Object, Outcome: wait.Deleted})
		}
	}
	slices.Sort(e.deleted)
	slices.Sort(failed)
	if more := len(failed) - maxShown; more > 0 {
		failed = append(failed[:maxShown], fmt.Sprintf("(and %d more)", more))
	}
	e.undeleted, e.left, e.followed = failed, r.cleanup.objects(), e.followed.Without(gone)
}

// aboutDeletion are the lines about the deletion of the objects that this run created.
func (e *ending) aboutDeletion() []string {
	if len(e.deleted) == 0 {
		return e.undeleted
	}
	return append([]string{terminal.Sprintf("Deleted %s that this run created: %s",
		humanize.Count(len(e.deleted), "object"), some(e.deleted))}, e.undeleted...)
}

// aboutStopping has the commands that delete the objects that an interrupt has left running, one for each namespace.
func (e *ending) aboutStopping() []string {
	left := slices.Clone(e.left)
	for _, r := range e.followed.Running {
		isLeft := slices.ContainsFunc(e.left, func(o wait.Object) bool { return o.UID == r.Object.UID })
		if r.Outcome == wait.Interrupted && !r.Progress.Deleting && !isLeft {
			left = append(left, r.Object)
		}
	}
	if len(left) == 0 {
		return nil
	}
	text := "To stop the objects, delete them:"
	switch {
	case len(left) == 1:
		text = "To stop the object, delete it:"
	case len(left) > maxShown:
		text = fmt.Sprintf("To stop the objects, delete them (the first %d of %d):", maxShown, len(left))
	}
	slices.SortFunc(left, func(a, b wait.Object) int { return strings.Compare(argumentOf(a), argumentOf(b)) })
	var namespaces []string
	names := map[string][]string{}
	for _, o := range left[:min(len(left), maxShown)] {
		if names[o.Namespace] == nil {
			namespaces = append(namespaces, o.Namespace)
		}
		names[o.Namespace] = append(names[o.Namespace], reference.Name(o.Mapping, o.Name))
	}
	lines := []string{text}
	for _, namespace := range namespaces {
		lines = append(lines, toDelete(namespace, names[namespace]...))
	}
	return lines
}
