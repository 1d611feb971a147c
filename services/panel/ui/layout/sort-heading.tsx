/** Sorting of a table: the button in the heading of a column, and a list of the same choices where headings are hidden. */
import { NativeSelect } from '@mantine/core'
import { IconChevronDown, IconChevronUp, IconSelector } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'
import type { Direction } from './list-order.ts'

/** A column of a table by which it can be sorted, and how it is sorted now. */
export interface SortColumn {
  label: string
  /** Absent: by another column, or not at all. */
  direction?: Direction | undefined
  /** Numbers are read from the largest on: the direction of the first click. */
  first: Direction
}

/** Value of `aria-sort`. */
export const ARIA_SORT = { asc: 'ascending', desc: 'descending' } as const

/** Sorts by its column; once more, in the other direction. */
export function SortHeading({ column, sort }: { column: SortColumn; sort: (direction: Direction) => void }) {
  const { label, direction, first } = column
  const Arrow = direction === undefined ? IconSelector : direction === 'asc' ? IconChevronUp : IconChevronDown
  const next = direction === undefined ? first : direction === 'asc' ? 'desc' : 'asc'
  return (
    <button type="button" className="pw-sort" onClick={() => sort(next)}>
      {label}
      <Arrow size={13} aria-hidden />
    </button>
  )
}

/** For narrow screens, where rows are cards without headings; renders nothing when no column can be sorted. */
export function SortChoice(props: {
  columns: readonly SortColumn[]
  sort: (label: string, direction: Direction) => void
}) {
  const { t } = useTranslation()
  const { columns, sort } = props
  if (columns.length === 0) return null
  const options = columns.flatMap(({ label }, index) =>
    (['asc', 'desc'] as const).map(direction => ({
      value: `${index}.${direction}`,
      label: t(`ui.sorted.${direction}`, { column: label }),
    })),
  )
  const current = columns.findIndex(({ direction }) => direction !== undefined)
  const value = current < 0 ? '' : `${current}.${columns[current]?.direction}`
  return (
    <div className="pw-sort-choice">
      <NativeSelect
        size="xs"
        label={t('ui.sortBy')}
        data={current < 0 ? [{ value: '', label: t('ui.unsorted') }, ...options] : options}
        value={value}
        onChange={event => {
          const [index, direction] = event.currentTarget.value.split('.')
          const column = columns[Number(index)]
          if (column && direction) sort(column.label, direction === 'asc' ? 'asc' : 'desc')
        }}
      />
    </div>
  )
}
