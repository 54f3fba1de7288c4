package experiment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
	"github.com/kubectl-genname/kubectl-genname/test/controlplane"
)

const (
	// SuffixLength is the number of random characters that the server appends.
	SuffixLength = 2
	// Names is the number of names of a prefix: 27^2.
	Names = len(names.Alphabet) * len(names.Alphabet)

	requestTimeout = time.Minute
	// parallel is the number of prefixes that are used at once. Under one prefix creates are sequential, as in the
	// model.
	parallel = 16
)

// Server is a separate control plane whose prefixes have 729 names. The objects are Secrets, because a kube-apiserver
// without controllers creates none itself (Attempts counts them).
type Server struct {
	cp      *controlplane.ControlPlane
	secrets typedcorev1.SecretInterface
	metrics rest.Interface
}

// Start starts a server that makes the given number of attempts per create. The number is 8, the default of
// Kubernetes 1.31 and later, or 1. The caller calls Stop.
func Start(ctx context.Context, log io.Writer, attempts int) (*Server, error) {
	options := []controlplane.Option{controlplane.SuffixLength(SuffixLength)}
	switch attempts {
	case 1:
		options = append(options, controlplane.WithoutServerRetries)
	case 8:
	default:
		return nil, fmt.Errorf("a server with %d attempts: it makes 1 or 8", attempts)
	}
	cp, err := controlplane.Start(ctx, log, options...)
	if err != nil {
		return nil, err
	}
	s := &Server{cp: cp}
	if err := s.connect(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Server) connect(ctx context.Context) error {
	config := s.cp.Admin()
	config.Timeout = requestTimeout
	config.ContentType = runtime.ContentTypeProtobuf
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	s.secrets, s.metrics = client.CoreV1().Secrets("experiment"), client.CoreV1().RESTClient()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "experiment"}}
	_, err = client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	return err
}

// Stop ends the server and deletes its data.
func (s *Server) Stop() error {
	return errors.Join(s.cp.Stop(), s.cp.Remove())
}

// create creates an object with a generated name in at most the given number of POSTs. It returns the name, or "" if
// all of them conflict.
func (s *Server) create(ctx context.Context, prefix string, attempts int) (string, error) {
	object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: prefix}}
	for range attempts {
		made, err := s.secrets.Create(ctx, object, metav1.CreateOptions{})
		switch {
		case apierrors.IsAlreadyExists(err):
		case err != nil:
			return "", err
		case len(made.Name) != len(prefix)+SuffixLength:
			return "", fmt.Errorf("the server made %s of %s: want %d random characters", made.Name, prefix, SuffixLength)
		default:
			return made.Name, nil
		}
	}
	return "", nil
}

// fill creates names number from up to, but not including, number to of a prefix. The model does not depend on which
// names exist.
func (s *Server) fill(ctx context.Context, prefix string, from, to int) error {
	const alphabet = names.Alphabet
	for i := from; i < to; i++ {
		name := prefix + string([]byte{alphabet[i/len(alphabet)], alphabet[i%len(alphabet)]})
		object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := s.secrets.Create(ctx, object, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// underEach calls do for n prefixes that begin with name, several at a time.
func underEach(ctx context.Context, name string, n int, do func(ctx context.Context, i int, prefix string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range n {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return do(ctx, i, fmt.Sprintf("%s-%d-", name, i))
		})
	}
	return group.Wait()
}
