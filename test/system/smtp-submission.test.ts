import { describe, expect, test } from 'vitest'
import { converse } from '../support/converse.ts'
import { LOGIN, startListener } from '../support/submission.ts'

const MAIL = 'From: a@example.org\r\n\r\nhi\r\n'

describe('an honest client', () => {
  test.each(['starttls', 'tls'] as const)('logs in and submits on the %s port', async mode => {
    const listener = await startListener()
    const client = await converse(listener[mode], { tls: mode === 'tls' })
    expect((await client.reply()).text).toBe('220 mail.example.com ESMTP Postwright')
    expect((await client.logIn(LOGIN.username, LOGIN.password)).text).toBe('235 2.7.0 Authentication successful')
    const reply = await client.submit('bounce@example.org', ['b@example.net', 'c@example.net'], MAIL)
    expect(reply.text).toMatch(/^250 2\.0\.0 queued as em_[0-9a-z]{26}$/)
    expect((await client.ask('QUIT')).code).toBe(221)
    await client.closed
    expect(listener.received).toMatchObject([
      {
        mailFrom: 'bounce@example.org',
        recipients: [
          { email: 'b@example.net', type: 'envelope' },
          { email: 'c@example.net', type: 'envelope' },
        ],
        received: { from: 'client.example', ip: '127.0.0.1', protocol: 'ESMTPSA' },
      },
    ])
    expect(listener.received[0]?.raw.toString()).toBe(MAIL)
  })
})
