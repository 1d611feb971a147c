/** Progress of a DNS plan: preview, written, visible in DNS. */
import { Loader } from '@mantine/core'
import { IconCheck, IconX } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import type { PlanStage } from './dns-plan-state.ts'

const STEPS = ['plan', 'written', 'seen'] as const

/** Index of the current step for each stage; the steps before it are complete. */
const STEP_INDEX: Record<PlanStage, number> = { plan: 0, writing: 1, stopped: 1, waiting: 2, later: 2, seen: 3 }

export function DnsPlanProgress({ stage }: { stage: PlanStage }) {
  const { t } = useTranslation()
  return (
    <ol className="pw-plan-steps" aria-label={t('dns.progress')}>
      {STEPS.map((step, index) => {
        const current = index === STEP_INDEX[stage]
        const done = index < STEP_INDEX[stage]
        return (
          <li
            key={step}
            className="pw-plan-step"
            aria-current={current ? 'step' : undefined}
            data-done={done || undefined}
          >
            <span className="pw-step-mark" data-done={done || undefined}>
              {stepIcon(stage, index, current, done)}
            </span>
            {t(`dns.station.${step}`)}
            {done ? <span className="pw-hidden">{t('start.done')}</span> : null}
          </li>
        )
      })}
    </ol>
  )
}

function stepIcon(stage: PlanStage, index: number, current: boolean, done: boolean): ReactNode {
  if (done) return <IconCheck size={15} aria-hidden />
  if (current && (stage === 'writing' || stage === 'waiting')) return <Loader size={14} />
  if (current && stage === 'stopped') return <IconX size={15} aria-hidden />
  return index + 1
}
