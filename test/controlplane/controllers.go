package controlplane

import (
	"context"
	"io"
)

// controllerManager is not among what Build builds: few want it, and it takes
// minutes.
var controllerManager = program{
	name: "kube-controller-manager", module: "servers", pkg: "./kube-controller-manager",
	version: ServerVersion, takes: "2 minutes",
}

// StartControllers runs the controllers that are named beside the servers, and
// ends them with Stop. It builds kube-controller-manager first if it is missing,
// which is said on log.
func (cp *ControlPlane) StartControllers(ctx context.Context, log io.Writer, names string) error {
	path, err := controllerManager.build(ctx, log)
	if err != nil {
		return err
	}
	kubeconfig := cp.path("controllers.kubeconfig")
	if err := WriteKubeconfig(kubeconfig, cp.User("controllers", "system:masters")); err != nil {
		return err
	}
	cp.controllers, err = start(cp.path("kube-controller-manager.log"), path, nil,
		"--kubeconfig="+kubeconfig,
		"--controllers="+names,
		"--leader-elect=false",
		"--secure-port=0",
	)
	return err
}
