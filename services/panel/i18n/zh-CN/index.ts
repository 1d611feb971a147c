/** Chinese catalogue, one file for each area; loaded in two parts. */
import type { Catalogue } from '../en/index.ts'
import { first } from './first.ts'
import { rest } from './rest.ts'

export const catalogue: Catalogue = { ...first, ...rest }
