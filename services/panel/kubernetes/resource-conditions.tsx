/** Conditions of a Kubernetes resource as written by the operator. Types and reasons are in English as in kubectl. */
import { useTranslation } from 'react-i18next'
import { StatusBadge, type Tone } from '../ui/feedback/status-badge.tsx'
import { ServiceSentence } from '../ui/values/service-sentence.tsx'
import { Time } from '../ui/values/time.tsx'

export interface ResourceState {
  ready: boolean
  reason: string
  message: string
  conditions: readonly {
    type: string
    status: 'True' | 'False' | 'Unknown'
    reason: string
    message: string
    message_code?: string
    message_params?: object
  }[]
  observed_at: string
}

const TONES: Record<ResourceState['conditions'][number]['status'], Tone> = { True: 'ok', False: 'bad', Unknown: 'warn' }

export function ResourceConditions({ state }: { state: ResourceState | null }) {
  const { t } = useTranslation()
  if (!state) return <div className="pw-sub">{t('operator.notObserved')}</div>
  return (
    <>
      <ul className="pw-conditions">
        {state.conditions.map(one => (
          <li key={one.type}>
            <StatusBadge tone={TONES[one.status]}>
              {one.type}: {one.status}
            </StatusBadge>
            <span className="pw-mono" lang="en">
              {one.reason}
            </span>
            <span className="pw-condition-text">
              <ServiceSentence text={one.message} code={one.message_code} params={one.message_params} />
            </span>
          </li>
        ))}
      </ul>
      <div className="pw-sub">
        {t('operator.observed')} <Time at={state.observed_at} />
      </div>
    </>
  )
}
