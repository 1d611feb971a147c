/** The steps from an empty database to this version's data, in order. */
import type { Migration } from './migrate.ts'

/** Step 1 is the shape of the first release: its collections and indexes are made by the processes themselves. */
export const MIGRATIONS: readonly Migration[] = [{ schema: 1, minReader: 1, up: async () => undefined }]
