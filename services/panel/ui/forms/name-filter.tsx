/** Field that narrows a list to names with a part. Blanks are left out: no name has one. */
import { useTranslation } from 'react-i18next'
import { TextFilter } from './text-filter.tsx'

export function NameFilter({ value, set }: { value: string | undefined; set: (part: string | undefined) => void }) {
  const { t } = useTranslation()
  return (
    <search>
      <TextFilter
        label={t('messages.search')}
        value={value ?? ''}
        set={text => set(text || undefined)}
        clean={text => text.replaceAll(/\s/g, '')}
        wide
      />
    </search>
  )
}
