/** Copying, and saying for a moment that it worked. */
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { notifyError, notifyFailure } from '../feedback/notifications.ts'

const SHOWN_MS = 1800

/** Copies what it is given or fetches; `copied` is true for a moment after it worked, a failure is told. */
export function useCopy(): { copied: boolean; copy: (get: () => string | Promise<string>) => Promise<void> } {
  const { t } = useTranslation()
  const [copied, setCopied] = useState(false)
  const timer = useRef<number>(undefined)
  useEffect(() => () => window.clearTimeout(timer.current), [])
  const copy = async (get: () => string | Promise<string>) => {
    let text: string
    try {
      text = await get()
    } catch (error) {
      notifyError(error, t)
      return
    }
    if (!(await write(text))) {
      notifyFailure(t('ui.copyFailed'))
      return
    }
    setCopied(true)
    window.clearTimeout(timer.current)
    timer.current = window.setTimeout(() => setCopied(false), SHOWN_MS)
  }
  return { copied, copy }
}

/** True when the text is on the clipboard. */
async function write(text: string): Promise<boolean> {
  const clipboard: Clipboard | undefined = navigator.clipboard
  return (
    (await clipboard?.writeText(text).then(
      () => true,
      () => false,
    )) || writeSelected(text)
  )
}

/** Browsers keep their clipboard from pages over plain http; what is selected can be copied there too. */
function writeSelected(text: string): boolean {
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'pw-hidden'
  // Beside the button: a dialog takes the focus back from everything outside of it.
  const before = document.activeElement
  const place = before?.parentElement ?? document.body
  place.append(field)
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  return done
}
