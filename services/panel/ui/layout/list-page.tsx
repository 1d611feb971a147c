/** The frame of a page with one list: its rows or a word that there are none, the pager, one thing to add, one form. */
import { Button } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Empty, Loaded } from '../feedback/content-states.tsx'
import { Dialog } from '../forms/form.tsx'
import { CursorPager, nextCursor } from './cursor-pager.tsx'
import { Card, Page } from './page.tsx'

/** What a cursor list answers. */
interface ListResponse<T> {
  data: readonly T[]
  has_more: boolean
}

/** The page. `children` shows the rows when there are some; `below` stands under the list. */
export function ListPage<T extends { id: string }>(props: {
  title: string
  lead: ReactNode
  query: UseQueryResult<ListResponse<T>, Error>
  /** The cursor in the address, and going to another one. */
  after?: string | undefined
  go?: (after: string | undefined) => void
  empty?: { icon: ReactNode; title: string; hint: ReactNode }
  /** What can be added: the name of the button and of the dialog, and the form in it. */
  add?: { label: string; form: (close: () => void) => ReactNode }
  above?: ReactNode
  below?: ReactNode
  children: (rows: readonly T[]) => ReactNode
}) {
  const { query, empty, add } = props
  const [adding, setAdding] = useState(false)
  const close = () => setAdding(false)
  const button = add ? (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setAdding(true)}>
      {add.label}
    </Button>
  ) : null
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
