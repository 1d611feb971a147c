/** One number with its name, and what to think of it. */
import type { ReactNode } from 'react'
import type { Tone } from '../feedback/status-badge.tsx'

/** The figure. */
export function Statistic(props: { label: string; value: ReactNode; hint?: ReactNode; tone?: Tone }) {
  return (
    <div className="pw-card pw-figure">
      <div className="pw-figure-label">{props.label}</div>
      <div className="pw-figure-value" data-tone={props.tone}>
        {props.value}
      </div>
      {props.hint ? <div className="pw-figure-hint">{props.hint}</div> : null}
    </div>
  )
}
