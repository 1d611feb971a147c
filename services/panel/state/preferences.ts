/** Preferences stored in the browser's local storage: language, time zone, app, folded groups of the menu. Never contains secrets. */
import { useSyncExternalStore } from 'react'

export const LANGUAGES = { en: 'English', 'zh-CN': '简体中文' } as const

export type Language = keyof typeof LANGUAGES

export interface Preferences {
  language: Language
  /** IANA name; undefined means the browser's time zone. */
  timeZone?: string
  /** Key of the app that was opened last. */
  app?: string
  /** Headings of the groups of the menu that the user has folded. */
  folded?: readonly string[]
  /** Headings of those that the user has opened. */
  opened?: readonly string[]
}

const KEY = 'postwright.preferences'
const listeners = new Set<() => void>()
let current = load()

/** Current preferences, for code outside of components; components use {@link usePreferences}. */
export function preferences(): Preferences {
  return current
}

/** Stores a change and re-renders every component that uses {@link usePreferences}. */
export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change }
  try {
    // The stored form calls the time zone `zone`.
    const { language, timeZone: zone, app, folded, opened } = current
    localStorage.setItem(KEY, JSON.stringify({ language, zone, app, folded, opened }))
  } catch {
    // Storage may be disabled in private windows; the preference is then lost when the page is closed.
  }
  for (const listener of listeners) listener()
}

/** Adopts the account's time zone if this browser has none stored. UTC is the default of accounts, so it is ignored. */
export function adoptTimeZone(timeZone: string): void {
  if (current.timeZone === undefined && timeZone !== 'UTC' && isTimeZone(timeZone)) setPreferences({ timeZone })
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribe, preferences)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function load(): Preferences {
  const stored = parse(readStored())
  const timeZone = typeof stored.zone === 'string' && isTimeZone(stored.zone) ? { timeZone: stored.zone } : {}
  const app = typeof stored.app === 'string' ? { app: stored.app } : {}
  const language = isLanguage(stored.language) ? stored.language : languageFor(navigator.languages)
  return { language, ...timeZone, ...app, folded: texts(stored.folded), opened: texts(stored.opened) }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(one => typeof one === 'string') : []
}

function readStored(): string | null {
  try {
    return localStorage.getItem(KEY)
  } catch {
    return null
  }
}

function parse(text: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text ?? '{}')
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** First supported language of a preference list (BCP 47 tags, most preferred first); English if there is none. */
export function languageFor(tags: readonly string[]): Language {
  const spoken = tags.map(tag => tag.toLowerCase().split('-')[0]).find(tag => tag === 'en' || tag === 'zh')
  return spoken === 'zh' ? 'zh-CN' : 'en'
}

function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && Object.hasOwn(LANGUAGES, value)
}

function isTimeZone(timeZone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone }))
  } catch {
    return false
  }
}
