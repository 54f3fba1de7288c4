package derived

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-genname/kubectl-genname/pkg/once/names"
)

const (
	maxLabel     = 63  // maximum length of a label's value, and of a DNS label such as a host name
	maxSubdomain = 253 // maximum length of a name of most types
	maxHash      = 10  // length of pod-template-hash and controller-revision-hash, which are 32-bit numbers in decimal
	// maxRayCluster is the maximum length of a RayCluster's name. The name of its Service is longer.
	maxRayCluster = maxLabel - len("-serve-svc")
	// MaxClaim is the maximum length of a ResourceClaim's generateName. The controller truncates longer ones.
	MaxClaim   = maxLabel - len("-") - names.SuffixLength
	timeDigits = 10 // length of a time since 1970 in seconds, and enough for a time in minutes
)

func batch(kind string) schema.GroupKind { return schema.GroupKind{Group: "batch", Kind: kind} }
func apps(kind string) schema.GroupKind  { return schema.GroupKind{Group: "apps", Kind: kind} }
func core(kind string) schema.GroupKind  { return schema.GroupKind{Kind: kind} }

func inKubernetes(file, symbol string) string {
	return "k8s.io/kubernetes v1.37.1, " + file + ": " + symbol
}

// Table has all rows.
var Table = append(kubernetes, others...)

// kubernetes has the rows of Kubernetes' own controllers. docs/reference/derived-names.md shows each row together with
// the names that kube-controller-manager created.
var kubernetes = []Child{
	{
		Owner: batch("CronJob"), Controller: "cronjob", Makes: "Job", Formula: "NAME-MINUTES",
		Adds: 1 + timeDigits, Limit: maxLabel, Over: Refused,
		Source: inKubernetes("pkg/apis/batch/validation/validation.go", "ValidateCronJobCreate"),
	},
	{
		Owner: batch("Job"), Controller: "job", Makes: "label job-name of its Pods", Formula: "NAME",
		Limit: maxLabel, Over: Refused,
		Source: inKubernetes("pkg/apis/batch/validation/validation.go", "validateGeneratedSelector"),
	},
	{
		Owner: batch("Job"), Variant: Indexed, Controller: "job",
		Makes: "host name of its Pods", Formula: "NAME-INDEX",
		Adds: 1, Limit: maxLabel, Over: Refused,
		Source: inKubernetes("pkg/apis/batch/validation/validation.go", "ValidateJob"),
	},
	{
		Owner: batch("Job"), Controller: "job", Makes: "Pod", Formula: "generateName NAME-",
		Limit: names.MaxPrefixLength, Over: Truncated,
		Source: inKubernetes("pkg/controller/controller_utils.go", "getPodsPrefix"),
	},
	{
		Owner: batch("Job"), Variant: Indexed, Controller: "job",
		Makes: "Pod", Formula: "generateName NAME-INDEX-, in which NAME is truncated",
		Adds: 2, Limit: names.MaxPrefixLength, Over: Truncated,
		Source: inKubernetes("pkg/controller/job/indexed_job_utils.go", "podGenerateNameWithIndex"),
	},
	{
		Owner: apps("ReplicaSet"), Controller: "replicaset", Makes: "Pod", Formula: "generateName NAME-",
		Limit: names.MaxPrefixLength, Over: Truncated,
		Source: inKubernetes("pkg/controller/controller_utils.go", "getPodsPrefix"),
	},
	{
		Owner: core("ReplicationController"), Controller: "replicationcontroller",
		Makes: "Pod", Formula: "generateName NAME-",
		Limit: names.MaxPrefixLength, Over: Truncated,
		Source: inKubernetes("pkg/controller/controller_utils.go", "getPodsPrefix"),
	},
	{
		Owner: apps("DaemonSet"), Controller: "daemonset", Makes: "Pod", Formula: "generateName NAME-",
		Limit: names.MaxPrefixLength, Over: Truncated,
		Source: inKubernetes("pkg/controller/controller_utils.go", "getPodsPrefix"),
	},
	{
		Owner: apps("Deployment"), Controller: "deployment", Makes: "ReplicaSet", Formula: "NAME-HASH",
		Adds: 1 + maxHash, Limit: maxSubdomain, Over: Broken, Until: 34, ReadOnly: true,
		Source: "k8s.io/kubernetes v1.33.13, pkg/controller/deployment/sync.go: getNewReplicaSet",
	},
	{
		Owner: apps("Deployment"), Controller: "replicaset",
		Makes: "Pod", Formula: "generateName NAME-HASH-, in which HASH is truncated first",
		Limit: names.MaxPrefixLength, Over: Truncated,
		Source: inKubernetes("pkg/controller/controller_utils.go", "getPodsPrefix"),
	},
	{
		Owner: apps("StatefulSet"), Controller: "statefulset", Makes: "label controller-revision-hash of its Pods",
		Formula: "NAME-HASH", Adds: 1 + maxHash, Limit: maxLabel, Over: Broken,
		Source: inKubernetes("pkg/controller/statefulset/stateful_set_utils.go", "setPodRevision"),
	},
	{
		Owner: core("Service"), Controller: "endpointslice", Makes: "EndpointSlice", Formula: "generateName NAME-",
		Limit: names.MaxPrefixLength, Over: Truncated,
		Source: "k8s.io/endpointslice v0.37.1, utils.go: getEndpointSlicePrefix",
	},
	{
		Owner: core("Pod"), Controller: "resourceclaim", Makes: "ResourceClaim",
		Formula: "generateName NAME-CLAIM-, in which NAME and CLAIM are truncated in proportion to their lengths",
		Adds:    2, Limit: MaxClaim, Over: Truncated, Since: 34,
		Source: inKubernetes("pkg/controller/resourceclaim/controller.go", "handleClaim"),
	},
}

// Indexed is the variant of Jobs with completionMode: Indexed.
const Indexed = "Indexed"

const (
	tekton  = "tekton.dev"
	argo    = "argoproj.io"
	knative = "serving.knative.dev"
	ray     = "ray.io"
)

func inKubeRay(symbol string) string {
	return "github.com/ray-project/kuberay v1.7.0, ray-operator/controllers/ray/utils/validation.go: " + symbol
}

// others has the rows of third-party controllers, according to their source code.
var others = []Child{
	{
		Owner: schema.GroupKind{Group: tekton, Kind: "PipelineRun"}, Controller: "tekton",
		Makes:   "label tekton.dev/pipelineRun of its TaskRuns",
		Formula: "NAME", Limit: maxLabel, Over: Refused, ReadOnly: true,
		Source: "github.com/tektoncd/pipeline 3ee1745ae5b2, pkg/apis/validate/metadata.go: ObjectMetadata",
	},
	{
		Owner: schema.GroupKind{Group: tekton, Kind: "TaskRun"}, Controller: "tekton",
		Makes:   "label tekton.dev/taskRun of its Pod",
		Formula: "NAME", Limit: maxLabel, Over: Refused, ReadOnly: true,
		Source: "github.com/tektoncd/pipeline 3ee1745ae5b2, pkg/apis/validate/metadata.go: ObjectMetadata",
	},
	{
		Owner: schema.GroupKind{Group: argo, Kind: "Workflow"}, Controller: "argo",
		Makes:   "label workflows.argoproj.io/workflow of its Pods",
		Formula: "NAME", Limit: maxLabel, Over: Broken, ReadOnly: true,
		Source: "github.com/argoproj/argo-workflows f016ad89eb26, workflow/validate/validate.go: maxCharsInObjectName",
	},
	{
		Owner: schema.GroupKind{Group: argo, Kind: "CronWorkflow"}, Controller: "argo", Makes: "Workflow",
		Formula: "NAME-SECONDS", Adds: 1 + timeDigits, Limit: maxLabel, Over: Broken, ReadOnly: true,
		Source: "github.com/argoproj/argo-workflows f016ad89eb26, " +
			"workflow/validate/validate.go: maxCharsInCronWorkflowName",
	},
	{
		Owner: schema.GroupKind{Group: knative, Kind: "Service"}, Variant: "Knative", Controller: "knative",
		Makes: "Configuration and Route", Formula: "NAME", Limit: maxLabel, Over: Refused, ReadOnly: true,
		Source: "knative.dev/pkg 521cb33b3, apis/metadata_validation.go: ValidateObjectMetadata",
	},
	{
		Owner: schema.GroupKind{Group: knative, Kind: "Configuration"}, Controller: "knative",
		Makes: "Revision", Formula: "NAME-GENERATION, shortened with a hash if it is too long",
		Limit: maxLabel, Over: Refused, ReadOnly: true,
		Source: "knative.dev/pkg 521cb33b3, apis/metadata_validation.go: ValidateObjectMetadata",
	},
	{
		Owner: JobSet, Controller: "jobset", Makes: "Job", Formula: "NAME-REPLICATEDJOB-INDEX",
		Limit: maxLabel, Over: Refused, ReadOnly: true,
		Source: "sigs.k8s.io/jobset 08dfbdfd6827, pkg/webhooks/jobset_webhook.go: ValidateCreate",
	},
	{
		Owner: JobSet, Variant: Indexed, Controller: "jobset",
		Makes: "Pod", Formula: "NAME-REPLICATEDJOB-INDEX-INDEX-XXXXX",
		Limit: maxLabel, Over: Refused, ReadOnly: true,
		Source: "sigs.k8s.io/jobset 08dfbdfd6827, pkg/webhooks/jobset_webhook.go: ValidateCreate",
	},
	{
		Owner: schema.GroupKind{Group: ray, Kind: "RayCluster"}, Controller: "kuberay",
		Makes: "Service", Formula: "NAME-serve-svc", Adds: len("-serve-svc"), Limit: maxLabel,
		Over: Broken, ReadOnly: true,
		Source: inKubeRay("ValidateRayClusterMetadata"),
	},
	{
		Owner: schema.GroupKind{Group: ray, Kind: "RayJob"}, Controller: "kuberay",
		Makes: "RayCluster", Formula: "NAME-XXXXX", Adds: 1 + names.SuffixLength, Limit: maxRayCluster,
		Over: Broken, ReadOnly: true,
		Source: inKubeRay("ValidateRayJobMetadata"),
	},
	{
		Owner: schema.GroupKind{Group: ray, Kind: "RayService"}, Controller: "kuberay",
		Makes: "RayCluster", Formula: "NAME-XXXXX", Adds: 1 + names.SuffixLength, Limit: maxRayCluster,
		Over: Broken, ReadOnly: true,
		Source: inKubeRay("ValidateRayServiceMetadata"),
	},
	{
		Owner: schema.GroupKind{Group: "sparkoperator.k8s.io", Kind: "SparkApplication"}, Controller: "spark-operator",
		Makes:   "label sparkoperator.k8s.io/app-name of its Pods",
		Formula: "NAME", Limit: maxLabel, Over: Refused, ReadOnly: true,
		Source: "github.com/kubeflow/spark-operator v2.5.2, " +
			"internal/webhook/sparkapplication_validator.go: validateName",
	},
	{
		Owner: VolcanoJob, Variant: "Volcano", Controller: "volcano", Makes: "Pod", Formula: "NAME-TASK-INDEX",
		Limit: maxLabel, Over: Refused, ReadOnly: true,
		Source: "github.com/volcano-sh/volcano v1.15.1, " +
			"pkg/webhooks/admission/jobs/validate/admit_job.go: validateK8sPodNameLength",
	},
	{
		Owner: MPIJob, Controller: "mpi-operator", Makes: "host name of its workers", Formula: "NAME-worker-INDEX",
		Adds: len("-worker-"), Limit: maxLabel, Over: Broken, ReadOnly: true,
		Source: "github.com/kubeflow/mpi-operator v0.8.0, " +
			"pkg/apis/kubeflow/validation/validation.go: validateMPIJobName",
	},
}

// These kinds have fields that lengthen the derived names.
var (
	JobSet     = schema.GroupKind{Group: "jobset.x-k8s.io", Kind: "JobSet"}
	VolcanoJob = schema.GroupKind{Group: "batch.volcano.sh", Kind: "Job"}
	MPIJob     = schema.GroupKind{Group: "kubeflow.org", Kind: "MPIJob"}
)
