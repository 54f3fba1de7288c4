// Command etcd is the real etcd server. It ends with the test that started it.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"

	_ "github.com/kubectl-genname/kubectl-genname/test/controlplane/servers/lifeline"
)

func main() {
	etcdmain.Main(os.Args)
}
