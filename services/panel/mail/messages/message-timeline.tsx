/** Delivery attempts of each recipient with the SMTP conversation. */
import { Group, Stack, Text, Timeline } from '@mantine/core'
import { IconAlertTriangle, IconCheck, IconClock, IconX } from '@tabler/icons-react'
import type { TFunction } from 'i18next'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { useRead } from '../../api/hooks.ts'
import { Loaded } from '../../ui/feedback/content-states.tsx'
import { StatusBadge, type Tone } from '../../ui/feedback/status-badge.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { ServiceSentence, sentenceText } from '../../ui/values/service-sentence.tsx'
import { Time } from '../../ui/values/time.tsx'
import { MailStatusBadge } from './mail-status-badge.tsx'
import { isInProgress, toneOf } from './mail-statuses.ts'
import { RecipientExplanation } from './recipient-explanation.tsx'

type Message = Output<'getEmail'>
type Attempt = Output<'listEmailAttempts'>['data'][number]

/** One card for each recipient; polls while the message is in progress. */
export function MessageTimeline({ message }: { message: Message }) {
  const poll = isInProgress(message.status) && 10_000
  const attempts = useRead('listEmailAttempts', { params: { id: message.id } }, { poll })
  const explained = useRead('explainEmail', { params: { id: message.id } }, { poll })
  return (
    <Stack gap="md">
      {message.recipients.map((recipient, index) => (
        <RecipientCard key={`${recipient.type} ${recipient.email}`} message={message} recipient={recipient}>
          <RecipientExplanation explanation={explained.data?.recipients[index]} />
          <Loaded query={attempts}>
            {list => (
              <Attempts message={message} attempts={list.data.filter(item => item.recipient === recipient.email)} />
            )}
          </Loaded>
        </RecipientCard>
      ))}
    </Stack>
  )
}

function RecipientCard(props: { message: Message; recipient: Message['recipients'][number]; children: ReactNode }) {
  const { t } = useTranslation()
  const { message, recipient } = props
  const waiting = message.waiting.find(entry => entry.email === recipient.email)
  return (
    <Card title={recipient.email} aside={<MailStatusBadge status={recipient.status} />}>
      <Text c="dimmed" fz="sm" mb="md" component="div">
        {t(`messages.kind.${recipient.type}`)}
        {waiting?.held ? (
          <span>{t('queue.heldBy', { by: waiting.held.by, reason: waiting.held.reason })}</span>
        ) : waiting?.next_attempt_at ? (
          <>
            {' · '}
            {t('messages.nextAttempt')} <Time at={waiting.next_attempt_at} />
          </>
        ) : null}
      </Text>
      {props.children}
    </Card>
  )
}

const BULLETS: Record<Tone, ReactNode> = {
  ok: <IconCheck size={13} />,
  warn: <IconAlertTriangle size={13} />,
  bad: <IconX size={13} />,
  info: <IconClock size={13} />,
  quiet: <IconClock size={13} />,
}

function Attempts({ message, attempts }: { message: Message; attempts: readonly Attempt[] }) {
  const { t } = useTranslation()
  const source = t(`messages.sources.${message.source}`)
  return (
    <Timeline bulletSize={24} lineWidth={2} active={attempts.length} color="ink">
      <Timeline.Item bullet={<IconCheck size={13} />} title={t('messages.acceptedVia', { source })}>
        <Text fz="sm" c="dimmed" component="div">
          <Time at={message.created_at} />
        </Text>
      </Timeline.Item>
      {attempts.map(attempt => (
        <Timeline.Item
          key={attempt.id}
          bullet={BULLETS[toneOf(attempt.outcome)]}
          title={<AttemptTitle attempt={attempt} />}
        >
          <AttemptBody attempt={attempt} />
        </Timeline.Item>
      ))}
    </Timeline>
  )
}

function AttemptTitle({ attempt }: { attempt: Attempt }) {
  const { t } = useTranslation()
  return (
    <Group gap="xs">
      <span>{titleOf(attempt, t)}</span>
      <MailStatusBadge status={attempt.outcome} />
      {attempt.ambiguous ? <StatusBadge tone="warn">{t('messages.ambiguous')}</StatusBadge> : null}
    </Group>
  )
}

/** What a recipient did. */
const BY_RECIPIENT = new Set(['unsubscribed', 'opened', 'clicked'])

/** Attempts have numbers; reports come from servers, wishes from the recipient. */
function titleOf({ attempt, outcome }: Attempt, t: TFunction): string {
  if (attempt > 0) return t('messages.attempt', { number: attempt })
  return BY_RECIPIENT.has(outcome) ? t('messages.byRecipient') : t('messages.report')
}

function AttemptBody({ attempt }: { attempt: Attempt }) {
  const { t } = useTranslation()
  return (
    <Stack gap={6} mt={4}>
      <Text fz="sm" c="dimmed" component="div">
        <Time at={attempt.at} />
        {attempt.attempt === 0 ? '' : ` · ${t('messages.took', { ms: Math.round(attempt.duration_ms) })}`}
        {attempt.mx_host ? ` · ${attempt.mx_host}` : ''}
        {attempt.ip ? ` [${attempt.ip}]` : ''}
        {attempt.tls ? ` · ${attempt.tls.version}` : ''}
        {attempt.tls ? ` (${attempt.tls.verified ? t('messages.tlsVerified') : t('messages.tlsUnverified')})` : ''}
      </Text>
      <Text fz="sm" className="pw-mono">
        {replyOf(attempt)}
      </Text>
      {attempt.advice ? (
        <div className="pw-advice">
          <ServiceSentence text={attempt.advice} code={attempt.advice_code} params={attempt.advice_params ?? {}} />
        </div>
      ) : null}
      {attempt.conversation ? (
        <details className="pw-details">
          <summary>{t('messages.conversation')}</summary>
          <pre className="pw-code">{attempt.conversation}</pre>
        </details>
      ) : null}
    </Stack>
  )
}

/** SMTP reply or error of ours with its codes, which the text may already contain. */
function replyOf({ reply: text, reply_code, reply_params, smtp_code, enhanced_code }: Attempt): string {
  const reply = sentenceText({ text, code: reply_code, params: reply_params })
  if (smtp_code !== null && reply.startsWith(String(smtp_code))) return reply
  return [smtp_code, enhanced_code && !reply.startsWith(enhanced_code) ? enhanced_code : null, reply]
    .filter(part => part !== null && part !== '')
    .join(' ')
}
