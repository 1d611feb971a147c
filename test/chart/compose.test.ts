/** The compose file for one machine is valid and consistent with the settings. */
import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { describeSettings } from '../../services/platform/process/config.ts'

interface Compose {
  services: Record<'mongodb' | 'postwright', Service>
  networks: Record<string, object>
  volumes: Record<string, object>
}
interface Service {
  image?: string
  command: string[]
  environment?: Record<string, string>
  healthcheck?: { test: string[] }
  ports?: string[]
  volumes: string[]
  networks: string[]
}

const text = await readFile('deploy/compose.yaml', 'utf8')
const { services, networks, volumes } = parse(text) as Compose

test('declares the networks and named volumes that services use', () => {
  for (const service of Object.values(services)) {
    expect(Object.keys(networks)).toEqual(expect.arrayContaining(service.networks))
    const named = service.volumes.map(volume => volume.split(':')[0] ?? '').filter(name => !name.startsWith('.'))
    expect(Object.keys(volumes)).toEqual(expect.arrayContaining(named))
  }
})

test('sets known settings only, and publishes only ports with a listener', () => {
  const { environment = {}, ports = [] } = services.postwright
  const known = describeSettings().map(({ name }) => name)
  expect(Object.keys(environment).filter(name => !known.includes(name))).toEqual([])
  const submission = [...(environment.SUBMISSION_LISTEN ?? '').matchAll(/(\d+):/g)].map(([, port]) => port)
  const listened = ['3025', '3026', '3027', ...submission]
  expect(ports.map(port => port.split(':').at(-1)).filter(port => !listened.includes(port ?? ''))).toEqual([])
})

test('publishes the panel on this host only, for a trusted proxy', () => {
  const { environment = {}, ports = [] } = services.postwright
  expect(environment.TRUSTED_PROXIES).toBe('private')
  const web = ports.filter(port => /:302[5-7]$/.test(port))
  expect(web).toEqual(['127.0.0.1:3025:3025', '127.0.0.1:3026:3026', '127.0.0.1:3027:3027'])
})

test('reads certificate and key from the mounted folder, which git ignores', async () => {
  const { environment = {}, volumes: mounts } = services.postwright
  expect([environment.SUBMISSION_TLS_CERT, environment.SUBMISSION_TLS_KEY]).toEqual(['/tls/tls.crt', '/tls/tls.key'])
  expect(mounts).toContain('./tls:/tls:ro')
  expect((await readFile('.gitignore', 'utf8')).split('\n')).toContain('deploy/tls/')
})

test('mongod accepts no compressed messages (CVE-2025-14847)', async () => {
  const at = services.mongodb.command.indexOf('--networkMessageCompressors')
  expect(services.mongodb.command[at + 1]).toBe('disabled')
  const trial = await readFile('charts/postwright/templates/mongodb-trial.yaml', 'utf8')
  expect(trial).toContain('--networkMessageCompressors, disabled')
})

test('requires the MongoDB release, because existing data decide it', async () => {
  // Release 0.1.0 ran mongo:6.0; 8.0 does not start on that data.
  const { image = '' } = services.mongodb
  const [, message = ''] = /^mongo:\$\{MONGO_VERSION:\?([^${}]+)\}$/.exec(image) ?? []
  expect(message).toMatch(/8\.0 for a new installation, 6\.0 for one made with the compose file of Postwright 0\.1\.0/)
  expect(await readFile('.env.example', 'utf8')).toMatch(/^MONGO_VERSION=8\.0$/m)
  for (const guide of ['docs/install.md', 'docs/install.zh-CN.md']) {
    const guideText = await readFile(guide, 'utf8')
    expect(guideText).toContain('`MONGO_VERSION=6.0`')
    // Older releases of compose read only the .env next to the compose file, unless another is named.
    expect(guideText).toContain('docker compose --env-file .env -f deploy/compose.yaml up -d')
  }
})

test('the health check initiates the replica set of mongod and the connection string', () => {
  const [shell, script] = services.mongodb.healthcheck?.test ?? []
  expect(shell).toBe('CMD-SHELL')
  const set = services.mongodb.command[services.mongodb.command.indexOf('--replSet') + 1]
  expect(script).toContain(`rs.initiate({ _id: '${set}', members: [{ _id: 0, host: 'mongodb:27017' }] })`)
  expect(services.postwright.environment?.MONGODB_URI).toBe(`mongodb://mongodb:27017/postwright?replicaSet=${set}`)
})
