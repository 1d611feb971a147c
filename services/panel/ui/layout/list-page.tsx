/** Layout of pages with one list: rows or an empty state, pagination, and a button and dialog to add an entry. */
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { AccountRole } from '../../state/roles.ts'
import { Empty, Loaded } from '../feedback/content-states.tsx'
import { Dialog } from '../forms/dialog.tsx'
import { NeedsRole } from '../forms/needs-role.tsx'
import { CursorPager, nextCursor } from './cursor-pager.tsx'
import { Card, Page } from './page.tsx'

interface ListResponse<T> {
  data: readonly T[]
  has_more: boolean
  next?: string | null
}

/** `children` renders the rows if there are any. */
export function ListPage<T extends { id: string }>(props: {
  title: string
  lead: ReactNode
  query: UseQueryResult<ListResponse<T>, Error>
  /** Cursor of the address, and navigation to another one. */
  after?: string | undefined
  go?: (after: string | undefined) => void
  empty?: { icon: ReactNode; title: string; hint: ReactNode }
  /** Label of the button and the dialog, and the form in the dialog. */
  add?: { label: string; form: (close: () => void) => ReactNode; needs?: AccountRole }
  above?: ReactNode
  below?: ReactNode
  children: (rows: readonly T[]) => ReactNode
}) {
  const { query, empty, add } = props
  const [adding, setAdding] = useState(false)
  const close = () => setAdding(false)
  const plain = add ? (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      {add.label}
    </Button>
  ) : null
  const button = add?.needs ? <NeedsRole needs={add.needs}>{plain}</NeedsRole> : plain
  return (
    <Page title={props.title} lead={props.lead} actions={button}>
      {props.above}
      <Card flush>
        <Loaded query={query}>
          {({ data }) =>
            data.length === 0 && empty ? (
              <Empty icon={empty.icon} title={empty.title} action={button}>
                {empty.hint}
              </Empty>
            ) : (
              props.children(data)
            )
          }
        </Loaded>
      </Card>
      {props.go ? (
        <CursorPager after={props.after} next={query.data ? nextCursor(query.data) : undefined} go={props.go} />
      ) : null}
      {props.below}
      {add ? (
        <Dialog opened={adding} close={close} title={add.label}>
          {() => add.form(close)}
        </Dialog>
      ) : null}
    </Page>
  )
}
