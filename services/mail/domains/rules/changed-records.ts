/** What changed between two checks of a domain. */

/** A record of the guidance with its status at a check. */
interface Checked {
  row: string
  status: string
}

/** A record whose status changed; without `from` it was not checked before, with `to` `removed` it is no longer wanted. */
export interface RecordChange {
  row: string
  from?: string
  to: string
}

/** The changes, in the order of the later check; records that are no longer wanted come last. */
export function changedRecords(before: readonly Checked[], after: readonly Checked[]): RecordChange[] {
  const known = new Map(before.map(({ row, status }) => [row, status]))
  const wanted = new Set(after.map(({ row }) => row))
  return [
    ...after.flatMap(({ row, status }): RecordChange[] => {
      const from = known.get(row)
      if (from === status) return []
      return [{ row, ...(from === undefined ? {} : { from }), to: status }]
    }),
    ...before.flatMap(({ row, status }): RecordChange[] =>
      wanted.has(row) ? [] : [{ row, from: status, to: 'removed' }],
    ),
  ]
}
