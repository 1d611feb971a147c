/** Dialog that shows a DNS plan as a diff, applies it, and follows the propagation of the records. */
import { Button, Checkbox, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useRead, useWrite } from '../api/hooks.ts'
import { Loaded } from '../ui/feedback/content-states.tsx'
import { problemText } from '../ui/feedback/problem-text.ts'
import { Note, StatusBadge, type Tone } from '../ui/feedback/status-badge.tsx'
import { Diff } from '../ui/values/diff.tsx'
import { type ApiSentence, ServiceSentence, sentencesOf } from '../ui/values/service-sentence.tsx'
import { DnsPlanProgress } from './dns-plan-progress.tsx'
import { countByAction, type PlanItem, type PlanResult, type PlanStage, rowState, stageOf } from './dns-plan-state.ts'
import { useDnsPropagation } from './use-dns-propagation.ts'

const ACTIONS: Record<PlanItem['action'], Tone> = {
  create: 'ok',
  update: 'info',
  keep: 'quiet',
  delete: 'bad',
  conflict: 'bad',
  skip: 'quiet',
}

/** Loading the plan changes nothing at the provider. */
export function DnsPlanDialog({ domainId, close }: { domainId: string; close: () => void }) {
  const { t } = useTranslation()
  const [accept, setAccept] = useState<string[]>([])
  const params = { id: domainId }
  const plan = useRead('planDnsOperation', { params, body: { accept } }, { noCache: true })
  const apply = useWrite('applyDnsOperation', ['getDomainOperation', 'listDomainsOperation'])
  const result = apply.data
  const propagation = useDnsPropagation(domainId, result)
  const stage = stageOf({
    writing: apply.isPending,
    result,
    check: propagation.check,
    exhausted: propagation.exhausted,
  })
  const write = (planId: string) =>
    apply.mutate({ params, body: { plan_id: planId, accept } }, { onError: () => void plan.refetch() })
  return (
    <Loaded query={plan}>
      {({ id, items, warnings, warnings_codes }) => (
        <Stack gap="md">
          <DnsPlanProgress stage={stage} />
          {warningsOf(result ?? { warnings, warnings_codes }).map(warning => (
            <Note key={warning.text} tone="warn">
              <ServiceSentence {...warning} />
            </Note>
          ))}
          {stage === 'plan' ? <Summary items={items} /> : null}
          <div>
            {(result?.items ?? items).map(item => (
              <PlanRow
                key={`${item.record} ${item.type} ${item.name} ${item.value}`}
                item={item}
                state={rowState(item, stage, propagation.check)}
                accepted={accept.includes(item.record)}
                toggle={on => setAccept(on ? [...accept, item.record] : accept.filter(one => one !== item.record))}
              />
            ))}
          </div>
          <Outcome stage={stage} result={result} />
          {apply.error ? (
            <div role="alert">
              <Note tone="bad">{problemText(apply.error, t)}</Note>
            </div>
          ) : null}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              {t(result ? 'ui.close' : 'ui.cancel')}
            </Button>
            {result ? null : (
              <Button
                onClick={() => write(id)}
                loading={apply.isPending}
                disabled={plan.isFetching || items.every(({ action }) => !WRITES.has(action))}
              >
                {t('dns.apply')}
              </Button>
            )}
          </Group>
        </Stack>
      )}
    </Loaded>
  )
}

type Warnings = Pick<PlanItem, 'warnings' | 'warnings_codes'>

function warningsOf({ warnings, warnings_codes }: Warnings): ApiSentence[] {
  return sentencesOf(warnings, warnings_codes)
}

function messageOf({ message, message_code, message_params }: NonNullable<PlanResult['stopped']>): ApiSentence {
  return { text: message, code: message_code, params: message_params }
}

/** Why the item failed, or why it is planned. */
function reasonOf(item: PlanItem | PlanResult['items'][number]): ApiSentence {
  if ('message' in item && item.message)
    return { text: item.message, code: item.message_code, params: item.message_params }
  return { text: item.reason, code: item.reason_code, params: item.reason_params }
}

const WRITES: ReadonlySet<PlanItem['action']> = new Set(['create', 'update', 'delete'])

function Summary({ items }: { items: readonly PlanItem[] }) {
  const { t } = useTranslation()
  return (
    <Group gap={6}>
      {countByAction(items).map(([action, count]) => (
        <StatusBadge key={action} tone={ACTIONS[action]}>
          {count} · {t(`dns.action.${action}`)}
        </StatusBadge>
      ))}
    </Group>
  )
}

/** Result of applying the plan, announced by screen readers when it changes. */
function Outcome({ stage, result }: { stage: PlanStage; result: PlanResult | undefined }) {
  const { t } = useTranslation()
  if (result?.stopped)
    return (
      <div role="alert">
        <Note tone="bad">
          {t('dns.stopped')} <ServiceSentence {...messageOf(result.stopped)} />
        </Note>
      </div>
    )
  const tone = stage === 'seen' ? 'ok' : 'info'
  return (
    <div role="status">
      {stage === 'waiting' || stage === 'seen' || stage === 'later' ? (
        <Note tone={tone}>{t(`dns.after.${stage}`)}</Note>
      ) : null}
    </div>
  )
}

function PlanRow(props: {
  item: PlanItem | PlanResult['items'][number]
  state: ReturnType<typeof rowState>
  accepted: boolean
  toggle: (on: boolean) => void
}) {
  const { t } = useTranslation()
  const { item, state, accepted, toggle } = props
  const still = item.action === 'keep' || item.action === 'skip'
  return (
    <section className="pw-record" aria-label={`${item.type} ${item.name}`}>
      <Group justify="space-between" gap="xs" mb={6}>
        <span className="pw-mono">
          {item.type} {item.name}
        </span>
        {state ? (
          <StatusBadge tone={state.tone}>{t(`dns.result.${state.key}`)}</StatusBadge>
        ) : (
          <StatusBadge tone={ACTIONS[item.action]}>{t(`dns.action.${item.action}`)}</StatusBadge>
        )}
      </Group>
      <Diff before={still ? null : item.before} after={item.value} same={still} />
      <div className="pw-sub">
        <ServiceSentence {...reasonOf(item)} />
      </div>
      {warningsOf(item).map(warning => (
        <div key={warning.text} className="pw-advice" data-tone="warn">
          <ServiceSentence {...warning} />
        </div>
      ))}
      {item.acceptable && !state ? (
        <Checkbox
          mt={6}
          label={t('dns.replace')}
          checked={accepted}
          onChange={event => toggle(event.currentTarget.checked)}
        />
      ) : null}
    </section>
  )
}
