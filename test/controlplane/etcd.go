package controlplane

import "strings"

// EtcdURL is where etcd answers its clients, without authentication.
func (cp *ControlPlane) EtcdURL() string {
	for _, arg := range cp.etcd.cmd.Args {
		if url, ok := strings.CutPrefix(arg, "--advertise-client-urls="); ok {
			return url
		}
	}
	panic("etcd was started without --advertise-client-urls")
}
