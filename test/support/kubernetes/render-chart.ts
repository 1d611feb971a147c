/** Renders the chart with helm and parses the objects. */
import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { findHelm, pathOf } from '../programs/programs.ts'

/** A rendered object; tests read `spec` by kind. */
export interface Manifest {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> }
  // biome-ignore lint/suspicious/noExplicitAny: manifests of twenty kinds, each read in one place
  spec?: any
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[] }[]
}

const helm = await findHelm()

/** For `beforeAll` of tests that expect errors: without helm they are skipped, see missing-program.ts. */
export const needHelm = (): void => void pathOf(helm)

/** The required values. */
export const LEAST = ['--set', 'mailHostname=mail.example.com', '--set', 'mongodb.mode=trial']

/** Every value file in the chart's `ci` folder, and those for users. */
export const VALUE_SETS = [
  ...(await readdir('charts/postwright/ci')).map(file => `charts/postwright/ci/${file}`),
  ...['production', 'small'].map(name => `charts/postwright/values-${name}.yaml`),
]

/** Runs `helm template` and parses its objects; rejects with helm's error. */
export async function renderChart(...args: string[]): Promise<Manifest[]> {
  return objectsIn(await renderText(...args))
}

/** Renders a release with this name. */
export async function renderRelease(release: string, ...args: string[]): Promise<Manifest[]> {
  return objectsIn(await runHelm('template', release, 'charts/postwright', '--namespace', 'mail', ...args))
}

function objectsIn(manifests: string): Manifest[] {
  return parseAllDocuments(manifests).flatMap(document => (document.contents ? [document.toJS() as Manifest] : []))
}

/** Renders as text, for other programs. */
export function renderText(...args: string[]): Promise<string> {
  return runHelm('template', 'pw', 'charts/postwright', '--namespace', 'mail', ...args)
}

/** Runs `helm lint` with warnings as errors; rejects with its findings. */
export function lintChart(...args: string[]): Promise<string> {
  return runHelm('lint', 'charts/postwright', '--strict', ...args)
}

async function runHelm(...args: string[]): Promise<string> {
  // A helm from its Go module does not know its Kubernetes version.
  const { stdout } = await promisify(execFile)(pathOf(helm), [...args, '--kube-version', '1.34.0'], {
    maxBuffer: 32 << 20,
  })
  return stdout
}
