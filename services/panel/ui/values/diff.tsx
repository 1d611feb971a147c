/** A value before and after, one below the other; signs and colours say which is which, and words for those who see neither. */
import { useTranslation } from 'react-i18next'

/** The lines. Without `before` the value is new; `same` shows it without a sign. */
export function Diff({ before, after, same }: { before: string | null; after: string; same?: boolean }) {
  const { t } = useTranslation()
  return (
    <>
      {before === null ? null : (
        <pre className="pw-diff" data-side="before">
          <span className="pw-hidden">{t('ui.before')}: </span>
          {before}
        </pre>
      )}
      <pre className="pw-diff" data-side={same ? 'same' : 'after'}>
        {same ? null : <span className="pw-hidden">{t('ui.after')}: </span>}
        {after}
      </pre>
    </>
  )
}
