/** Page-number navigation, for lists with a known length. */
import { Group, Pagination } from '@mantine/core'
import { useTranslation } from 'react-i18next'

/** Renders nothing if there is only one page. */
export function NumberedPages({ page, total, go }: { page: number; total: number; go: (page: number) => void }) {
  const { t } = useTranslation()
  if (total <= 1 && page <= 1) return null
  return (
    <Group justify="flex-end" component="nav" aria-label={t('ui.pages')}>
      <Pagination
        value={page}
        total={Math.max(total, page)}
        onChange={go}
        getItemProps={number => ({ 'aria-label': t('ui.page', { number }) })}
        getControlProps={control => ({ 'aria-label': t(`ui.pageControl.${control}`) })}
      />
    </Group>
  )
}
