/** A reason why a release cannot be made, as a sentence for the maintainer. */
export class ReleaseError extends Error {}
