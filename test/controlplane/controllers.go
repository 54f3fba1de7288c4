package controlplane

import (
	"context"
	"io"
	"slices"
)

// controllerManager is not built by Build, because few tests need it and the build takes minutes.
var controllerManager = program{
	name: "kube-controller-manager", module: "servers", pkg: "./kube-controller-manager",
	version: ServerVersion, takes: "2 minutes",
}

// controllerVersions are the versions of kube-controller-manager. A server of another version runs beside
// ServerVersion.
var controllerVersions = []string{ServerVersion, NewestServerVersion}

// StartControllers runs the named controllers beside the servers, with further arguments of kube-controller-manager.
// Stop ends them. It first builds kube-controller-manager if it is missing, and prints that on log.
func (cp *ControlPlane) StartControllers(ctx context.Context, log io.Writer, names string, args ...string) error {
	manager := controllerManager
	if slices.Contains(controllerVersions, cp.version) {
		manager = manager.at(cp.version)
	}
	path, err := manager.build(ctx, log)
	if err != nil {
		return err
	}
	kubeconfig := cp.path("controllers.kubeconfig")
	if err := WriteKubeconfig(kubeconfig, cp.User("controllers", "system:masters")); err != nil {
		return err
	}
	cp.controllers, err = start(cp.path("kube-controller-manager.log"), path, nil, append(args,
		"--kubeconfig="+kubeconfig,
		"--controllers="+names,
		"--leader-elect=false",
		"--secure-port=0",
	)...)
	return err
}
