import type { ReactNode } from 'react'

/** Names with values; entries without a value are omitted. */
export function DescriptionList({ entries }: { entries: readonly [name: string, value: ReactNode][] }) {
  return (
    <dl className="pw-description-list">
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
