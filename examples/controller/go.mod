module github.com/kubectl-genname/kubectl-genname/examples/controller

go 1.26.0

replace (
	github.com/kubectl-genname/kubectl-genname => ../..
	github.com/kubectl-genname/kubectl-genname/pkg/once/oncecontroller => ../../pkg/once/oncecontroller
)

require (
	github.com/kubectl-genname/kubectl-genname v0.0.0
	github.com/kubectl-genname/kubectl-genname/pkg/once/oncecontroller v0.0.0
	k8s.io/api v0.37.2
	k8s.io/apimachinery v0.37.2
	k8s.io/client-go v0.37.2
	sigs.k8s.io/controller-runtime v0.25.2
)
