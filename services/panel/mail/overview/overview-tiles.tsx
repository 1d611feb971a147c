/** Tiles of the overview, compared with the time before; each leads to its messages. */
import { SimpleGrid } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useFormat } from '../../ui/values/number-format.ts'
import { Statistic } from '../../ui/values/statistic.tsx'
import type { MailStatus } from '../messages/mail-statuses.ts'
import { BOUNCE_LIMITS, bounceTone, ratesOf } from './delivery-rates.ts'
import { COUNTED, changeOf, logOfSpan } from './overview-search.ts'
import type { Report } from './use-report.ts'

type Totals = Report['totals']

export function OverviewTiles({ report, previous }: { report: Report; previous: Totals | undefined }) {
  const { t } = useTranslation()
  const { number, percent, signed } = useFormat()
  const { totals, since } = report
  const rates = ratesOf(totals)
  const before = previous && ratesOf(previous)
  const more = previous && changeOf(totals.messages, previous.messages)
  const points = (now: number, then: number) => t('overview.comparedPoints', { change: signed(now - then) })
  const label = (name: string, statuses?: readonly MailStatus[]) => (
    <Link to="/messages" search={logOfSpan(since, statuses)} className="pw-tile-link">
      {name}
    </Link>
  )
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
      <Statistic
        label={label(t('overview.messages'))}
        value={number(totals.messages)}
        hint={
          <>
            {t('overview.recipients', { count: totals.recipients })}
            <div>{more === undefined ? null : t('overview.compared', { change: signed(more) })}</div>
          </>
        }
      />
      <Statistic
        label={label(t('overview.deliveredRate'), COUNTED.delivered)}
        value={rates ? percent(rates.delivered) : '–'}
        hint={rates && before ? points(rates.delivered, before.delivered) : null}
      />
      <Statistic
        label={label(t('overview.bounceRate'), COUNTED.bounced)}
        value={rates ? percent(rates.bounced) : '–'}
        {...(rates ? { tone: bounceTone(rates.bounced) } : {})}
        hint={
          <>
            {t('overview.bounceLimits', { warn: percent(BOUNCE_LIMITS.warn), bad: percent(BOUNCE_LIMITS.bad) })}
            <div>{rates && before ? points(rates.bounced, before.bounced) : null}</div>
          </>
        }
      />
      <Statistic
        label={label(t('overview.waiting'), COUNTED.waiting)}
        value={number(totals.waiting)}
        hint={t('overview.waitingHint')}
      />
    </SimpleGrid>
  )
}
