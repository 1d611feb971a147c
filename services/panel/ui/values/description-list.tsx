/** Names and values, side by side, or one below the other on a phone. */
import type { ReactNode } from 'react'

/** The list; entries without a value are left out. */
export function DescriptionList({ entries }: { entries: readonly [name: string, value: ReactNode][] }) {
  return (
    <dl className="pw-facts">
      {entries
        .filter(([, value]) => value !== null && value !== undefined && value !== '')
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
