/** The effect of an unsaved switch on one user, evaluated by the service while the form is edited. */
import { Stack, Text, Textarea } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { displayedFieldErrors } from '../../ui/feedback/field-error-text.ts'
import { fieldErrorLine, problemText } from '../../ui/feedback/problem-text.ts'
import { Note } from '../../ui/feedback/status-badge.tsx'
import { Card } from '../../ui/layout/page.tsx'
import { omitUndefined } from '../../ui/layout/search-params.ts'
import { type SubInput, useSubRead } from '../shared/subscriptions-api.ts'
import { UserPicker } from '../shared/user-picker.tsx'
import { evaluationReason, evaluationValue } from './evaluation-text.ts'
import { attributesOf } from './sample-attributes.ts'

type Asked = NonNullable<SubInput<'evaluateSwitches'>['body']>

/** Waits for a pause in typing, in milliseconds. */
const PAUSE_MS = 400

export function EffectPreview({ appKey, definition }: { appKey: string; definition: Asked['definition'] }) {
  const { t } = useTranslation()
  const [user, setUser] = useState('')
  const [attributes, setAttributes] = useState('')
  // As text, because the definition is another object in each rendering.
  const asked = JSON.stringify(
    omitUndefined({ user_id: user || undefined, context: attributesOf(attributes), definition }),
  )
  const [body] = useDebouncedValue(asked, PAUSE_MS)
  return (
    <aside className="pw-editor-side" aria-label={t('subs.effect')}>
      <Card title={t('subs.effect')}>
        <Stack gap="sm">
          <Text fz="sm" c="dimmed">
            {t('subs.effectHint')}
          </Text>
          <UserPicker appKey={appKey} label={t('subs.sampleUser')} value={user} onChange={setUser} clearable />
          <Textarea
            label={t('subs.sampleAttributes')}
            description={t('subs.sampleAttributesHint')}
            placeholder={'platform=ios\nappVersion=2.1.0'}
            autosize
            minRows={2}
            maxRows={6}
            spellCheck={false}
            value={attributes}
            onChange={event => setAttributes(event.currentTarget.value)}
          />
          <Outcome key={user} appKey={appKey} body={body} pending={body !== asked} />
        </Stack>
      </Card>
    </aside>
  )
}

function Outcome({ appKey, body, pending }: { appKey: string; body: string; pending: boolean }) {
  const { t } = useTranslation()
  const input = JSON.parse(body) as Asked
  const query = useSubRead('evaluateSwitches', { query: { app_key: appKey }, body: input }, { noCache: true })
  const busy = pending || query.isFetching
  const result = query.data?.switches[0]
  const context = Object.entries(query.data?.context ?? {})
  return (
    <div role="status" aria-busy={busy} className="pw-effect">
      {query.error ? (
        <Note tone="warn">
          {t('subs.effectRefused')} <Refusal error={query.error} />
        </Note>
      ) : result ? (
        <>
          <Note tone="info">
            <strong>{evaluationValue(result, t)}</strong>
            <div>{evaluationReason(result, t)}</div>
          </Note>
          <details className="pw-details">
            <summary>{t('subs.evaluatedContext', { count: context.length })}</summary>
            {context.map(([name, value]) => (
              <div key={name} className="pw-mono">
                {name}={value}
              </div>
            ))}
          </details>
        </>
      ) : (
        <Text fz="sm" c="dimmed">
          {t('ui.loading')}
        </Text>
      )}
    </div>
  )
}

/** The fields of the definition that do not fit, or the error. */
function Refusal({ error }: { error: Error }) {
  const { t } = useTranslation()
  const errors = displayedFieldErrors(error)
  if (errors.length === 0) return problemText(error, t)
  return errors.map(one => <div key={one.path.join('.')}>{fieldErrorLine(one, t)}</div>)
}
