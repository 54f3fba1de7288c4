{{- /* Each template writes the values of the chart into an object. Arguments: the root of the chart and the object. */ -}}
{{- define "genname-exporter.ServiceAccount" }}{{ end }}
{{- define "genname-exporter.Service" }}{{ end }}

{{- define "genname-exporter.ClusterRole" }}
{{- $rules := list }}
{{- range (first .).Values.types }}
{{- $type := splitList "." . }}
{{- $rules = append $rules (dict "apiGroups" (list (rest $type | join ".")) "resources" (list (first $type)) "verbs" (list "list" "watch")) }}
{{- end }}
{{- range (last .).rules }}
{{- if not (has "watch" .verbs) }}{{ $rules = append $rules . }}{{ end }}
{{- end }}
{{- $_ := set (last .) "rules" $rules }}
{{- end }}

{{- define "genname-exporter.ClusterRoleBinding" }}
{{- $_ := set (first (last .).subjects) "namespace" (first .).Release.Namespace }}
{{- end }}

{{- define "genname-exporter.Deployment" }}
{{- $values := (first .).Values }}
{{- $container := first (last .).spec.template.spec.containers }}
{{- $release := first (fromYaml ((first .).Files.Get "exporter/base/kustomization.yaml")).images }}
{{- $image := printf "%s:%s" $release.name (get $release "newTag") }}
{{- if hasKey $release "digest" }}{{ $image = printf "%s@%s" $release.name $release.digest }}{{ end }}
{{- $_ := set $container "image" ($values.image | default $image) }}
{{- $_ := set $container "args" (concat (list "exporter" (join "," $values.types) "--all-namespaces") $values.flags) }}
{{- if $values.resources }}
{{- $_ := set $container "resources" $values.resources }}
{{- $_ := unset $container "env" }}{{- /* GOMEMLIMIT belongs to the default memory limit. */ -}}
{{- end }}
{{- end }}

{{- define "genname-exporter.NetworkPolicy" }}
{{- $from := first (first (last .).spec.ingress).from }}
{{- $_ := set $from.namespaceSelector.matchLabels "kubernetes.io/metadata.name" (first .).Values.prometheusNamespace }}
{{- end }}

{{- define "genname-exporter.ServiceMonitor" }}
{{- $_ := set (last .).metadata "labels" (merge (dict) (first .).Values.prometheusOperator.labels (last .).metadata.labels) }}
{{- end }}
{{- define "genname-exporter.PrometheusRule" }}{{ include "genname-exporter.ServiceMonitor" . }}{{ end }}
