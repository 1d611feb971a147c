/** The open sessions of the user, with the means to end them. */
import { Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { Loaded } from '../ui/feedback/content-states.tsx'
import { useNotifyCallbacks } from '../ui/feedback/save-result.ts'
import { ConfirmDialog } from '../ui/forms/confirm-dialog.tsx'
import { type Column, DataTable } from '../ui/layout/table.tsx'
import { Time } from '../ui/values/time.tsx'

type Session = Output<'listMySessions'>['data'][number]

export function Sessions() {
  const { t } = useTranslation()
  const query = useRead('listMySessions', {})
  const [asking, setAsking] = useState(false)
  const endOthers = useWrite('endMyOtherSessions', ['listMySessions'])
  return (
    <Stack gap="md">
      <Text fz="sm" c="dimmed">
        {t('security.sessionsLead')}
      </Text>
      <Loaded query={query}>
        {({ data }) => (
          <>
            <SessionTable sessions={data} />
            {data.length > 1 ? (
              <Group justify="flex-end">
                <Button variant="default" onClick={() => setAsking(true)}>
                  {t('security.endOthers')}
                </Button>
              </Group>
            ) : null}
          </>
        )}
      </Loaded>
      <ConfirmDialog
        opened={asking}
        close={() => setAsking(false)}
        title={t('security.endOthersTitle')}
        action={t('security.endOthers')}
        run={() => endOthers.mutateAsync({})}
      >
        {t('security.endOthersText')}
      </ConfirmDialog>
    </Stack>
  )
}

function SessionTable({ sessions }: { sessions: readonly Session[] }) {
  const { t } = useTranslation()
  const end = useWrite('endMySession', ['listMySessions'])
  const notifyEnded = useNotifyCallbacks(t('security.sessionEnded'))
  const columns: Column<Session>[] = [
    {
      label: t('security.client'),
      text: true,
      cell: session => (
        <Group gap="xs" display="inline-flex">
          {session.client ?? t('security.unknownClient')}
          {session.current ? <Badge variant="light">{t('security.thisSession')}</Badge> : null}
        </Group>
      ),
    },
    { label: t('ways.method'), cell: session => t(`ways.methods.${session.method}`) },
    {
      label: t('account.address'),
      under: t('security.client'),
      cell: session => <span className="pw-mono">{session.ip}</span>,
    },
    { label: t('security.signedIn'), cell: session => <Time at={session.created_at} /> },
    { label: t('security.lastUsed'), cell: session => <Time at={session.last_used_at} /> },
    {
      label: t('ui.actions'),
      hidden: true,
      end: true,
      cell: session =>
        session.current ? null : (
          <Button
            variant="subtle"
            color="stamp"
            size="compact-sm"
            aria-label={t('security.endSession', { name: session.client ?? session.ip })}
            loading={end.isPending && end.variables.params.id === session.id}
            onClick={() => end.mutate({ params: { id: session.id } }, notifyEnded)}
          >
            {t('security.end')}
          </Button>
        ),
    },
  ]
  return <DataTable name={t('security.sessions')} columns={columns} rows={sessions} rowKey={session => session.id} />
}
