package trust

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/internal/create"
	"github.com/kubectl-genname/kubectl-genname/internal/wait"
	"github.com/kubectl-genname/kubectl-genname/pkg/once"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/derive"
	"github.com/kubectl-genname/kubectl-genname/pkg/once/protocol"
)

// subject is a process that creates the items of a world, and returns a claim about each.
type subject func(*world) []claim

const (
	key     = "order-17"
	purpose = "worker-3"
)

var mapper = func() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind("ConfigMap"), {Group: "batch", Version: "v1", Kind: "Job"},
	} {
		m.Add(kind, meta.RESTScopeNamespace)
	}
	return m
}()

// config returns the configuration of a client of the server, with the mutation.
func (w *world) config() *rest.Config {
	config := w.server.Config()
	config.Transport = recognizing{w.server}
	if w.mutant != nil {
		config.Transport = w.mutant(w, config.Transport)
	}
	return config
}

// recognizing recognizes the requests for metadata. create sends these requests for several places at once, in no fixed
// order. So others act only before requests of other kinds.
type recognizing struct{ below http.RoundTripper }

type concurrent struct{} // a key of contexts

func (m recognizing) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
		r = r.WithContext(context.WithValue(r.Context(), concurrent{}, true))
	}
	return m.below.RoundTrip(r)
}

// library creates the items with pkg/once.
func library(w *world) (claims []claim) {
	var options []once.Option
	if w.secret != (derive.Secret{}) {
		var former [][]byte
		for _, s := range w.former {
			former = append(former, texts[s])
		}
		options = append(options, once.WithSecret(texts[w.secret], former...))
	}
	creator := once.New(once.Dynamic(dynamic.NewForConfigOrDie(w.config()), mapper), options...)
	for _, i := range w.items {
		id, _ := once.FromKey(key)
		if i.owner != "" {
			id, _ = once.ForOwner(&metav1.ObjectMeta{UID: i.owner}, purpose)
		}
		object := i.manifest()
		result, err := creator.Create(w.ctx, object, id)
		c := claim{outcome: map[once.Outcome]string{once.Created: created, once.Found: exists}[result.Outcome], object: object.GetUID()}
		if err != nil {
			if c.outcome = failed; errors.Is(err, once.ErrUnknown) {
				c.outcome = unknown
			}
			if result.Object != nil || strings.Contains(err.Error(), protocol.ErrNoID.Error()) {
				c.holder = i.Kind + "/" + result.Name
			}
		}
		claims = append(claims, c)
	}
	return claims
}

// command creates the items with the engine of create, and waits for Jobs.
func command(w *world) []claim {
	config := w.config()
	c := create.Config{Copies: 1, Concurrency: 1, Attempts: 8, RetryTimeout: time.Minute, Key: key, States: true}
	if w.secret != (derive.Secret{}) {
		c.Secrets = append([]derive.Secret{w.secret}, w.former...)
	}
	discovered := memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(config))
	client, err := create.NewClient(config, config, discovered)
	if err != nil {
		panic(err)
	}
	claims, objects := make([]claim, len(w.items)), []wait.Object{}
	for n := range claims {
		claims[n].outcome = nothing
	}
	input := func(yield func(*create.Document, error) bool) {
		for _, i := range w.items {
			object := i.manifest()
			mapping, _ := mapper.RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version)
			if !yield(&create.Document{Object: object, Mapping: mapping, Namespace: "ns", Source: "in.yaml"}, nil) {
				return
			}
		}
	}
	for event := range create.New(w.ctx, client, c).Create(input) {
		switch e := event.(type) {
		case create.Warning:
			w.warned = w.warned || strings.HasPrefix(e.Text, "the run ignores ")
		case create.Outcome:
			n := e.Number - 1
			claims[n] = claimOf(w.items[n], e)
			if claims[n].succeeded() && w.items[n].Kind == "Job" {
				objects = append(objects, wait.Object{
					Mapping: e.Document.Mapping, Namespace: "ns", Name: e.Name, UID: claims[n].object,
				})
			}
		}
	}
	for event := range wait.Run(w.ctx, wait.Config{
		Client: dynamic.NewForConfigOrDie(config), KeepFinal: true, RetryTimeout: time.Minute,
	}, objects) {
		if end, is := event.(wait.Ended); is && end.Result == wait.Succeeded {
			for n, i := range w.items {
				if i.Kind == "Job" {
					claims[n].result = end.Final.GetUID()
				}
			}
		}
	}
	return claims
}

// claimOf returns the claim of an outcome.
func claimOf(i item, o create.Outcome) claim {
	c := claim{outcome: map[protocol.Outcome]string{
		protocol.Created: created, protocol.Found: exists, protocol.Failed: failed, protocol.Unknown: unknown,
	}[o.Outcome]}
	if o.Object != nil {
		c.object = o.Object.GetUID()
	}
	if !c.succeeded() && o.Object != nil {
		c.holder = i.Kind + "/" + o.Object.GetName()
	}
	return c
}
