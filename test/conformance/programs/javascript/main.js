#!/usr/bin/env node
// Creates a ConfigMap with @kubernetes/client-node as a program of the conformance run. It has no
// keys. It claims created without an error, and failed after any.
import { readFileSync } from 'node:fs';
import { CoreV1Api, KubeConfig, loadYaml } from '@kubernetes/client-node';

const [kubeconfig, manifest] = process.argv.slice(2);
const config = new KubeConfig();
config.loadFromFile(kubeconfig);
const claim = { outcome: 'created' };
try {
  const body = loadYaml(readFileSync(manifest, 'utf8'));
  const api = config.makeApiClient(CoreV1Api);
  claim.name = (await api.createNamespacedConfigMap({ namespace: 'default', body })).metadata.name;
} catch (error) {
  claim.outcome = 'failed';
  console.error(String(error?.message ?? error).split('\n').join(' '));
}
console.log(JSON.stringify(claim));
