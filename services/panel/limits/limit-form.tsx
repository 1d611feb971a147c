/** Form that sets or removes a limit of sending; for the owner and for admins. */
import { NumberInput, TextInput } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { useSaveCallbacks } from '../ui/feedback/save-result.ts'
import { SubmitForm, type Submitting } from '../ui/forms/form.tsx'
import { SearchableSelect } from '../ui/forms/searchable-select.tsx'
import { type Fields, useFields } from '../ui/forms/use-fields.ts'

/** A limit as the API has it. */
export type SendingLimit = Output<'listLimitsOperation'>['data'][number]
type Scope = SendingLimit['scope']
export type OwnScope = Exclude<Scope, 'account'>

/** In the form 0 means no limit. */
interface Values {
  subject: string
  recipients_per_second: number
  burst: number
  recipients_per_minute: number
  recipients_per_hour: number
  recipients_per_day: number
}

const AMOUNTS = [
  'recipients_per_second',
  'burst',
  'recipients_per_minute',
  'recipients_per_hour',
  'recipients_per_day',
] as const
type Amount = (typeof AMOUNTS)[number]

const OF_SENDER: readonly Amount[] = ['recipients_per_second', 'burst', 'recipients_per_hour', 'recipients_per_day']
const SHOWN: Readonly<Record<Scope, readonly Amount[]>> = {
  account: ['recipients_per_second', 'burst', 'recipients_per_hour'],
  credential: OF_SENDER,
  domain: OF_SENDER,
  destination: ['recipients_per_minute'],
}

function startOf(limit: SendingLimit | undefined): Values {
  const amounts = Object.fromEntries(AMOUNTS.map(name => [name, limit?.[name] ?? 0])) as Record<Amount, number>
  return { subject: limit?.subject ?? '', ...amounts }
}

/** The body of the request for these values. */
function bodyOf<S extends Scope>(scope: S, values: Values) {
  const of = (name: Amount) => (SHOWN[scope].includes(name) && values[name] > 0 ? values[name] : null)
  return {
    scope,
    subject: scope === 'account' ? '*' : values.subject.trim(),
    recipients_per_second: of('recipients_per_second'),
    burst: of('recipients_per_second') === null ? null : of('burst'),
    recipients_per_minute: of('recipients_per_minute'),
    recipients_per_hour: of('recipients_per_hour'),
    recipients_per_day: of('recipients_per_day'),
  }
}

/** `limit`: the one to change; without it the subject is asked for. */
export function OwnLimitForm({ scope, limit, close }: { scope: OwnScope; limit?: SendingLimit; close: () => void }) {
  const put = useWrite('putLimitOperation', ['listLimitsOperation', 'getLimits'])
  const saved = useSaveCallbacks(close)
  const fields = useFields(() => startOf(limit), put.error)
  const submit = () => put.mutate({ body: bodyOf(scope, fields.values) }, saved)
  return <LimitFields {...{ scope, fields, submit, close }} state={put} isNew={!limit} />
}

export function UserLimitForm(props: {
  user: string
  scope: 'account' | 'destination'
  limit: SendingLimit | undefined
  close: () => void
}) {
  const { user, scope, limit, close } = props
  const put = useWrite('putUserLimitOperation', ['listUserLimitsOperation'])
  const saved = useSaveCallbacks(close)
  const fields = useFields(() => ({ ...startOf(limit), ...(limit ? {} : { subject: '*' }) }), put.error)
  const submit = () => put.mutate({ params: { id: user }, body: bodyOf(scope, fields.values) }, saved)
  return <LimitFields {...{ scope, fields, submit, close }} state={put} isNew={!limit && scope === 'destination'} />
}

function LimitFields(props: {
  scope: Scope
  fields: Fields<Values>
  state: Submitting
  isNew: boolean
  submit: () => void
  close: () => void
}) {
  const { t } = useTranslation()
  const { scope, fields, isNew } = props
  return (
    <SubmitForm state={props.state} fields={fields} submit={props.submit} action={t('ui.save')} cancel={props.close}>
      {isNew ? <Subject scope={scope} fields={fields} /> : null}
      {SHOWN[scope].map(name => (
        <NumberInput
          key={name}
          label={t(`limits.amount.${name}`)}
          description={t(`limits.hint.${name}`)}
          min={0}
          allowDecimal={name === 'recipients_per_second' || name === 'recipients_per_minute'}
          {...fields.count(name)}
        />
      ))}
    </SubmitForm>
  )
}

function Subject({ scope, fields }: { scope: Scope; fields: Fields<Values> }) {
  const { t } = useTranslation()
  const logins = useRead('listCredentialsOperation', { query: { limit: 100 } }, { enabled: scope === 'credential' })
  const tokens = useRead('listTokensOperation', { query: { limit: 100 } }, { enabled: scope === 'credential' })
  const domains = useRead('listDomainsOperation', { query: { limit: 100 } }, { enabled: scope === 'domain' })
  if (scope === 'destination')
    return (
      <TextInput
        data-autofocus
        label={t('limits.subject.destination')}
        description={t('limits.destinationHint')}
        autoComplete="off"
        {...fields.text('subject')}
      />
    )
  const data =
    scope === 'domain'
      ? (domains.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name }))
      : [
          ...(logins.data?.data ?? []).map(({ id, username }) => ({ value: id, label: username })),
          ...(tokens.data?.data ?? []).map(({ id, name }) => ({ value: id, label: `${name} (${id})` })),
        ]
  const { value, error } = fields.value('subject')
  return (
    <SearchableSelect
      data-autofocus
      label={t(`limits.subject.${scope}`)}
      data={data}
      value={value === '' ? null : value}
      onChange={id => fields.change({ subject: id ?? '' })}
      {...(error ? { error } : {})}
    />
  )
}
