/** Copying to the clipboard, with feedback. */
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { notifyError, notifyFailure } from '../feedback/notifications.ts'

const SHOWN_MS = 1800

/** `get` may fetch the text. `copied` is true for 1.8 s after success; failures are shown as a notification. */
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

async function write(text: string): Promise<boolean> {
  const clipboard: Clipboard | undefined = navigator.clipboard
  return (
    (await clipboard?.writeText(text).then(
      () => true,
      () => false,
    )) || writeSelected(text)
  )
}

/** Fallback for plain HTTP, where browsers disable the clipboard API but allow copying a selection. */
function writeSelected(text: string): boolean {
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'pw-hidden'
  // Next to the button, because the focus trap of a dialog takes the focus from everything outside of it.
  const before = document.activeElement
  const place = before?.parentElement ?? document.body
  place.append(field)
  field.select()
  const done = document.execCommand('copy')
  field.remove()
  if (before instanceof HTMLElement) before.focus()
  return done
}
