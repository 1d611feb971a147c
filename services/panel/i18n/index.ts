/** Translations: one catalogue for each language, loaded on demand. The keys of the English one are the type. */
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { render, type Sentence, type Catalogue as Sentences } from '../../platform/sentences/render.ts'
import { type Language, preferences, setPreferences } from '../state/preferences.ts'
import type { Catalogue } from './en/index.ts'

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'translation'
    resources: { translation: Catalogue }
    strictKeyChecks: true
  }
}

interface Rest {
  rest: object
  /** Texts of the service's sentences; English readers get them from the API. */
  sentences?: Sentences
}

/** The first part is loaded before anything is shown, the rest with the first page that needs it, see {@link withAllTexts}. */
const parts: Record<Language, { first: () => Promise<{ first: object }>; rest: () => Promise<Rest> }> = {
  en: { first: () => import('./en/first.ts'), rest: () => import('./en/rest.ts') },
  'zh-CN': { first: () => import('./zh-CN/first.ts'), rest: () => import('./zh-CN/rest.ts') },
}

const sentences = new Map<Language, Sentences>()

/** True once a page needed the rest: every chosen language is then loaded completely. */
let isRestNeeded = false

/** A sentence as the API returns it. */
export interface CodedSentence {
  code: string
  params?: object | null | undefined
}

/** The text of a sentence; undefined for codes without a text in this language, and always for English. */
export function renderSentence(language: Language, { code, params }: CodedSentence): string | undefined {
  const texts = sentences.get(language)
  if (!texts || !Object.hasOwn(texts.texts, code)) return undefined
  return render({ code, params: params ?? {} } as Sentence, texts)
}

/** Loads what is missing of a language. */
async function load(language: Language): Promise<void> {
  const add = (texts: object) => i18next.addResourceBundle(language, 'translation', texts, true)
  const isMissing = (area: string) => i18next.getResource(language, 'translation', area) === undefined
  const { first, rest } = parts[language]
  const loadFirst = async () => add((await first()).first)
  const loadRest = async () => {
    const { rest: texts, sentences: ofService } = await rest()
    if (ofService) sentences.set(language, ofService)
    add(texts)
  }
  await Promise.all([isMissing('nav') && loadFirst(), isRestNeeded && isMissing('dns') && loadRest()])
}

/** Resolves with `loaded`, which is the code of a page or dialog, when the second part of the language is loaded too. */
export async function withAllTexts<T>(loaded: Promise<T>): Promise<T> {
  const [code] = await Promise.all([loaded, loadAllTexts()])
  return code
}

export function loadAllTexts(): Promise<void> {
  isRestNeeded = true
  return load(preferences().language)
}

/** Keys are separated by dots and may contain colons (`access.scope.emails:send`). */
export const i18nOptions = {
  fallbackLng: false,
  nsSeparator: false,
  interpolation: { escapeValue: false },
  returnNull: false,
} as const

/** Initialises i18next and loads the initial language. */
export async function startI18n(language: Language): Promise<void> {
  await i18next.use(initReactI18next).init({ ...i18nOptions, lng: language, resources: {} })
  await load(language)
  document.documentElement.lang = language
}

/** Switches the language and stores it as a preference. */
export async function changeLanguage(language: Language): Promise<void> {
  await load(language)
  await i18next.changeLanguage(language)
  document.documentElement.lang = language
  setPreferences({ language })
  // A page that began to need the rest meanwhile asked for that of the language before.
  await load(language)
}
