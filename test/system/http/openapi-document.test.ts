import { expect, test } from 'vitest'
import { MAIL_OPERATIONS, startPanelApi } from '../../support/http/panel-api.ts'

test('lists every operation of the API without authentication', async () => {
  const api = await startPanelApi({ APP_BASE_URL: 'https://mail.example.net' })
  try {
    const response = await fetch(`${api.url}/openapi.json`)
    expect(response.status).toBe(200)
    const document = (await response.json()) as { paths: Record<string, Record<string, { security: unknown }>> }
    for (const { method, path } of MAIL_OPERATIONS) expect(document.paths[path]).toHaveProperty(method.toLowerCase())
    expect(document).toMatchObject({
      servers: [{ url: 'https://mail.example.net' }],
      components: { securitySchemes: { session: { name: '__Host-pw_session' }, token: { scheme: 'bearer' } } },
    })
    expect(document.paths['/api/v1/session']?.post?.security).toEqual([])
    expect(document.paths['/api/v1/domains']?.post?.security).toEqual([
      { session: ['account:admin'], csrf: [] },
      { token: ['domains:write'] },
    ])
    expect(document.paths['/api/v1/admin/users']?.get?.security).toEqual([{ session: ['admin'] }])
  } finally {
    await api.stop()
  }
})
