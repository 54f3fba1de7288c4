package intercept

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/internal/apistatus"
	"github.com/kubectl-genname/kubectl-genname/internal/exactlyonce"
	"github.com/kubectl-genname/kubectl-genname/internal/keyed"
)

// A create is the creation of one object for the command. It ends when a client has received its result.
type create struct {
	key   key
	id    exactlyonce.ID
	claim *keyed.Claim  // nil without an idempotency key
	done  chan struct{} // closed after the end

	// The fields below are guarded by table.mu until done is closed, and don't change afterwards.

	outcome  Outcome
	ended    time.Time
	response *response // nil if no client can get it
}

// maxKept limits the results that are kept.
const maxKept = 10_000

// table has the creates that later requests can continue. Their clients gave up before they got a response, or their
// result was unknown or a refusal. The oldest create is the first.
type table struct {
	keep time.Duration

	mu      sync.Mutex
	creates []*create
	dropped int                     // results that were no longer kept because of maxKept
	clients map[key][]chan struct{} // that wait for a response; closed when they have it or gave up
}

// resetDelay limits the wait of waitForClients.
const resetDelay = 100 * time.Millisecond

// waitForClients waits for the clients of equal requests in flight. A client can repeat a request before the proxy
// knows that the client gave up. Over HTTP/2, the reset of a stream often arrives after the next request.
func (t *table) waitForClients(ctx context.Context, k key) {
	t.mu.Lock()
	clients := slices.Clone(t.clients[k])
	t.mu.Unlock()
	over := time.After(resetDelay)
	for _, left := range clients {
		select {
		case <-left:
		case <-over:
			return
		case <-ctx.Done():
			return
		}
	}
}

// addClient records a waiting client. The caller calls remove when the client waits no longer.
func (t *table) addClient(k key) (remove func()) {
	left := make(chan struct{})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clients[k] = append(t.clients[k], left)
	return func() {
		close(left)
		t.mu.Lock()
		defer t.mu.Unlock()
		t.clients[k] = slices.DeleteFunc(t.clients[k], func(c chan struct{}) bool { return c == left })
		if len(t.clients[k]) == 0 {
			delete(t.clients, k)
		}
	}
}

// take removes the oldest create with the key from the table and returns it, or nil. ended reports whether the create
// has ended. The table keeps a result for a limited time.
func (t *table) take(k key) (c *create, ended bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.creates, func(c *create) bool {
		return c.key == k && (c.ended.IsZero() || time.Since(c.ended) < t.keep)
	})
	if i < 0 {
		return nil, false
	}
	c = t.creates[i]
	t.creates = slices.Delete(t.creates, i, i+1)
	return c, !c.ended.IsZero()
}

// put adds a create, unless it has failed.
func (t *table) put(c *create) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !c.ended.IsZero() {
		c.response = nil
		if !c.kept() {
			return
		}
	}
	if len(t.creates) == maxKept {
		i := slices.IndexFunc(t.creates, (*create).wasRefused)
		if i < 0 {
			i = 0
			t.dropped++
		}
		t.creates = slices.Delete(t.creates, i, i+1)
	}
	t.creates = append(t.creates, c)
}

func (c *create) wasRefused() bool { return !c.ended.IsZero() && c.outcome.Class == Refused }

// kept reports whether a later equal request continues this create. A later request after a refusal sends the same name
// again. So it finds the object if the server stored another copy of the refused POST. A create with a claim always has
// the same name, so it isn't kept for that reason.
func (c *create) kept() bool { return c.outcome.Class.kept() || c.wasRefused() && c.claim == nil }

// end records the end of a create. For a create in the table, end drops the response.
func (t *table) end(c *create, o Outcome, r *response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o.Err = nil // a refusal can be large
	c.outcome, c.response, c.ended = o, r, time.Now()
	if i := slices.Index(t.creates, c); i >= 0 { // abandoned
		c.response = nil
		if !c.kept() {
			t.creates = slices.Delete(t.creates, i, i+1)
		}
	}
	close(c.done)
}

// Unfetched returns the outcomes that no client has received: objects that exist and objects that might exist. It
// leaves out the objects of an earlier run. more counts the outcomes that the table dropped, and the creates that have
// not ended.
func (p *Proxy) Unfetched() (outcomes []Outcome, more int) {
	p.table.mu.Lock()
	defer p.table.mu.Unlock()
	more = p.table.dropped
	for _, c := range p.table.creates {
		switch {
		case c.ended.IsZero():
			more++
		case !c.wasRefused() && c.outcome.Origin != Exists:
			outcomes = append(outcomes, c.outcome)
		}
	}
	return outcomes, more
}

// create creates the object. If the client of an equal request has given up, create uses the result of that request.
func (p *Proxy) create(w http.ResponseWriter, r *http.Request, sent *post) {
	defer p.running.begin()() // until the response is written
	p.table.waitForClients(r.Context(), sent.key)
	abortUnless(r.Context().Err() == nil) // nothing was sent
	defer p.table.addClient(sent.key)()
	c, ended := p.table.take(sent.key)
	stored := ended && c.outcome.Class == Created
	switch {
	case stored && p.respondExisting(w, r, sent, c):
		return
	case c == nil || stored && c.claim == nil:
		var refusal *metav1.Status
		if c, refusal = p.start(r.Context(), sent); refusal != nil {
			respondStatus(w, r, refusal)
			return
		}
	case ended && c.claim != nil: // has one name
		c = p.begin(sent, c.id, c.claim, Unknown)
	case ended:
		c = p.begin(sent, c.id.At(c.outcome.Name), nil, c.outcome.Class)
	}
	for {
		select {
		case <-c.done:
		case <-r.Context().Done():
			p.table.put(c)
			panic(http.ErrAbortHandler) // as abortUnless
		}
		if c.response != nil {
			break
		}
		c = p.begin(sent, exactlyonce.NewID(), nil, "")
	}
	written := c.response.write(w, r)
	if !written || c.outcome.Class != Created {
		p.table.put(c)
	}
	abortUnless(written)
}

// respondExisting responds with the object of an abandoned create, or with a 504 if it can't read the object. If the
// object is gone, replaced or being deleted, respondExisting returns false and sends no response.
func (p *Proxy) respondExisting(w http.ResponseWriter, r *http.Request, sent *post, c *create) bool {
	o := c.outcome
	result, err := p.readUntilResponse(r.Context(), sent, c.id.At(o.Name))
	found := result.Object
	if err == nil && (found == nil || string(found.GetUID()) != o.uid || found.GetDeletionTimestamp() != nil) {
		return false
	}
	var given *response
	if err != nil {
		o.Class, o.Origin, o.Err = Unknown, "", err
		given = responseOf(unknown(sent, o))
	} else {
		o.Origin = Exists
		given = &response{http.StatusCreated, result.Response.Header, result.Response.Body}
	}
	o.Status = given.Status
	p.config.Done(o)
	written := given.write(w, r)
	if !written || err != nil {
		p.table.put(c)
	}
	abortUnless(written)
	return true
}

// readUntilResponse reads an object until the server responds. A refusal is a response.
func (p *Proxy) readUntilResponse(ctx context.Context, sent *post, id exactlyonce.ID) (exactlyonce.Result, error) {
	retrier := apistatus.NewRetrier(apistatus.FirstPause, apistatus.LongestPause, p.config.RetryTimeout)
	for {
		result, err := p.creator.Read(ctx, sent.mapping, sent.object(), id, sent.settings(p.config.RetryTimeout))
		if err == nil || apierrors.IsForbidden(err) || retrier.Wait(ctx, err) != nil {
			return result, err
		}
	}
}

// begin starts a create that continues if its client gives up. earlier is the Class of an earlier create with the same
// ID, or empty. Unknown can also mean that the earlier object is gone. If earlier is set, claim is nil, and the object
// found is not a valid result, the create ends without a response.
func (p *Proxy) begin(sent *post, id exactlyonce.ID, claim *keyed.Claim, earlier Class) *create {
	c := &create{key: sent.key, id: id, claim: claim, done: make(chan struct{})}
	settings := sent.settings(p.config.RetryTimeout)
	settings.TrustRefusals = earlier != Unknown
	end := p.running.begin()
	go func() {
		defer end()
		result, err := p.creator.Create(p.ctx, sent.mapping, sent.object(), id, settings)
		if apierrors.IsUnauthorized(err) && rotates(p.config.Creates) {
			result, err = p.creator.Create(p.ctx, sent.mapping, sent.object(), id, settings)
		}
		deleted := err == nil && result.Object.GetDeletionTimestamp() != nil
		if earlier != "" && claim == nil && (deleted || errors.Is(err, exactlyonce.ErrTaken)) {
			p.table.end(c, Outcome{}, nil)
			return
		}
		o, response := outcomeOf(sent, claim, result, err)
		p.config.Done(o)
		if claim != nil {
			claim.End(o.Class.kept())
		}
		p.table.end(c, o, response)
	}()
	return c
}

// counter counts the creates in flight. A child that outlives the program can start a create just when the wait ends. A
// sync.WaitGroup would panic then.
type counter struct {
	mu   sync.Mutex
	n    int
	zero chan struct{} // closed when n is 0 again
}

func (c *counter) begin() (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n++; c.n == 1 {
		c.zero = make(chan struct{})
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.n--; c.n == 0 {
			close(c.zero)
		}
	}
}

func (c *counter) wait() {
	c.mu.Lock()
	n, zero := c.n, c.zero
	c.mu.Unlock()
	if n > 0 {
		<-zero
	}
}
