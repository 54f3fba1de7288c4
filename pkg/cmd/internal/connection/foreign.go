package connection

import (
	"cmp"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Foreign is the connection for requests of another program. It adds credentials to them, and nothing else.
type Foreign struct {
	// Passing has no limits. The requests of Limited have a limit for time and size, and outlive an interrupt.
	Passing, Limited *rest.Config
	// Name is the name of the context, and Context has the names of its cluster and user, and its namespace.
	Name    string
	Context clientcmdapi.Context
}

// inCluster is the name of the context, the cluster and the user of a Pod without a kubeconfig.
const inCluster = "in-cluster"

// ToForeign returns the connection for requests of another program.
func (c *Connection) ToForeign() (*Foreign, error) {
	loader := c.flags.ToRawKubeConfigLoader()
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, err
	}
	raw, err := loader.RawConfig()
	if err != nil {
		return nil, err
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, err
	}
	c.restrictPlugins(config)
	limited := rest.CopyConfig(config)
	c.limit(limited)
	limited.Wrap(ofServer(limited))
	limited.Timeout = 0 // as a parameter of URLs, it would change the requests
	f := &Foreign{Passing: config, Limited: Uninterrupted(limited), Name: cmp.Or(*c.flags.Context, raw.CurrentContext)}
	if found := raw.Contexts[f.Name]; found != nil {
		f.Context = *found
	}
	f.Name = cmp.Or(f.Name, inCluster)
	f.Context.Cluster = cmp.Or(*c.flags.ClusterName, f.Context.Cluster, inCluster)
	f.Context.AuthInfo = cmp.Or(*c.flags.AuthInfoName, f.Context.AuthInfo, inCluster)
	f.Context.Namespace = namespace
	return f, nil
}
