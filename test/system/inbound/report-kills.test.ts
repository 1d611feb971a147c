/** Workers and the inbound service are killed while reports, webhooks and suppressions are under way. */
import { expect, test } from 'vitest'
import { runReportKills } from '../../support/mail/kills-of-reports.ts'

test('kill -9 of worker and inbound loses no bounce, no complaint, no suppression and no event', async () => {
  const report = await runReportKills({
    victims: ['worker', 'inbound', 'worker', 'inbound'],
    pauseMs: 3_000,
    rate: 20,
  })
  expect(report.accepted).toBeGreaterThan(100)
  expect(report.reports).toBeGreaterThan(40)
  expect(report).toMatchObject({ wrongStatus: 0, wrongSuppression: 0, lostEvents: 0, forged: 0, doubleEvents: 0 })
}, 600_000)
