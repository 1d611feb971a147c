/** kube-score for every value set: each finding is fixed, or exempted below with a reason. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { renderText, VALUE_SETS } from '../support/kubernetes/render-chart.ts'
import { findKubeScore, pathOf } from '../support/programs/programs.ts'

interface Scored {
  object_name: string
  checks: { check: { id: string }; skipped: boolean; grade: number; comments: { path: string; summary: string }[] }[]
}

interface Exemption {
  check: string
  /** Matches the text of the finding, with the object's name. */
  finding: RegExp
  reason: string
}

const EXEMPTIONS: readonly Exemption[] = [
  {
    check: 'container-ephemeral-storage-request-and-limit',
    finding: /Ephemeral Storage (limit|request) is not set/,
    reason: 'the root file system is read-only and the one writable volume has a size limit of its own',
  },
  {
    check: 'container-image-pull-policy',
    finding: /ImagePullPolicy is not set to Always/,
    reason: 'the image is named by version or digest; an unavailable registry must not keep a pod from starting again',
  },
  {
    check: 'pod-networkpolicy',
    finding: /gateway-values/,
    reason: 'that set turns the policies off to prove that this is possible',
  },
  {
    check: 'pod-probes-identical',
    finding: /mongodb/,
    reason: 'the trial database has no other member for its traffic',
  },
  {
    check: 'container-security-context-user-group-id',
    finding: /mongodb/,
    reason: 'the official image of the trial database has its user and its folders under 999',
  },
  {
    check: 'container-security-context-user-group-id',
    finding: /everything-values/,
    reason: 'that set leaves the ids to the platform, as OpenShift wants it',
  },
  {
    check: 'pod-probes',
    finding: /everything-values.*-test/,
    reason: 'the Service of the ServiceMonitor has a port that the test pod lacks, so it gets no traffic',
  },
  {
    check: 'deployment-has-host-podantiaffinity',
    finding: /everything-values.*panel/,
    reason: 'that set replaces the affinity of the panel',
  },
  {
    check: 'deployment-replicas',
    finding: /values-small/,
    reason: 'one pod of each process is what that file is for',
  },
]

const OPTIONAL = ['container-seccomp-profile', 'container-ports-check']
const FULL_GRADE = 10
const program = await findKubeScore()

describe('kube-score', () => {
  test.each(VALUE_SETS)('%s has no unexempted finding', async values => {
    expect(
      (await findings(values)).filter(finding => !EXEMPTIONS.some(exemption => covers(exemption, finding))),
    ).toEqual([])
  })

  test('every exemption is still needed', async () => {
    const all = (await Promise.all(VALUE_SETS.map(findings))).flat()
    expect(EXEMPTIONS.filter(exemption => !all.some(finding => covers(exemption, finding)))).toEqual([])
  })
})

interface Finding {
  check: string
  text: string
}

function covers({ check, finding }: Exemption, { check: found, text: message }: Finding): boolean {
  return check === found && finding.test(message)
}

async function findings(values: string): Promise<Finding[]> {
  const objects = await score(await renderText('-f', values))
  expect(objects.length).toBeGreaterThan(15)
  return objects.flatMap(({ object_name, checks }) =>
    checks
      .filter(({ skipped, grade }) => !skipped && grade < FULL_GRADE)
      .flatMap(({ check, comments }) =>
        comments.map(({ path, summary }) => ({
          check: check.id,
          text: `${values}: ${object_name} ${path}: ${summary}`,
        })),
      ),
  )
}

async function score(manifests: string): Promise<Scored[]> {
  const options = [
    '--kubernetes-version=v1.34',
    '--output-format=json',
    // Every pod has a CPU request; a limit would only slow it down on an idle node.
    '--ignore-container-cpu-limit',
    ...OPTIONAL.map(name => `--enable-optional-test=${name}`),
  ]
  const child = spawn(pathOf(program), ['score', '-', ...options], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(manifests)
  return JSON.parse(await text(child.stdout)) as Scored[]
}
