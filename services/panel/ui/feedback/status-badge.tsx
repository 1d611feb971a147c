/** A state as a coloured pill; the word carries the meaning, the colour only repeats it. */
import type { ReactNode } from 'react'

/** How a state feels. */
export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'quiet'

/** The pill. */
export function StatusBadge({ tone, children, title }: { tone: Tone; children: ReactNode; title?: string }) {
  return (
    <span className="pw-badge" data-tone={tone} title={title}>
      {children}
    </span>
  )
}

/** A sentence that stands out: a hint, a warning, a failure. */
export function Note({ tone, children, icon }: { tone: Tone; children: ReactNode; icon?: ReactNode }) {
  return (
    <div className="pw-note" data-tone={tone}>
      {icon}
      <div>{children}</div>
    </div>
  )
}
