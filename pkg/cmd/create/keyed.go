package create

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/cli-runtime/pkg/resource"
	"k8s.io/client-go/metadata"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/kubectl-genname/kubectl-genname/internal/idempotency"
	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/internal/humanize"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
)

// inPlace is a creation id in one place. Elsewhere it is a copy that somebody
// made, or a controller.
type inPlace struct {
	place idempotency.Place
	id    string
}

// repeatably creates what the run's key has not created yet. The whole input
// is read first, and nothing is created unless all of what the key has
// created is in it.
func (c *creation) repeatably(objects *resource.Result) error {
	documents, err := c.readAll(objects)
	if err != nil || len(documents) == 0 {
		return err
	}
	if c.existing, err = c.find(documents); err != nil {
		return err
	}
	if err := c.refuseStrangers(documents); err != nil {
		return err
	}
	var errs []error
	for _, d := range documents {
		errs = append(errs, errorsOf(c.create(d))...)
	}
	errs = append(errs, errorsOf(c.wait())...)
	if a := c.account; a.created+a.unchanged+a.unknown > 0 {
		c.say("the objects of this run: " + c.selector())
	}
	return utilerrors.NewAggregate(errs)
}

// readAll reads the input.
func (c *creation) readAll(objects *resource.Result) (documents []*document, err error) {
	err = visit(c.ctx, objects, func(info *resource.Info, err error) error {
		if err != nil {
			return err
		}
		d, err := c.document(info)
		if err != nil {
			return err
		}
		documents = append(documents, d)
		c.warnOfTTL(d)
		return nil
	})
	c.seen = len(documents)
	if err != nil {
		c.note = "nothing was created: a run with a key needs its whole input"
	}
	return documents, err
}

// equal is what equal documents have in common.
type equal struct {
	place  idempotency.Place
	digest idempotency.Digest
}

// number numbers the copies of the document among those of equal documents.
func (c *creation) number(d *document) (err error) {
	d.place = idempotency.Place{Resource: d.Mapping.Resource.GroupResource(), Namespace: d.Namespace}
	if d.digest, err = idempotency.DigestOf(d.object); err != nil {
		return cmdutil.AddSourceToErr("reading", d.Source, err)
	}
	e := equal{d.place, d.digest}
	d.first = c.numbers[e]
	c.numbers[e] += d.copies
	return nil
}

// find lists what the run has created, in all places that the input names.
func (c *creation) find(documents []*document) (map[inPlace][]idempotency.Existing, error) {
	config, err := c.conn.Factory.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	existing := map[inPlace][]idempotency.Existing{}
	for _, d := range documents {
		if slices.Contains(c.places, d.place) {
			continue
		}
		c.places = append(c.places, d.place)
		found, err := c.key.Find(c.ctx, client, d.Mapping.Resource, d.place.Namespace, c.flags.retryTimeout)
		if err != nil {
			return nil, fmt.Errorf("nothing was changed: %w", err)
		}
		for _, e := range found {
			at := inPlace{d.place, e.ID}
			existing[at] = append(existing[at], e)
		}
	}
	return existing, nil
}

// maxStrangers is how many objects an error names.
const maxStrangers = 10

// refuseStrangers refuses a key that was used for another input: objects of
// the run that the input does not ask for. Not meant are those that a
// controller made for one of the input, and gave its labels and annotations.
func (c *creation) refuseStrangers(documents []*document) error {
	strangers := map[string]string{} // by their ids
	nameless := 0
	for at, found := range c.existing {
		for _, e := range found {
			if at.id == "" && e.Owned {
				continue
			}
			id := at.id
			if id == "" { // no document has this one
				nameless++
				id = fmt.Sprint(nameless)
			}
			strangers[id] = at.place.Reference(e)
		}
	}
	for _, d := range documents {
		for n := range d.copies {
			if len(strangers) == 0 {
				return nil
			}
			if err := c.ctx.Err(); err != nil {
				return err
			}
			delete(strangers, c.mark(d, n).ID)
		}
	}
	if len(strangers) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Values(strangers))
	more := ""
	if n := len(names) - maxStrangers; n > 0 {
		names, more = names[:maxStrangers], fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("the idempotency key was used for a different input, so nothing was changed. Its run has created %s that this input does not ask for (a document was changed or left out, or --count was lowered): %s%s. Run it with the old input, or use another key, which creates everything anew",
		humanize.Count(len(strangers), "object"), strings.Join(names, ", "), more)
}

// there tells whether the object with the mark is there already.
func (c *creation) there(d *document, mark once.Mark) (idempotency.Existing, bool) {
	if c.key == "" {
		return idempotency.Existing{}, false
	}
	found := c.existing[inPlace{d.place, mark.ID}]
	if len(found) == 0 {
		return idempotency.Existing{}, false
	}
	if len(found) > 1 {
		c.warnOnce("%s %s and %s carry the same creation id: somebody has copied one of them", d.place, found[0].Name, found[1].Name)
	}
	if found[0].Deleting {
		c.warnOnce("%s is being deleted: a later run with this key creates it again", once.Reference(d.Mapping, found[0].Name))
	}
	return found[0], true
}

// warnOfTTL says where a key promises less than one may think.
func (c *creation) warnOfTTL(d *document) {
	spec, _ := d.object.Object["spec"].(map[string]any)
	if spec["ttlSecondsAfterFinished"] != nil {
		c.warnOnce("%s with ttlSecondsAfterFinished are deleted some time after they finish: a later run with the same key creates them again", d.place.Resource)
	}
}

// selector is how to find all objects of the run.
func (c *creation) selector() string {
	var resources, namespaces []string
	for _, p := range c.places {
		resources = append(resources, p.Resource.String())
		if p.Namespace != "" {
			namespaces = append(namespaces, p.Namespace)
		}
	}
	slices.Sort(resources)
	slices.Sort(namespaces)
	command := "kubectl get " + strings.Join(slices.Compact(resources), ",")
	switch namespaces = slices.Compact(namespaces); len(namespaces) {
	case 0:
	case 1:
		command += " -n " + namespaces[0]
	default:
		command += " -A"
	}
	return command + " -l " + once.RunLabel + "=" + c.key.RunLabel()
}
