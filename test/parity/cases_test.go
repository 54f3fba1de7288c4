package parity

import (
	"net/http"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-genname/kubectl-genname/pkg/cmd/create/messages"
	"github.com/kubectl-genname/kubectl-genname/test/faultproxy"
	"github.com/kubectl-genname/kubectl-genname/test/harness"
)

var cases = []parityCase{
	// Sources of objects.
	{args: "-f one.yaml", prints: "configmap/one-SUFFIX created\n"},
	{args: "-f named.yaml", prints: "configmap/named created\n"},
	{args: "-f both.yaml", prints: "configmap/both created\n"},
	{args: "-f neither.yaml", code: 1, prints: `The ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required`},
	{args: "-f three.yaml", prints: "a-SUFFIX created\nconfigmap/b-SUFFIX created\nconfigmap/c-SUFFIX created\n"},
	{args: "-f one.yaml -f one.yaml", prints: "one-SUFFIX created\nconfigmap/one-SUFFIX created\n"},
	{args: "-f named.yaml -f named.yaml", code: 1, prints: `Error from server (AlreadyExists): error when creating "named.yaml": configmaps "named" already exists`},
	{args: "-f one.yaml,three.yaml", prints: "c-SUFFIX created\n"},
	{args: "--filename=three.yaml --filename one.yaml", prints: "c-SUFFIX created\nconfigmap/one-SUFFIX created\n"},
	{args: "-f unknown-and-invalid.yaml", code: 1, prints: `"Bad_Name" is invalid`},
	{args: "-f missing.json -f named.yaml -f named.yaml -f unknown-and-invalid.yaml --validate=ignore", code: 1, prints: "missing.json"},
	{args: "-f named.yaml -f named.yaml -f unknown-and-invalid.yaml --validate=ignore", code: 1, prints: "no matches for kind"},
	{args: "-f one.json", prints: "json-SUFFIX created\n"},
	{args: "-f two.json", prints: "j1-SUFFIX created\nconfigmap/j2-SUFFIX created\n"},
	{args: "-f mixed.yaml", prints: "y-SUFFIX created\nconfigmap/j-SUFFIX created\n"},
	{args: "-f utf16.yaml", prints: "one-SUFFIX created\n"},
	{args: "-f bom.yaml", prints: "one-SUFFIX created\n"},
	{args: "-f crlf.yaml", prints: "c-SUFFIX created\n"},
	{args: "-f latin1.yaml", prints: "a-SUFFIX created\n"},
	{args: "-f dir/4.txt", prints: "d4-SUFFIX created\n"},
	{args: "-f dir", prints: "d1-SUFFIX created\nconfigmap/json-SUFFIX created\nconfigmap/d3-SUFFIX created\n"},
	{args: "-f dir/ -R", prints: "d5-SUFFIX created\n"},
	{args: "-f dir -f one.yaml --recursive=false", prints: "d3-SUFFIX created\nconfigmap/one-SUFFIX created\n"},
	{args: "-f dir/*.yaml", prints: "d1-SUFFIX created\n"},
	{args: "-f dir/*.nope", code: 1, prints: `error: the path "dir/*.nope" does not exist`},
	{args: "-f text", code: 1, prints: "error: error reading [text]: recognized file extensions are [.json .yaml .yml]"},
	{args: "-f missing.yaml", code: 1, prints: `error: the path "missing.yaml" does not exist`},
	{args: "-f one.yaml -f missing.yaml", code: 1, prints: `error: the path "missing.yaml" does not exist`},
	{args: "-k kustomize", prints: "configmap/hashed-"},
	{args: "-k kustomize-bad", code: 1, prints: "error: accumulating resources"},
	{args: "-k dir", code: 1, prints: "error: unable to find one of 'kustomization.yaml'"},
	{args: "-k kustomize -f one.yaml", code: 1, prints: "error: only one of -f or -k can be specified"},
	{args: "-k kustomize -R", code: 1, prints: "error: the -k flag can't be used with -f or -R"},
	{args: "-f kustomize", code: 1, prints: "kustomization.yaml"},
	{args: "-f $URL/one.yaml", prints: "one-SUFFIX created\n"},
	{args: "-f $URL/missing.yaml", code: 1, prints: "server reported 404 Not Found"},
	{args: "-f $URL/flaky/$NS/one.yaml", prints: "one-SUFFIX created\n"},
	{args: "-f $URL/down/one.yaml", code: 1, prints: "server reported 503 Service Unavailable, status code=503"},
	{args: "-f http://127.0.0.1:1/x.yaml", code: 1, prints: "The connection to the server 127.0.0.1:1 was refused"},
	{args: "-f -", stdin: "three.yaml", prints: "c-SUFFIX created\n"},
	{args: "-f - -f one.yaml", stdin: "one.json", prints: "json-SUFFIX created\n"},
	{args: "-f - -f -", stdin: "one.yaml", code: 1, prints: "error: standard input cannot be used for multiple arguments"},
	{args: "-f -", stdin: "empty.yaml", code: 1, prints: "error: no objects passed to create"},
	{args: "-f -", stdin: "syntax.yaml", code: 1, prints: "error: error parsing STDIN: "},

	// Contents of files.
	{args: "-f empty.yaml", code: 1, prints: "error: no objects passed to create\n"},
	{args: "-f comments.yaml", code: 1, prints: "error: no objects passed to create\n"},
	{args: "-f null.yaml", code: 1, prints: "error: no objects passed to create\n"},
	{args: "-f empty-docs.yaml", prints: "a-SUFFIX created\nconfigmap/b-SUFFIX created\n"},
	{args: "-f list.yaml", prints: "a-SUFFIX created\nconfigmap/named created\nconfigmap/c-SUFFIX created\n"},
	{args: "-f named.yaml -f list.yaml --validate=ignore", code: 1, prints: "c-SUFFIX created\n"},
	{args: "-f list-empty.yaml", code: 1, prints: "error: no objects passed to create\n"},
	{args: "-f list-in-list.yaml", code: 1, prints: "is not a list: no Items field in this object"},
	{args: "-f configmaplist.yaml", prints: "a-SUFFIX created\n"},
	{args: "-f configmaplist-typed.yaml", prints: "a-SUFFIX created\n"},
	{args: "-f broken.json", code: 1, prints: "error: error parsing broken.json"},
	{args: "-f syntax.yaml -f one.yaml", code: 1, prints: "one-SUFFIX created\n"},
	{args: "-f tabs.yaml", code: 1, prints: "error: error parsing tabs.yaml: error converting YAML to JSON"},
	{args: "-f no-kind.yaml", code: 1, prints: "kind not set"},
	{args: "-f no-version.yaml", code: 1, prints: "apiVersion not set"},
	{args: "-f not-an-object.yaml", code: 1, prints: "not-an-object.yaml"},
	{args: "-f array.yaml", code: 1, prints: "array.yaml"},
	{args: "-f status.json", code: 1, prints: "status.json"},
	{args: "-f unknown-kind.yaml", code: 1, prints: `no matches for kind "Nope" in version "v1"` + "\nensure CRDs are installed first\n"},
	{args: "-f unknown-kind.yaml --validate=ignore", code: 1, prints: "c-SUFFIX created\n"},
	{args: "-f unknown-group.yaml", code: 1, prints: "ensure CRDs are installed first\n"},
	{args: "-f generatename-number.yaml", code: 1, prints: "generatename-number.yaml"},
	{args: "-f name-number.yaml", code: 1, prints: "name-number.yaml"},
	{args: "-f generatename-bad.yaml", code: 1, prints: "metadata.generateName: Invalid value"},
	{args: "-f generatename-dot.yaml", code: 1, prints: "metadata.name: Invalid value"},
	{args: "-f generatename-long.yaml", prints: "created\n"},
	{args: "-f generatename-too-long.yaml", code: 1, prints: "metadata.generateName: Invalid value"},
	{args: "-f name-slash.yaml", code: 1, prints: "metadata.name"},
	{args: "-f labels-null.yaml", prints: "a-SUFFIX created\n"},
	{args: "-f metadata-null.yaml", code: 1, prints: "name or generateName is required"},
	{args: "-f annotations-wrong.yaml", code: 1, prints: "annotations-wrong.yaml"},
	{args: "-f annotations-wrong.yaml --validate=false", code: 1, prints: "annotations-wrong.yaml"},
	{args: "-f resource-version.yaml", prints: "a-SUFFIX created\n"},
	{args: "-f resource-version-named.yaml", prints: "configmap/a created\n"},
	{args: "-f managed-fields.yaml", prints: "a-SUFFIX created\n"},
	{args: "-f owner.yaml", prints: "a-SUFFIX created\n"},
	{args: "-f status.yaml -o jsonpath={.status.phase}", prints: "Pending"},
	{args: "-f secret.yaml -o yaml", prints: "p: aHVudGVyMg=="},
	{args: "-f job.yaml", prints: "job.batch/job-SUFFIX created\n"},
	{args: "-f widget-good.yaml", prints: "widget.parity.example.com/widget-SUFFIX created\n"},
	{args: "-f widget-good.yaml -o json", prints: `"size": 5`},
	{args: "-f review.yaml -o jsonpath={.status.userInfo.username}", prints: "admin"},
	{args: "-f access-review.yaml -o yaml", prints: "allowed: true"},
	{args: "-f cluster.yaml", prints: "clusterrole.rbac.authorization.k8s.io/parity-SUFFIX created\n"},
	{args: "-f cluster.yaml -n other", prints: "clusterrole.rbac.authorization.k8s.io/parity-SUFFIX created\n"},
	{args: "-f cluster-with-namespace.yaml -o yaml", prints: "name: parity-SUFFIX\n"},
	{args: "-f namespace.yaml", prints: "configmap/in-SUFFIX created\n"},

	// Namespaces.
	{args: "-f one.yaml -n $NS", prints: "one-SUFFIX created\n"},
	{args: "-f one.yaml --namespace nonsuch", code: 1, prints: `Error from server (NotFound): error when creating "one.yaml": namespaces "nonsuch" not found`},
	{args: "-f same-namespace.yaml -n $NS", prints: "a-SUFFIX created\n"},
	{args: "-f default-namespace.yaml -o yaml", prints: "namespace: default\n"},
	{args: "-f elsewhere.yaml", code: 1, prints: `namespaces "elsewhere" not found`},
	{args: "-f elsewhere.yaml -n $NS", code: 1, prints: `the namespace from the provided object "elsewhere" does not match the namespace "NAMESPACE". You must pass '--namespace=elsewhere' to perform this operation.`},
	{args: "-f one.yaml -f elsewhere.yaml -n $NS", code: 1, prints: "one-SUFFIX created\n"},
	{args: "-f named.yaml -f elsewhere.yaml -f named.yaml -n $NS", code: 1, prints: "to perform this operation.\nError from server (AlreadyExists)"},
	{
		args: "-f one.yaml", prepare: endNamespace, code: 1, prints: `configmaps "one-" is forbidden: unable to create new content in namespace NAMESPACE because it is being terminated`,
		client: &harness.Result{Code: 1, Stderr: `Error from server \(Forbidden\): error when creating "one.yaml": configmaps "one-SUFFIX" is forbidden: unable to create new content in namespace NAMESPACE because it is being terminated\n`},
	},

	// Selection.
	{args: "-f labels.yaml -l app=b", prints: "configmap/b-SUFFIX created\n"},
	{args: "-f labels.yaml --selector app!=b", prints: "configmap/a-SUFFIX created\n"},
	{args: "-f labels.yaml -l app=c", code: 1, prints: "error: no objects passed to create\n"},
	{args: "-f labels.yaml -l app=,=", code: 1, prints: "error: "},

	// Validation and warnings.
	{args: "-f unknown-field.yaml", code: 1, prints: `unknown field "dta", unknown field "nope"`},
	{args: "-f unknown-field.yaml --validate", code: 1, prints: `strict decoding error`},
	{args: "-f unknown-field.yaml --validate=true", code: 1, prints: `strict decoding error`},
	{args: "-f unknown-field.yaml --validate=warn", prints: `Warning: unknown field "nope"`},
	{args: "-f unknown-field.yaml --validate=ignore", prints: "b-SUFFIX created\n"},
	{args: "-f unknown-field.yaml --validate=false", prints: "b-SUFFIX created\n"},
	{args: "-f unknown-field.yaml --validate=bogus", code: 1, prints: `error: invalid - validate option "bogus"; must be one of: strict (or true), warn, ignore (or false)`},
	{args: "-f unknown-field.yaml --validate=warn --warnings-as-errors", code: 1, prints: "error: 2 warnings received\n"},
	{args: "-f duplicate-field.yaml", prints: "b-SUFFIX created\n"},
	{args: "-f duplicate-field.yaml --validate=warn", prints: "b-SUFFIX created\n"},
	{args: "-f wrong-type.yaml", code: 1, prints: "wrong-type.yaml"},
	{args: "-f wrong-type.yaml --validate=ignore", code: 1, prints: "wrong-type.yaml"},
	{args: "-f widget.yaml", code: 1, prints: `unknown field "spec.unknown"`},
	{args: "-f widget.yaml --validate=warn", prints: `Warning: unknown field "spec.unknown"`},
	{args: "-f widget-bad.yaml", code: 1, prints: `spec.size: Invalid value`},
	{args: "-f endpoints.yaml", prints: "Warning: v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice\n"},
	{args: "-f endpoints.yaml --warnings-as-errors", code: 1, prints: "error: 1 warning received\n"},
	{args: "-f endpoints.yaml -f missing-kind.yaml --warnings-as-errors", code: 1, prints: "error: the path"},
	{args: "-f pod-warning.yaml", prints: `Warning: spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply`},
	{args: "-f pod-invalid.yaml", code: 1, prints: `is invalid: spec.containers: Required value`},

	// Several errors.
	{args: "-f named.yaml -f conflict.yaml", code: 1, prints: "c-SUFFIX created\n"},
	{args: "-f named.yaml -f errors.yaml", code: 1, prints: `Error from server (Invalid): error when creating "errors.yaml": Pod "iv" is invalid: spec.containers: Required value`},
	{args: "-f errors.yaml --dry-run=server", code: 1, prints: "c-SUFFIX created (server dry run)\n"},

	// Dry runs.
	{args: "-f three.yaml --dry-run=client", prints: "configmap/<unknown> created (dry run)\n"},
	{args: "-f three.yaml --dry-run=client -o name", prints: "configmap/<unknown>\n"},
	{args: "-f three.yaml --dry-run=client -o yaml", prints: "---\n"},
	{args: "-f one.yaml --dry-run=client -o json", prints: `"generateName": "one-"`},
	{args: "-f one.yaml --dry-run=client --save-config -o yaml", prints: "last-applied-configuration"},
	{args: "-f named.yaml -f named.yaml --dry-run=client", prints: "configmap/named created (dry run)\n"},
	{args: "-f one.yaml --dry-run=server", prints: "configmap/one-SUFFIX created (server dry run)\n"},
	{args: "-f one.yaml --dry-run=server -o yaml", prints: "name: one-SUFFIX\n"},
	{args: "-f named.yaml -f both.yaml --dry-run=server", prints: "configmap/both created (server dry run)\n"},
	{args: "-f named.yaml --dry-run=server", prepare: holdName, code: 1, prints: `already exists`},
	{args: "-f one.yaml --dry-run", prints: "--dry-run is deprecated and can be replaced with --dry-run=client."},
	{args: "-f one.yaml --dry-run=true", code: 0, prints: "created (dry run)\n"},
	{args: "-f one.yaml --dry-run=false", prints: "one-SUFFIX created\n"},
	{args: "-f one.yaml --dry-run=none", prints: "one-SUFFIX created\n"},
	{args: "-f one.yaml --dry-run=bogus", code: 1, prints: `error: Invalid dry-run value (bogus). Must be "none", "server", or "client".`},
	{args: "-f unknown-kind.yaml --dry-run=client", code: 1, prints: "ensure CRDs are installed first"},

	// Formats.
	{args: "-f three.yaml -o name", prints: "configmap/a-SUFFIX\nconfigmap/b-SUFFIX\nconfigmap/c-SUFFIX\n"},
	{args: "-f three.yaml -o json", prints: "}\n{\n"},
	{args: "-f three.yaml -o yaml", prints: "---\n"},
	{args: "-f three.yaml -o kyaml", prints: "---\n"},
	{args: "-f one.yaml -o json --show-managed-fields", prints: `"manager": "kubectl-create"`},
	{args: "-f one.yaml -o yaml --show-managed-fields", prints: "manager: kubectl-create"},
	{args: "-f one.yaml -o kyaml --show-managed-fields=true", prints: `manager: "kubectl-create"`},
	{args: "-f three.yaml -o jsonpath={.metadata.generateName}", prints: "a-b-c-"},
	{args: "-f one.yaml -o jsonpath-as-json={.data}", prints: `"a": "b"`},
	{args: "-f one.yaml -o jsonpath-file=path.txt", prints: "ConfigMap one-"},
	{args: "-f one.yaml -o jsonpath={.metadata", code: 1, prints: "error: error parsing jsonpath"},
	{args: "-f one.yaml -o jsonpath", code: 1, prints: "error: template format specified but no template given"},
	{args: "-f one.yaml -o go-template={{.kind}}", prints: "ConfigMap"},
	{args: "-f one.yaml -o go-template --template={{.kind}}", prints: "ConfigMap"},
	{args: "-f one.yaml -o go-template={{.nope}}", prints: "<no value>"},
	{
		args: "-f one.yaml -o go-template={{.nope}} --allow-missing-template-keys=false", code: 1, prints: "map has no entry for key",
		client: &harness.Result{Code: 1, Stdout: `Error executing template: .*`, Stderr: `error: configmap/one-SUFFIX was created, but it can't be printed: error executing template .*`},
	},
	{
		args: "-f one.yaml -o jsonpath={.nope} --allow-missing-template-keys=false", code: 1, prints: "nope is not found",
		client: &harness.Result{Code: 1, Stderr: `error: configmap/one-SUFFIX was created, but it can't be printed: error executing jsonpath .*`},
	},
	{
		args: "-f labels.yaml -o jsonpath={.metadata.labels.app}{.metadata.nope} --allow-missing-template-keys=false", code: 1, prints: "nope is not found",
		client: &harness.Result{Code: 1, Stderr: `error: configmap/a-SUFFIX was created, but .*\nerror: configmap/b-SUFFIX was created, but .*`},
	},
	{args: "-f one.yaml -o go-template={{", code: 1, prints: "error: error parsing template"},
	{args: "-f one.yaml -o go-template-file=template.txt", prints: "ConfigMap one-\n"},
	{args: "-f one.yaml -o template={{.kind}}", prints: "ConfigMap"},
	{args: "-f one.yaml -o templatefile=template.txt", prints: "ConfigMap one-\n"},
	{args: "-f one.yaml -o go-template-file=missing.txt", code: 1, prints: "missing.txt"},
	{args: "-f one.yaml --template={{.kind}}", prints: "ConfigMap"},
	{args: "-f one.yaml -o wide", code: 1, prints: `error: unable to match a printer suitable for the output format "wide", allowed formats are: `},
	{args: "-f one.yaml -o custom-columns=A:.kind", code: 1, prints: `error: unable to match a printer`},
	{args: "-f one.yaml -o bogus", code: 1, prints: `error: unable to match a printer`},
	{args: "-f one.yaml -oname", prints: "configmap/one-SUFFIX\n"},
	{args: "-f job.yaml -o=name", prints: "job.batch/job-SUFFIX\n"},
	{args: "-f list.yaml -o yaml", prints: "---\n"},

	// Annotations and managed fields.
	{args: "-f one.yaml --save-config -o yaml", prints: `"generateName":"one-"`},
	{args: "-f secret.yaml --save-config -o yaml", prints: `hunter2`},
	{args: "-f applied.yaml -o yaml", prints: `"generateName":"a-"`},
	{args: "-f one.yaml --record -o json", prints: "Flag --record has been deprecated, --record will be removed in the future\n"},
	{args: "-f one.yaml --record -o name", prints: "configmap/one-SUFFIX\n"},
	{args: "-f change-cause.yaml -o yaml", prints: "kubernetes.io/change-cause: before"},
	{args: "-f change-cause.yaml -o yaml --record=false", prints: "kubernetes.io/change-cause: before"},
	{args: "-f one.yaml --field-manager=me -o yaml --show-managed-fields", prints: "manager: me\n"},
	{args: "-f one.yaml --field-manager= -o yaml --show-managed-fields", prints: "manager: kubectl"},
	{args: "-f one.yaml --field-manager=" + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789", code: 1, prints: "fieldManager"},
	{args: "-f one.yaml --windows-line-endings", prints: "one-SUFFIX created\n"},

	// Refusals.
	{args: "-f denied.yaml", code: 1, prints: "this ConfigMap asks to be denied"},
	{args: "-f one.yaml -f denied.yaml -f three.yaml", code: 1, prints: "c-SUFFIX created\n"},
	{args: "-f three.yaml", prepare: quotaOfTwo, code: 1, prints: "exceeded quota: two, requested: count/configmaps=1, used: count/configmaps=2, limited: count/configmaps=2"},
	{args: "-f named.yaml", prepare: holdName, code: 1, prints: `configmaps "named" already exists`},
	{args: "-f named.yaml", prepare: endHolder, code: 1, prints: `object is being deleted: configmaps "named" already exists`},
	{args: "-f one.yaml", user: "nobody", code: 1, prints: `Error from server (Forbidden): error when creating "one.yaml": configmaps is forbidden: User "nobody" cannot create resource "configmaps" in API group "" in the namespace "NAMESPACE"`, client: mayDoNothing("nobody")},
	{args: "-f one.yaml --as=someone", code: 1, prints: `User "someone" cannot create`, client: mayDoNothing("someone")},
	{args: "-f one.yaml --as=someone --as-group=system:masters", prints: "one-SUFFIX created\n"},
	{args: "-f one.yaml --as-group=system:masters", code: 1, prints: "error: "},
	{args: "-f one.yaml --as=someone", user: "nobody", code: 1, prints: "failed to download openapi: unknown"},
	{
		args: "-f both.yaml -f both.yaml", code: 1, prints: `the server was not able to generate a unique name`,
		client: &harness.Result{Code: 1, Stdout: `configmap/both created\n`, Stderr: `Error from server \(AlreadyExists\): error when creating "both.yaml": configmaps "both" already exists, the server was not able to generate a unique name for the object \(the object has a name and a generateName, and the server uses the name\)\n`},
	},

	// The command line and the connection.
	{args: "", code: 1, prints: "error: must specify one of -f and -k\n"},
	{args: "-f", code: 1, prints: "error: flag needs an argument: 'f' in -f\n"},
	{args: "--nope -f one.yaml", code: 1, prints: "error: unknown flag: --nope\n"},
	{args: "-x -f one.yaml", code: 1, prints: "error: unknown shorthand flag: 'x' in -x\n"},
	{args: "-f one.yaml --recursive=maybe", code: 1, prints: "invalid argument \"maybe\""},
	{args: "-f one.yaml --kubeconfig=missing", code: 1, prints: "error: stat missing: no such file or directory\n"},
	{args: "-f one.yaml --kubeconfig=bad.kubeconfig", code: 1, prints: "error loading config file \"bad.kubeconfig\""},
	{args: "-f one.yaml --kubeconfig=empty.kubeconfig", code: 1, prints: "localhost:8080"},
	{args: "-f one.yaml --context=bogus", code: 1, prints: `error: context "bogus" does not exist`},
	{args: "-f one.yaml --cluster=bogus", code: 1, prints: `error: cluster "bogus" does not exist`},
	{args: "-f one.yaml --user=bogus", code: 1, prints: `error: auth info "bogus" does not exist`},
	{args: "-f one.yaml --server=https://127.0.0.1:1", code: 1, prints: `connection refused`},
	{args: "-f one.yaml --server=https://127.0.0.1:1 --validate=false", code: 1, prints: `connection refused`},
	{args: "-f one.yaml --certificate-authority=missing", code: 1, prints: "missing"},
	{args: "-f one.yaml --insecure-skip-tls-verify", prints: "one-SUFFIX created\n"},
	{args: "-f one.yaml --token=bogus", prints: "one-SUFFIX created\n"},
	{args: "-f one.yaml --username=u --password=p --token=t", code: 1, prints: "error: "},
	{args: "-f one.yaml --request-timeout=bogus", code: 1, prints: "error: Invalid timeout value. Timeout must be"},
	{args: "-f one.yaml --request-timeout=1h", prints: "one-SUFFIX created\n"},
	{args: "-f one.yaml --tls-server-name=bogus.example.com", code: 1, prints: "bogus.example.com"},
	{args: "-f one.yaml --disable-compression --cache-dir=cache", prints: "one-SUFFIX created\n"},
	{args: "-f one.yaml --warnings_as_errors --save_config", prints: "one-SUFFIX created\n"},

	// kubectl's own features.
	{args: "-f one.yaml --edit", editor: "true", prints: "Edit cancelled, no changes made.\n"},
	{args: "-f three.yaml --edit", editor: "sed -i s/generateName:/generateName:/;s/-$/-x-/", prints: "configmap/c-x-SUFFIX created\n"},
	{args: "-f one.yaml --edit -o json", editor: "sed -i s/one-/two-/", prints: `"name": "two-SUFFIX"`},
	{args: "-f one.yaml --edit -o name", editor: "true", code: 1, prints: "error: "},
	{args: "-f label.yaml -f label.yaml --edit --save-config", editor: "sed -i s/label:old/label:new/", code: 1, prints: "already exists"},
	{args: "-f one.yaml --edit", editor: "false", code: 1, prints: "error: "},
	{args: "-f empty.yaml --edit", editor: "true"},
	{args: "-f one.json --raw=/api/v1/namespaces/$NS/configmaps", prints: `"kind":"ConfigMap"`},
	{args: "-f - --raw=/api/v1/namespaces/$NS/configmaps", stdin: "one.json", prints: `"kind":"ConfigMap"`},
	{args: "-f named.json --raw=/api/v1/namespaces/$NS/configmaps", prepare: holdName, code: 1, prints: "Error from server (AlreadyExists)"},
	{args: "-f broken.json --raw=/api/v1/namespaces/$NS/configmaps", code: 1, prints: "Error from server (BadRequest)"},
	{args: "-f one.json --raw=/nope", code: 1, prints: "Error from server (NotFound)"},
	{args: "-f one.json --raw=nope", code: 1, prints: "error: --raw must be a valid URL path"},
	{args: "-f one.json --raw=/api --edit", code: 1, prints: "error: --raw and --edit are mutually exclusive"},
	{args: "-f one.json --raw=/api -R", code: 1, prints: "error: --raw and --recursive are mutually exclusive"},
	{args: "-f one.json --raw=/api -l a=b", code: 1, prints: "error: --raw and --selector (-l) are mutually exclusive"},
	{args: "-f one.json --raw=/api -o yaml", code: 1, prints: "error: --raw and --output are mutually exclusive"},
	{args: "-f one.json -f two.json --raw=/api", code: 1, prints: "error: --raw can only use a single local file or stdin"},
	{args: "-f $URL/one.json --raw=/api", code: 1, prints: "error: --raw cannot read from a url"},
	{args: "-f missing.json --raw=/api", code: 1, prints: "missing.json"},
	{args: "--raw=/api", code: 1, prints: "error: must specify one of -f and -k"},

	// Faults of the network and the server. By default, the plugin handles them. With --naming=server --attempts=1 it
	// prints kubectl's error, and exits with the code of an unknown outcome.
	{
		args: "-f one.yaml", faults: harness.First(1, faultproxy.DropResponse), code: 1, unknown: true, prints: `error when creating "one.yaml": Post "SERVER/`,
		client: &harness.Result{Stdout: `configmap/one-SUFFIX created\n`, Stderr: `configmap/one-SUFFIX: [^\n]* \(checking whether it exists\)\n`},
	},
	{
		args: "-f three.yaml", faults: harness.First(1, faultproxy.RespondAfter(504, nil, "gone")), code: 1, unknown: true, prints: `c-SUFFIX created`,
		client: &harness.Result{Stdout: `(configmap/.-SUFFIX created\n){3}`, Stderr: `configmap/a-SUFFIX: [^\n]* \(checking whether it exists\)\n`},
	},
	{
		args: "-f one.yaml", faults: harness.First(1, faultproxy.RespondAfter(500, http.Header{"Content-Type": {"application/json"}}, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"etcdserver: request timed out","code":500}`)),
		code: 1, unknown: true, prints: `etcdserver: request timed out`,
		client: &harness.Result{Stdout: `configmap/one-SUFFIX created\n`, Stderr: `configmap/one-SUFFIX: etcdserver: request timed out \(checking whether it exists\)\n`},
	},
	{
		args: "-f one.yaml", faults: harness.First(2, faultproxy.Respond(429, http.Header{"Retry-After": {"1"}}, "busy")), prints: "one-SUFFIX created\n",
		client: &harness.Result{Stdout: `configmap/one-SUFFIX created\n`, Stderr: `(configmap/one-SUFFIX: [^\n]* \(sending it again in 1s\)\n){2}`},
	},
	{
		args: "-f one.yaml", faults: harness.First(1, faultproxy.Respond(503, nil, "busy")), code: 1, unknown: true, prints: `the server is currently unable to handle the request (post configmaps)`,
		client: &harness.Result{Stdout: `configmap/one-SUFFIX created\n`, Stderr: `configmap/one-SUFFIX: [^\n]* \(checking whether it exists\)\nconfigmap/one-SUFFIX: [^\n]* \(sending it again in [^\n]*\)\n`},
	},
	{args: "-f one.yaml --dry-run=server", faults: harness.First(1, faultproxy.DropResponse), code: 1, prints: `error when creating "one.yaml": Post "SERVER/`},
}

// holdName takes the name "named".
func holdName(t *testing.T, namespace string) {
	t.Helper()
	holder := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "named", Finalizers: []string{"example.com/held"}}}
	if _, err := harness.Clientset(t, retrying).CoreV1().ConfigMaps(namespace).Create(t.Context(), holder, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// endHolder takes the name "named" with an object that is being deleted.
func endHolder(t *testing.T, namespace string) {
	t.Helper()
	holdName(t, namespace)
	if err := harness.Clientset(t, retrying).CoreV1().ConfigMaps(namespace).Delete(t.Context(), "named", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// endNamespace deletes the namespace. It stays in termination, because no controller finalizes it.
func endNamespace(t *testing.T, namespace string) {
	t.Helper()
	if err := harness.Clientset(t, retrying).CoreV1().Namespaces().Delete(t.Context(), namespace, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

// quotaOfTwo allows two ConfigMaps.
func quotaOfTwo(t *testing.T, namespace string) {
	t.Helper()
	harness.Quota(t, retrying, namespace, "two", 2)
}

// mayDoNothing returns the plugin's output for a user without permissions. Before kubectl's refusal, the plugin warns
// that it can't check the refusal.
func mayDoNothing(user string) *harness.Result {
	return &harness.Result{Code: 1, Stderr: harness.Printed(messages.Warning+messages.RefusalUnverified, "configmaps") +
		`Error from server \(Forbidden\): error when creating "one.yaml": configmaps is forbidden: User "` + user +
		`" cannot create resource "configmaps" in API group "" in the namespace "NAMESPACE"\n`}
}
