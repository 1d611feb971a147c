/** The Chinese texts; the compiler requires one for each English text. */
import type { Catalogue } from '../render.ts'
import { delivery } from './delivery.ts'
import { details } from './details.ts'
import { dns } from './dns.ts'
import { dnsPlan } from './dns-plan.ts'
import { dnsProviders } from './dns-providers.ts'
import { fields } from './fields.ts'
import { health } from './health.ts'
import { json } from './json.ts'
import { problemTitles } from './problem-titles.ts'
import { resources } from './resources.ts'
import { texts } from './texts.ts'

/** Simplified Chinese. */
export const chinese: Catalogue = {
  texts: {
    ...delivery,
    ...details,
    ...dns,
    ...dnsPlan,
    ...dnsProviders,
    ...fields,
    ...health,
    ...json,
    ...problemTitles,
    ...resources,
    ...texts,
  },
  separator: '、',
}
