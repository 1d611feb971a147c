/** Limits of sending that a Kubernetes resource declares: shown with it, and changed by it only. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { updateCredential } from '../../../services/mail/credentials/store/smtp-credentials.ts'
import { noteDeclaredLimits } from '../../../services/mail/declared-limits.ts'
import { updateDomain } from '../../../services/mail/domains/store/domains.ts'
import { putLimit } from '../../../services/mail/limits/store/sending-limits.ts'
import { giveCredential, giveDomain, giveToken } from '../../support/accounts/accounts-and-domains.ts'
import { type PanelApi, startPanelApi } from '../../support/http/panel-api.ts'

let api: PanelApi
beforeAll(async () => {
  api = await startPanelApi()
})
afterAll(() => api.stop())

const path = '/api/v1/sending-limits'
const amounts = { recipients_per_hour: 5 }
let count = 0

describe.each(['domain', 'credential'] as const)('of a %s', scope => {
  const kind = scope === 'domain' ? 'MailDomain' : 'SMTPCredential'
  const shown = { kind, namespace: 'shop', name: 'app' }
  const managed_by = { ...shown, uid: 'u-1' }
  const refusal = {
    status: 409,
    body: { code: 'managed_by_resource', detail: expect.stringContaining(`${kind} shop/app`) },
  }

  /** A record of a new account; with `limits` as its resource declares them: none, an empty set, or an hour. */
  async function setting({ limits }: { limits?: 'empty' | 'hour' } = {}) {
    const { user, client } = await api.newUser()
    const name = `app-${++count}.example`
    const give = scope === 'domain' ? giveDomain : giveCredential
    const { _id: subject } = await give(api.db, user._id, name, { managed_by })
    if (limits) await noteDeclaredLimits(api.db, scope, subject, true)
    if (limits === 'hour')
      await putLimit(api.db, user._id, { scope, subject, name, byAdmin: false, perHour: 9 }, new Date())
    const put = (wish: object, where = subject) => client.call('PUT', path, { scope, subject: where, ...wish })
    const release = () =>
      scope === 'domain'
        ? updateDomain(api.db, subject, {}, ['managed_by'])
        : updateCredential(api.db, user._id, subject, {}, ['managed_by'])
    return { user, client, subject, name, put, release }
  }

  test('a declared limit is listed with its resource, and can be neither changed nor removed', async () => {
    const { client, subject, name, put } = await setting({ limits: 'hour' })
    const declared = { scope, subject, name, set_by: 'owner', recipients_per_hour: 9, managed_by: shown }
    for (const wish of [amounts, {}, { recipients_per_day: 1_000 }]) expect(await put(wish)).toMatchObject(refusal)
    if (scope === 'domain') expect(await put(amounts, name)).toMatchObject(refusal)
    expect((await client.get(path)).body.data).toEqual([expect.objectContaining(declared)])
    expect((await client.get('/api/v1/limits')).body.sending_limits).toEqual([expect.objectContaining(declared)])
  })

  test('none can be added where the resource declares that there are none', async () => {
    const { client, put } = await setting({ limits: 'empty' })
    expect(await put(amounts)).toMatchObject(refusal)
    expect((await client.get(path)).body.data).toEqual([])
  })

  test('its owner sets what the resource leaves open, and what it declared until it was deleted', async () => {
    const open = await setting()
    expect(await open.put(amounts)).toMatchObject({
      status: 200,
      body: { data: [{ subject: open.subject, recipients_per_hour: 5, managed_by: null }] },
    })
    const kept = await setting({ limits: 'hour' })
    await kept.release()
    expect(await kept.put(amounts)).toMatchObject({
      status: 200,
      body: { data: [{ subject: kept.subject, recipients_per_hour: 5, managed_by: null }] },
    })
    expect(await kept.put({})).toMatchObject({ status: 200, body: { data: [] } })
  })

  test('other limits of the account are not concerned', async () => {
    const { user, client } = await setting({ limits: 'hour' })
    const token = await giveToken(api.db, user._id)
    const other = await giveDomain(api.db, user._id, `other-${count}.example`)
    for (const wish of [
      { scope: 'credential', subject: token._id, ...amounts },
      { scope: 'domain', subject: other._id, ...amounts },
      { scope: 'destination', subject: 'example.net', recipients_per_minute: 5 },
    ])
      expect((await client.call('PUT', path, wish)).status).toBe(200)
    const { data } = (await client.get(path)).body as { data: { managed_by: object | null }[] }
    expect(data.map(one => one.managed_by).filter(Boolean)).toEqual([shown])
    expect(data).toHaveLength(4)
  })
})
