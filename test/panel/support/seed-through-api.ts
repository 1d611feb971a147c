/** Test data created through the API with the session of a visitor. */
import type { Page } from 'playwright-core'
import { until } from '../../support/time/until.ts'

/** Sends a request with the visitor's cookie; throws for error responses. */
export async function ask(page: Page, method: string, path: string, data?: unknown): Promise<unknown> {
  const response = await page.context().request.fetch(path, {
    method,
    headers: { 'x-csrf': '1', lang: 'en' },
    ...(data === undefined ? {} : { data }),
  })
  if (!response.ok()) throw new Error(`${method} ${path}: ${response.status()} ${await response.text()}`)
  return response.status() === 204 ? undefined : response.json()
}

/** Names and texts of the test data. */
export interface Names {
  subject: string
  html: string
  thing: string
}

const SENDER = 'hello@sandbox.mail.example.com'

/** Messages (delivered into the trial inbox), logins, tokens, a domain, an app with plans and switches. */
export async function seed(page: Page, { subject, html, thing }: Names): Promise<void> {
  await ask(page, 'POST', '/api/v1/domains', { name: 'example.com' })
  const people = ['ada@example.org', 'grace@example.net', 'lin@example.cn', 'joan@example.org', 'karen@example.com']
  for (const [index, to] of people.entries()) {
    const body = { from: SENDER, to, subject: `${subject} ${index + 1}`, text: 'See attached page.', html }
    await ask(page, 'POST', '/api/v1/emails', body)
  }
  await ask(page, 'POST', '/api/v1/tokens', { name: `${thing} backend` })
  await ask(page, 'POST', '/api/v1/smtp-credentials', { username: 'shop-mailer', messages_per_hour: 500 })
  await seedApp(page, thing)
  await until(async () => {
    const { data } = (await ask(page, 'GET', '/api/v1/emails')) as { data: { status: string }[] }
    return data.every(({ status }) => status === 'delivered')
  }, 150_000)
}

async function seedApp(page: Page, thing: string): Promise<void> {
  const base = '/subscription-api'
  await ask(page, 'POST', `${base}/app_manage`, { app_name: thing, app_key: 'shop', app_description: thing })
  for (const [name, price, duration] of [
    ['Monthly', '19.90', 30],
    ['Yearly', '199.00', 365],
    ['For ever', '699.00', 0],
  ] as const) {
    const features = JSON.stringify({ features: [thing, 'Support'] })
    const plan = { name: `${name} ${thing}`.slice(0, 64), price, original_price: '999.00', duration, features }
    await ask(page, 'POST', `${base}/subscription_plan?app_key=shop`, plan)
  }
  const logs = [{ version: '2.1.0', date: '2026-11-20', title: thing, features: [thing], fixes: ['A crash'] }]
  for (const change of [
    { name: 'new_checkout', type: 'boolean', value: '1', rollout: 25 },
    { name: 'banner', type: 'string', value: thing },
    { name: 'releases', type: 'changelog', value: JSON.stringify({ title: thing, logs }) },
  ])
    await ask(page, 'POST', `${base}/switch_manage?app_key=shop`, { description: thing, title: thing, ...change })
}

/** The first message of the log. */
export async function firstMessage(page: Page): Promise<string> {
  const { data } = (await ask(page, 'GET', '/api/v1/emails?limit=1')) as { data: { id: string }[] }
  return data[0]?.id ?? ''
}
