/** English catalogue, one file for each area; loaded in two parts. */
import { first } from './first.ts'
import { rest } from './rest.ts'

export const catalogue = { ...first, ...rest }

/** Keys that every language must provide. */
export type Catalogue = typeof catalogue
