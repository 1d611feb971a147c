/** Step that sends a message to the simulator and shows what came of it. */
import { Button, Group, Loader, Stack, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../api/hooks.ts'
import { MailStatusBadge } from '../mail/messages/mail-status-badge.tsx'
import { Loaded } from '../ui/feedback/content-states.tsx'
import { notifyError } from '../ui/feedback/notifications.ts'
import { NeedsRole } from '../ui/forms/needs-role.tsx'
import { SIMULATED } from './start-steps.ts'
import { useSimulated } from './use-start-progress.ts'

export function SimulationStep({ kind, from }: { kind: keyof typeof SIMULATED; from: string }) {
  const { t } = useTranslation()
  const send = useWrite('sendEmail', ['listEmails'])
  const latest = useSimulated(kind).data?.data[0]
  const to = SIMULATED[kind]
  const start = () =>
    send.mutate(
      { body: { from, to, subject: t(`start.simulated.${kind}`), text: t('start.simulated.text') } },
      { onError: error => notifyError(error, t) },
    )
  return (
    <Stack gap="md">
      <Text fz="sm">{t(`start.simulated.${kind}Text`)}</Text>
      <Group>
        <NeedsRole needs="developer">
          <Button onClick={start} loading={send.isPending}>
            {t('start.simulated.action', { address: to })}
          </Button>
        </NeedsRole>
      </Group>
      <div role="status">{latest ? <Outcome id={latest.id} status={latest.status} /> : null}</div>
    </Stack>
  )
}

/** Every attempt with the words of the simulator, and the way to the explanation. */
function Outcome({ id, status }: { id: string; status: string }) {
  const { t } = useTranslation()
  const attempts = useRead('listEmailAttempts', { params: { id } }, { poll: 2_000 })
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <MailStatusBadge status={status} />
        <Link to="/messages/$id" params={{ id }} className="pw-link">
          {t('messages.view')}
        </Link>
      </Group>
      <Loaded query={attempts} loading={<Loader size="xs" />}>
        {({ data }) =>
          data.map(attempt => (
            <Text key={attempt.id} fz="sm" className="pw-mono">
              {attempt.reply}
            </Text>
          ))
        }
      </Loaded>
    </Stack>
  )
}
