/** Applies the examples in docs/examples with kubectl until every resource is ready. */
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { kinds } from '../../operator/resources/kinds.ts'
import { createDnsDeps } from '../../services/mail/dns/dns-context.ts'
import { checkDueDomains } from '../../services/mail/domains/checks/dns-check-job.ts'
import { dnsChecks } from '../../services/mail/domains/store/domain-model.ts'
import { ensureIndexes } from '../../services/platform/database/mongo.ts'
import { giveDomain, giveUser } from '../support/accounts/accounts-and-domains.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { startDnsServer } from '../support/dns/authoritative-servers.ts'
import { startRecursor } from '../support/dns/recursor.ts'
import { startApiServer } from '../support/kubernetes/apiserver.ts'
import { onApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { adminClient, installCrds } from '../support/kubernetes/clients-and-crds.ts'
import { writeKubeconfig } from '../support/kubernetes/kubeconfig.ts'
import { operatorUnderTest } from '../support/kubernetes/operator-under-test.ts'
import { kubectlProgram } from '../support/programs/programs.ts'
import { until } from '../support/time/until.ts'

const run = promisify(execFile)
const folder = join(import.meta.dirname, '../../docs/examples')

onApiServer('examples', () => {
  test('docs/examples contains one example of each kind', async () => {
    const texts = await Promise.all((await readdir(folder)).map(file => readFile(join(folder, file), 'utf8')))
    for (const { kind } of kinds) expect(texts.filter(text => text.includes(`\nkind: ${kind}\n`))).toHaveLength(1)
  })

  test('kubectl apply of all examples makes every resource ready', { timeout: 360_000 }, async () => {
    const zones = ['example.com', 'postwright.test']
    const knot = await startDnsServer(
      'knot',
      zones.map(name => ({ name, lines: ['mail IN A 192.0.2.25'] })),
    )
    onTestFinished(() => knot.stop())
    const recursor = await startRecursor(zones.map(name => ({ name, port: knot.port })))
    onTestFinished(() => recursor.stop())
    const config = { DNS_SERVERS: recursor.address, DNS_PORT: String(knot.port), DNS_ALLOW_PRIVATE: 'true' }
    // One that watches all namespaces, for the kinds of the cluster; the shared server has resources of other tests.
    const server = await startApiServer(() => undefined)
    onTestFinished(() => server.stop())
    const owner = adminClient(server)
    await installCrds(owner)
    await owner.close()
    const operator = await operatorUnderTest({ server, mongoUri: sharedMongoUri(), config, allNamespaces: true })
    await ensureIndexes(operator.mongo.db, [dnsChecks])
    const platform = await giveUser(operator.mongo.db, { username: 'platform', role: 'admin' })
    await giveDomain(operator.mongo.db, platform._id, 'mail.example.org', { status: 'verified', verified_by: 'dns' })
    await operator.allowOwners('platform')
    const temporary = await mkdtemp(join(tmpdir(), 'pw-examples-'))
    onTestFinished(() => rm(temporary, { recursive: true, force: true }))
    await writeKubeconfig(temporary, server, server.admin, operator.namespace)
    const kubectl = async (...args: string[]) =>
      (await run(kubectlProgram(), [`--kubeconfig=${temporary}/kubeconfig`, `--cache-dir=${temporary}`, ...args]))
        .stdout
    for (const file of await readdir(folder)) {
      // The test's name server listens on another port, and the sender that is commented out is usable here.
      const text = (await readFile(join(folder, file), 'utf8'))
        .replace('ns1.example.com:53', `127.0.0.1:${knot.port}`)
        .replace('# mailFrom:', 'mailFrom:')
        .replaceAll('namespace: postwright', `namespace: ${operator.namespace}-operator`)
      await writeFile(join(temporary, file), text)
      expect(await kubectl('apply', '-f', join(temporary, file))).toMatch(/(created|configured)/)
    }
    const table = () => kubectl('get', 'postwright-all', '-o', 'wide')
    await until(async () => {
      const signal = new AbortController().signal
      await checkDueDomains(createDnsDeps(operator.foundation), { signal, touch: async () => undefined })
      const ready = await kubectl(
        'get',
        'postwright-all',
        '-o',
        'jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{" "}{end}',
      )
      return (
        ready
          .trim()
          .split(' ')
          .filter(status => status === 'True').length === kinds.length
      )
    }, 120_000)
    const shown = await table()
    expect(await kubectl('get', 'app', 'shop', '-o', 'jsonpath={.status.mailFrom}')).toBe('notice@mail.example.org')
    for (const { kind } of kinds) expect(shown).toContain(`${kind.toLowerCase()}.postwright.dev/`)
    expect(knot.transfer('example.com').join('\n')).toContain('v=spf1 ip4:192.0.2.25 include:spf.example.net ~all')
  })
})
