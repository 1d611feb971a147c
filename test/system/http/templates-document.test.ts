/** The example of docs/templates.md does what the document says. */
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { giveDomain } from '../../support/accounts/accounts-and-domains.ts'
import { startPanelApi } from '../../support/http/panel-api.ts'

const document = readFileSync(new URL('../../../docs/templates.md', import.meta.url), 'utf8')

function example(title: string): string {
  const found = new RegExp(`\`\`\`\\w+ title=${title}\\n(.*?)\`\`\``, 's').exec(document)?.[1]
  if (found === undefined) throw new Error(`docs/templates.md has no example ${title}`)
  return found
}

test('the worked example', async () => {
  const api = await startPanelApi()
  onTestFinished(() => api.stop())
  const { user } = await api.newUser()
  await giveDomain(api.db, user._id, 'shop.example', { status: 'verified', verified_by: 'dns' })
  const editor = await api.withToken(user, { scopes: ['templates:read', 'templates:write'] })
  const sender = await api.withToken(user, { scopes: ['emails:send', 'emails:read'] })
  expect(await editor.post('/api/v1/templates', JSON.parse(example('template')))).toMatchObject({ status: 201 })
  expect(await editor.post('/api/v1/templates/order/publish', {})).toMatchObject({ status: 200, body: { version: 1 } })
  const sent = await sender.post('/api/v1/emails', JSON.parse(example('message')))
  expect(sent).toMatchObject({ status: 202, body: { warnings: [] } })
  const raw: string = (await sender.get(`/api/v1/emails/${sent.body.id}/raw`)).body
  expect(raw).toContain('Subject: Your order A-7\r\n')
  const lines = raw.replaceAll('=\r\n', '').replaceAll('=3D', '=').replaceAll('\r\n', '\n')
  expect(lines).toContain(example('html').trimEnd())
  expect(lines).toContain(example('text'))
})

test('the filters and limits of the document are those of the code', async () => {
  const { TEMPLATE_LIMITS } = await import('../../../services/mail/templates/rules/template-limits.ts')
  const { FILTERS } = await import('../../../services/mail/templates/rendering/engine.ts')
  for (const filter of FILTERS) expect(document).toContain(`\`${filter}\``)
  const { templates, tags, expression, steps, entries } = TEMPLATE_LIMITS
  for (const limit of [templates, tags, expression, steps, entries])
    expect(document).toContain(limit.toLocaleString('en'))
})
