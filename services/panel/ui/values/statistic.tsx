import type { ReactNode } from 'react'
import type { Tone } from '../feedback/status-badge.tsx'

export function Statistic(props: { label: ReactNode; value: ReactNode; hint?: ReactNode; tone?: Tone }) {
  return (
    <div className="pw-card pw-statistic">
      <div className="pw-statistic-label">{props.label}</div>
      <div className="pw-statistic-value" data-tone={props.tone}>
        {props.value}
      </div>
      {props.hint ? <div className="pw-statistic-hint">{props.hint}</div> : null}
    </div>
  )
}
