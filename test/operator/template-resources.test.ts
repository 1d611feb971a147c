/** Templates as resources: published versions, ConfigMaps, errors with their place, adoption, drift and removal. */
import { expect, test } from 'vitest'
import { changeTemplate, createTemplate, publishTemplate } from '../../services/mail/templates/manage-templates.ts'
import { createRenderPublished } from '../../services/mail/templates/render-published.ts'
import { findTemplate, type TemplateDoc, templates } from '../../services/mail/templates/store/templates.ts'
import { modelOf } from '../../services/platform/database/models.ts'
import { giveUser } from '../support/accounts/accounts-and-domains.ts'
import { sharedMongoUri } from '../support/database/test-database.ts'
import { onApiServer, sharedApiServer } from '../support/kubernetes/apiserver-shared.ts'
import { extraNamespace } from '../support/kubernetes/clients-and-crds.ts'
import { type OperatorUnderTest, operatorUnderTest, type Seen } from '../support/kubernetes/operator-under-test.ts'
import { until } from '../support/time/until.ts'

const spec = { subject: 'Hello {{ name }}', text: 'Dear {{ name }}', variables: [{ key: 'name', default: 'you' }] }

onApiServer('Templates', () => {
  const start = async (namespaces: readonly string[] = []) => {
    const operator = await operatorUnderTest({ server: sharedApiServer(), mongoUri: sharedMongoUri(), namespaces })
    const stored = (name: string, user?: string) => findStored(operator, name, user)
    const update = (name: string, change: object) =>
      modelOf(operator.mongo.db, templates).updateOne({ name }, { $set: change })
    return { operator, stored, update }
  }
  const findStored = async (operator: OperatorUnderTest, name: string, user?: string) => {
    const account = await operator.mongo.db
      .collection<{ _id: string; username: string }>('users')
      .findOne({ username: user ?? `k8s-${operator.namespace}` })
    return account ? findTemplate(operator.mongo.db, account._id, name) : undefined
  }
  const versionOf = ({ status }: Seen) => status?.version
  const messageOf = ({ status }: Seen, type: string) => status?.conditions?.find(one => one.type === type)?.message
  const atVersion = (operator: OperatorUnderTest, name: string, version: number) =>
    until(async () => versionOf((await operator.get('Template', name)) as Seen) === version, 30_000)
  const configMap = (operator: OperatorUnderTest, name: string, data: object) =>
    operator.admin.request({
      method: 'PATCH',
      path: `/api/v1/namespaces/${operator.namespace}/configmaps/${name}`,
      query: { fieldManager: 'test', force: true },
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data },
      patch: 'apply',
    })

  test('is published, and each change of its content is a version of its own that messages are made from', async () => {
    const { operator, stored } = await start()
    await operator.apply('Template', 'welcome', spec)
    const ready = await operator.condition('Template', 'welcome', 'Ready', 'True')
    const template = (await stored('welcome')) as TemplateDoc
    expect(ready.status).toMatchObject({
      templateId: template._id,
      owner: `k8s-${operator.namespace}`,
      version: 1,
      variables: ['name'],
    })
    const render = createRenderPublished(operator.foundation)
    const rendered = () => render(template.user_id, { id: 'welcome' })
    expect(await rendered()).toMatchObject({ subject: 'Hello you', text: 'Dear you' })
    await operator.apply('Template', 'welcome', { ...spec, subject: 'Hi {{ name }}' })
    await atVersion(operator, 'welcome', 2)
    expect((await rendered()).subject).toBe('Hi you')
    await operator.apply('Template', 'welcome', { ...spec, subject: 'Hi {{ name }}', deletionPolicy: 'Delete' })
    await operator.condition('Template', 'welcome', 'Ready', 'True')
    expect((await stored('welcome'))?.published?.version).toBe(2)
    await until(async () => (await stored('welcome'))?.k8s?.ready === true)
  })

  test('defaults of variables have the type of the variable', async () => {
    const { operator, stored } = await start()
    const variables = [
      { key: 'count', type: 'number', default: '2.5' },
      { key: 'shown', type: 'boolean', default: 'true' },
      { key: 'items', type: 'list', default: '["a", 1]' },
      { key: 'who', required: true },
    ]
    await operator.apply('Template', 'typed', { subject: 'S', text: '{{ count }} {{ who }}', variables })
    await operator.condition('Template', 'typed', 'Ready', 'True')
    expect(JSON.parse((await stored('typed'))?.draft.variables ?? '')).toEqual([
      { key: 'count', type: 'number', default: 2.5 },
      { key: 'shown', type: 'boolean', default: true },
      { key: 'items', type: 'list', default: ['a', 1] },
      { key: 'who', type: 'string', required: true },
    ])
    await operator.apply('Template', 'typed', {
      subject: 'S',
      text: 'T',
      variables: [{ key: 'items', type: 'list', default: '{}' }],
    })
    const stalled = await operator.condition('Template', 'typed', 'Stalled', 'True')
    expect(messageOf(stalled, 'Stalled')).toContain('items')
  })

  test('what the engine refuses is Stalled with field, line and column; the version before stays published', async () => {
    const { operator, stored } = await start()
    await operator.apply('Template', 'broken', spec)
    await operator.condition('Template', 'broken', 'Ready', 'True')
    await operator.apply('Template', 'broken', { ...spec, html: '<p>\n{{ unknown }}</p>', subject: '{% if %}' })
    const stalled = await operator.condition('Template', 'broken', 'Stalled', 'True')
    expect(messageOf(stalled, 'Stalled')).toMatch(/spec\.subject line 1, column \d+/)
    expect(messageOf(stalled, 'Stalled')).toMatch(/spec\.html line 2, column 4.*unknown/)
    expect(stalled.status).toMatchObject({ version: 1 })
    expect((await stored('broken'))?.published?.version).toBe(1)
    await operator.apply('Template', 'broken', { ...spec, subject: 'Fixed' })
    await atVersion(operator, 'broken', 2)
  })

  test('parts come from ConfigMaps; a missing one is waited for', async () => {
    const { operator, stored } = await start()
    const from = (name: string, key: string) => ({ configMapKeyRef: { name, key } })
    const declared = { subject: 'S', htmlFrom: from('parts', 'mail.html'), textFrom: from('parts', 'mail.txt') }
    await operator.apply('Template', 'parts', declared)
    const waiting = await operator.condition('Template', 'parts', 'Reconciling', 'True')
    expect(messageOf(waiting, 'Reconciling')).toBe('There is no ConfigMap parts in this namespace.')
    await configMap(operator, 'parts', { 'mail.html': '<b>1</b>' })
    await operator.apply('Template', 'parts', declared, { annotations: { look: '1' } })
    await until(async () => {
      const seen = (await operator.get('Template', 'parts')) as Seen
      return messageOf(seen, 'Reconciling')?.includes('mail.txt') ?? false
    })
    await configMap(operator, 'parts', { 'mail.html': '<b>1</b>', 'mail.txt': 'one' })
    await operator.apply('Template', 'parts', declared, { annotations: { look: '2' } })
    await operator.condition('Template', 'parts', 'Ready', 'True')
    await configMap(operator, 'parts', { 'mail.html': '<b>2</b>', 'mail.txt': 'two' })
    await operator.apply('Template', 'parts', declared, { annotations: { look: '3' } })
    await atVersion(operator, 'parts', 2)
    expect(await stored('parts')).toMatchObject({ draft: { html: '<b>2</b>', text: 'two' } })
    await configMap(operator, 'parts', { 'mail.html': 'x'.repeat(513 * 1024), 'mail.txt': 'two' })
    await operator.apply('Template', 'parts', declared, { annotations: { look: '4' } })
    const stalled = await operator.condition('Template', 'parts', 'Stalled', 'True')
    expect(messageOf(stalled, 'Stalled')).toContain('ConfigMap parts, mail.html: ')
    expect(await operator.events('parts')).not.toContain('DriftReverted')
  })

  test('a person cannot change it, and what changes it otherwise is reverted', async () => {
    const { operator, stored, update } = await start()
    await operator.apply('Template', 'kept', spec)
    await operator.condition('Template', 'kept', 'Ready', 'True')
    const { user_id } = (await stored('kept')) as TemplateDoc
    const byPerson = changeTemplate(operator.foundation, user_id, 'kept', { subject: 'Mine' })
    await expect(byPerson).rejects.toMatchObject({ code: 'managed_by_resource' })
    await update('kept', { 'draft.subject': 'Elsewhere' })
    await until(async () => (await stored('kept'))?.draft.subject === spec.subject)
    await until(async () => (await operator.events('kept')).includes('DriftReverted'))
    await modelOf(operator.mongo.db, templates).deleteOne({ name: 'kept' })
    await until(async () => (await stored('kept'))?.published !== undefined)
  })

  test('one of a person needs the adopt annotation; an account needs the permission of the Namespace', async () => {
    const { operator, stored } = await start()
    const alice = await giveUser(operator.mongo.db, { username: 'alice' })
    const made = await createTemplate(operator.foundation, alice._id, {
      name: 'shared',
      subject: 'Old',
      html: '<b>Old</b>',
      variables: [],
    })
    await publishTemplate(operator.foundation, alice._id, made._id, { name: 'alice' })
    const declared = { ...spec, owner: { username: 'alice' } }
    await operator.apply('Template', 'shared', declared)
    const refused = await operator.condition('Template', 'shared', 'Stalled', 'True')
    expect(refused.status?.conditions?.find(({ type }) => type === 'Ready')?.reason).toBe('OwnerNotAllowed')
    await operator.allowOwners('alice')
    await until(async () => {
      const seen = (await operator.get('Template', 'shared')) as Seen
      return messageOf(seen, 'Ready')?.includes('postwright.dev/adopt') ?? false
    })
    expect(await stored('shared', 'alice')).toMatchObject({ revision: 1 })
    await operator.apply('Template', 'shared', declared, { annotations: { 'postwright.dev/adopt': 'true' } })
    await operator.condition('Template', 'shared', 'Ready', 'True')
    const adopted = await stored('shared', 'alice')
    expect(adopted).toMatchObject({ _id: made._id, published: { version: 2 } })
    // Parts belong together: the former HTML does not go with the new text.
    expect(adopted?.draft).not.toHaveProperty('html')
    await operator.allowOwners(null)
    await until(async () => (await stored('shared', 'alice'))?.managed_by === undefined)
    await operator.removeAndWait('Template', 'shared')
    expect(await stored('shared', 'alice')).toMatchObject({ _id: made._id })
  })

  test.each(['Retain', 'Delete'] as const)('deleted with %s', async deletionPolicy => {
    const { operator, stored } = await start()
    await operator.apply('Template', 'gone', { ...spec, deletionPolicy })
    await operator.condition('Template', 'gone', 'Ready', 'True')
    const { _id } = (await stored('gone')) as TemplateDoc
    await operator.removeAndWait('Template', 'gone')
    const left = await stored('gone')
    if (deletionPolicy === 'Delete') return expect(left).toBeUndefined()
    expect(left).toMatchObject({ _id, published: { version: 1 } })
    expect(left).not.toHaveProperty('managed_by')
    await operator.apply('Template', 'gone', spec)
    await operator.condition('Template', 'gone', 'Ready', 'True')
    expect(await stored('gone')).toMatchObject({ _id, published: { version: 1 } })
  })

  test('of two resources with one name the second waits for the first', async () => {
    const { operator, stored } = await start()
    await operator.apply('Template', 'first', { ...spec, templateName: 'news', deletionPolicy: 'Delete' })
    await operator.condition('Template', 'first', 'Ready', 'True')
    await operator.apply('Template', 'second', { ...spec, templateName: 'news' })
    const conflict = await operator.condition('Template', 'second', 'Stalled', 'True')
    expect(messageOf(conflict, 'Stalled')).toContain('Template')
    expect((await stored('news'))?.managed_by?.name).toBe('first')
    await operator.removeAndWait('Template', 'first')
    await operator.apply('Template', 'second', { ...spec, templateName: 'news' }, { annotations: { look: '1' } })
    await operator.condition('Template', 'second', 'Ready', 'True')
  })

  test('templates of two namespaces do not meet', async () => {
    const other = await extraNamespace(sharedApiServer())
    const { operator, stored } = await start([other])
    await operator.apply('Template', 'same', { ...spec, subject: 'One' })
    await operator.apply('Template', 'same', { ...spec, subject: 'Two' }, {}, other)
    await operator.condition('Template', 'same', 'Ready', 'True')
    await operator.condition('Template', 'same', 'Ready', 'True', other)
    expect((await stored('same'))?.draft.subject).toBe('One')
    expect((await stored('same', `k8s-${other}`))?.draft.subject).toBe('Two')
  })

  test('a draft that a killed operator left is published by the next one', async () => {
    const { operator, stored, update } = await start()
    await operator.apply('Template', 'cut', spec)
    await operator.condition('Template', 'cut', 'Ready', 'True')
    await operator.running.stop()
    // As after a run that ended between draft and publication.
    await operator.apply('Template', 'cut', { ...spec, subject: 'Next' })
    await update('cut', { 'draft.subject': 'Next', revision: 2 })
    await operator.another()
    await atVersion(operator, 'cut', 2)
    expect(await stored('cut')).toMatchObject({ revision: 2, published_revision: 2 })
  })
})
