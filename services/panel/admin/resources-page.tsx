/** Kubernetes resources with their conditions. They are read-only here and changed in the cluster. */
import { Group, Select } from '@mantine/core'
import { IconBox } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRead } from '../api/hooks.ts'
import { ResourceConditions } from '../kubernetes/resource-conditions.tsx'
import { useSession } from '../session/session.ts'
import { useSubRead } from '../subscriptions/shared/subscriptions-api.ts'
import { Empty, Failure, Loaded, NoMatch } from '../ui/feedback/content-states.tsx'
import { Freshness } from '../ui/feedback/freshness.tsx'
import { Note, StatusBadge } from '../ui/feedback/status-badge.tsx'
import { TextFilter } from '../ui/forms/text-filter.tsx'
import { Card, Page } from '../ui/layout/page.tsx'
import { omitUndefined } from '../ui/layout/search-params.ts'
import {
  fromMail,
  fromSubscriptions,
  matchingResources,
  namespacesOf,
  type Resource,
  readiness,
} from './kubernetes-resources.ts'

const route = getRouteApi('/shell/admin/resources')

/** Polls every 15 seconds. Admins without a role in the subscriptions module see the resources of the mail module only. */
export function ResourcesPage() {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const mail = useRead('listResources', {}, { poll: 15_000 })
  const { subscription_role } = useSession()
  const subscriptions = useSubRead('listResourcesOperation', {}, { enabled: subscription_role !== null })
  const more = (subscriptions.data?.resources ?? []).map(fromSubscriptions)
  return (
    <Page title={t('operator.resourcesTitle')} lead={t('operator.resourcesLead')}>
      {subscriptions.isError ? <SubscriptionsFailed query={subscriptions} /> : null}
      <Loaded query={mail}>
        {({ data, has_more }) => {
          const all = [...data.map(fromMail), ...more]
          return all.length === 0 ? (
            <Card flush>
              <Empty icon={<IconBox size={26} />} title={t('operator.noResources')}>
                {t('operator.noResourcesHint')}
              </Empty>
            </Card>
          ) : (
            <>
              {has_more || subscriptions.data?.has_more ? <Note tone="info">{t('operator.moreResources')}</Note> : null}
              <Filters namespaces={namespacesOf(all)} />
              <Resources resources={matchingResources(all, search)} reset={() => void navigate({ search: {} })} />
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}

/** Without this, a list that lacks the resources of the subscriptions module would look complete. */
function SubscriptionsFailed({ query }: { query: UseQueryResult<unknown, Error> }) {
  if (query.data !== undefined) return <Freshness query={query} />
  return (
    <Card flush>
      <Failure error={query.error} retry={() => void query.refetch()} />
    </Card>
  )
}

const STATES = ['ready', 'not_ready', 'unseen'] as const

function Filters({ namespaces }: { namespaces: string[] }) {
  const { t } = useTranslation()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const go = (part: { [K in keyof typeof search]?: string | undefined }) =>
    void navigate({ search: omitUndefined({ ...search, ...part }) })
  return (
    <Group gap="xs" align="flex-end" role="search">
      <TextFilter
        wide
        label={t('messages.search')}
        placeholder={t('operator.resourceSearch')}
        value={search.q ?? ''}
        set={text => go({ q: text || undefined })}
      />
      <Select
        label={t('operator.namespace')}
        placeholder={t('messages.any')}
        data={namespaces}
        value={search.namespace ?? null}
        clearable
        onChange={namespace => go({ namespace: namespace ?? undefined })}
        w={180}
      />
      <Select
        label={t('messages.state')}
        placeholder={t('messages.any')}
        data={STATES.map(value => ({ value, label: t(`operator.readiness.${value}`) }))}
        value={search.state ?? null}
        clearable
        onChange={state => go({ state: state ?? undefined })}
        w={180}
      />
    </Group>
  )
}

const TONES = { ready: 'ok', not_ready: 'bad', unseen: 'quiet' } as const

function Resources({ resources, reset }: { resources: readonly Resource[]; reset: () => void }) {
  const { t } = useTranslation()
  if (resources.length === 0)
    return (
      <Card flush>
        <NoMatch reset={reset} />
      </Card>
    )
  return resources.map(resource => {
    const state = readiness(resource)
    return (
      <Card
        key={`${resource.kind} ${resource.namespace} ${resource.name} ${resource.record}`}
        title={`${resource.kind} ${resource.namespace}/${resource.name}`}
        aside={<StatusBadge tone={TONES[state]}>{t(`operator.readiness.${state}`)}</StatusBadge>}
      >
        <div className="pw-sub">
          {t('operator.owns')} <span className="pw-mono">{resource.record}</span>
        </div>
        <ResourceConditions state={resource.state} />
      </Card>
    )
  })
}
