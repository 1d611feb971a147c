import { Link } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import type { Output } from '../../api/client.ts'
import { Note } from '../../ui/feedback/status-badge.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { Copyable } from '../../ui/values/copy-button.tsx'
import { DescriptionList } from '../../ui/values/description-list.tsx'
import { useFormat } from '../../ui/values/number-format.ts'
import { Time } from '../../ui/values/time.tsx'

function TemplateLink({ template: { id, version } }: { template: NonNullable<Output<'getEmail'>['template']> }) {
  const { t } = useTranslation()
  return (
    <Link to="/templates/$id" params={{ id }} className="pw-link">
      {id} ({t('templates.published', { version })})
    </Link>
  )
}

/** Says that the message does not go to its recipients. */
function Diversion({ message: { delivery, redirected_from, recipients, domain } }: { message: Output<'getEmail'> }) {
  const { t } = useTranslation()
  if (delivery === 'live') return null
  if (delivery === 'redirect')
    return (
      <Note tone="warn">
        {t('inbox.redirected', { address: recipients[0]?.email, recipients: redirected_from.join(', ') })}
      </Note>
    )
  return (
    <Note tone="warn">
      {t('inbox.captured')}{' '}
      <Link to="/domains/$id/inbox" params={{ id: domain }} className="pw-link">
        {t('inbox.open')}
      </Link>
    </Note>
  )
}

export function MessageDetails({ message }: { message: Output<'getEmail'> }) {
  const { t } = useTranslation()
  const { bytes } = useFormat()
  const metadata = Object.entries(message.metadata).map(([name, value]) => `${name}=${value}`)
  return (
    <Card>
      <Diversion message={message} />
      <DescriptionList
        entries={[
          [t('messages.from'), message.from],
          [t('messages.envelopeFrom'), message.mail_from || '<>'],
          ['Message-ID', <Copyable key="m" value={message.message_id} what="Message-ID" />],
          [t('messages.id'), <Copyable key="i" value={message.id} what={t('messages.id')} />],
          [t('messages.source'), t(`messages.sources.${message.source}`)],
          [t('messages.stream'), t(`messages.streams.${message.stream}`)],
          [t('messages.list'), message.list],
          [t('messages.size'), bytes(message.size)],
          [t('messages.accepted'), <Time key="c" at={message.created_at} short />],
          [t('messages.scheduledFor'), message.scheduled_at ? <Time key="s" at={message.scheduled_at} short /> : null],
          [t('messages.expires'), <Time key="e" at={message.expires_at} short />],
          [t('messages.final'), message.final_at ? <Time key="f" at={message.final_at} short /> : null],
          [t('messages.tags'), message.tags.map(tag => `${tag.name}=${tag.value}`).join(', ')],
          [t('messages.metadata'), metadata.join(', ')],
          [t('messages.template'), message.template ? <TemplateLink key="p" template={message.template} /> : null],
          [t('messages.testMode'), message.test ? t('ui.yes') : null],
        ]}
      />
    </Card>
  )
}
