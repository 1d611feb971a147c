/** Where passkeys are possible. */
import { expect, test } from 'vitest'
import { relyingPartyOf } from './relying-party.ts'

test.each([
  ['https://mail.example.com', { id: 'mail.example.com', origin: 'https://mail.example.com' }],
  ['https://Mail.Example.com:8443/mail', { id: 'mail.example.com', origin: 'https://mail.example.com:8443' }],
  ['http://localhost:3025', { id: 'localhost', origin: 'http://localhost:3025' }],
  ['http://mail.example.com', undefined],
  ['http://localhost.example.com', undefined],
  ['http://127.0.0.1:3025', undefined],
  ['https://192.0.2.7', undefined],
  ['https://[2001:db8::7]', undefined],
  ['https://0x7f.1', undefined],
])('%s: %j', (url, party) => expect(relyingPartyOf(url)).toEqual(party))
