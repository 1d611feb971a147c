/** Old and new value, marked by signs and colours, and by hidden text for screen readers. */
import { useTranslation } from 'react-i18next'

/** `before` is null for a new value; `same` marks an unchanged one. */
export function Diff({ before, after, same }: { before: string | null; after: string; same?: boolean }) {
  const { t } = useTranslation()
  return (
    <>
      {before === null ? null : (
        <pre className="pw-diff" data-side="before">
          <span className="pw-hidden">{t('ui.before') + t('label.separator')}</span>
          {before}
        </pre>
      )}
      <pre className="pw-diff" data-side={same ? 'same' : 'after'}>
        {same ? null : <span className="pw-hidden">{t('ui.after') + t('label.separator')}</span>}
        {after}
      </pre>
    </>
  )
}
