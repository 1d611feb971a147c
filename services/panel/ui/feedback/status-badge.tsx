/** Status badges and notes. The text carries the meaning; colour alone would not be accessible. */
import type { ReactNode } from 'react'

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'quiet'

export function StatusBadge({ tone, children, title }: { tone: Tone; children: ReactNode; title?: string }) {
  return (
    <span className="pw-badge" data-tone={tone} title={title}>
      {children}
    </span>
  )
}

/** Highlighted paragraph: hint, warning or error. */
export function Note({ tone, children, icon }: { tone: Tone; children: ReactNode; icon?: ReactNode }) {
  return (
    <div className="pw-note" data-tone={tone}>
      {icon}
      <div>{children}</div>
    </div>
  )
}
