/** The plan as a diff, and its result in the same rows. */
import { Button, Checkbox, Group, Stack } from '@mantine/core'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Output } from '../api/client.ts'
import { useRead, useWrite } from '../api/hooks.ts'
import { problemText } from '../ui/problem-text.ts'
import { Loaded } from '../ui/states.tsx'
import { Note, Status, type Tone } from '../ui/status.tsx'

type Item = Output<'planDnsOperation'>['items'][number]
type Result = Output<'applyDnsOperation'>

const ACTIONS: Record<Item['action'], Tone> = {
  create: 'ok',
  update: 'info',
  keep: 'quiet',
  delete: 'bad',
  conflict: 'bad',
  skip: 'quiet',
}
const RESULTS: Record<Result['items'][number]['status'], Tone> = {
  done: 'ok',
  kept: 'quiet',
  pending: 'warn',
  failed: 'bad',
  conflict: 'bad',
  skipped: 'quiet',
  not_done: 'warn',
}

/** The content of the dialog. Nothing is written before the button is pressed. */
export function PlanDialog({ domainId, close }: { domainId: string; close: () => void }) {
  const { t } = useTranslation()
  const [accept, setAccept] = useState<string[]>([])
  const params = { id: domainId }
  const plan = useRead('planDnsOperation', { params, body: { accept } })
  const apply = useWrite('applyDnsOperation', ['getDomainOperation', 'listDomainsOperation'])
  const result = apply.data
  return (
    <Loaded query={plan}>
      {({ id, items, warnings }) => (
        <Stack gap="md">
          {(result?.warnings ?? warnings).map(text => (
            <Note key={text} tone="warn">
              {text}
            </Note>
          ))}
          <div>
            {(result?.items ?? items).map(item => (
              <PlanRow
                key={`${item.record} ${item.type} ${item.name} ${item.value}`}
                item={item}
                accepted={accept.includes(item.record)}
                toggle={on => setAccept(on ? [...accept, item.record] : accept.filter(one => one !== item.record))}
                finished={result !== undefined}
              />
            ))}
          </div>
          {result?.stopped ? <Note tone="bad">{result.stopped.message}</Note> : null}
          {apply.error ? (
            <div role="alert">
              <Note tone="bad">{problemText(apply.error, t)}</Note>
            </div>
          ) : null}
          {result && !result.stopped ? (
            <div role="status">
              <Note tone="ok">{t('dns.applied')}</Note>
            </div>
          ) : null}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={close}>
              {t(result ? 'ui.close' : 'ui.cancel')}
            </Button>
            {result ? null : (
              <Button
                onClick={() => apply.mutate({ params, body: { plan_id: id, accept } })}
                loading={apply.isPending}
                disabled={items.every(item => item.action === 'keep' || item.action === 'skip')}
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

function PlanRow(props: {
  item: Item | Result['items'][number]
  accepted: boolean
  toggle: (on: boolean) => void
  finished: boolean
}) {
  const { t } = useTranslation()
  const { item, accepted, toggle, finished } = props
  return (
    <div className="pw-record">
      <Group justify="space-between" gap="xs" mb={6}>
        <span className="pw-mono">
          {item.type} {item.name}
        </span>
        {'status' in item ? (
          <Status tone={RESULTS[item.status]}>{t(`dns.result.${item.status}`)}</Status>
        ) : (
          <Status tone={ACTIONS[item.action]}>{t(`dns.action.${item.action}`)}</Status>
        )}
      </Group>
      {item.before !== null && item.action !== 'keep' ? (
        <pre className="pw-diff" data-side="before">
          {item.before}
        </pre>
      ) : null}
      <pre className="pw-diff" data-side={item.action === 'keep' ? 'same' : 'after'}>
        {item.value}
      </pre>
      <div className="pw-sub" lang="en">
        {'message' in item && item.message ? item.message : item.reason}
      </div>
      {item.warnings.map(text => (
        <div key={text} className="pw-advice" data-tone="warn" lang="en">
          {text}
        </div>
      ))}
      {item.acceptable && !finished ? (
        <Checkbox
          mt={6}
          label={t('dns.replace')}
          checked={accepted}
          onChange={event => toggle(event.currentTarget.checked)}
        />
      ) : null}
    </div>
  )
}
