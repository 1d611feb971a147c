/** State of each domain in one strip; each leads to the domain's page. */
import { Group } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRead } from '../../api/hooks.ts'
import { isAbsent, Loaded } from '../../ui/feedback/content-states.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { DomainStatus } from '../domains/domain-status.tsx'

/** Domains that are shown; the page of domains has all of them. */
const SHOWN = 12

/** What {@link DomainHealth} shows. */
export const useDomainHealth = () => useRead('listDomainsOperation', { query: { limit: SHOWN } })

/** Renders nothing without domains. */
export function DomainHealth({ query }: { query: ReturnType<typeof useDomainHealth> }) {
  const { t } = useTranslation()
  if (isAbsent(query, ({ data }) => data.length === 0)) return null
  return (
    <Card
      title={t('nav.domains')}
      aside={
        query.data?.has_more ? (
          <Link to="/domains" className="pw-link">
            {t('overview.allDomains')}
          </Link>
        ) : null
      }
    >
      <Loaded query={query}>
        {({ data }) => (
          <Group gap="xs" component="ul" className="pw-strip">
            {data.map(domain => {
              const required = domain.records.filter(({ need }) => need === 'required')
              const found = required.filter(({ status }) => status === 'verified').length
              return (
                <li key={domain.id} className="pw-strip-item">
                  <Link to="/domains/$id" params={{ id: domain.name }} className="pw-tile-link">
                    {domain.name}
                  </Link>
                  <DomainStatus domain={domain} />
                  {found < required.length ? (
                    <span className="pw-sub">{t('domains.requiredFound', { found, count: required.length })}</span>
                  ) : null}
                  {domain.authentication_refusals.length > 0 ? (
                    <span className="pw-sub pw-bad">
                      {t('overview.refusals', { count: domain.authentication_refusals.length })}
                    </span>
                  ) : null}
                </li>
              )
            })}
          </Group>
        )}
      </Loaded>
    </Card>
  )
}
