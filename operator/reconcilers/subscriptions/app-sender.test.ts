import { describe, expect, test } from 'vitest'
import type { SystemSender } from '../../../services/mail/submission/system-sender.ts'
import type { OperatorContext } from '../shared/operator-context.ts'
import { senderOf } from './app-sender.ts'

const sender: SystemSender = { from: 'notice@mail.example.org', domainId: 'dom_1', owner: 'platform' }

/** The decision about a sender, in a Namespace that lists these owners; `read` are the Namespaces that were read. */
async function decide(found: SystemSender | undefined, listed?: string, mailFrom: string | undefined = sender.from) {
  const read: string[] = []
  const readNamespace = async (name: string) => {
    read.push(name)
    return listed === undefined ? undefined : { metadata: { annotations: { 'postwright.dev/owners': listed } } }
  }
  const context = { writer: { readNamespace } } as unknown as Pick<OperatorContext, 'writer'>
  const lookups: string[] = []
  const find = async (address: string) => {
    lookups.push(address)
    return found
  }
  const app = { spec: { mailFrom }, metadata: { namespace: 'shop' } } as Parameters<typeof senderOf>[2]
  const { mailFrom: stored, conditions, requeueAfterMs } = await senderOf(context, find, app)
  return {
    stored,
    reasons: conditions.map(({ type, status, reason }) => [type, status, reason]),
    conditions,
    requeueAfterMs,
    read,
    lookups,
  }
}

describe('the sender of an App', () => {
  test.each<[string, string | undefined]>([
    ['alone', 'platform'],
    ['among others', 'ann, platform ,bob'],
  ])('is used when the Namespace lists its owner %s', async (_, listed) => {
    const { stored, reasons, requeueAfterMs, read, lookups } = await decide(sender, listed)
    expect([stored, reasons]).toEqual([sender.from, [['SenderUsable', 'True', 'Available']]])
    expect([read, lookups]).toEqual([['shop'], [sender.from]])
    // Claims of others may make it unusable without a word to us.
    expect(requeueAfterMs).toBe(5 * 60_000)
  })

  test('needs no list in the Namespace of its owner', async () => {
    const { stored, read } = await decide({ ...sender, owner: 'k8s-shop' }, undefined)
    expect([stored, read]).toEqual([sender.from, []])
  })

  test.each<[string, SystemSender | undefined, string | undefined, string]>([
    ['in a domain that cannot be used', undefined, 'platform', 'DomainNotUsable'],
    ['of an owner that is not listed', sender, 'ann', 'OwnerNotAllowed'],
    ['of an owner whose name only begins so', sender, 'platform-team', 'OwnerNotAllowed'],
    ['in a Namespace without a list', sender, '', 'OwnerNotAllowed'],
    ['in a Namespace that is gone', sender, undefined, 'OwnerNotAllowed'],
    ['of the account of another Namespace', { ...sender, owner: 'k8s-shop2' }, '', 'OwnerNotAllowed'],
  ])('%s is not used, and the message contains the remedy', async (_, found, listed, reason) => {
    const { stored, reasons, conditions, requeueAfterMs } = await decide(found, listed)
    expect([stored, reasons]).toEqual(['', [['SenderUsable', 'False', reason]]])
    expect(conditions[0]?.message).toMatch(/notice@mail\.example\.org.* the platform's own sender\.$/)
    expect(requeueAfterMs).toBe(60_000)
  })
})

test('an App without a sender uses the platform’s, without a condition or another run', async () => {
  const app = { spec: {}, metadata: { namespace: 'shop' } } as Parameters<typeof senderOf>[2]
  const failOnLookup = () => expect.fail('nothing is to be asked')
  const context = { writer: { readNamespace: failOnLookup } } as unknown as Pick<OperatorContext, 'writer'>
  expect(await senderOf(context, failOnLookup, app)).toEqual({ mailFrom: '', conditions: [] })
})
