/** Form of an action on several subscriptions; shows the progress, and afterwards what failed and why. */
import { Button, Group, NumberInput, Progress, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { ApiProblem } from '../../api/problem.ts'
import { problemText } from '../../ui/feedback/problem-text.ts'
import { Note } from '../../ui/feedback/status-badge.tsx'
import { SubmitForm } from '../../ui/forms/form.tsx'
import { useUnsavedWork } from '../../ui/forms/unsaved-work.tsx'
import { useFields } from '../../ui/forms/use-fields.ts'
import { type Column, DataTable } from '../../ui/layout/table.tsx'
import { type SubInput, useSubWrite } from '../shared/subscriptions-api.ts'
import { type BatchResult, runBatch } from './run-batch.ts'
import { ReasonField, type Subscription } from './subscription-menu.tsx'

/** `stop`: turn off automatic renewal. */
export type BatchKind = 'extend' | 'stop' | 'cancel' | 'refund'

/** Bounds of the API. */
const DAYS = { min: 1, max: 36_500 }

type Action = Omit<SubInput<'actOnSubscriptions'>['body'], 'ids'>

interface Props {
  appKey: string
  kind: BatchKind
  subscriptions: readonly Subscription[]
  /** Receives the subscriptions on which the action succeeded. */
  finished: (subscriptions: readonly Subscription[]) => void
  /** While it runs, the dialog must stay open: it has the progress and the failures. */
  running: boolean
  setRunning: (running: boolean) => void
  close: () => void
}

export function BatchForm({ appKey, kind, subscriptions, finished, running, setRunning, close }: Props) {
  const { t } = useTranslation()
  const act = useSubWrite('actOnSubscriptions')
  // The selection shrinks when the action is done; the dialog keeps what it began with.
  const [targets] = useState(subscriptions)
  const [results, setResults] = useState<readonly BatchResult[]>()
  const [invalid, setInvalid] = useState<ApiProblem | null>(null)
  const fields = useFields({ days: 30, reason: '' }, invalid)
  useUnsavedWork(() => running)
  const run = async () => {
    const { days } = fields.values
    // The service would refuse each part, which reads as a failure of each subscription.
    if (kind === 'extend' && (days < DAYS.min || days > DAYS.max))
      return setInvalid(fieldProblem('/days', t('ui.numberRange', DAYS)))
    setInvalid(null)
    setRunning(true)
    setResults([])
    const body = bodyOf(kind, fields.values)
    const send = async (ids: string[]) => {
      const answer = await act.mutateAsync({ query: { app_key: appKey }, body: { ids, ...body } })
      return answer.results.map(({ id, code, message }) => ({ id, done: code === 0 || code === 200, message }))
    }
    const ids = targets.map(({ id }) => id)
    const all = await runBatch(ids, send, setResults, error => problemText(error, t))
    const done = new Set(all.filter(one => one.done).map(({ id }) => id))
    setRunning(false)
    finished(targets.filter(({ id }) => done.has(id)))
  }
  if (results && !running) return <BatchOutcome targets={targets} results={results} close={close} />
  return (
    <SubmitForm
      state={{ isPending: running, error: invalid }}
      fields={fields}
      submit={() => void run()}
      action={t(`subs.batch.${kind}`)}
      {...(running ? {} : { cancel: close })}
      byButtonOnly
    >
      <Text fz="sm">{t(`subs.batchText.${kind}`)}</Text>
      {kind === 'extend' ? (
        <NumberInput
          data-autofocus
          label={t('subs.daysMore')}
          {...DAYS}
          allowDecimal={false}
          {...fields.count('days')}
        />
      ) : null}
      <ReasonField {...(kind === 'extend' ? {} : { 'data-autofocus': true })} {...fields.text('reason')} />
      {results ? (
        <div role="status">
          <Progress value={(results.length / targets.length) * 100} aria-label={t('subs.batchProgress')} />
          <Text fz="sm" c="dimmed" mt={6}>
            {t('subs.batchDone', { done: results.length, total: targets.length })}
          </Text>
        </div>
      ) : null}
    </SubmitForm>
  )
}

function fieldProblem(pointer: string, message: string): ApiProblem {
  const fieldErrors = [{ pointer, message }]
  return new ApiProblem({ code: 'validation_failed', status: 422, detail: message, fieldErrors })
}

function bodyOf(kind: BatchKind, { days, reason }: { days: number; reason: string }): Action {
  switch (kind) {
    case 'extend':
      return { action: 'extend', days, reason }
    case 'stop':
      return { action: 'set_auto_renew', auto_renew: '0', reason }
    case 'cancel':
      return { action: 'cancel', at: 'now', reason }
    case 'refund':
      return { action: 'refund', reason }
  }
}

function BatchOutcome(props: { targets: readonly Subscription[]; results: readonly BatchResult[]; close: () => void }) {
  const { t } = useTranslation()
  const { targets, results, close } = props
  const failed = results.filter(({ done }) => !done)
  const nameOf = (id: string) => {
    const one = targets.find(target => target.id === id)
    return one ? `${one.user_nickname || t('subs.unnamed', { id: one.user_id })} · ${one.plan_name}` : id
  }
  const columns: Column<BatchResult>[] = [
    { label: t('subs.subscription'), cell: ({ id }) => nameOf(id) },
    { label: t('subs.error'), cell: ({ message }) => message },
  ]
  return (
    <Stack gap="md">
      <div role="status">
        <Note tone={failed.length === 0 ? 'ok' : 'warn'}>
          {t('subs.batchSucceeded', { count: results.length - failed.length })}{' '}
          {failed.length > 0 ? t('subs.batchFailed', { count: failed.length }) : ''}
        </Note>
      </div>
      {failed.length > 0 ? (
        <DataTable name={t('subs.error')} columns={columns} rows={failed} rowKey={({ id }) => id} />
      ) : null}
      <Group justify="flex-end">
        <Button data-autofocus onClick={close}>
          {t('ui.close')}
        </Button>
      </Group>
    </Stack>
  )
}
