/** What a reader chose for this browser: language and time zone. Nothing secret is ever kept here. */
import { useSyncExternalStore } from 'react'

/** The languages of the panel. */
export const LANGUAGES = { en: 'English', 'zh-CN': '简体中文' } as const

/** One of them. */
export type Language = keyof typeof LANGUAGES

/** The choices. */
export interface Preferences {
  language: Language
  /** IANA name; undefined follows the browser. */
  timeZone?: string
}

const KEY = 'postwright.preferences'
const listeners = new Set<() => void>()
let current = load()

/** The choices now; components read them with {@link usePreferences}. */
export function preferences(): Preferences {
  return current
}

/** Keeps a choice and tells every component that shows it. */
export function setPreferences(change: Partial<Preferences>): void {
  current = { ...current, ...change }
  try {
    // The stored form calls the time zone `zone`.
    localStorage.setItem(KEY, JSON.stringify({ language: current.language, zone: current.timeZone }))
  } catch {
    // Private windows may refuse storage; the choice then holds until the page is closed.
  }
  for (const listener of listeners) listener()
}

/** Takes the zone that the account chose elsewhere, where this browser has none. UTC is what accounts begin with. */
export function adoptTimeZone(timeZone: string): void {
  if (current.timeZone === undefined && timeZone !== 'UTC' && isTimeZone(timeZone)) setPreferences({ timeZone })
}

/** The choices, followed. */
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
  return { language: isLanguage(stored.language) ? stored.language : languageFor(navigator.languages), ...timeZone }
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

/** The language for a reader who wants these (BCP 47, the dearest first): the first that the panel speaks, else English. */
export function languageFor(tags: readonly string[]): Language {
  const spoken = tags.map(tag => tag.toLowerCase().split('-')[0]).find(tag => tag === 'en' || tag === 'zh')
  return spoken === 'zh' ? 'zh-CN' : 'en'
}

function isLanguage(value: unknown): value is Language {
  return typeof value === 'string' && Object.hasOwn(LANGUAGES, value)
}

/** True for a time zone that this browser knows. */
function isTimeZone(timeZone: string): boolean {
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone }))
  } catch {
    return false
  }
}
