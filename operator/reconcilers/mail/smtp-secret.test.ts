import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { smtpEndpoint, smtpSecretData } from './smtp-secret.ts'

const config = {
  MAIL_HOSTNAME: 'mail.example.com',
  SUBMISSION_HOST: undefined,
  SUBMISSION_CLUSTER_HOST: undefined,
  SUBMISSION_CA_FILE: undefined,
}

test.each([
  ['Public', {}, 'mail.example.com'],
  ['Public', { SUBMISSION_HOST: 'smtp.example.com', SUBMISSION_CLUSTER_HOST: 'smtp.ns.svc' }, 'smtp.example.com'],
  ['Cluster', { SUBMISSION_HOST: 'smtp.example.com', SUBMISSION_CLUSTER_HOST: 'smtp.ns.svc' }, 'smtp.ns.svc'],
  ['Cluster', { SUBMISSION_HOST: 'smtp.example.com' }, 'smtp.example.com'],
] as const)('endpoint %s with %j leads to %s', async (endpoint, change, host) => {
  expect(await smtpEndpoint({ ...config, ...change }, endpoint)).toEqual({ host })
})

test('the CA file is stored in the Secret as ca.crt', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pw-ca-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'ca.crt'), 'PEM')
  const endpoint = await smtpEndpoint({ ...config, SUBMISSION_CA_FILE: join(folder, 'ca.crt') }, 'Cluster')
  expect(smtpSecretData(endpoint, 'a', 'b')).toMatchObject({ 'ca.crt': 'PEM' })
})

test('the URI parses to the separate fields, whatever the characters', () => {
  const data = smtpSecretData({ host: 'smtp.example.com' }, 'news@shop', 'p/w:d@?#%')
  const url = new URL(data.uri ?? '')
  expect([decodeURIComponent(url.username), decodeURIComponent(url.password), url.host]).toEqual([
    data.username,
    data.password,
    'smtp.example.com:587',
  ])
  expect(data).not.toHaveProperty('ca.crt')
})
