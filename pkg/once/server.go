package once

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/names"
)

// Client makes requests to one group and version of an API server;
// resource.Info of k8s.io/cli-runtime has one.
type Client interface {
	Get() *rest.Request
	Post() *rest.Request
}

// NewServer sends object, stamped with mark, to the resource of mapping in
// namespace (empty for a cluster-scoped one), and reads it back there. The
// client's silent resending is switched off: every POST is the engine's own.
func NewServer(client Client, mapping *meta.RESTMapping, namespace string, object *unstructured.Unstructured, mark Mark, options metav1.CreateOptions) Server {
	object = object.DeepCopy()
	object.SetResourceVersion("") // a server refuses it in a new object
	mark.Stamp(object)
	return &server{client: client, mapping: mapping, namespace: namespace, object: object, id: mark.ID, options: options}
}

type server struct {
	client    Client
	mapping   *meta.RESTMapping
	namespace string
	object    *unstructured.Unstructured
	id        string
	options   metav1.CreateOptions
}

// Post implements Server.
func (s *server) Post(ctx context.Context, name string) Answer {
	if name != "" {
		s.object.SetName(name)
	}
	body, err := s.object.MarshalJSON()
	if err != nil {
		return Answer{event: refused, Err: err}
	}
	var x exchange
	result := s.target(s.client.Post()).
		VersionedParams(&s.options, metav1.ParameterCodec).
		SetHeader("Content-Type", "application/json").
		Body(body).
		Do(x.observe(ctx))
	answer := Answer{NotBefore: x.notBefore()}
	if err := result.Error(); err != nil {
		answer.Err = err
		answer.event = postEvent(err, x.sent.Load(), s.sent)
		answer.RetryAfter = retryAfter(err)
		return answer
	}
	answer.Object, answer.event, answer.Err = s.accept(result, name)
	return answer
}

// sent tells whether name can be that of the object sent: the name it has, or
// what a server makes of its generateName.
func (s *server) sent(name string) bool {
	if own := s.object.GetName(); own != "" {
		return name == own
	}
	return names.GeneratedFrom(name, s.object.GetGenerateName())
}

// accept reads the body of a 2xx. What is not the object sent proves nothing;
// but what comes back for an object without a mark is taken as it comes.
func (s *server) accept(result rest.Result, name string) (*unstructured.Unstructured, event, error) {
	object, err := decode(result)
	if err != nil {
		return nil, lost, err
	}
	switch found := idOf(object); {
	case s.id == "":
		return object, stored, nil
	case object.GetKind() != s.object.GetKind() || (found != "" && found != s.id):
		return nil, lost, fmt.Errorf("the answer is a %s %q that was not sent", object.GetKind(), object.GetName())
	case object.GetName() != name:
		return object, renamed, fmt.Errorf("created as %q", object.GetName())
	}
	return object, stored, nil
}

// Get implements Server. Without a resourceVersion it is a quorum read.
func (s *server) Get(ctx context.Context, name string) Answer {
	result := s.target(s.client.Get()).Name(name).Do(ctx)
	err := result.Error()
	if err == nil {
		var object *unstructured.Unstructured
		if object, err = decode(result); err == nil && object.GetName() == name {
			return Answer{event: unclear, Object: object}
		}
		return Answer{event: unread, Err: errors.Join(errors.New("the answer is not the object asked for"), err)}
	}
	answer := Answer{event: getEvent(err), Err: err, RetryAfter: retryAfter(err)}
	if answer.event == noRight {
		answer.Err = fmt.Errorf("it cannot be read back (needs get on %s): %w; to settle it: kubectl get %s", s.mapping.Resource.GroupResource(), err, s.argument(name))
	}
	return answer
}

// argument is the object as an argument of kubectl.
func (s *server) argument(name string) string {
	argument := Reference(s.mapping, name)
	if s.namespace != "" {
		argument += " -n " + s.namespace
	}
	return argument
}

func (s *server) target(r *rest.Request) *rest.Request {
	return r.MaxRetries(0).
		NamespaceIfScoped(s.namespace, s.mapping.Scope.Name() == meta.RESTScopeNameNamespace).
		Resource(s.mapping.Resource.Resource)
}

func decode(result rest.Result) (*unstructured.Unstructured, error) {
	body, err := result.Raw()
	if err != nil {
		return nil, err
	}
	var object unstructured.Unstructured
	if err := object.UnmarshalJSON(body); err != nil {
		return nil, fmt.Errorf("the answer cannot be read: %w", err)
	}
	return &object, nil
}

// Reference is how kubectl prints an object and takes it as an argument:
// job.batch/NAME.
func Reference(mapping *meta.RESTMapping, name string) string {
	kind := mapping.GroupVersionKind
	return schema.GroupResource{Group: kind.Group, Resource: strings.ToLower(kind.Kind)}.String() + "/" + name
}
