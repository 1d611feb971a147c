/** Cursor pagination. The cursor is part of the address, so reload, back and shared links keep the position. */
import { Button, Group } from '@mantine/core'
import { IconChevronRight, IconChevronsLeft } from '@tabler/icons-react'
import { useTranslation } from 'react-i18next'

/** Renders nothing if everything fits on one page. `next` is the cursor of the next page. */
export function CursorPager(props: {
  after: string | undefined
  next: string | undefined
  go: (after: string | undefined) => void
}) {
  const { t } = useTranslation()
  const { after, next, go } = props
  if (after === undefined && next === undefined) return null
  return (
    <Group justify="flex-end" gap="xs" component="nav" aria-label={t('ui.pages')}>
      <Button
        variant="default"
        leftSection={<IconChevronsLeft size={16} />}
        disabled={after === undefined}
        onClick={() => go(undefined)}
      >
        {t('ui.firstPage')}
      </Button>
      <Button
        variant="default"
        rightSection={<IconChevronRight size={16} />}
        disabled={next === undefined}
        onClick={() => go(next)}
      >
        {t('ui.nextPage')}
      </Button>
    </Group>
  )
}

/** The cursor of the next page; undefined on the last page. Lists without a `next` go on after the id of their last item. */
export function nextCursor(page: {
  data: readonly { id: string }[]
  has_more: boolean
  next?: string | null
}): string | undefined {
  return page.has_more ? (page.next ?? page.data.at(-1)?.id) : undefined
}
