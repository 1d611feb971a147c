import { describe, expect, test } from 'vitest'
import { scriptedHttp } from '../../../../test/support/http/scripted-http.ts'
import { listDomains, listEmails, listTemplateVersions } from '../index.ts'
import { listApps, listUsers, readSwitches } from '../subscriptions.ts'
import { createClient } from './client.ts'
import { eachItem, eachPage } from './pages.ts'

const page = (body: object) => ({ status: 200, body })
const list = (ids: string[], rest: object) => page({ object: 'list', data: ids.map(id => ({ id })), ...rest })

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

describe('eachItem', () => {
  test('goes on after the last id, with the same filters', async () => {
    const { url, requests } = await scriptedHttp(list(['a', 'b'], { has_more: true }), list(['c'], { has_more: false }))
    const items = await collect(eachItem(listDomains, createClient({ url }), { query: { limit: 2 } }))
    expect(items.map(({ id }) => id)).toEqual(['a', 'b', 'c'])
    expect(requests.map(({ path }) => path)).toEqual(['/api/v1/domains?limit=2', '/api/v1/domains?limit=2&after=b'])
  })
  test('goes on after `next` where a page is short, even when it is empty', async () => {
    const { url, requests } = await scriptedHttp(
      list([], { has_more: true, next: 'z' }),
      list(['y'], { has_more: false, next: null }),
    )
    expect(await collect(eachItem(listEmails, createClient({ url })))).toEqual([{ id: 'y' }])
    expect(requests[1]?.path).toBe('/api/v1/emails?after=z')
  })
  test('goes on after the number of a version', async () => {
    const { url, requests } = await scriptedHttp(
      page({ object: 'list', data: [{ version: 7 }], has_more: true }),
      page({ object: 'list', data: [], has_more: false }),
    )
    await collect(eachItem(listTemplateVersions, createClient({ url }), { path: { id: 'tpl_1' } }))
    expect(requests[1]?.path).toBe('/api/v1/templates/tpl_1/versions?after=7')
  })
  test('reads no page that nobody asks for', async () => {
    const { url, requests } = await scriptedHttp(list(['a'], { has_more: true }))
    for await (const { id } of eachItem(listDomains, createClient({ url }))) if (id === 'a') break
    expect(requests).toHaveLength(1)
  })
  test('ends where a page that has more names no cursor', async () => {
    const { url, requests } = await scriptedHttp(list([], { has_more: true }))
    expect(await collect(eachItem(listDomains, createClient({ url })))).toEqual([])
    expect(requests).toHaveLength(1)
  })
})

describe('eachPage', () => {
  const envelope = (pagination: object) => page({ code: 200, message: '', data: { pagination } })
  const numbered = (current_page: number, rest: object = {}) => ({ current_page, total_pages: 2, ...rest })

  test('goes on by cursor where there is one', async () => {
    const { url, requests } = await scriptedHttp(envelope(numbered(1, { next_cursor: 'abc' })), envelope(numbered(1)))
    expect(await collect(eachPage(listUsers, createClient({ url }), { query: { app_key: 'demo' } }))).toHaveLength(2)
    expect(requests[1]?.path).toBe('/user?app_key=demo&cursor=abc')
  })
  test('goes on by number otherwise, in both shapes', async () => {
    const apps = await scriptedHttp(envelope(numbered(1)), envelope(numbered(2)))
    expect(await collect(eachPage(listApps, createClient({ url: apps.url })))).toHaveLength(2)
    expect(apps.requests[1]?.path).toBe('/app_manage?page=2')
    const switches = await scriptedHttp(envelope({ page: 1, totalPages: 2 }), envelope({ page: 2, totalPages: 2 }))
    const query = { app_key: 'demo' }
    expect(await collect(eachPage(readSwitches, createClient({ url: switches.url }), { query }))).toHaveLength(2)
    expect(switches.requests[1]?.path).toBe('/switch_manage?app_key=demo&page=2')
  })
})
