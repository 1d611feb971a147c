/** A page for people without a login: some text and at most one form, in Chinese and English. */
import type { WebContext } from './web-app.ts'

/** One text in both languages, because the language of the reader is unknown. */
export type BothLanguages = readonly [chinese: string, english: string]

/** What a page shows. */
export interface NoticePage {
  status: number
  title: BothLanguages
  paragraphs: readonly BothLanguages[]
  /** Buttons of a form that posts to the same address; each sends `choice` with its value. */
  buttons?: readonly { choice: string; label: BothLanguages }[]
}

/** The address has a token: no referrer is sent, nothing is loaded from other sites, and no search engine lists it. */
const HEADERS = {
  'Content-Security-Policy': "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Robots-Tag': 'noindex',
}

/** Answers with the page. Texts are escaped. */
export function showNotice(context: WebContext, { status, title, paragraphs, buttons = [] }: NoticePage): void {
  const form =
    buttons.length === 0
      ? ''
      : `<form method="post">${buttons
          .map(
            ({ choice, label }) => `<p><button name="choice" value="${escapeText(choice)}">${both(label)}</button></p>`,
          )
          .join('')}</form>`
  context.status = status
  context.set(HEADERS)
  context.type = 'text/html; charset=utf-8'
  context.body = `<!doctype html><html lang="zh"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${both(title)}</title><body>${paragraphs.map(toParagraphs).join('')}${form}</body></html>\n`
}

function both(texts: BothLanguages): string {
  return texts.map(escapeText).join(' / ')
}

function toParagraphs([chinese, english]: BothLanguages): string {
  return `<p lang="zh">${escapeText(chinese)}</p><p lang="en">${escapeText(english)}</p>`
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escapeText(text: string): string {
  return text.replaceAll(/[&<>"]/g, character => ESCAPES[character] ?? '')
}
