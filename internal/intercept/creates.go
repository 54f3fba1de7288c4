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

// A create is an object that the command creates, until a client has its result.
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

// table has the creates whose clients gave up before they got a response, and those that ended as unknown or refused.
// The oldest is the first.
type table struct {
	keep time.Duration

	mu      sync.Mutex
	creates []*create
	dropped int                     // results that were no longer kept because of maxKept
	clients map[key][]chan struct{} // that wait for a response; closed when they have it or gave up
}

// resetDelay limits the wait of waitForClients.
const resetDelay = 100 * time.Millisecond

// waitForClients waits for the clients of equal creates in flight. A client can repeat its create before the proxy
// knows that it gave up. Over HTTP/2, the reset of a stream often comes after the next request.
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

// addClient records a client that waits, until it calls remove.
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

// take removes and returns the oldest create with the key, or nil, and reports whether it has ended. A result is kept
// for a limited time.
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

// kept reports whether a later equal create continues this one. After a refusal it sends the same name again. So it
// finds the object if an earlier copy of the POST was stored after the refusal of a later copy. With a claim, it has
// this name anyway.
func (c *create) kept() bool { return c.outcome.Class.kept() || c.wasRefused() && c.claim == nil }

// end records the end of a create. If it is in the table, only a few facts of it are kept.
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

// Unfetched returns the outcomes that no client knows: the objects that were created after their clients gave up, but
// not those of an earlier run, and those that might exist. more is the number of further outcomes, which were not kept,
// and of creates that have not ended.
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

// create creates the object, or gets the result of an equal create whose client has given up.
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

// respondExisting responds with the object of an abandoned create, or with a 504 if the object can't be read. It
// returns false if the object is gone, replaced or being deleted, and then doesn't respond.
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

// begin starts a create that continues if its client gives up. earlier is the result of an earlier create that has sent
// the ID, or empty. Unknown also means that its object is gone. Without a claim, the create ends without a response if
// an object with the ID can't be the result any more.
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

// counter counts the creates in flight. A sync.WaitGroup panics if a create begins when another one has just ended the
// wait, such as one of a child that outlives the program.
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
