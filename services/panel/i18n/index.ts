/** Translations: one catalogue for each language, loaded on demand. The keys of the English one are the type. */
import i18next from 'i18next'
import { initReactI18next } from 'react-i18next'
import { type Language, setPreferences } from '../state/preferences.ts'
import type { Catalogue } from './en/index.ts'
import { sentenceTranslator } from './sentences.ts'

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'translation'
    resources: { translation: Catalogue }
    strictKeyChecks: true
  }
}

interface LanguageModule {
  catalogue: Catalogue
  /** Translations of the service's English sentences. */
  sentences?: Readonly<Record<string, string>>
}

const catalogues: Record<Language, () => Promise<LanguageModule>> = {
  en: () => import('./en/index.ts'),
  'zh-CN': () => import('./zh-CN/index.ts'),
}

const translators = new Map<Language, (sentence: string) => string | undefined>()

/** Translates a sentence of the service; undefined if there is no translation, and always for English. */
export function translateSentence(language: Language, sentence: string): string | undefined {
  return translators.get(language)?.(sentence)
}

async function load(language: Language): Promise<Catalogue> {
  const { catalogue, sentences } = await catalogues[language]()
  if (sentences) translators.set(language, sentenceTranslator(sentences))
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
