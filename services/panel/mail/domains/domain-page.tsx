/** Page of a domain: status, DNS records, DKIM keys, removal. Polls while the domain is pending. */

import { Button, Group } from '@mantine/core'
import { IconArrowLeft, IconInbox, IconReportAnalytics } from '@tabler/icons-react'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useRead, useWrite } from '../../api/hooks.ts'
import { DkimRotationButton } from '../../dns/dkim-rotation-button.tsx'
import { DnsCheck } from '../../dns/dns-check.tsx'
import { DnsOneClick } from '../../dns/dns-one-click.tsx'
import { DnsProvidedByCluster } from '../../dns/dns-provided-by-cluster.tsx'
import { DnsRecords } from '../../dns/dns-records.tsx'
import { DnsSettings } from '../../dns/dns-settings.tsx'
import { ManagedBy } from '../../kubernetes/managed-by.tsx'
import { ResourceConditions } from '../../kubernetes/resource-conditions.tsx'
import { Loaded } from '../../ui/feedback/content-states.tsx'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { NeedsRole } from '../../ui/forms/needs-role.tsx'
import { discardUnsavedWork } from '../../ui/forms/unsaved-work.tsx'
import { Card, Page } from '../../ui/layout/page.tsx'
import { AuthenticationRefusals } from './authentication-refusals.tsx'
import { DeliveryBadge } from './delivery-badge.tsx'
import { DeliverySettings } from './delivery-settings.tsx'
import { DkimKeys } from './dkim-keys.tsx'
import { DomainStatus } from './domain-status.tsx'
import { TrackingSettings, waitsForTrackingHost } from './tracking-settings.tsx'

type Domain = Output<'getDomainOperation'>

const route = getRouteApi('/shell/domains/$id')

export function DomainPage() {
  const { t } = useTranslation()
  const { id } = route.useParams()
  // Soon after it was added, the first check tells what DNS has.
  const poll = (domain: Domain | undefined) =>
    domain?.status === 'pending' ? (domain.check === null ? 2_000 : 10_000) : false
  const query = useRead('getDomainOperation', { params: { id } }, { poll })
  return (
    <Page
      title={query.data?.name ?? id}
      lead={
        <Group gap="xs">
          <Link to="/domains" className="pw-link">
            <IconArrowLeft size={14} className="pw-inline-icon" /> {t('domains.title')}
          </Link>
          {query.data ? <DomainStatus domain={query.data} /> : null}
          {query.data ? <DeliveryBadge domain={query.data} /> : null}
          <ManagedBy resource={query.data?.managed_by} />
          <Link to="/domains/$id/reports" params={{ id }} className="pw-link">
            <IconReportAnalytics size={14} className="pw-inline-icon" /> {t('reports.link')}
          </Link>
          <Link to="/domains/$id/inbox" params={{ id }} className="pw-link">
            <IconInbox size={14} className="pw-inline-icon" /> {t('inbox.link')}
          </Link>
        </Group>
      }
      actions={query.data && !query.data.managed_by ? <DeleteDomain domain={query.data} /> : null}
    >
      <Loaded query={query}>{domain => <Content domain={domain} />}</Loaded>
    </Page>
  )
}

function Content({ domain }: { domain: Domain }) {
  const { t } = useTranslation()
  return (
    <>
      {domain.managed_by ? (
        <Card title={t('operator.conditions')}>
          <DnsProvidedByCluster domain={domain} />
          <ResourceConditions state={domain.resource} />
        </Card>
      ) : null}
      <AuthenticationRefusals domain={domain} />
      <DnsCheck domain={domain} />
      {domain.managed_by ? null : <DnsOneClick domain={domain} />}
      <DnsRecords domain={domain} unfold={waitsForTrackingHost(domain)} />
      <Card
        title={t('domains.keys')}
        flush
        aside={domain.managed_by ? null : <DkimRotationButton domainId={domain.id} />}
      >
        <DkimKeys domain={domain} />
      </Card>
      {domain.managed_by ? null : <DnsSettings domain={domain} />}
      {domain.managed_by ? null : <DeliverySettings domain={domain} />}
      {domain.managed_by ? null : <TrackingSettings domain={domain} />}
    </>
  )
}

function DeleteDomain({ domain }: { domain: Domain }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [asking, setAsking] = useState(false)
  const remove = useWrite('deleteDomainOperation', ['listDomainsOperation'])
  return (
    <>
      <NeedsRole needs="admin">
        <Button variant="default" onClick={() => setAsking(true)}>
          {t('domains.remove')}
        </Button>
      </NeedsRole>
      <ConfirmDialog
        opened={asking}
        close={() => setAsking(false)}
        title={t('domains.removeTitle', { name: domain.name })}
        phrase={domain.name}
        action={t('domains.remove')}
        run={async () => {
          await remove.mutateAsync({ params: { id: domain.id } })
          discardUnsavedWork()
          await navigate({ to: '/domains' })
        }}
      >
        {t('domains.removeText')}
      </ConfirmDialog>
    </>
  )
}
