/** Translations: one catalogue for each language, loaded on demand. The keys of the English one are the type. */
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { render, type Sentence, type Catalogue as Sentences } from '../../platform/sentences/render.ts'
import { type Language, setPreferences } from '../state/preferences.ts'
import type { Catalogue } from './en/index.ts'

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'translation'
    resources: { translation: Catalogue }
    strictKeyChecks: true
  }
}

interface LanguageModule {
  catalogue: Catalogue
  /** Texts of the service's sentences; English readers get them from the API. */
  sentences?: Sentences
}

const catalogues: Record<Language, () => Promise<LanguageModule>> = {
  en: () => import('./en/index.ts'),
  'zh-CN': () => import('./zh-CN/index.ts'),
}

const sentences = new Map<Language, Sentences>()

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

async function load(language: Language): Promise<Catalogue> {
  const { catalogue, sentences: texts } = await catalogues[language]()
  if (texts) sentences.set(language, texts)
  return catalogue
}

/** Keys are separated by dots and may contain colons (`access.scope.emails:send`). */
export const i18nOptions = {
  fallbackLng: false,
  nsSeparator: false,
  interpolation: { escapeValue: false },
  returnNull: false,
} as const

/** Loads the initial language and initialises i18next. */
export async function startI18n(language: Language): Promise<void> {
  const catalogue = await load(language)
  await i18next.use(initReactI18next).init({
    ...i18nOptions,
    lng: language,
    resources: { [language]: { translation: catalogue } },
  })
  document.documentElement.lang = language
}

/** Switches the language and stores it as a preference. */
export async function changeLanguage(language: Language): Promise<void> {
  if (!i18next.hasResourceBundle(language, 'translation'))
    i18next.addResourceBundle(language, 'translation', await load(language))
  await i18next.changeLanguage(language)
  document.documentElement.lang = language
  setPreferences({ language })
}
