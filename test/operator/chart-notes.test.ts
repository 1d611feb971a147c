/** The commands that `helm install` prints: rendered against a real API server, and run. */
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { findDomainById, updateDomain } from '../../services/mail/domains/store/domains.ts'
import { send } from '../../services/send.ts'
import { giveUser } from '../support/accounts/accounts-and-domains.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { writeKubeconfig } from '../support/kubernetes/kubeconfig.ts'
import { operatorUnderTest } from '../support/kubernetes/operator-under-test.ts'
import { findHelm, kubectlProgram, pathOf } from '../support/programs/programs.ts'

const helm = await findHelm()

/** The notes of an installation into the namespace. */
async function notes(kubeconfig: string, namespace: string, ...values: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(
    pathOf(helm),
    [
      ...['install', 'pw', 'charts/postwright', `--kubeconfig=${kubeconfig}`, '--namespace', namespace],
      // The definitions are there already, and belong to no release.
      ...['--dry-run=client', '--set', 'mailHostname=mail.example.com', '--set', 'crds.enabled=false', ...values],
    ],
    { maxBuffer: 32 << 20 },
  )
  return stdout.slice(stdout.indexOf('\nNOTES:'))
}

onApiServer('the notes of the chart', () => {
  test('lead to a domain, a token and a first message', async () => {
    const config = { SEND_REQUESTS_PER_SECOND: '0', DELIVERY_MODE: 'capture', APP_PORT: '0', APP_HOST: '127.0.0.1' }
    const operator = await operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri(), config })
    const folder = await mkdtemp(join(tmpdir(), 'pw-notes-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const kubeconfig = await writeKubeconfig(folder, sharedApiServer(), sharedApiServer().admin, operator.namespace)
    const printed = await notes(kubeconfig, operator.namespace, '--set', 'mongodb.mode=trial')
    expect(printed).toContain('The panel: https://mail.example.com\n')
    expect(printed).toContain('port-forward svc/pw-postwright-panel 3025:80')

    const manifest = /apply -f - <<EOF\n(?<yaml>[\s\S]*?)\n {3}EOF/.exec(printed)?.groups?.yaml ?? ''
    const child = spawn(kubectlProgram(), [`--kubeconfig=${kubeconfig}`, `--cache-dir=${folder}`, 'apply', '-f', '-'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    child.stdin.end(manifest.replaceAll(/^ {3}/gm, ''))
    expect(await text(child.stdout)).toMatch(/maildomain\S* created\napitoken\S* created/)
    await operator.condition('APIToken', 'first', 'Ready', 'True')

    const { status } = await operator.condition('MailDomain', 'example-com', 'Accepted', 'True')
    expect(printed).toContain(`It belongs to the account ${String(status?.owner)}:`)
    const { _id } = (await findDomainById(operator.mongo.db, String(status?.domainId))) ?? expect.fail('no domain')
    await updateDomain(operator.mongo.db, _id, { status: 'verified', verified_by: 'dns' })
    const service = await send(operator.foundation)
    onTestFinished(() => service.stop())
    const body = /-d '(?<json>.*)'/.exec(printed)?.groups?.json
    const { token = '' } = (await operator.secret('first-token')) ?? {}
    const answer = await fetch(`http://127.0.0.1:${service.port}/api/send`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body ?? '',
    })
    expect([answer.status, await answer.text()]).toEqual([202, expect.stringContaining('em_')])
  })

  test('lead to a domain of the admin, by the owner in its spec and the annotation of the namespace', async () => {
    const operator = await operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri() })
    const { _id } = await giveUser(operator.mongo.db, { username: 'admin', role: 'admin' })
    const folder = await mkdtemp(join(tmpdir(), 'pw-notes-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const kubeconfig = await writeKubeconfig(folder, sharedApiServer(), sharedApiServer().admin, operator.namespace)
    const printed = await notes(kubeconfig, operator.namespace, '--set', 'mongodb.mode=trial')

    const owner = /add `(?<field>owner: .*)` to its spec/.exec(printed)?.groups?.field ?? expect.fail('no owner')
    const spec = { domainName: 'owned.example', ...(parse(owner) as object) }
    await operator.apply('MailDomain', 'example-com', spec)
    const refused = await operator.condition('MailDomain', 'example-com', 'Accepted', 'False')
    expect(refused.status?.conditions?.[0]).toMatchObject({
      reason: 'OwnerNotAllowed',
      message: expect.stringContaining('postwright.dev/owners'),
    })

    const command =
      /^ *kubectl (?<args>annotate namespace .*)$/m.exec(printed)?.groups?.args ?? expect.fail('no command')
    const { stdout } = await promisify(execFile)(kubectlProgram(), [
      ...[`--kubeconfig=${kubeconfig}`, `--cache-dir=${folder}`],
      ...command.split(' '),
    ])
    expect(stdout).toContain(`namespace/${operator.namespace} annotated`)
    const { status } = await operator.condition('MailDomain', 'example-com', 'Accepted', 'True')
    expect(status?.owner).toBe('admin')
    expect(await findDomainById(operator.mongo.db, String(status?.domainId))).toMatchObject({ user_id: _id })
  })

  test('name the watched namespace and its account, where the operator watches one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pw-notes-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const kubeconfig = await writeKubeconfig(folder, sharedApiServer(), sharedApiServer().admin)
    const pairs = ['mongodb.mode=trial', 'operator.watchNamespaces={team,other}'].flatMap(pair => ['--set', pair])
    const printed = await notes(kubeconfig, 'default', ...pairs)
    expect(printed).toContain('It belongs to the account k8s-team:')
    expect(printed).toContain('kubectl annotate namespace team postwright.dev/owners=admin\n')
    expect(printed).toContain('metadata: { name: example-com, namespace: team }')
  })

  test.each([
    ['an ingress', ['ingress.enabled=true', 'trustedProxies={10.0.0.0/8}'], 'No'],
    ['no operator', ['operator.enabled=false'], 'Add domain'],
  ])('with %s say what applies', async (_what, values, words) => {
    const folder = await mkdtemp(join(tmpdir(), 'pw-notes-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const kubeconfig = await writeKubeconfig(folder, sharedApiServer(), sharedApiServer().admin)
    const pairs = ['mongodb.mode=trial', ...values].flatMap(pair => ['--set', pair])
    const printed = await notes(kubeconfig, 'default', ...pairs)
    expect(printed.includes('svc/pw-postwright-panel')).toBe(words !== 'No')
    expect(printed.includes('kind: MailDomain')).toBe(words === 'No')
    if (words !== 'No') expect(printed).toContain(words)
  })
})
