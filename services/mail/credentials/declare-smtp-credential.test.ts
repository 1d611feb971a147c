import { expect, test } from 'vitest'
import { databaseForThisTest } from '../../../test/support/database/test-database.ts'
import { testFoundation } from '../../../test/support/processes/test-foundation.ts'
import { applyCredential } from './declare-smtp-credential.ts'
import { findCredentialByName } from './store/smtp-credentials.ts'

const resource = { kind: 'SMTPCredential', namespace: 'shop', name: 'mail', uid: 'uid-1' }
const refusal = { code: 'validation_failed', detail: expect.stringContaining('b@own.example is not among the allowed') }

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
  }
  const wrong = { ...wanted, fallback_sender: 'b@own.example' }

  await expect(applyCredential(deps, 'usr_1', wrong)).rejects.toMatchObject(refusal)
  const { credential } = await applyCredential(deps, 'usr_1', wanted)
  await expect(applyCredential(deps, 'usr_1', wrong)).rejects.toMatchObject(refusal)
  await expect(applyCredential(deps, 'usr_2', wrong)).rejects.toMatchObject(refusal)
  expect(await findCredentialByName(mongo.db, 'shop-mail')).toEqual(credential)
})
