import { expect, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { testFoundation } from '../../../test/support/processes/test-foundation.ts'
import { applyCredential, disableCredential } from './declare-smtp-credential.ts'
import { findCredentialByName } from './store/smtp-credentials.ts'

const resource = { kind: 'SMTPCredential', namespace: 'shop', name: 'mail', uid: 'uid-1' }
const refusal = { code: 'validation_failed', detail: expect.stringContaining('b@own.example is not among the allowed') }

test('a login that its resource disables is refused, also after a move, and works again', async () => {
  const mongo = await databaseForThisTest()
  const deps = { ...testFoundation(mongo), db: mongo.db, resource }
  const limits = { allowed_senders: [], allowed_cidrs: [], messages_per_hour: 0, fallback_sender: null }
  const declare = (userId: string, disabled: boolean) =>
    applyCredential(deps, userId, { username: 'shop-mail', ...limits, allow_null_sender: false, disabled })
  const stored = async () => (await findCredentialByName(mongo.db, 'shop-mail'))?.disabled ?? false
  await declare('usr_1', false)
  expect(await stored()).toBe(false)
  expect((await declare('usr_1', true)).changed).toEqual(['disabled'])
  expect(await stored()).toBe(true)
  expect((await declare('usr_1', true)).changed).toEqual([])
  expect(await declare('usr_2', true)).toMatchObject({ moved: true, credential: { user_id: 'usr_2', disabled: true } })
  expect((await declare('usr_2', false)).changed).toEqual(['disabled'])
  expect(await stored()).toBe(false)
  // Disabled by another hand, as a withdrawn login is, it does not move.
  const known = await findCredentialByName(mongo.db, 'shop-mail')
  if (known) await disableCredential(deps, known)
  await expect(declare('usr_1', false)).rejects.toMatchObject({ code: 'conflict' })
})

test('a fallback sender that the login may not use is refused on creation, on change and on a move', async () => {
  const mongo = await databaseForThisTest()
  const deps = { ...testFoundation(mongo), db: mongo.db, resource }
  const wanted = {
    username: 'shop-mail',
    allowed_senders: ['a@own.example'],
    allowed_cidrs: [],
    messages_per_hour: 0,
    fallback_sender: 'a@own.example',
    allow_null_sender: false,
    disabled: false,
  }
  const wrong = { ...wanted, fallback_sender: 'b@own.example' }

  await expect(applyCredential(deps, 'usr_1', wrong)).rejects.toMatchObject(refusal)
  const { credential } = await applyCredential(deps, 'usr_1', wanted)
  await expect(applyCredential(deps, 'usr_1', wrong)).rejects.toMatchObject(refusal)
  await expect(applyCredential(deps, 'usr_2', wrong)).rejects.toMatchObject(refusal)
  expect(await findCredentialByName(mongo.db, 'shop-mail')).toEqual(credential)
})
