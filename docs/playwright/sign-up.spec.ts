import { randomUUID } from 'node:crypto'
import { expect, test } from '@playwright/test'
import { waitForMail } from './inbox.ts'

test('a user signs up with the link in the mail', async ({ page }) => {
  // An address of its own for each test: tests may run at the same time.
  const address = `user-${randomUUID()}@example.net`
  await page.goto('/')
  await page.getByLabel('Email').fill(address)
  await page.getByRole('button', { name: 'Sign up' }).click()

  const mail = await waitForMail(address, 'Confirm')
  const link = mail.links.find(({ text }) => text === 'Confirm your address')
  await page.goto(link?.href ?? 'no link')
  await expect(page.getByRole('heading')).toHaveText(`Welcome, ${address}`)
})

test('a user signs up with the code in the mail', async ({ page }) => {
  const address = `user-${randomUUID()}@example.net`
  await page.goto('/')
  await page.getByLabel('Email').fill(address)
  await page.getByRole('button', { name: 'Sign up' }).click()

  const { codes } = await waitForMail(address, 'Confirm')
  await page.getByLabel('Code').fill(codes[0] ?? 'no code')
  await page.getByRole('button', { name: 'Confirm' }).click()
  await expect(page.getByRole('heading')).toHaveText(`Welcome, ${address}`)
})
