/** The version of this release, as package.json has it. */
import manifest from '../../package.json' with { type: 'json' }

/** The version without a leading `v`, as in `0.1.0`. */
export const VERSION: string = manifest.version
