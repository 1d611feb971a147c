/** Renders the chart with helm and gives the objects back. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { findHelm } from './programs.ts'

/** A rendered object; `spec` is read as the test needs it. */
export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> }
  // biome-ignore lint/suspicious/noExplicitAny: manifests of twenty kinds, each read in one place
  spec?: any
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[]
}

const helm = await findHelm()

/** Why there is no helm; undefined when there is one. */
export const helmMissing = 'missing' in helm ? helm.missing : undefined

/** The least that must be set. */
export const LEAST = ['--set', 'mailHostname=mail.example.com', '--set', 'mongodb.mode=trial']

/** Runs `helm template`; rejects with what helm says. */
export async function renderChart(...args: string[]): Promise<Manifest[]> {
  if ('missing' in helm) throw new Error(helm.missing)
  // A helm from its Go module does not know its Kubernetes version.
  const command = ['template', 'pw', 'charts/postwright', '--namespace', 'mail', '--kube-version', '1.34.0', ...args]
  const { stdout } = await promisify(execFile)(helm.path, command, { maxBuffer: 32 << 20 })
  return parseAllDocuments(stdout).flatMap(document => (document.contents ? [document.toJS() as Manifest] : []))
}
