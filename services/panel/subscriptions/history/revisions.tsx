/** Revisions of a switch or plan: what restoring one would change, and restoring it. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ContentState } from '../../ui/feedback/content-states.tsx'
import { notifySuccess } from '../../ui/feedback/notifications.ts'
import { StatusBadge } from '../../ui/feedback/status-badge.tsx'
import { ConfirmDialog } from '../../ui/forms/confirm-dialog.tsx'
import { Diff } from '../../ui/values/diff.tsx'
import { BusinessTime } from '../shared/business-time.tsx'
import type { SubOutput } from '../shared/subscriptions-api.ts'
import { type CurrentState, changesOnRestore } from './revision-changes.ts'

type Revision = SubOutput<'planHistory'>['revisions'][number]

/** Newest first. `present` is undefined for a deleted record, `restore` for viewers. */
export function Revisions(props: {
  revisions: readonly Revision[]
  present: CurrentState | undefined
  restore: ((revision: number) => Promise<unknown>) | undefined
}) {
  const { t } = useTranslation()
  const { revisions, present, restore } = props
  const [asking, setAsking] = useState<Revision>()
  if (revisions.length === 0) return <ContentState icon={<IconHistory size={26} />} title={t('subs.noRevisions')} />
  return (
    <Stack gap={0}>
      {revisions.map(revision => (
        <section key={revision.revision} className="pw-record" aria-label={t('subs.revision', revision)}>
          <Group justify="space-between" gap="xs" mb={6}>
            <Text fz="sm" fw={600} component="div">
              {t('subs.revision', revision)}{' '}
              <Text span fz="xs" c="dimmed">
                <BusinessTime at={revision.at} /> · {revision.by}
              </Text>
            </Text>
            <Group gap="xs">
              {revision.deleted ? <StatusBadge tone="bad">{t('subs.wasDeleted')}</StatusBadge> : null}
              {restore ? (
                <Button variant="subtle" size="compact-sm" onClick={() => setAsking(revision)}>
                  {t('subs.restore')}
                </Button>
              ) : null}
            </Group>
          </Group>
          {present ? <Changes revision={revision} present={present} /> : null}
        </section>
      ))}
      <ConfirmDialog
        opened={asking !== undefined}
        close={() => setAsking(undefined)}
        title={t('subs.restoreTitle', { revision: asking?.revision ?? '' })}
        action={t('subs.restore')}
        run={async () => {
          await restore?.(Number(asking?.revision))
          notifySuccess(t('subs.restored'))
        }}
      >
        {t('subs.restoreText')}
      </ConfirmDialog>
    </Stack>
  )
}

function Changes({ revision, present }: { revision: Revision; present: CurrentState }) {
  const { t } = useTranslation()
  const changes = changesOnRestore(revision.record, present)
  if (changes.length === 0) return <div className="pw-sub">{t('subs.sameState')}</div>
  return changes.map(({ field, from, to }) => (
    <div key={field}>
      <div className="pw-sub pw-mono">{field}</div>
      <Diff before={from} after={to} />
    </div>
  ))
}
